//! Patches as optimizer replies give them. One odd edit never spoils the others.

use crate::reply::{Parsed, ReplyError};
use serde::Serialize;
use serde_json::{Map, Value};
use skillopt_domain::edit::{Edit, EditOp, SourceType};

/// A patch of one minibatch or of a merge.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Patch {
    pub(crate) reasoning: String,
    pub(crate) edits: Vec<Edit>,
}

/// More edits than this in one reply are cut off: no sane patch has them.
const MAX_EDITS: usize = 1000;

/// The edits of an object with a list `edits`. An edit that is no object, or has no operation, is kept as an
/// unknown operation, so that it shows up in the report.
pub(crate) fn read_edits(object: &Map<String, Value>) -> Result<Vec<Edit>, ReplyError> {
    match object.get("edits") {
        Some(Value::Array(items)) => Ok(items.iter().take(MAX_EDITS).map(read_edit).collect()),
        Some(_) => Err(ReplyError::Shape("`edits` must be a list".into())),
        None => Err(ReplyError::Shape("the object has no list `edits`".into())),
    }
}

/// The patch of an analyst's reply: the object `patch`, or the reply itself when it holds the edits.
pub(crate) fn read_patch(parsed: &Parsed) -> Result<Patch, ReplyError> {
    let object = match parsed.object.get("patch") {
        Some(Value::Object(inner)) => inner,
        Some(_) => return Err(ReplyError::Shape("`patch` must be an object".into())),
        None => &parsed.object,
    };
    Ok(Patch { reasoning: text(object, "reasoning"), edits: read_edits(object)? })
}

pub(crate) fn text(object: &Map<String, Value>, key: &str) -> String {
    object.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn read_edit(value: &Value) -> Edit {
    let empty = Map::new();
    let object = value.as_object().unwrap_or(&empty);
    let op = object.get("op").and_then(Value::as_str).map_or_else(
        || EditOp::Unknown(cut(&value.to_string(), 80)),
        |word| EditOp::from(word.to_owned()),
    );
    let field = |key: &str| object.get(key).and_then(Value::as_str).map(str::to_owned);
    let source_type = match object.get("source_type").and_then(Value::as_str) {
        Some("success") => SourceType::Success,
        _ => SourceType::Failure,
    };
    let support = object.get("support_count").and_then(Value::as_u64).unwrap_or_default();
    Edit {
        op,
        target: field("target"),
        content: field("content"),
        support_count: u32::try_from(support).unwrap_or(u32::MAX),
        source_type,
        merge_level: 0,
    }
}

fn cut(text: &str, max: usize) -> String {
    text.chars().take(max).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reply::parse_object;

    #[test]
    fn c21_an_odd_edit_is_kept_as_unknown_and_the_others_stay() {
        let parsed = parse_object(
            r#"{"patch": {"reasoning": "r", "edits": [7, {"op": "append", "content": "- x"}, {"content": "y"}]}}"#,
        )
        .expect("read");
        let patch = read_patch(&parsed).expect("patch");
        assert_eq!(patch.edits.len(), 3);
        assert!(matches!(patch.edits[0].op, EditOp::Unknown(_)));
        assert_eq!(patch.edits[1].op, EditOp::Append);
        assert!(matches!(patch.edits[2].op, EditOp::Unknown(_)));
    }

    #[test]
    fn c34_a_hundred_thousand_edits_are_cut() {
        let edits = vec![r#"{"op":"append","content":"x"}"#; 100_000].join(",");
        let parsed = parse_object(&format!(r#"{{"edits":[{edits}]}}"#)).expect("read");
        assert_eq!(read_edits(&parsed.object).expect("edits").len(), MAX_EDITS);
    }
}
