//! Reading a reply the way the Python system does: the first thing that can be read is the answer.

use crate::reply::{Parsed, ReplyError, repair, top_level_objects};
use serde_json::Value;

const FENCE: &str = "```";

/// The object of the first fence that says `json`; else all from the first to the last brace; else the one balanced
/// object, repaired. A doubt is no error here.
pub(crate) fn parse_object(text: &str) -> Result<Parsed, ReplyError> {
    let strict = |text: &str| match serde_json::from_str(text) {
        Ok(Value::Object(object)) => Some(Parsed { object, repaired: false }),
        _ => None,
    };
    if let Some(parsed) = first_fence(text).and_then(strict) {
        return Ok(parsed);
    }
    if let Some(parsed) = braces(text).and_then(strict) {
        return Ok(parsed);
    }
    match top_level_objects(text).as_slice() {
        [] => Err(ReplyError::NoObject),
        [one] => match serde_json::from_str(&repair(one)) {
            Ok(object) => Ok(Parsed { object, repaired: true }),
            Err(error) => Err(ReplyError::Broken(error.to_string())),
        },
        many => Err(ReplyError::Ambiguous(many.len())),
    }
}

fn first_fence(text: &str) -> Option<&str> {
    let (_, after) = text.split_once("```json")?;
    after.split_once(FENCE).map(|(inside, _)| inside)
}

fn braces(text: &str) -> Option<&str> {
    text.get(text.find('{')?..=text.rfind('}')?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::bare(r#"{"a": 1}"#, Some(1))]
    #[case::first_fence("```json\n{\"a\": 1}\n```\n```json\n{\"a\": 2}\n```", Some(1))]
    #[case::prose_around(r#"So: {"a": 1}. Done."#, Some(1))]
    #[case::a_trailing_comma(r#"So: {"a": 1,}"#, Some(1))]
    #[case::two_objects(r#"{"a": 1} or {"a": 2}"#, None)]
    #[case::none("no idea", None)]
    fn the_first_thing_that_can_be_read_is_the_answer(
        #[case] text: &str,
        #[case] expect: Option<i64>,
    ) {
        let parsed = parse_object(text).ok();
        assert_eq!(parsed.and_then(|parsed| parsed.object["a"].as_i64()), expect);
    }
}
