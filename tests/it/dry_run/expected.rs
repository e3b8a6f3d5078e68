//! What a harvest of the generated stores must tell, worked out from what the generator writes. Times are minutes before
//! noon of 2026-01-10: what is said 60 minutes before stands here as 11:00.

use super::home::Home;
use anyhow::Context;
use serde_json::{Value, json};
use skillopt_domain::hash::Sha256Hex;

/// Of each source what is worked out here.
const TOLD: [&str; 9] =
    ["source", "state", "files", "sessions", "kept", "skipped", "dropped", "refused", "redactions"];

/// These fields of the sources as they were told.
pub(super) fn told(sources: &Value) -> anyhow::Result<Vec<Value>> {
    let sources = sources.as_array().context("sources")?;
    let field = |source: &Value, name: &str| (name.to_owned(), source[name].clone());
    let of = |source: &Value| TOLD.iter().map(|name| field(source, name)).collect();
    Ok(sources.iter().map(of).collect())
}

/// In every row `files` = those refused + those read, and `sessions` = `kept` + those dropped.
pub(super) fn sources() -> Vec<Value> {
    let row = |source: &str, (files, sessions, kept): (u64, u64, u64), more: Value| {
        json!({
            "source": source, "state": "read", "files": files, "sessions": sessions, "kept": kept,
            "skipped": more["skipped"], "dropped": more["dropped"], "refused": more["refused"],
            "redactions": more["masked"],
        })
    };
    let more = |skipped: Value, dropped: Value, refused: Value, masked: Value| json!({"skipped": skipped, "dropped": dropped, "refused": refused, "masked": masked});
    let none = || json!({});
    vec![
        // Files: 12 sessions that the generator writes, 2 of sub-agents, 3 that are none (empty, a folder, a dangling
        // link), 1 giant and 5 neighbours: 23. Three are refused, and each of the other 20 is a session.
        // Kept: main, broken, usage, resumed, moved, short, old, giant: 8. Dropped: 12.
        row(
            "claude",
            (23, 20, 8),
            more(
                // C01, the cut last line. C03 and C103, zeros and an object without end; null, a list, a text, two
                // messages of other shapes and 3 000 lists: 2 and 6. C04, the image.
                json!({"truncated": 1, "not_json": 2, "wrong_shape": 6, "oversized": 1}),
                // summary; own and replay (C06); agent-x and agent-old (C05); observer; other and the 5 neighbours (C105).
                json!({
                    "no_user_turn": 1, "own_call": 2, "subagent": 2, "other_plugin": 1,
                    "out_of_scope": 6,
                }),
                // C102.
                json!({"empty": 1, "not_a_file": 1, "unreadable": 1}),
                // Both in main: a key in a prompt, a password in an answer.
                json!({"anthropic_key": 1, "assigned": 1}),
            ),
        ),
        // Files: live, old.zst, own, sub, and in the archive live again and archived: 6. One is compressed (C09 f).
        // Of 5 sessions 2 are kept: the archived copy of live and archived; live itself is the copy of a copy.
        row(
            "codex",
            (6, 5, 2),
            more(
                // `brand_new_event`, in live and in its copy (C09 e).
                json!({"unknown_type": 2}),
                json!({"own_call": 1, "subagent": 1, "duplicate": 1}),
                json!({"compressed": 1}),
                // In live, of which one copy counts.
                json!({"github_token": 1}),
            ),
        ),
        // A workspace of this machine and one elsewhere; each log has one operation of an unknown kind.
        row(
            "copilot",
            (2, 2, 1),
            more(json!({"wrong_shape": 2}), json!({"no_project": 1}), none(), none()),
        ),
        row(
            "copilot_cli",
            (1, 3, 1),
            more(none(), json!({"own_call": 1, "no_project": 1}), none(), none()),
        ),
        row("cursor", (2, 2, 1), more(none(), json!({"own_call": 1}), none(), none())),
        row("pi", (3, 3, 2), more(none(), json!({"broken": 1}), none(), none())),
        row(
            "opencode",
            (1, 4, 1),
            more(none(), json!({"own_call": 1, "subagent": 1, "broken": 1}), none(), none()),
        ),
        // Two transcripts, one of another schema, and a file with two memories, one about another project.
        row(
            "devin",
            (3, 3, 2),
            more(none(), json!({"out_of_scope": 1}), json!({"wrong_shape": 1}), none()),
        ),
    ]
}

