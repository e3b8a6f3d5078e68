//! Stores of Copilot Chat, Cursor, Pi and Devin.

use super::{ago, instant_ago, lines, write_file};
use serde_json::{Value, json};
use std::io;
use std::path::Path;

pub(super) fn write_copilot_chat(storage: &Path) -> io::Result<()> {
    let here = storage.join("0a1b");
    write_file(&here.join("workspace.json"), br#"{"folder":"file:///w/app"}"#, 60)?;
    write_file(&here.join("chatSessions/chat.jsonl"), &lines(&chat()), 40)?;
    let remote = storage.join("2c3d");
    write_file(&remote.join("workspace.json"), br#"{"folder":"vscode-remote://ssh/w/app"}"#, 60)?;
    write_file(&remote.join("chatSessions/far.jsonl"), &lines(&chat()), 40)
}

fn chat() -> Vec<Value> {
    let request = |id: &str, text: &str, minutes: i64, extension: Value| {
        json!({
            "requestId": id, "message": {"text": text}, "timestamp": instant_ago(minutes).as_ms(),
            "agent": {"extensionId": extension}, "response": [],
        })
    };
    let copilot = || json!({"_lower": "github.copilot-chat", "value": "GitHub.copilot-chat"});
    let mut system = request("c3", "summarise", 47, copilot());
    system["isSystemInitiated"] = true.into();
    vec![
        json!({"kind": 0, "v": {"sessionId": "chat-1", "creationDate": instant_ago(50).as_ms(), "requests": []}}),
        json!({"kind": 2, "k": ["requests"], "v": [request("c1", "Explain the cache", 49, copilot())]}),
        json!({"kind": 2, "k": ["requests", 0, "response"], "v": [{"value": "It "}, {"kind": "toolInvocationSerialized", "toolId": "copilot_readFile", "pastTenseMessage": {"value": "planted result"}}, {"kind": "thinking", "value": "planted thought"}, {"kind": "markdownContent", "content": {"value": "caches."}}]}),
        json!({"kind": 1, "k": ["requests", 0, "modelState"], "v": {"completedAt": instant_ago(48).as_ms()}}),
        json!({"kind": 2, "k": ["requests"], "v": [request("c2", "another extension", 48, json!("other.ext")), system]}),
        json!({"kind": 7}),
        json!({"kind": 2, "k": ["requests"], "v": [request("c4", "Thanks, that works", 46, json!("GitHub.copilot-chat"))]}),
    ]
}

pub(super) fn write_cursor(home: &Path) -> io::Result<()> {
    let say = |role: &str, text: &str| json!({"role": role, "message": {"content": [{"type": "text", "text": text}]}});
    let app = home.join("projects/w-app");
    write_file(&app.join(".workspace-trusted"), br#"{"workspacePath":"/w/app"}"#, 60)?;
    let session = lines(&[
        say("user", "<context>x</context>\n<user_query>\nSort the imports\n</user_query>"),
        json!({"role": "assistant", "message": {"content": [{"type": "text", "text": "Sorted"}, {"type": "tool_use", "name": "edit_file"}]}}),
        json!({"type": "turn_ended", "status": "error"}),
        say("user", "<user_query>Nope, undo</user_query>"),
    ]);
    write_file(&app.join("agent-transcripts/cur-1/cur-1.jsonl"), &session, 45)?;
    let replay =
        lines(&[say("user", "<skillopt_sleep_internal_replay_v1>\nwork"), say("user", "more")]);
    write_file(&app.join("agent-transcripts/cur-2/cur-2.jsonl"), &replay, 45)
}

pub(super) fn write_pi(home: &Path) -> io::Result<()> {
    let sessions = home.join("agent/sessions/--w-app--");
    let head = |id: &str| json!({"type": "session", "version": 3, "id": id, "cwd": "/w/app", "timestamp": ago(40)});
    let entry = |id: &str, parent: Option<&str>, minutes: i64, message: Value| json!({"type": "message", "id": id, "parentId": parent, "timestamp": ago(minutes), "message": message});
    let user = |text: &str| json!({"role": "user", "content": [{"type": "text", "text": text}]});
    let tree = lines(&[
        head("pi-tree"),
        entry("a", None, 39, user("Draw the graph")),
        entry(
            "b",
            Some("a"),
            38,
            json!({"role": "assistant", "content": [{"type": "thinking", "thinking": "planted thought"}, {"type": "text", "text": "First try"}]}),
        ),
        entry("c", Some("b"), 37, user("Abandoned branch")),
        entry(
            "d",
            Some("a"),
            36,
            json!({"role": "assistant", "content": [{"type": "toolCall", "name": "bash"}, {"type": "text", "text": "Second try"}]}),
        ),
        entry(
            "e",
            Some("d"),
            35,
            json!({"role": "toolResult", "toolName": "write", "isError": true, "content": [{"type": "text", "text": "planted result"}]}),
        ),
        entry("f", Some("e"), 34, user("Great")),
    ]);
    write_file(&sessions.join("tree.jsonl"), &tree, 34)?;
    let broken = lines(&[head("pi-broken"), entry("a", Some("zz"), 39, user("Lost"))]);
    write_file(&sessions.join("broken.jsonl"), &broken, 34)?;
    let linear = lines(&[
        json!({"type": "session", "id": "pi-linear", "cwd": "/w/app", "timestamp": ago(33)}),
        json!({"type": "message", "timestamp": ago(32), "message": user("Line by line")}),
    ]);
    write_file(&sessions.join("linear.jsonl"), &linear, 32)
}

pub(super) fn write_devin(home: &Path) -> io::Result<()> {
    let step = |source: &str, message: &str, minutes: i64| json!({"source": source, "message": message, "timestamp": ago(minutes)});
    let transcript = json!({
        "schema_version": "ATIF-v1.4", "session_id": "devin-1",
        "steps": [step("system", "You are Devin", 31), step("user", "Bump the version in /w/app", 31), step("agent", "Bumped, tests pass", 30)],
    });
    write_file(&home.join("transcripts/one.json"), transcript.to_string().as_bytes(), 30)?;
    write_file(&home.join("transcripts/foreign.json"), br#"{"schema_version":"other"}"#, 30)?;
    let memories = json!({"mem:memories": {
        "mem-1": {"title": "Style of app", "content": "Use tabs"},
        "mem-2": {"title": "Elsewhere", "content": "in other"},
        "mem-3": 7,
    }});
    write_file(&home.join("standalone.json"), memories.to_string().as_bytes(), 29)
}
