//! Why a request has no answer in a cassette: the stage, the nearest exchange, and where the two part.

use super::{Cassette, Draw, Exchange, Question};
use skillopt_domain::edit::similarity;
use skillopt_domain::spend::Role;
use skillopt_engine::ports::{ChatRequest, Message};

/// Exchanges that are looked at for the nearest one, and characters of each.
const MAX_LOOKED_AT: usize = 400;
const MAX_CHARS: usize = 20_000;
/// Characters that are shown of a place where two texts part.
const SHOWN: usize = 60;

/// One sentence for people.
pub(super) fn miss(cassette: &Cassette, role: Role, request: &ChatRequest, draw: Draw) -> String {
    let call = format!(
        "the cassette has no reply for the {role}'s call `{}` in {}",
        request.purpose.as_str(),
        request.phase
    );
    let nearest = nearest(cassette, role, request);
    match nearest {
        Some(exchange) => {
            format!("{call}; nearest is {}", described(exchange, role, request, draw))
        }
        None => format!("{call}, and none for this role at all"),
    }
}

fn nearest<'a>(cassette: &'a Cassette, role: Role, request: &ChatRequest) -> Option<&'a Exchange> {
    let of_role = || cassette.exchanges().iter().filter(move |exchange| exchange.role == role);
    let of_purpose: Vec<&Exchange> =
        of_role().filter(|exchange| exchange.purpose == Some(request.purpose)).collect();
    let looked_at: Vec<&Exchange> =
        if of_purpose.is_empty() { of_role().collect() } else { of_purpose };
    let asked = joined(&request.messages);
    let likeness = |exchange: &Exchange| match &exchange.question {
        Question::Recorded { messages, .. } => similarity(&joined(messages), &asked),
        // One that names the phase was meant for it.
        Question::Rule { .. } => {
            f64::from(u8::from(exchange.phase.as_ref() == Some(&request.phase)))
        }
    };
    let mut best: Option<(f64, &Exchange)> = None;
    for exchange in looked_at.into_iter().take(MAX_LOOKED_AT) {
        let like = likeness(exchange);
        if best.is_none_or(|(most, _)| like > most) {
            best = Some((like, exchange));
        }
    }
    best.map(|(_, exchange)| exchange)
}

fn joined(messages: &[Message]) -> String {
    let texts: Vec<&str> = messages.iter().map(|message| message.content.as_str()).collect();
    texts.join("\n").chars().take(MAX_CHARS).collect()
}

fn described(exchange: &Exchange, role: Role, request: &ChatRequest, draw: Draw) -> String {
    let purpose = exchange.purpose.map_or("any purpose", |purpose| purpose.as_str());
    let phase = exchange.phase.as_deref().unwrap_or("any phase");
    let place = format!("line {} (`{purpose}`, {phase})", exchange.line);
    let difference = match &exchange.question {
        Question::Recorded { messages, max_tokens, draw: recorded } => {
            if messages != &request.messages {
                parting(messages, &request.messages)
            } else if max_tokens == &request.max_tokens {
                format!(
                    "it is another draw: seed {}, epoch {}, repeat {} was recorded, seed {}, epoch {}, repeat {} is asked for",
                    recorded.seed,
                    recorded.epoch,
                    recorded.repeat,
                    draw.seed,
                    draw.epoch,
                    draw.repeat
                )
            } else {
                format!(
                    "its token limit is another one: {max_tokens:?}, not {:?}",
                    request.max_tokens
                )
            }
        }
        Question::Rule { .. } => unmet(exchange, role, request),
    };
    format!("{place}: {difference}")
}

/// The first condition that does not hold.
fn unmet(exchange: &Exchange, role: Role, request: &ChatRequest) -> String {
    let Question::Rule { contains, lacks } = &exchange.question else { return String::new() };
    let occurs = |text: &String| request.messages.iter().any(|said| said.content.contains(text));
    if exchange.role != role || exchange.purpose.is_some_and(|purpose| purpose != request.purpose) {
        return "it is for another purpose".to_owned();
    }
    if let Some(phase) = exchange.phase.as_ref().filter(|phase| **phase != request.phase) {
        return format!("it is for {phase}");
    }
    match (contains.iter().find(|text| !occurs(text)), lacks.iter().find(|text| occurs(text))) {
        (Some(text), _) => format!("the messages do not hold \"{}\"", cut(text)),
        (None, Some(text)) => format!("the messages hold \"{}\"", cut(text)),
        (None, None) => "all its conditions hold".to_owned(),
    }
}

/// Where two conversations part.
fn parting(recorded: &[Message], asked: &[Message]) -> String {
    for (number, (left, right)) in (1..).zip(recorded.iter().zip(asked)) {
        let number: usize = number;
        if left == right {
            continue;
        }
        let common = left
            .content
            .char_indices()
            .zip(right.content.chars())
            .find(|((_, left), right)| left != right)
            .map_or(left.content.len().min(right.content.len()), |((at, _), _)| at);
        let rest = |text: &str| cut(text.get(common..).unwrap_or_default());
        return format!(
            "message {number} parts after {common} bytes: \"{}\" was recorded, \"{}\" is asked",
            rest(&left.content),
            rest(&right.content)
        );
    }
    format!("{} messages were recorded, {} are asked", recorded.len(), asked.len())
}

fn cut(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(SHOWN).collect()
}