/// A digest with the fields that are empty in most of them.
fn digest(source: &str, id: &str, path: &str, more: &Value) -> Value {
    let mut digest = json!({
        "session_id": id, "project": "", "git_branch": "", "started_at": "", "ended_at": "",
        "user_prompts": [], "assistant_finals": [], "tools_used": [], "skills_used": [],
        "files_touched": [], "feedback_signals": [], "n_user_turns": 0, "n_assistant_turns": 0,
        "raw_path": path, "source": source,
    });
    for (name, value) in more.as_object().into_iter().flatten() {
        digest[name] = value.clone();
    }
    digest
}

/// The 18 digests, the one that ended last first.
pub(super) fn digests(home: &Home) -> Vec<Value> {
    let mut all =
        [databases(home), editors(home), devin(home), pi(home), claude(home), codex(home)].concat();
    for digest in &mut all {
        digest["project"] = json!(home.project_text());
    }
    // RFC 3339 of one length sorts as text; the fraction of `codex-archived` changes nothing about its place.
    all.sort_by(|a, b| {
        let key = |digest: &Value| digest["ended_at"].as_str().unwrap_or_default().to_owned();
        key(b).cmp(&key(a)).then_with(|| a["raw_path"].as_str().cmp(&b["raw_path"].as_str()))
    });
    all
}

fn claude(home: &Home) -> Vec<Value> {
    let session = |id: &str, (started, ended): (&str, &str), more: &Value| {
        let path = home.text(&format!(".claude/projects/-w-app/{id}.jsonl"));
        let mut digest = digest("claude", id, &path, more);
        (digest["started_at"], digest["ended_at"]) = (json!(started), json!(ended));
        digest["git_branch"] = json!("main");
        digest
    };
    let moves = |verb: &str, end: &str, from: usize| -> Vec<String> {
        (from..=10).map(|n| format!("{verb} {n}{end}")).collect()
    };
    vec![
        // C05: of 14 records in the person's name 3 are words of a person. C07: five messages, each with its own name.
        session(
            "main",
            ("2026-01-10T11:00:00Z", "2026-01-10T11:09:00Z"),
            &json!({
                "user_prompts": [
                    "The login is broken. Fix the parser in src/parse.rs",
                    "That is incorrect, my key is [REDACTED_ANTHROPIC_KEY]",
                    "Perfect, thanks",
                ],
                "assistant_finals": ["I look at it.", "Done.", "Fixed with password=[REDACTED].", "You are welcome."],
                "tools_used": ["Read", "Skill"], "skills_used": ["docs:style"],
                "files_touched": ["src/parse.rs"],
                "feedback_signals": ["neg:incorrect", "pos:perfect", "pos:thanks"],
                "n_user_turns": 3, "n_assistant_turns": 5,
            }),
        ),
        // C01, C03, C100, C103: four records of the person and one of the agent are whole.
        session(
            "broken",
            ("2026-01-10T11:30:00Z", "2026-01-10T11:34:00Z"),
            &json!({
                "user_prompts": ["One", "Two \u{2028} lines", "Three \u{fffd} Latin", "Four"],
                "assistant_finals": ["Half \u{1f600}"], "n_user_turns": 4, "n_assistant_turns": 1,
            }),
        ),
        // C07: one message in three blocks, one that grew, and one without a name are three turns.
        session(
            "usage",
            ("2026-01-10T10:10:00Z", "2026-01-10T10:13:00Z"),
            &json!({
                "user_prompts": ["Count the tokens"],
                "assistant_finals": ["They are", "42 tokens", "Without a name"],
                "tools_used": ["Bash"], "n_user_turns": 1, "n_assistant_turns": 3,
            }),
        ),
        // It begins with all of `usage`: only what came after is asked and counted again.
        session(
            "resumed",
            ("2026-01-10T10:10:00Z", "2026-01-10T10:26:00Z"),
            &json!({
                "user_prompts": ["And the words?"],
                "assistant_finals": ["They are", "42 tokens", "Without a name", "7 words"],
                "tools_used": ["Bash"], "n_user_turns": 1, "n_assistant_turns": 1,
            }),
        ),
        // C105: what was said in `app-two`, and the answer to it, are another project's.
        session(
            "moved",
            ("2026-01-10T10:35:00Z", "2026-01-10T10:39:00Z"),
            &json!({"user_prompts": ["Work here", "Still here", "Back again"], "n_user_turns": 3}),
        ),
        // C06: a short session of a person stays.
        session(
            "short",
            ("2026-01-10T10:50:00Z", "2026-01-10T10:50:00Z"),
            &json!({
                "user_prompts": ["What is 2 + 2?"], "assistant_finals": ["4"],
                "n_user_turns": 1, "n_assistant_turns": 1,
            }),
        ),
        // 9 000 minutes are six days and six hours; the look-back has no limit.
        session(
            "old",
            ("2026-01-04T06:00:00Z", "2026-01-04T06:00:00Z"),
            &json!({"user_prompts": ["Old question"], "n_user_turns": 1}),
        ),
        // C04: the image is gone, the ten turns around it are there; the last five answers are kept.
        session(
            "giant",
            ("2026-01-08T10:02:00Z", "2026-01-08T10:21:00Z"),
            &json!({
                "user_prompts": moves("Move table", "", 1), "assistant_finals": moves("Moved", ".", 6),
                "n_user_turns": 10, "n_assistant_turns": 10,
            }),
        ),
    ]
}

