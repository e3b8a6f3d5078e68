//! What a model says about a reply. Its number is believed only when it can be a score.

use super::Judged;
use serde_json::Value;
use skillopt_domain::score::Score;
use skillopt_engine::reply::{ReplyError, parse_object};

/// From this soft score on a reply passes.
pub const RUBRIC_PASS: f64 = 0.8;

/// The judge gave no score. The attempt is then not scored at all; it did not fail.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RubricError {
    /// It cannot be read.
    #[error("the judge's reply cannot be read")]
    Unreadable(#[source] ReplyError),
    /// It has no number.
    #[error("the judge's reply has no number in `score`")]
    NoScore,
    /// The number is no score. It is not rescaled: nobody knows what it is out of.
    #[error("the judge gave {0}, which is not from 0 to 1")]
    OutOfRange(String),
}

/// Reads `{"score": 0..1, "reason": "…"}`. `"85/100"` and `"85%"` say what they are out of and are read so; 85 alone
/// is an error.
///
/// # Errors
/// [`RubricError`] when there is no score from 0 to 1.
pub fn read_rubric(reply: &str) -> Result<Judged, RubricError> {
    let object = parse_object(reply).map_err(RubricError::Unreadable)?.object;
    let value = object.get("score").ok_or(RubricError::NoScore)?;
    let number = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => number_in(text),
        _ => None,
    }
    .ok_or(RubricError::NoScore)?;
    let soft = Score::try_new(number).map_err(|_| RubricError::OutOfRange(value.to_string()))?;
    let reason = object.get("reason").and_then(Value::as_str).unwrap_or_default();
    Ok(Judged {
        hard: Score::from_bool(soft.get() >= RUBRIC_PASS),
        soft,
        rationale: reason.trim().to_owned(),
    })
}

fn number_in(text: &str) -> Option<f64> {
    let text = text.trim();
    let of_hundred = text.strip_suffix('%').or_else(|| {
        text.split_once('/').filter(|(_, of)| of.trim() == "100").map(|(part, _)| part)
    });
    match of_hundred {
        Some(part) => part.trim().parse::<f64>().ok().map(|part| part / 100.0),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case(r#"{"score": 0.8, "reason": "fine"}"#, 0.8, 1.0)]
    #[case(r#"I think [so]: {"score": 0.79, "reason": "{nearly}"} there."#, 0.79, 0.0)]
    #[case(r#"{"score": 1}"#, 1.0, 1.0)]
    #[case(r#"{"score": "0.25"}"#, 0.25, 0.0)]
    #[case(r#"{"score": "85/100"}"#, 0.85, 1.0)]
    #[case(r#"{"score": "85 %"}"#, 0.85, 1.0)]
    fn a_score_is_read(#[case] reply: &str, #[case] soft: f64, #[case] hard: f64) {
        let judged = read_rubric(reply).expect("a score");
        assert!((judged.soft.get() - soft).abs() < 1e-12);
        assert!((judged.hard.get() - hard).abs() < 1e-12);
    }

    #[rstest]
    #[case(r#"{"score": 85}"#)]
    #[case(r#"{"score": -0.1}"#)]
    #[case(r#"{"score": 1.01}"#)]
    #[case(r#"{"score": "NaN"}"#)]
    #[case(r#"{"score": "inf"}"#)]
    #[case(r#"{"score": "850/100"}"#)]
    fn f06_a_number_that_is_no_score_is_an_error(#[case] reply: &str) {
        assert!(matches!(read_rubric(reply), Err(RubricError::OutOfRange(_))));
    }

    #[rstest]
    #[case(r#"{"score": true}"#)]
    #[case(r#"{"score": "good"}"#)]
    #[case(r#"{"reason": "good"}"#)]
    fn a_reply_without_a_number_is_an_error(#[case] reply: &str) {
        assert_eq!(read_rubric(reply), Err(RubricError::NoScore));
    }

    #[test]
    fn prose_is_an_error() {
        assert!(matches!(read_rubric("Very good [indeed]!"), Err(RubricError::Unreadable(_))));
    }
}
