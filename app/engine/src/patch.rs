//! Patches as optimizer replies give them. One odd item never spoils the others.

use crate::proposal::{Proposal, SkillText, Suggestion};
use crate::reply::{Parsed, ReplyError};
use serde_json::{Map, Value, json};
use skillopt_domain::config::UpdateMode;
use skillopt_domain::edit::{Edit, EditOp, SourceType};

/// A patch of one minibatch or of a merge.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Patch {
    pub(crate) reasoning: String,
    pub(crate) items: Vec<Proposal>,
}

impl Patch {
    /// As it stands in files and prompts: the list has the name that the mode gives it.
    pub(crate) fn to_json(&self, mode: UpdateMode) -> Value {
        json!({"reasoning": self.reasoning, mode.items_key(): self.items})
    }
}

/// More items than this in one reply are cut off: no sane patch has them.
const MAX_ITEMS: usize = 1000;

/// The items of an object. An edit that is no object, or has no operation, is kept as an unknown operation, so
/// that it shows up in the report; suggestions and texts that say nothing are left out.
pub(crate) fn read_items(
    object: &Map<String, Value>,
    mode: UpdateMode,
) -> Result<Vec<Proposal>, ReplyError> {
    let key = mode.items_key();
    let items = match object.get(key) {
        Some(Value::Array(items)) => items,
        Some(_) => return Err(ReplyError::Shape(format!("`{key}` must be a list"))),
        None => return Err(ReplyError::Shape(format!("the object has no list `{key}`"))),
    };
    let items = items.iter().take(MAX_ITEMS);
    Ok(match mode {
        UpdateMode::Patch => items.map(|item| Proposal::Edit(read_edit(item))).collect(),
        UpdateMode::RewriteFromSuggestions => {
            let read = items.filter_map(|item| item.as_object()).map(read_suggestion);
            read.map(Proposal::Suggestion).filter(|item| !item.is_hollow()).collect()
        }
        UpdateMode::FullRewriteMinibatch => {
            let read = items.filter_map(|item| item.as_object()).map(read_skill_text);
            read.map(Proposal::Text).filter(|item| !item.is_hollow()).collect()
        }
    })
}

/// The patch of an analyst's reply: the object `patch`, or the reply itself when it holds the items. A reply may
/// do without when it brings notes.
pub(crate) fn read_patch(parsed: &Parsed, mode: UpdateMode) -> Result<Patch, ReplyError> {
    let object = match parsed.object.get("patch") {
        Some(Value::Object(inner)) => inner,
        Some(Value::Null) | None
            if !parsed.object.contains_key(mode.items_key())
                && !read_notes(&parsed.object).is_empty() =>
        {
            return Ok(Patch::default());
        }
        Some(_) => return Err(ReplyError::Shape("`patch` must be an object".into())),
        None => &parsed.object,
    };
    Ok(Patch { reasoning: text(object, "reasoning"), items: read_items(object, mode)? })
}

/// Notes for the appendix: a list, one text, or objects that hold one.
pub(crate) fn read_notes(object: &Map<String, Value>) -> Vec<String> {
    let one = |value: &Value| match value {
        Value::String(note) => Some(note.trim().to_owned()),
        Value::Object(fields) => {
            let note = text(fields, "note");
            let note = if note.is_empty() { text(fields, "content") } else { note };
            Some(note.trim().to_owned())
        }
        _ => None,
    };
    let notes: Vec<String> = match object.get("appendix_notes") {
        Some(Value::Array(items)) => items.iter().take(MAX_ITEMS).filter_map(one).collect(),
        Some(other) => one(other).into_iter().collect(),
        None => Vec::new(),
    };
    notes.into_iter().filter(|note| !note.is_empty()).collect()
}

/// A list of texts; one text counts as a list of one.
pub(crate) fn texts(object: &Map<String, Value>, key: &str) -> Vec<String> {
    match object.get(key) {
        Some(Value::Array(items)) => {
            items.iter().filter_map(Value::as_str).map(str::to_owned).collect()
        }
        Some(Value::String(one)) if !one.is_empty() => vec![one.clone()],
        _ => Vec::new(),
    }
}