fn codex(home: &Home) -> Vec<Value> {
    let path = |name: &str| home.text(&format!(".codex/archived_sessions/{name}.jsonl"));
    vec![
        // C09 a, b, c, g: turns that are written twice count once; the same word asked again counts again.
        digest(
            "codex",
            "codex-live",
            &path("rollout-live"),
            &json!({
                "git_branch": "feature",
                "started_at": "2026-01-10T10:00:00Z", "ended_at": "2026-01-10T10:08:00Z",
                "user_prompts": ["Run the tests", "continue", "continue"],
                "assistant_finals": ["They pass", "Done, token [REDACTED_GITHUB_TOKEN]"],
                "tools_used": ["exec_command", "apply_patch"],
                "n_user_turns": 3, "n_assistant_turns": 2,
            }),
        ),
        // C09 d: the head has whole seconds, turns have a quarter of a second more.
        digest(
            "codex",
            "codex-archived",
            &path("rollout-archived"),
            &json!({
                "started_at": "2026-01-10T10:25:00Z", "ended_at": "2026-01-10T10:25:00.25Z",
                "user_prompts": ["Rename the flag", "Still wrong"], "assistant_finals": ["Renamed"],
                "feedback_signals": ["neg:still wrong"],
                "n_user_turns": 2, "n_assistant_turns": 1,
            }),
        ),
    ]
}

fn databases(home: &Home) -> Vec<Value> {
    let path = |name: &str| home.text(name);
    vec![
        digest(
            "opencode",
            "oc-1",
            &path(".local/share/opencode/opencode.db#oc-1"),
            &json!({
                "git_branch": "oc",
                "started_at": "2026-01-10T11:35:00Z", "ended_at": "2026-01-10T11:38:00Z",
                "user_prompts": ["Write the docs"], "assistant_finals": ["Written"],
                "tools_used": ["edit"], "feedback_signals": ["neg:opencode_message_error"],
                "n_user_turns": 1, "n_assistant_turns": 1,
            }),
        ),
        digest(
            "copilot_cli",
            "cli-1",
            &path(".copilot/session-store.db#cli-1"),
            &json!({
                "git_branch": "dev",
                "started_at": "2026-01-10T11:32:00Z", "ended_at": "2026-01-10T11:34:00Z",
                "user_prompts": ["Add a flag --fast", "Works now, thanks"],
                "assistant_finals": ["Added"], "tools_used": ["edit"],
                "files_touched": ["src/cli.rs"],
                "feedback_signals": ["pos:works now", "pos:thanks"],
                "n_user_turns": 2, "n_assistant_turns": 1,
            }),
        ),
    ]
}

fn devin(home: &Home) -> Vec<Value> {
    let path = |name: &str| home.text(name);
    vec![
        digest(
            "devin",
            "mem-1",
            &path(".agentmemory/standalone.json#mem-1"),
            &json!({
                "ended_at": "2026-01-10T11:31:00Z",
                "user_prompts": ["Style of app\nUse tabs"], "n_user_turns": 1,
            }),
        ),
        digest(
            "devin",
            "devin-1",
            &path(".local/share/devin/cli/transcripts/one.json"),
            &json!({
                "started_at": "2026-01-10T11:29:00Z", "ended_at": "2026-01-10T11:30:00Z",
                "user_prompts": [format!("Bump the version in {}", home.project_text())],
                "assistant_finals": ["Bumped, tests pass"],
                "n_user_turns": 1, "n_assistant_turns": 1,
            }),
        ),
    ]
}

fn pi(home: &Home) -> Vec<Value> {
    let path = |name: &str| home.text(name);
    vec![
        digest(
            "pi",
            "pi-linear",
            &path(".pi/agent/sessions/--w-app--/linear.jsonl"),
            &json!({
                "started_at": "2026-01-10T11:27:00Z", "ended_at": "2026-01-10T11:28:00Z",
                "user_prompts": ["Line by line"], "n_user_turns": 1,
            }),
        ),
        digest(
            "pi",
            "pi-tree",
            &path(".pi/agent/sessions/--w-app--/tree.jsonl"),
            &json!({
                "started_at": "2026-01-10T11:20:00Z", "ended_at": "2026-01-10T11:26:00Z",
                "user_prompts": ["Draw the graph", "Great"], "assistant_finals": ["Second try"],
                "tools_used": ["bash", "write"], "feedback_signals": ["pos:great"],
                "n_user_turns": 2, "n_assistant_turns": 1,
            }),
        ),
    ]
}

