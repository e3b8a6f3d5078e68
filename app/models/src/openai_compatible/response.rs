//! Reads the body of a successful response. An answer is text, a cut text or a refusal; everything else is a
//! [`Failure`]. Pure.

use super::error_body::{ErrorBody, is_html};
use super::failure::{Again, Failure, Refusal, classify};
use crate::reasoning::{Stripped, strip_reasoning};
use crate::refusal::is_refusal;
use serde::Deserialize;
use serde_json::Value;
use skillopt_domain::spend::Usage;
use skillopt_engine::ports::{Finish, ModelErrorKind};
use std::time::Duration;

/// An answer as it came over the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Completion {
    pub(crate) text: String,
    pub(crate) finish: Finish,
    pub(crate) usage: Option<Usage>,
}

#[derive(Deserialize)]
struct Wire {
    #[serde(default)]
    choices: Option<Vec<Choice>>,
    #[serde(default)]
    usage: Value,
    #[serde(default)]
    error: Value,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(default)]
    message: Option<WireMessage>,
    #[serde(default)]
    finish_reason: Value,
    #[serde(default)]
    error: Value,
}

#[derive(Default, Deserialize)]
struct WireMessage {
    #[serde(default)]
    content: Value,
    #[serde(default)]
    refusal: Value,
    #[serde(default)]
    reasoning_content: Value,
    #[serde(default)]
    reasoning: Value,
}

/// Reads a body that came with a 2xx status.
pub(crate) fn read(body: &[u8]) -> Result<Completion, Failure> {
    let wire: Wire = serde_json::from_slice(body).map_err(|_| not_the_api(body))?;
    if !wire.error.is_null() {
        return Err(error_in_success(&wire.error));
    }
    let usage = usage_of(&wire.usage);
    let choice = wire.choices.and_then(|choices| choices.into_iter().next());
    let Some(choice) = choice else {
        let message = "the reply holds no choices";
        return Err(Failure::new(ModelErrorKind::Server, Again::Backoff, message));
    };
    if !choice.error.is_null() || choice.finish_reason == "error" {
        return Err(error_in_success(&choice.error));
    }
    answer(choice.message.unwrap_or_default(), &Ending::of(&choice.finish_reason))
        .map(|(text, finish)| Completion { text, finish, usage })
        .map_err(|failure| Failure { billed: usage, ..failure })
}

enum Ending {
    Done,
    Cut,
    Filtered,
}

impl Ending {
    fn of(reason: &Value) -> Self {
        match reason.as_str().unwrap_or_default().to_ascii_lowercase().as_str() {
            "length" | "max_tokens" => Self::Cut,
            "content_filter" | "refusal" | "safety" => Self::Filtered,
            _ => Self::Done,
        }
    }
}

fn answer(message: WireMessage, ending: &Ending) -> Result<(String, Finish), Failure> {
    let reasoned = [&message.reasoning_content, &message.reasoning].into_iter().any(is_filled);
    let parts = Parts::of(message.content);
    let declined = message.refusal.as_str().map(str::to_owned).filter(|words| !words.is_empty());
    if let Some(words) = declined.or(parts.refusal) {
        return Ok((words, Finish::Refused));
    }
    let mut text = parts.text;
    let reasoned = reasoned || parts.reasoned;
    if matches!(ending, Ending::Filtered) {
        let words = "stopped by the provider's content filter";
        let text = if text.trim().is_empty() { words.to_owned() } else { text };
        return Ok((text, Finish::Refused));
    }
    match strip_reasoning(&text) {
        Stripped::ReasoningOnly => return Err(nothing_said(true, ending)),
        Stripped::Answer(answer) if answer.trim().is_empty() => {
            return Err(nothing_said(reasoned, ending));
        }
        Stripped::Answer(answer) => drop(text.drain(..text.len() - answer.len())),
    }
    let finish = match ending {
        _ if is_refusal(&text) => Finish::Refused,
        Ending::Cut => Finish::Length,
        Ending::Done | Ending::Filtered => Finish::Stop,
    };
    Ok((text, finish))
}

/// Whether the limit cut it matters: then the same request would be cut again.
fn nothing_said(reasoned: bool, ending: &Ending) -> Failure {
    match (reasoned, ending) {
        (_, Ending::Cut) => Failure::new(
            ModelErrorKind::ReasoningOnly,
            Again::Never,
            "the token limit was used up before the answer began: raise the limit, or turn \
             reasoning down",
        ),
        (true, _) => Failure::new(
            ModelErrorKind::ReasoningOnly,
            Again::Twice,
            "the reply holds reasoning without an answer",
        ),
        (false, _) => Failure::new(ModelErrorKind::Empty, Again::Twice, "the reply holds no text"),
    }
}

#[derive(Default)]
struct Parts {
    text: String,
    refusal: Option<String>,
    reasoned: bool,
}

impl Parts {
    /// Content is a text or a list of typed parts.
    fn of(content: Value) -> Self {
        match content {
            Value::String(text) => Self { text, ..Self::default() },
            Value::Array(list) => {
                let mut parts = Self::default();
                list.iter().for_each(|part| parts.add(part));
                parts
            }
            _ => Self::default(),
        }
    }

    fn add(&mut self, part: &Value) {
        let text = |name: &str| part.get(name).and_then(Value::as_str);
        match text("type") {
            Some("refusal") => self.refusal = text("refusal").map(str::to_owned),
            Some("thinking" | "reasoning") => self.reasoned = true,
            _ => self.text.push_str(part.as_str().or(text("text")).unwrap_or_default()),
        }
    }
}

fn is_filled(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::String(text) => !text.trim().is_empty(),
        _ => true,
    }
}

/// Both counts, or nothing: half a count would pass for a whole one.
fn usage_of(usage: &Value) -> Option<Usage> {
    let count = |name: &str| usage.get(name)?.as_u64();
    let within = |parts: &str, name: &str| usage.get(parts)?.get(name)?.as_u64();
    Some(Usage {
        cached_prompt_tokens: within("prompt_tokens_details", "cached_tokens"),
        reasoning_tokens: within("completion_tokens_details", "reasoning_tokens"),
        ..Usage::new(count("prompt_tokens")?, count("completion_tokens")?)
    })
}

/// A page instead of JSON means that the address is wrong; broken JSON may be a broken connection.
fn not_the_api(body: &[u8]) -> Failure {
    let page = is_html(&String::from_utf8_lossy(&body[..body.len().min(200)]));
    let again = if page { Again::Never } else { Again::Backoff };
    let words = ErrorBody::parse(body).words();
    let message =
        if page { format!("got {words}") } else { format!("the reply is no JSON: {words}") };
    Failure::new(ModelErrorKind::Server, again, message)
}

/// The error decides what the status did not.
fn error_in_success(error: &Value) -> Failure {
    let body = ErrorBody::from_json(error);
    let status = body.code.filter(|code| *code >= 400).unwrap_or_else(|| {
        let kinds: [(&[&str], u16); 3] = [
            (&["rate_limit", "quota", "too_many", "resource_exhausted"], 429),
            (&["auth", "api_key", "permission"], 401),
            (&["invalid", "not_found", "bad_request", "unsupported"], 400),
        ];
        kinds.iter().find(|(words, _)| body.is_labelled(words)).map_or(500, |(_, status)| *status)
    });
    classify(Refusal {
        status,
        label: "an error with status 200",
        body: &body,
        retry_after: None,
        longest_wait: Duration::MAX,
    })
}

#[cfg(test)]
mod tests;