pub(crate) fn text(object: &Map<String, Value>, key: &str) -> String {
    object.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

pub(crate) fn read_suggestion(object: &Map<String, Value>) -> Suggestion {
    let field = |key: &str| text(object, key);
    Suggestion {
        kind: cut(&field("type"), 40),
        title: cut(&field("title"), 200),
        motivation: field("motivation"),
        instruction: field("instruction"),
        priority_hint: cut(&field("priority_hint"), 20),
        support_count: support(object),
        source_type: source(object),
        merge_level: 0,
    }
}

pub(crate) fn read_skill_text(object: &Map<String, Value>) -> SkillText {
    SkillText {
        title: cut(&text(object, "title"), 200),
        change_summary: texts(object, "change_summary"),
        new_skill: text(object, "new_skill"),
        support_count: support(object),
        source_type: source(object),
        merge_level: 0,
    }
}

fn support(object: &Map<String, Value>) -> u32 {
    let support = object.get("support_count").and_then(Value::as_u64).unwrap_or_default();
    u32::try_from(support).unwrap_or(u32::MAX)
}

fn source(object: &Map<String, Value>) -> SourceType {
    match object.get("source_type").and_then(Value::as_str) {
        Some("success") => SourceType::Success,
        _ => SourceType::Failure,
    }
}

pub(crate) fn read_edit(value: &Value) -> Edit {
    let empty = Map::new();
    let object = value.as_object().unwrap_or(&empty);
    let op = object.get("op").and_then(Value::as_str).map_or_else(
        || EditOp::Unknown(cut(&value.to_string(), 80)),
        |word| EditOp::from(word.to_owned()),
    );
    let field = |key: &str| object.get(key).and_then(Value::as_str).map(str::to_owned);
    Edit {
        op,
        target: field("target"),
        content: field("content"),
        support_count: support(object),
        source_type: source(object),
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
    use rstest::rstest;

    #[test]
    fn c21_an_odd_edit_is_kept_as_unknown_and_the_others_stay() {
        let parsed = parse_object(
            r#"{"patch": {"reasoning": "r", "edits": [7, {"op": "append", "content": "- x"}, {"content": "y"}]}}"#,
        )
        .expect("read");
        let patch = read_patch(&parsed, UpdateMode::Patch).expect("patch");
        let ops: Vec<EditOp> =
            patch.items.iter().filter_map(Proposal::edit).map(|edit| edit.op.clone()).collect();
        assert_eq!(ops.len(), 3);
        assert!(matches!(ops[0], EditOp::Unknown(_)));
        assert_eq!(ops[1], EditOp::Append);
        assert!(matches!(ops[2], EditOp::Unknown(_)));
    }

    #[test]
    fn c34_a_hundred_thousand_edits_are_cut() {
        let edits = vec![r#"{"op":"append","content":"x"}"#; 100_000].join(",");
        let parsed = parse_object(&format!(r#"{{"edits":[{edits}]}}"#)).expect("read");
        let items = read_items(&parsed.object, UpdateMode::Patch).expect("edits");
        assert_eq!(items.len(), MAX_ITEMS);
    }

    #[rstest]
    #[case(r#"{"appendix_notes": ["a", {"note": "b"}, {"content": "c"}, 7, " "]}"#, &["a", "b", "c"])]
    #[case(r#"{"appendix_notes": "one"}"#, &["one"])]
    #[case(r#"{"patch": {"edits": []}}"#, &[])]
    fn notes_are_read_in_every_form_that_models_give_them(
        #[case] text: &str,
        #[case] expect: &[&str],
    ) {
        let parsed = parse_object(text).expect("object");
        assert_eq!(read_notes(&parsed.object), expect);
        assert!(read_patch(&parsed, UpdateMode::Patch).is_ok(), "notes alone are a reply");
    }

    #[test]
    fn items_beside_notes_are_not_lost() {
        let text = r#"{"edits": [{"op": "append", "content": "- x"}], "appendix_notes": ["a"]}"#;
        let parsed = parse_object(text).expect("object");
        assert_eq!(read_patch(&parsed, UpdateMode::Patch).expect("patch").items.len(), 1);
    }

    #[test]
    fn suggestions_and_texts_without_substance_are_left_out() {
        let parsed = parse_object(
            r#"{"patch": {"revise_suggestions": [7, {"title": "x"}, {"type": "add_rule", "instruction": "Add it."}],
                          "skill_candidates": [{"title": "t", "new_skill": " "}, {"new_skill": "S", "change_summary": "c"}]}}"#,
        )
        .expect("object");
        let items = |mode| read_patch(&parsed, mode).expect("patch").items;
        assert_eq!(items(UpdateMode::RewriteFromSuggestions).len(), 1);
        let texts = items(UpdateMode::FullRewriteMinibatch);
        assert_eq!(texts[0].note().expect("a text").detail, "c");
        assert_eq!(texts.len(), 1);
    }
}
