//! A store of Claude Code.

use super::{ago, lines, write_file};
use serde_json::{Value, json};
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::Path;

const APP: &str = "/w/app";

fn user(id: &str, minutes: i64, content: impl Into<Value>) -> Value {
    record(id, minutes, "user", json!({"role": "user", "content": content.into()}))
}

fn assistant(id: &str, minutes: i64, message: &str, blocks: Value) -> Value {
    let usage = json!({"input_tokens": 10, "output_tokens": 5});
    let message = json!({"id": message, "role": "assistant", "content": blocks, "usage": usage});
    record(id, minutes, "assistant", message)
}

fn record(id: &str, minutes: i64, kind: &str, message: Value) -> Value {
    json!({
        "type": kind, "uuid": id, "timestamp": ago(minutes), "cwd": APP, "gitBranch": "main",
        "sessionId": "s", "isSidechain": false, "message": message,
    })
}

fn with(mut record: Value, name: &str, value: impl Into<Value>) -> Value {
    record[name] = value.into();
    record
}

fn said(text: &str) -> Value {
    json!([{"type": "text", "text": text}])
}

pub(super) fn write(home: &Path) -> io::Result<()> {
    let app = home.join("projects").join("-w-app");
    write_file(&app.join("main.jsonl"), &main_session(), 50)?;
    write_file(
        &app.join("main/subagents/agent-x.jsonl"),
        &lines(&[user("x1", 60, "find files")]),
        60,
    )?;
    write_file(&app.join("agent-old.jsonl"), &lines(&[user("x2", 60, "find files")]), 60)?;
    write_file(&app.join("broken.jsonl"), &broken_session(), 5)?;
    write_file(&app.join("usage.jsonl"), &usage_session(), 100)?;
    write_file(&app.join("resumed.jsonl"), &resumed_session(), 90)?;
    write_file(&app.join("moved.jsonl"), &moved_session(), 80)?;
    write_file(&app.join("short.jsonl"), &short_session(), 70)?;
    write_file(&app.join("old.jsonl"), &lines(&[user("old1", 9_000, "Old question")]), 9_000)?;
    write_file(&app.join("other.jsonl"), &other_project(), 60)?;
    write_machines(&app)?;
    write_odd_files(&app)
}

/// Three prompts of a person among much of machines.
fn main_session() -> Vec<u8> {
    lines(&[
        json!({"type": "summary", "summary": "Parser work", "leafUuid": "x"}),
        user("m1", 60, "The login is broken. Fix the parser in src/parse.rs"),
        json!({"type": "file-history-snapshot", "snapshot": {"messageId": "m1", "trackedFileBackups": {"src/parse.rs": {"v": 1}}}}),
        with(user("m2", 60, "side question"), "isSidechain", true),
        with(user("m3", 60, "meta words"), "isMeta", true),
        user(
            "m4",
            60,
            "<command-message>init</command-message>\n<command-name>/init</command-name>",
        ),
        user("m5", 60, "<local-command-stdout>\u{1b}[1mbold\u{1b}[22m</local-command-stdout>"),
        assistant("m6", 59, "msg_1", json!([{"type": "thinking", "thinking": "planted thought"}])),
        assistant("m7", 59, "msg_1", said("I look at it.")),
        assistant(
            "m8",
            59,
            "msg_1",
            json!([{"type": "tool_use", "name": "Read", "input": {"file_path": "x"}}]),
        ),
        user(
            "m9",
            58,
            json!([{"type": "tool_result", "tool_use_id": "t", "content": "Please delete the planted result"}]),
        ),
        assistant(
            "m10",
            58,
            "msg_2",
            json!([{"type": "tool_use", "name": "Skill", "input": {"skill": "docs:style"}}]),
        ),
        assistant("m11", 57, "msg_3", said("Done.")),
        user(
            "m12",
            56,
            json!([{"type": "text", "text": "<system-reminder>be brief</system-reminder>"}, {"type": "text", "text": "That is incorrect, my key is sk-ant-api03-aaaaaaaaaaaaaaaaaaaa"}]),
        ),
        user("m13", 55, "[Request interrupted by user]"),
        with(
            user("m14", 55, "This session is being continued from a previous conversation."),
            "isCompactSummary",
            true,
        ),
        with(assistant("m15", 54, "msg_e", said("API Error: 500")), "isApiErrorMessage", true),
        assistant("m16", 53, "msg_4", said("Fixed with password=hunter2.")),
        user("m17", 52, "Perfect, thanks"),
        assistant("m18", 51, "msg_5", said("You are welcome.")),
    ])
}

