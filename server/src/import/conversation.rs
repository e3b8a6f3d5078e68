//! Conversations in the formats of the Python system, as messages that can be shown. Untrusted text stays text.

use serde_json::{Map, Value};
use skillopt_domain::api::TrajectoryMessage;

/// More entries than these are cut off, with a word about it.
const MAX_MESSAGES: usize = 2000;
/// Beginnings of what a benchmark says about an answer, in the voice of the system.
const VERIFICATIONS: [&str; 2] = ["[EVALUATION RESULT]", "[POST-EXECUTION VERIFICATION]"];

/// The messages of one `conversation.json`; `None` when it is no list.
pub(super) fn messages(document: &Value) -> Option<Vec<TrajectoryMessage>> {
    let entries = document.as_array()?;
    let mut messages: Vec<TrajectoryMessage> =
        entries.iter().take(MAX_MESSAGES).flat_map(entry).collect();
    if entries.len() > MAX_MESSAGES {
        let n = entries.len() - MAX_MESSAGES;
        messages
            .push(message("note", format!("{n} more entries of the conversation are not kept")));
    }
    Some(messages)
}

fn entry(entry: &Value) -> Vec<TrajectoryMessage> {
    let Some(object) = entry.as_object() else { return vec![message("other", shown(entry))] };
    let has = |key: &str| object.get(key).is_some_and(|value| !value.is_null());
    if object.get("type").and_then(Value::as_str) == Some("tool_call") || has("cmd") {
        return spoken([("action", text(object, "cmd")), ("observation", text(object, "obs"))]);
    }
    if has("action") && has("env_feedback") {
        return spoken([
            ("reasoning", text(object, "reasoning")),
            ("action", text(object, "action")),
            ("observation", text(object, "env_feedback")),
        ]);
    }
    if !has("content") {
        return vec![message("other", shown(entry))];
    }
    let content = text(object, "content");
    let role = match object.get("role").and_then(Value::as_str) {
        Some("system") if VERIFICATIONS.iter().any(|mark| content.starts_with(mark)) => {
            "verification".to_owned()
        }
        Some(role) => role.chars().filter(|letter| !letter.is_control()).take(40).collect(),
        None => "assistant".to_owned(),
    };
    vec![TrajectoryMessage { role, content }]
}

fn spoken<const N: usize>(parts: [(&str, String); N]) -> Vec<TrajectoryMessage> {
    let said = parts.into_iter().filter(|(_, content)| !content.is_empty());
    said.map(|(role, content)| message(role, content)).collect()
}

pub(super) fn message(role: &str, content: String) -> TrajectoryMessage {
    TrajectoryMessage { role: role.to_owned(), content }
}

/// Text, the text parts of a list, or JSON.
fn text(object: &Map<String, Value>, key: &str) -> String {
    match object.get(key) {
        None | Some(Value::Null) => String::new(),
        Some(Value::Array(parts)) => {
            let texts = parts.iter().map(|part| match part.get("text").and_then(Value::as_str) {
                Some(text) => text.to_owned(),
                None => shown(part),
            });
            texts.collect::<Vec<_>>().join("\n")
        }
        Some(value) => shown(value),
    }
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::json;

    #[rstest]
    #[case(json!({"role": "user", "content": "Who?"}), &[("user", "Who?")])]
    #[case(json!({"type": "message", "turn": 1, "content": "I look."}), &[("assistant", "I look.")])]
    #[case(json!({"type": "tool_call", "cmd": "ls", "obs": "a"}), &[("action", "ls"), ("observation", "a")])]
    #[case(
        json!({"step": 1, "action": "go", "reasoning": "", "env_feedback": "You are there.", "reward": 0, "done": false}),
        &[("action", "go"), ("observation", "You are there.")]
    )]
    #[case(
        json!({"role": "system", "content": "[EVALUATION RESULT] wrong"}),
        &[("verification", "[EVALUATION RESULT] wrong")]
    )]
    #[case(json!({"role": "user", "content": [{"type": "text", "text": "a"}, 7]}), &[("user", "a\n7")])]
    #[case(json!({"odd": 1}), &[("other", "{\"odd\":1}")])]
    #[case(json!(3), &[("other", "3")])]
    fn every_format_becomes_messages(#[case] entry: Value, #[case] expect: &[(&str, &str)]) {
        let messages = messages(&json!([entry])).expect("a list");
        let said: Vec<(&str, &str)> =
            messages.iter().map(|one| (one.role.as_str(), one.content.as_str())).collect();
        assert_eq!(said, expect);
    }

    #[test]
    fn what_is_no_list_is_no_conversation() {
        assert!(messages(&json!({"role": "user"})).is_none());
        let long = messages(&json!(vec![json!({"role": "user", "content": "x"}); 2100]));
        assert_eq!(long.expect("a list").len(), 2001);
    }
}
