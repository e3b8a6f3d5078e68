//! Reading edits from a reply: an object with `edits`, or a list, with or without prose around it. Pure.

use serde_json::{Map, Value};
use skillopt_domain::night::edit::{EditOp, EditRecord, Target};
use skillopt_engine::reply::{parse_array, parse_object};

/// Most edits of a reply that are read.
const MAX_EDITS: usize = 64;

/// Edits that a reply holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadEdits {
    /// Those that can be tried.
    pub edits: Vec<EditRecord>,
    /// Those that say nothing, or that name no known operation.
    pub n_dropped: u32,
}

/// Reads the edits of a reply. `target` is the document of an edit that names none. An empty list is an answer.
///
/// # Errors
/// In words for the model, when the reply holds no list of edits.
pub fn read_edits(text: &str, target: Target) -> Result<ReadEdits, String> {
    let items = items_of(text)?;
    let mut read = ReadEdits::default();
    for item in items {
        match edit_of(&item, target) {
            Some(edit) if !read.edits.contains(&edit) => read.edits.push(edit),
            _ => read.n_dropped += 1,
        }
    }
    Ok(read)
}

fn items_of(text: &str) -> Result<Vec<Map<String, Value>>, String> {
    let object = match parse_object(text) {
        Ok(parsed) => parsed.object,
        // An array of edits looks like several objects, or, when it is empty, like none.
        Err(error) => return parse_array(text).map_err(|_| error.to_string()),
    };
    match object.get("edits") {
        Some(Value::Array(list)) => {
            Ok(list.iter().filter_map(Value::as_object).take(MAX_EDITS).cloned().collect())
        }
        Some(_) => Err("`edits` is no list".to_owned()),
        None if object.contains_key("op") => Ok(vec![object]),
        None => Err("the JSON object has no `edits`".to_owned()),
    }
}

fn edit_of(item: &Map<String, Value>, target: Target) -> Option<EditRecord> {
    let text = |name: &str| {
        let value = item.get(name).and_then(Value::as_str);
        value.map(|text| text.trim().to_owned()).unwrap_or_default()
    };
    let op = match text("op").to_lowercase().as_str() {
        "add" | "append" => EditOp::Add,
        "delete" | "remove" => EditOp::Delete,
        "replace" | "update" => EditOp::Replace,
        _ => return None,
    };
    let target = match text("target").to_lowercase().as_str() {
        "skill" => Target::Skill,
        "memory" => Target::Memory,
        _ => target,
    };
    let (content, anchor) = (text("content"), text("anchor"));
    let says_something = match op {
        EditOp::Add | EditOp::Replace => !content.is_empty(),
        EditOp::Delete => !(anchor.is_empty() && content.is_empty()),
    };
    says_something.then(|| EditRecord { target, op, content, anchor, rationale: text("rationale") })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn contents(text: &str) -> Result<Vec<String>, String> {
        let read = read_edits(text, Target::Skill)?;
        Ok(read.edits.into_iter().map(|edit| edit.content).collect())
    }

    #[rstest]
    #[case(r#"{"edits": [{"op": "add", "content": "a"}, {"op": "add", "content": "b"}]}"#)]
    #[case(r#"[{"op": "add", "content": "a"}, {"op": "add", "content": "b"}]"#)]
    #[case(
        "```json\n[{\"op\": \"add\", \"content\": \"a\"}, {\"op\": \"add\", \"content\": \"b\"}]\n```"
    )]
    #[case(r#"See [1] and [2]: [{"op": "add", "content": "a"}, {"op": "add", "content": "b"}] as in [3]."#)]
    #[case(
        r#"So: {"edits": [{"op": "add", "content": "a"}, {"op": "append", "content": "b"},]} done"#
    )]
    fn f09_edits_are_found_in_every_form_and_between_brackets(#[case] text: &str) {
        assert_eq!(contents(text), Ok(vec!["a".to_owned(), "b".to_owned()]));
    }

    #[rstest]
    #[case("no edits come to mind")]
    #[case(r#"{"edits": "none"}"#)]
    #[case(r#"{"edits": [{"op": "add", "content": "a"}]} or {"edits": []}"#)]
    #[case("42")]
    #[case(r#"First {"op": "add", "content": "a"} then {"op": "add", "content": "b"}"#)]
    fn what_is_no_list_of_edits_is_asked_again(#[case] text: &str) {
        assert!(contents(text).is_err(), "{text}");
    }

    #[test]
    fn an_empty_list_is_an_answer() {
        assert_eq!(read_edits("[]", Target::Skill), Ok(ReadEdits::default()));
        assert_eq!(read_edits(r#"{"edits": []}"#, Target::Skill), Ok(ReadEdits::default()));
    }

    #[test]
    fn f31_an_edit_may_name_the_other_document() {
        let text =
            r#"[{"op": "add", "content": "a", "target": "memory"}, {"op": "add", "content": "b"}]"#;
        let read = read_edits(text, Target::Skill).expect("readable");
        let targets: Vec<_> = read.edits.iter().map(|edit| edit.target).collect();
        assert_eq!(targets, [Target::Memory, Target::Skill]);
    }

    #[test]
    fn edits_that_say_nothing_are_counted() {
        let text =
            r#"[{"op": "add"}, {"op": "delete", "anchor": "x"}, {"op": "merge", "content": "y"}]"#;
        let read = read_edits(text, Target::Skill).expect("readable");
        assert_eq!((read.edits.len(), read.n_dropped), (1, 2));
    }
}