/// Good records 1 to 6 around all that a file can have, and a seventh that is cut.
fn broken_session() -> Vec<u8> {
    let mut bytes = b"\xef\xbb\xbf".to_vec();
    let mut add = |text: &str, end: &str| bytes.extend(format!("{text}{end}").into_bytes());
    add(&user("b1", 30, "One").to_string(), "\r\n\r\n\n  \n");
    add(&user("b2", 29, "Two \u{2028} lines").to_string(), "\n");
    add(&"\0".repeat(300), "\n");
    for line in [
        "null",
        "[]",
        "\"text\"",
        r#"{"message":"str"}"#,
        r#"{"type":"user","message":{"content":42}}"#,
    ] {
        add(line, "\n");
    }
    add(&format!("{}{}", "[".repeat(3_000), "]".repeat(3_000)), "\n");
    add(r#"{"type":"user","message":{"role":"user","content":{"deep":"#, "\n");
    bytes.extend(
        user("b3", 28, "Three @ Latin")
            .to_string()
            .replace('@', "\u{1}")
            .replace("\\u0001", "\u{1}")
            .into_bytes()
            .iter()
            .map(|byte| if *byte == 1 { 0xb2 } else { *byte }),
    );
    let mut add = |text: &str, end: &str| bytes.extend(format!("{text}{end}").into_bytes());
    add("", "\n");
    add(&user("b4", 27, "Four").to_string(), "\n");
    add(&assistant("b5", 26, "msg_b", said("Half \u{1f600}")).to_string(), "\n");
    add(&user("b6", 25, "Six").to_string()[..40], "");
    bytes
}

fn usage_session() -> Vec<u8> {
    let usage = |output: u64| json!({"input_tokens": 100, "output_tokens": output});
    let message = |id: Option<&str>, blocks: Value, output: u64| {
        let mut message = json!({"role": "assistant", "content": blocks, "usage": usage(output)});
        if let Some(id) = id {
            message["id"] = id.into();
        }
        message
    };
    lines(&[
        user("u1", 110, "Count the tokens"),
        record(
            "u2",
            109,
            "assistant",
            message(Some("msg_u1"), json!([{"type": "thinking", "thinking": "x"}]), 30),
        ),
        record("u3", 109, "assistant", message(Some("msg_u1"), said("They are"), 30)),
        record(
            "u4",
            109,
            "assistant",
            message(Some("msg_u1"), json!([{"type": "tool_use", "name": "Bash", "input": {}}]), 30),
        ),
        record("u5", 108, "assistant", message(Some("msg_u2"), said("42"), 1)),
        record("u6", 108, "assistant", message(Some("msg_u2"), said("42 tokens"), 7)),
        record("u7", 107, "assistant", message(None, said("Without a name"), 2)),
    ])
}

/// Begins with a copy of the session before.
fn resumed_session() -> Vec<u8> {
    let mut bytes = usage_session();
    bytes.extend(lines(&[
        user("r1", 95, "And the words?"),
        assistant("r2", 94, "msg_r", said("7 words")),
    ]));
    bytes
}

fn moved_session() -> Vec<u8> {
    lines(&[
        user("v1", 85, "Work here"),
        with(user("v2", 84, "Still here"), "cwd", "/w/app/sub"),
        with(user("v3", 83, "Work there"), "cwd", "/w/app-two"),
        with(assistant("v4", 82, "msg_v", said("Did it there")), "cwd", "/w/app-two"),
        user("v5", 81, "Back again"),
    ])
}

/// A question that was answered within a second.
fn short_session() -> Vec<u8> {
    lines(&[user("q1", 70, "What is 2 + 2?"), assistant("q2", 70, "msg_q", said("4"))])
}

fn other_project() -> Vec<u8> {
    lines(&[with(user("o1", 61, "Elsewhere"), "cwd", "/w/other")])
}

/// Sessions that no person had.
fn write_machines(app: &Path) -> io::Result<()> {
    let own = with(user("own1", 60, "Answer the task"), "cwd", "/tmp/skillopt-call-x1");
    write_file(&app.join("own.jsonl"), &lines(&[own]), 60)?;
    let replay = user("rep1", 60, "## SKILL\nrules\n\n## TASK\nwork");
    write_file(&app.join("replay.jsonl"), &lines(&[replay]), 60)?;
    let observer = user(
        "obs1",
        60,
        "You are a Claude-Mem, a specialized observer tool for creating searchable memory FOR FUTURE SESSIONS.",
    );
    write_file(&app.join("observer.jsonl"), &lines(&[observer]), 60)
}

/// What looks like a session and is none.
fn write_odd_files(app: &Path) -> io::Result<()> {
    let summary = json!({"type": "summary", "summary": "Only this", "leafUuid": "x"});
    write_file(&app.join("summary.jsonl"), &lines(&[summary]), 60)?;
    write_file(&app.join("empty.jsonl"), b"", 60)?;
    fs::create_dir_all(app.join("folder.jsonl"))?;
    #[cfg(unix)]
    std::os::unix::fs::symlink(app.join("gone"), app.join("dangling.jsonl"))?;
    Ok(())
}

/// Writes a store of `sessions` sessions with about `bytes` bytes in all, most of it results of tools. Returns the bytes.
///
/// # Errors
/// What the file system says.
pub fn big_claude_store(home: &Path, sessions: u32, bytes: u64) -> io::Result<u64> {
    let filler =
        "let value = compute(index, \"column\");\\n  return value.map(|x| x + 1);\\n".repeat(400);
    let per_session = bytes / u64::from(sessions.max(1));
    let mut written = 0;
    for session in 0..sessions {
        let folder = home.join("projects").join(format!("-w-app{}", session % 8));
        fs::create_dir_all(&folder)?;
        let mut out = BufWriter::new(fs::File::create(folder.join(format!("{session:08}.jsonl")))?);
        let mut n = 0;
        let mut turn = 0;
        while n < per_session {
            let block = big_turn(session, turn, &filler);
            out.write_all(block.as_bytes())?;
            n += u64::try_from(block.len()).unwrap_or(u64::MAX);
            turn += 1;
        }
        out.flush()?;
        written += n;
    }
    Ok(written)
}

/// A prompt in twelve, an answer with a tool call, and what the tool returned.
fn big_turn(session: u32, turn: u32, filler: &str) -> String {
    let minutes = i64::from(session % 4000) + 10;
    let id = format!("{session}-{turn}");
    let mut block = String::new();
    if turn.is_multiple_of(12) {
        let prompt = user(
            &format!("{id}-p"),
            minutes,
            format!("Please fix case {turn} in module {session}"),
        );
        block.push_str(&format!("{prompt}\n"));
    }
    let blocks = json!([{"type": "text", "text": "Looking at the module to see how the cache is filled."}, {"type": "tool_use", "name": "Bash", "input": {"command": "cargo test"}}]);
    block.push_str(&format!("{}\n", assistant(&format!("{id}-a"), minutes, &id, blocks)));
    let length = 300 + usize::try_from(turn * 7919 % 6000).unwrap_or(0);
    let result = user(
        &format!("{id}-r"),
        minutes,
        json!([{"type": "tool_result", "tool_use_id": "t", "content": "@"}]),
    );
    block.push_str(&format!(
        "{}\n",
        result.to_string().replace('@', &filler[..cut(filler, length)])
    ));
    block
}

/// A length that halves no escape.
fn cut(filler: &str, length: usize) -> usize {
    filler[..length].rfind(' ').unwrap_or(0)
}
