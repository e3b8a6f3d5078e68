//! The simulated optimizer merges patches and orders edits.

use super::rules::{Rule, recognise_line};
use serde_json::{Value, json};
use skillopt_domain::edit::normalised_words;
use std::cmp::Reverse;

/// One patch out of several: edits that say the same become one with their support added up, and no two
/// edits change the same place.
pub(super) fn merge(patches: &str) -> Value {
    let mut kept: Vec<Value> = Vec::new();
    let mut n_read = 0;
    for edit in edits_of(patches) {
        n_read += 1;
        match kept.iter_mut().find(|other| says_the_same(other, &edit)) {
            Some(other) => other["support_count"] = (support(other) + support(&edit)).into(),
            None => kept.push(edit),
        }
    }
    kept.sort_by_key(|edit| (text(edit, "source_type") == "success", Reverse(support(edit))));
    let places: Vec<String> = kept.iter().map(|edit| text(edit, "target").to_owned()).collect();
    for (at, edit) in kept.iter_mut().enumerate() {
        let taken = text(edit, "op") == "replace" && places[..at].contains(&places[at]);
        if taken {
            *edit = moved_to_the_end(edit);
        }
    }
    let reasoning = format!("{n_read} edits came in; {} say something of their own.", kept.len());
    let list = if kept.iter().any(|item| item.get("instruction").is_some()) {
        "revise_suggestions"
    } else {
        "edits"
    };
    json!({ "reasoning": reasoning, list: kept })
}

/// The best edits of a numbered list, by their indices.
pub(super) fn rank(list: &str, n: usize) -> Value {
    let mut entries: Vec<(usize, &str)> = list.lines().filter_map(numbered).collect();
    entries.sort_by_key(|(index, entry)| {
        let rules: Vec<Rule> = recognise_line(entry).collect();
        let start = entry.trim_start();
        let repairs = start.starts_with("op=delete") || start.starts_with("type=remove_rule");
        let harmful = !repairs && rules.iter().any(|rule| rule.is_harmful());
        (harmful, rules.is_empty() && !repairs, Reverse(support_in_words(entry)), *index)
    });
    let selected: Vec<usize> = entries.into_iter().take(n.max(1)).map(|(index, _)| index).collect();
    let reasoning =
        "What mends failures of many tasks comes first; what adds words to answers comes last.";
    json!({ "reasoning": reasoning, "selected_indices": selected })
}

fn edits_of(patches: &str) -> Vec<Value> {
    let start = patches.find(['[', '{']).unwrap_or(patches.len());
    let mut values = serde_json::Deserializer::from_str(&patches[start..]).into_iter::<Value>();
    let mut edits = Vec::new();
    if let Some(Ok(value)) = values.next() {
        collect(value, &mut edits);
    }
    edits
}

// Patches may be in a list, or under the name of their side.
fn collect(value: Value, edits: &mut Vec<Value>) {
    match value {
        Value::Array(items) => items.into_iter().for_each(|item| collect(item, edits)),
        Value::Object(fields)
            if fields.contains_key("op") || fields.contains_key("instruction") =>
        {
            edits.push(Value::Object(fields));
        }
        Value::Object(fields) => fields.into_iter().for_each(|(_, item)| collect(item, edits)),
        _ => {}
    }
}

fn says_the_same(left: &Value, right: &Value) -> bool {
    let takes_out =
        |edit: &Value| text(edit, "op") == "delete" || text(edit, "type") == "remove_rule";
    if takes_out(left) != takes_out(right) {
        return false;
    }
    let rules = |edit: &Value| recognise_line(gist(edit)).collect::<Vec<_>>();
    let own = rules(left);
    normalised_words(gist(left)) == normalised_words(gist(right))
        || (!own.is_empty() && own == rules(right))
}

fn moved_to_the_end(edit: &Value) -> Value {
    json!({
        "op": "append",
        "content": text(edit, "content"),
        "support_count": support(edit),
        "source_type": edit.get("source_type").cloned().unwrap_or_else(|| "failure".into()),
    })
}

fn gist(edit: &Value) -> &str {
    match (text(edit, "content"), text(edit, "instruction")) {
        ("", "") => text(edit, "target"),
        ("", instruction) => instruction,
        (content, _) => content,
    }
}

fn text<'a>(edit: &'a Value, field: &str) -> &'a str {
    edit.get(field).and_then(Value::as_str).unwrap_or_default()
}

fn support(edit: &Value) -> u64 {
    edit.get("support_count").and_then(Value::as_u64).unwrap_or(1)
}

/// `[3] rest` as 3 and rest.
fn numbered(line: &str) -> Option<(usize, &str)> {
    let (index, rest) = line.trim_start().strip_prefix('[')?.split_once(']')?;
    Some((index.parse().ok()?, rest))
}

fn support_in_words(entry: &str) -> u64 {
    let number = entry.rsplit_once("support=").map(|(_, rest)| rest.trim());
    number.and_then(|number| number.parse().ok()).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_that_say_the_same_become_one_with_their_support_added() {
        let patches = r#"[
            {"reasoning": "a", "edits": [{"op": "append", "content": "- Be brief!", "support_count": 7}]},
            {"reasoning": "b", "edits": [
                {"op": "append", "content": "- be brief", "support_count": 2},
                {"op": "replace", "target": "x", "content": "- New", "support_count": 3},
                {"op": "replace", "target": "x", "content": "- Other", "support_count": 1}]}
        ]"#;
        let merged = merge(patches);
        let edits = merged["edits"].as_array().unwrap();
        assert_eq!(edits.len(), 3);
        assert_eq!(edits[0]["support_count"], 9);
        assert_eq!((&edits[1]["op"], &edits[2]["op"]), (&"replace".into(), &"append".into()));
        assert!(edits[2].get("target").is_none());
    }

    #[test]
    fn the_ranking_takes_repairs_before_advice_and_harm_last() {
        let list = "Proposed edits:\n\n\
            [0] op=append target= content=- Always answer in a full sentence. support=9\n\
            [1] op=append target= content=- Read well. support=8\n\
            [2] op=append target= content=- Years: four digits only. support=7\n\n\
            Select the 2 most important edits";
        assert_eq!(rank(list, 2)["selected_indices"], json!([2, 1]));
        assert_eq!(rank(list, 9)["selected_indices"], json!([2, 1, 0]));
    }

    #[test]
    fn something_that_is_no_patch_merges_to_nothing() {
        assert_eq!(merge("no json")["edits"], json!([]));
        assert_eq!(merge("{\"edits\": [")["edits"], json!([]));
    }
}
