//! Checks that a model proposed: those that can be used stay, and patterns are compiled now and not at scoring.

use crate::judge::check_problem;
use serde_json::{Map, Value, json};

/// The checks that can be used, in the form of task files, and what was wrong with the others.
pub(super) fn clean_checks(proposed: &Value) -> (Vec<Value>, Vec<String>) {
    let (mut kept, mut dropped) = (Vec::new(), Vec::new());
    for check in proposed.as_array().into_iter().flatten() {
        let Some(check) = check.as_object() else {
            dropped.push("a check is no object".to_owned());
            continue;
        };
        let check = tidy(check);
        match check_problem(&check) {
            None => kept.push(Value::Object(check)),
            Some(problem) => dropped.push(problem),
        }
    }
    (kept, dropped)
}

/// Only `op` and `arg`; texts without blanks around them, except patterns, and bounds as numbers.
fn tidy(check: &Map<String, Value>) -> Map<String, Value> {
    let op = check.get("op").cloned().unwrap_or_default();
    let arg = check.get("arg").cloned().unwrap_or_default();
    let arg = match (op.as_str(), arg) {
        (Some("no_refusal"), _) => Value::Null,
        (Some("max_chars" | "min_chars"), arg) => {
            crate::judge::char_bound(&arg).map_or(arg, Value::from)
        }
        (Some(op), Value::String(text)) if op != "regex" => text.trim().into(),
        (_, arg) => arg,
    };
    let Value::Object(check) = json!({"op": op, "arg": arg}) else { return Map::new() };
    check
}
