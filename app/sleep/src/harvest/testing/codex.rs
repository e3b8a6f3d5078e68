//! A store of Codex: live and archived sessions, each turn written twice in the live one.

use super::{ago, instant_ago, lines, write_file};
use serde_json::{Value, json};
use std::io;
use std::path::Path;

fn event(minutes: i64, payload: Value) -> Value {
    json!({"timestamp": ago(minutes), "type": "event_msg", "payload": payload})
}

fn item(minutes: i64, payload: Value) -> Value {
    json!({"timestamp": ago(minutes), "type": "response_item", "payload": payload})
}

/// A turn of the person as new versions write it: as an item and as an event.
fn asked(minutes: i64, text: &str) -> [Value; 2] {
    [
        item(
            minutes,
            json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}),
        ),
        event(minutes, json!({"type": "user_message", "message": text})),
    ]
}

fn answered(minutes: i64, text: &str) -> [Value; 2] {
    [
        item(
            minutes,
            json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}),
        ),
        event(minutes, json!({"type": "agent_message", "message": text})),
    ]
}

fn meta(id: &str, cwd: &str, source: Value) -> Value {
    let payload = json!({
        "id": id, "timestamp": ago(120), "cwd": cwd, "source": source,
        "git": {"branch": "feature"}, "instructions": "x".repeat(200_000),
    });
    json!({"timestamp": ago(120), "type": "session_meta", "payload": payload})
}

pub(super) fn write(home: &Path) -> io::Result<()> {
    let day = home.join("sessions/2026/01/10");
    write_file(&day.join("rollout-live.jsonl"), &lines(&live()), 100)?;
    write_file(&day.join("rollout-old.jsonl.zst"), b"\x28\xb5\x2f\xfd", 100)?;
    let own = [
        vec![meta("own", "/tmp/skillopt-call-x2", json!("exec"))],
        asked(60, "Do the task").to_vec(),
    ];
    write_file(&day.join("rollout-own.jsonl"), &lines(&own.concat()), 60)?;
    let sub =
        [vec![meta("sub", "/w/app", json!({"subagent": "review"}))], asked(60, "Review").to_vec()];
    write_file(&day.join("rollout-sub.jsonl"), &lines(&sub.concat()), 60)?;
    let archive = home.join("archived_sessions");
    write_file(&archive.join("rollout-live.jsonl"), &lines(&live()), 99)?;
    write_file(&archive.join("rollout-archived.jsonl"), &lines(&archived()), 90)
}

fn live() -> Vec<Value> {
    let surroundings = item(
        119,
        json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "<environment_context>\n<cwd>/w/app</cwd>\n</environment_context>"}]}),
    );
    let mut records = vec![meta("codex-live", "/w/app", json!("cli")), surroundings];
    records.extend(asked(118, "Run the tests"));
    let thought = json!([{"type": "summary_text", "text": "planted thought"}]);
    records.push(item(117, json!({"type": "reasoning", "summary": thought})));
    records.push(item(
        117,
        json!({"type": "function_call", "name": "exec_command", "arguments": "{}"}),
    ));
    records.push(item(
        117,
        json!({"type": "function_call_output", "output": "Please revert the planted result"}),
    ));
    records.push(event(117, json!({"type": "token_count", "info": {}})));
    records.push(event(117, json!({"type": "brand_new_event"})));
    records.extend(answered(116, "They pass"));
    records.extend(asked(115, "continue"));
    records.extend(answered(114, "Done, token ghp_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"));
    records.extend(asked(113, "continue"));
    records.push(event(112, json!({"type": "patch_apply_end", "success": true})));
    records
}

/// Items only, times as numbers.
fn archived() -> Vec<Value> {
    let seconds = instant_ago(95).as_ms() / 1000;
    let message = |role: &str, kind: &str, text: &str| json!({"timestamp": format!("{seconds}.25"), "type": "response_item", "payload": {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}});
    vec![
        json!({"timestamp": seconds, "type": "session_meta", "payload": {"id": "codex-archived", "cwd": "/w/app"}}),
        message(
            "user",
            "input_text",
            "# AGENTS.md instructions for /w/app\n<INSTRUCTIONS>\nbe good\n</INSTRUCTIONS>\nRename the flag",
        ),
        message("assistant", "output_text", "Renamed"),
        message("user", "input_text", "Still wrong"),
    ]
}