fn editors(home: &Home) -> Vec<Value> {
    let path = |name: &str| home.text(name);
    vec![
        digest(
            "cursor",
            "cur-1",
            &path(".cursor/projects/w-app/agent-transcripts/cur-1/cur-1.jsonl"),
            &json!({
                "ended_at": "2026-01-10T11:15:00Z",
                "user_prompts": ["Sort the imports", "Nope, undo"], "assistant_finals": ["Sorted"],
                "tools_used": ["edit_file"],
                "feedback_signals": ["neg:cursor_turn_error", "neg:nope", "neg:undo"],
                "n_user_turns": 2, "n_assistant_turns": 1,
            }),
        ),
        digest(
            "copilot",
            "chat-1",
            &path(".config/Code/User/workspaceStorage/0a1b/chatSessions/chat.jsonl"),
            &json!({
                "started_at": "2026-01-10T11:10:00Z", "ended_at": "2026-01-10T11:14:00Z",
                "user_prompts": ["Explain the cache", "Thanks, that works"],
                "assistant_finals": ["It caches."], "tools_used": ["copilot_readFile"],
                "feedback_signals": ["pos:that works", "pos:thanks"],
                "n_user_turns": 2, "n_assistant_turns": 1,
            }),
        ),
    ]
}

/// A task for each session but `broken`, whose first words, `One`, are too short to be one: 17. In the order of the
/// digests; whether a task trains or validates is left open.
pub(super) fn tasks(digests: &[Value]) -> Vec<Value> {
    let wanted = digests.iter().filter(|digest| digest["session_id"] != "broken");
    wanted.map(task).collect()
}

fn task(digest: &Value) -> Value {
    let session = digest["session_id"].as_str().unwrap_or_default();
    let texts = |name: &str| digest[name].as_array().cloned().unwrap_or_default();
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
    let (outcome, context, tags, hint): (&str, &str, &[&str], &str) = match session {
        "oc-1" => ("fail", "", &["tools:edit", "branch:oc"], ""),
        "cli-1" => ("success", "- Works now, thanks", &["tools:edit", "branch:dev"], ""),
        "mem-1" | "devin-1" | "pi-linear" => ("unknown", "", &[], ""),
        "pi-tree" => ("success", "- Great", &["tools:bash+write"], ""),
        "cur-1" => ("fail", "- Nope, undo", &["tools:edit_file"], ""),
        "chat-1" => ("success", "- Thanks, that works", &["tools:copilot_readFile"], ""),
        // Blame and praise: blame counts.
        "main" => (
            "fail",
            "- That is incorrect, my key is [REDACTED_ANTHROPIC_KEY]\n- Perfect, thanks",
            &["tools:Read+Skill", "branch:main"],
            "docs:style",
        ),
        "short" | "old" => ("unknown", "", &["branch:main"], ""),
        // Three turns without a word about how it went.
        "moved" => ("mixed", "- Still here\n- Back again", &["branch:main"], ""),
        "resumed" | "usage" => ("unknown", "", &["tools:Bash", "branch:main"], ""),
        "codex-archived" => ("fail", "- Still wrong", &[], ""),
        "codex-live" => (
            "mixed",
            "- continue\n- continue",
            &["tools:exec_command+apply_patch", "branch:feature"],
            "",
        ),
        "giant" => {
            ("mixed", "- Move table 2\n- Move table 3\n- Move table 4", &["branch:main"], "")
        }
        other => panic!("a session that nobody expects: {other}"),
    };
    let context = match context {
        "" => String::new(),
        bullets => format!("Follow-up constraints:\n{bullets}"),
    };
    let intent = text(texts("user_prompts").first());
    let project = text(Some(&digest["project"]));
    let hash = Sha256Hex::of(format!("{project}::{intent}"));
    json!({
        "id": format!("task_{}", &hash.as_str()[..12]),
        "project": project, "intent": intent, "context_excerpt": context, "system": "",
        "attempted_solution": text(texts("assistant_finals").last()),
        "outcome": outcome, "reference_kind": "none", "reference": "", "judge": {},
        "tags": tags, "source_sessions": [session], "split": "", "origin": "real",
        "derived_from": "", "skill_hint": hint,
    })
}
