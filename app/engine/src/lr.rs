//! The budget of a step as the optimizer sets it, once it knows what was proposed. It decides how many items are
//! used, never which. A wish that cannot be read changes nothing.

use crate::patch::{text, texts};
use crate::ports::Purpose;
use crate::prompts::{Prompt, PromptVars, push_section, section};
use crate::proposal::{Proposal, numbered};
use crate::reply::{Parsed, ReplyError};
use crate::run::{Run, TrainError};
use crate::structured::{Question, ask};
use serde_json::Value;
use skillopt_domain::outcome::Sample;
use skillopt_domain::proposal::LrDecision;
use skillopt_domain::score::MeanScore;
use skillopt_domain::skill::SkillDoc;
use std::fmt::Write;

/// What the decision rests on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Evidence<'a> {
    pub(crate) rollout: Option<MeanScore>,
    pub(crate) previous_steps: &'a str,
}

/// Something to decide on.
#[derive(Debug)]
pub(crate) struct LrOrder<'a> {
    pub(crate) step: u32,
    pub(crate) skill: &'a SkillDoc,
    pub(crate) items: &'a [Proposal],
    pub(crate) evidence: Evidence<'a>,
    pub(crate) memory: &'a str,
    pub(crate) sample: Sample,
}

struct Wish {
    number: i64,
    reasoning: String,
    confidence: String,
    risk_notes: Vec<String>,
}

/// Asks for the budget, within 0 and the number of items.
pub(crate) async fn decide(run: &Run<'_>, order: LrOrder<'_>) -> Result<LrDecision, TrainError> {
    let available = u32::try_from(order.items.len()).unwrap_or(u32::MAX);
    let mode = run.input.config.optimizer.update_mode;
    let question = Question {
        purpose: Purpose::LrControl,
        phase: format!("step_{:04}", order.step),
        system: run
            .system_message(Prompt::LrControl, PromptVars { mode, ..PromptVars::default() })?,
        user: message(&order, mode.item_word()),
        sample: order.sample,
        max_tokens: None,
    };
    let asked = ask(run, question, |parsed| read_wish(&parsed)).await?;
    Ok(match asked.or_reason(run).await? {
        Ok(wish) => granted(wish, available),
        Err(reason) => refused(available, reason),
    })
}

fn granted(wish: Wish, available: u32) -> LrDecision {
    let bounded = wish.number.clamp(0, i64::from(available));
    LrDecision {
        learning_rate: u32::try_from(bounded).unwrap_or_default(),
        raw_learning_rate: Some(wish.number),
        available,
        clamped: bounded != wish.number,
        fallback: false,
        reasoning: wish.reasoning,
        confidence: wish.confidence,
        risk_notes: wish.risk_notes,
        error: String::new(),
    }
}

/// Without a readable wish nothing is changed in this step.
fn refused(available: u32, error: String) -> LrDecision {
    LrDecision {
        learning_rate: 0,
        raw_learning_rate: None,
        available,
        clamped: false,
        fallback: true,
        reasoning: String::new(),
        confidence: String::new(),
        risk_notes: Vec::new(),
        error,
    }
}

fn message(order: &LrOrder<'_>, word: &str) -> String {
    let mut user = section("current_skill", order.skill.text());
    // Writing to a String cannot fail.
    match order.evidence.rollout {
        Some(score) => {
            let _ = writeln!(
                user,
                "\nThe batch: {} tasks scored, hard {:.6}, soft {:.6}.",
                score.n, score.hard, score.soft
            );
        }
        None => user.push_str("\nThe batch: no task was scored.\n"),
    }
    let _ = writeln!(user, "Proposed {word}s: {}.\n", order.items.len());
    user.push_str(&section("proposed_edits", &numbered(order.items)));
    push_section(&mut user, "previous_steps", order.evidence.previous_steps);
    push_section(&mut user, "optimizer_memory", order.memory);
    let _ = writeln!(user, "\nHow many {word}s may be used in this step?");
    user
}

fn read_wish(parsed: &Parsed) -> Result<Wish, ReplyError> {
    let number = parsed.object.get("learning_rate").and_then(whole_number).ok_or_else(|| {
        ReplyError::Shape("`learning_rate` must be a whole number, 0 or more".into())
    })?;
    let confidence = text(&parsed.object, "confidence").to_lowercase();
    Ok(Wish {
        number,
        reasoning: text(&parsed.object, "reasoning"),
        confidence: Some(confidence)
            .filter(|word| matches!(word.as_str(), "low" | "medium" | "high"))
            .unwrap_or_default(),
        risk_notes: texts(&parsed.object, "risk_notes"),
    })
}

/// A whole number, a number without a fraction, or the first whole number in a text.
fn whole_number(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => number.as_i64().or_else(|| {
            let float =
                number.as_f64().filter(|float| float.fract() == 0.0 && float.abs() < 1e15)?;
            format!("{float:.0}").parse().ok()
        }),
        Value::String(text) => {
            let start = text.find(|c: char| c.is_ascii_digit())?;
            let is_negative = text[..start].ends_with('-');
            let digits: String = text[start..].chars().take_while(char::is_ascii_digit).collect();
            let number: i64 = digits.parse().ok()?;
            Some(if is_negative { -number } else { number })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reply::parse_object;
    use rstest::rstest;

    #[rstest]
    #[case("3", Some(3), false)]
    #[case("3.0", Some(3), false)]
    #[case("\"about 2 edits\"", Some(2), false)]
    #[case("0", Some(0), false)]
    #[case("-4", Some(0), true)]
    #[case("\"-4\"", Some(0), true)]
    #[case("99", Some(5), true)]
    #[case("true", None, false)]
    #[case("2.5", None, false)]
    #[case("\"none\"", None, false)]
    #[case("null", None, false)]
    fn a_wish_is_read_generously_and_kept_within_what_there_is(
        #[case] json: &str,
        #[case] expect: Option<u32>,
        #[case] clamped: bool,
    ) {
        let parsed = parse_object(&format!("{{\"learning_rate\": {json}}}")).expect("object");
        let decision = read_wish(&parsed).ok().map(|wish| granted(wish, 5));
        assert_eq!(decision.as_ref().map(|decision| decision.learning_rate), expect);
        assert_eq!(decision.is_some_and(|decision| decision.clamped), clamped);
    }

    #[test]
    fn without_a_readable_wish_nothing_is_changed() {
        let decision = refused(5, "no number".into());
        assert_eq!((decision.learning_rate, decision.fallback), (0, true));
    }
}
