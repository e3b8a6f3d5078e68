//! Patches as the Python system takes them: as they stand. An item without substance is an item too.

use crate::patch::{Patch, read_edit, read_notes, read_skill_text, read_suggestion, text};
use crate::proposal::Proposal;
use crate::reply::{Parsed, ReplyError};
use serde_json::{Map, Value};
use skillopt_domain::config::UpdateMode;

/// The items of an object; none when there is no list.
fn read_items(object: &Map<String, Value>, mode: UpdateMode) -> Vec<Proposal> {
    let list = object.get(mode.items_key()).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(|item| read_item(item, mode)).collect()
}

fn read_item(item: &Value, mode: UpdateMode) -> Option<Proposal> {
    Some(match mode {
        UpdateMode::Patch => Proposal::Edit(read_edit(item)),
        UpdateMode::RewriteFromSuggestions => {
            Proposal::Suggestion(read_suggestion(item.as_object()?))
        }
        UpdateMode::FullRewriteMinibatch => Proposal::Text(read_skill_text(item.as_object()?)),
    })
}

/// The patch of an analyst: the object `patch`. A reply without one is of use only when it brings notes.
pub(crate) fn read_patch(parsed: &Parsed, mode: UpdateMode) -> Result<Patch, ReplyError> {
    match parsed.object.get("patch") {
        Some(Value::Object(inner)) => {
            Ok(Patch { reasoning: text(inner, "reasoning"), items: read_items(inner, mode) })
        }
        _ if !read_notes(&parsed.object).is_empty() => Ok(Patch::default()),
        _ => Err(ReplyError::Shape("the object has no object `patch`".into())),
    }
}

/// A merged patch: any list of objects will do, an empty one too.
pub(crate) fn read_merged(
    object: &Map<String, Value>,
    mode: UpdateMode,
) -> Result<Patch, ReplyError> {
    match object.get(mode.items_key()) {
        Some(Value::Array(items)) if items.iter().all(Value::is_object) => {
            Ok(Patch { reasoning: text(object, "reasoning"), items: read_items(object, mode) })
        }
        _ => Err(ReplyError::Shape(format!("`{}` must be a list of objects", mode.items_key()))),
    }
}

/// The support of items that do not name theirs: the analyst's own count of its trajectories, at least 1; `None` when
/// it is no number, which ends a run of the Python system.
pub(crate) fn claimed_support(object: &Map<String, Value>) -> Option<u32> {
    let claimed = match object.get("batch_size") {
        None | Some(Value::Null) => 0,
        Some(Value::String(digits)) => digits.trim().parse().ok()?,
        Some(number) => number.as_u64()?,
    };
    Some(u32::try_from(claimed).unwrap_or(u32::MAX).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reply::parse_object;
    use rstest::rstest;

    #[test]
    fn items_without_substance_stay_and_a_reply_without_a_patch_is_lost() {
        let mode = UpdateMode::RewriteFromSuggestions;
        let read = |text: &str| read_patch(&parse_object(text).expect("object"), mode);
        let patch = read(r#"{"patch": {"revise_suggestions": [{"title": "x"}, 7]}}"#);
        assert_eq!(patch.expect("read").items.len(), 1);
        assert!(read(r#"{"revise_suggestions": [{"title": "x"}]}"#).is_err());
        assert!(read(r#"{"appendix_notes": ["a"]}"#).is_ok());
    }

    #[rstest]
    #[case(r#"{"edits": []}"#, true)]
    #[case(r#"{"edits": [{"op": "swap"}]}"#, true)]
    #[case(r#"{"edits": [7]}"#, false)]
    #[case(r#"{"edits": null}"#, false)]
    #[case(r#"{"reasoning": "none"}"#, false)]
    fn a_merge_needs_a_list_of_objects_and_nothing_else(#[case] text: &str, #[case] ok: bool) {
        let parsed = parse_object(text).expect("object");
        assert_eq!(read_merged(&parsed.object, UpdateMode::Patch).is_ok(), ok);
    }

    #[rstest]
    #[case("{}", Some(1))]
    #[case(r#"{"batch_size": 4}"#, Some(4))]
    #[case(r#"{"batch_size": "4"}"#, Some(4))]
    #[case(r#"{"batch_size": "4 trajectories"}"#, None)]
    fn support_is_what_the_analyst_says(#[case] text: &str, #[case] expect: Option<u32>) {
        assert_eq!(claimed_support(&parse_object(text).expect("object").object), expect);
    }
}
