//! The other agents.

use super::{Fixture, counts, ids, report, session};
use crate::digest::SessionDigest;
use crate::harvest::{HarvestState, Source, SourceState, harvest};
use rusqlite::Connection;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

#[test]
fn f13_c09_codex_turns_that_are_written_twice_count_once() {
    let found = Fixture::new().harvest(Source::Codex);
    let live = session(&found, "codex-live");
    assert_eq!(live.user_prompts, ["Run the tests", "continue", "continue"]);
    assert_eq!(live.assistant_finals, ["They pass", "Done, token [REDACTED_GITHUB_TOKEN]"]);
    assert_eq!((live.n_user_turns, live.n_assistant_turns), (3, 2));
    assert_eq!(live.tools_used, ["exec_command", "apply_patch"]);
    assert_eq!((live.project.as_str(), live.git_branch.as_str()), ("/w/app", "feature"));
    let archived = session(&found, "codex-archived");
    assert_eq!(archived.user_prompts, ["Rename the flag", "Still wrong"]);
    assert_eq!(archived.feedback_signals, ["neg:still wrong"]);
    assert_eq!(archived.started_at, "2026-01-10T10:25:00Z");
    let report = report(&found);
    assert_eq!(counts(&report.dropped), json!({"own_call": 1, "subagent": 1, "duplicate": 1}));
    assert_eq!(counts(&report.refused), json!({"compressed": 1}));
    assert_eq!(counts(&report.skipped), json!({"unknown_type": 2}));
}

#[test]
fn copilot_chat_is_what_its_operations_build() {
    let found = Fixture::new().harvest(Source::Copilot);
    let chat = session(&found, "chat-1");
    assert_eq!(chat.user_prompts, ["Explain the cache", "Thanks, that works"]);
    assert_eq!(chat.assistant_finals, ["It caches."]);
    assert_eq!(chat.tools_used, ["copilot_readFile"]);
    assert_eq!(chat.feedback_signals, ["pos:that works", "pos:thanks"]);
    assert_eq!(
        (chat.started_at.as_str(), chat.ended_at.as_str()),
        ("2026-01-10T11:10:00Z", "2026-01-10T11:14:00Z")
    );
    assert_eq!(counts(&report(&found).dropped), json!({"no_project": 1}));
}

#[test]
fn copilot_cli_sessions_come_from_the_database() {
    let fixture = Fixture::new();
    let found = fixture.harvest(Source::CopilotCli);
    let path = fixture.stores.path("copilot.db");
    let expected = SessionDigest {
        session_id: "cli-1".to_owned(),
        project: "/w/app".to_owned(),
        git_branch: "dev".to_owned(),
        started_at: "2026-01-10T11:32:00Z".to_owned(),
        ended_at: "2026-01-10T11:34:00Z".to_owned(),
        user_prompts: vec!["Add a flag --fast".to_owned(), "Works now, thanks".to_owned()],
        assistant_finals: vec!["Added".to_owned()],
        tools_used: vec!["edit".to_owned()],
        files_touched: vec!["src/cli.rs".to_owned()],
        feedback_signals: vec!["pos:works now".to_owned(), "pos:thanks".to_owned()],
        n_user_turns: 2,
        n_assistant_turns: 1,
        raw_path: format!("{}#cli-1", path.display()),
        source: Some(Source::CopilotCli),
        ..SessionDigest::default()
    };
    assert_eq!(found.digests, [expected]);
    assert_eq!(counts(&report(&found).dropped), json!({"own_call": 1, "no_project": 1}));
}

#[test]
fn cursor_queries_are_unwrapped_and_replays_dropped() {
    let found = Fixture::new().harvest(Source::Cursor);
    assert_eq!(ids(&found), ["cur-1"]);
    let cursor = session(&found, "cur-1");
    assert_eq!(cursor.user_prompts, ["Sort the imports", "Nope, undo"]);
    assert_eq!(cursor.feedback_signals, ["neg:cursor_turn_error", "neg:nope", "neg:undo"]);
    assert_eq!(cursor.tools_used, ["edit_file"]);
    assert_eq!(
        (cursor.project.as_str(), cursor.ended_at.as_str()),
        ("/w/app", "2026-01-10T11:15:00Z")
    );
    assert_eq!(counts(&report(&found).dropped), json!({"own_call": 1}));
}

#[test]
fn pi_takes_the_last_branch_and_no_broken_tree() {
    let found = Fixture::new().harvest(Source::Pi);
    assert_eq!(ids(&found), ["pi-linear", "pi-tree"]);
    let tree = session(&found, "pi-tree");
    assert_eq!(tree.user_prompts, ["Draw the graph", "Great"]);
    assert_eq!(tree.assistant_finals, ["Second try"]);
    assert_eq!(tree.tools_used, ["bash", "write"]);
    assert_eq!(counts(&report(&found).dropped), json!({"broken": 1}));
}

#[test]
fn opencode_takes_root_sessions_of_persons() {
    let found = Fixture::new().harvest(Source::Opencode);
    assert_eq!(ids(&found), ["oc-1"]);
    let opencode = session(&found, "oc-1");
    assert_eq!(opencode.user_prompts, ["Write the docs"]);
    assert_eq!(opencode.assistant_finals, ["Written"]);
    assert_eq!(opencode.tools_used, ["edit"]);
    assert_eq!(opencode.feedback_signals, ["neg:opencode_message_error"]);
    assert_eq!(opencode.git_branch, "oc");
    assert_eq!(counts(&report(&found).dropped), json!({"own_call": 1, "subagent": 1, "broken": 1}));
}

#[test]
fn devin_sessions_are_told_by_the_name_of_the_project() {
    let found = Fixture::new().harvest(Source::Devin);
    assert_eq!(ids(&found), ["mem-1", "devin-1"]);
    assert_eq!(session(&found, "devin-1").user_prompts, ["Bump the version in /w/app"]);
    assert_eq!(session(&found, "mem-1").user_prompts, ["Style of app\nUse tabs"]);
    assert_eq!(counts(&report(&found).dropped), json!({"out_of_scope": 1}));
    assert_eq!(counts(&report(&found).refused), json!({"wrong_shape": 1}));
}

#[test]
fn c106_a_database_that_is_written_to_yields_nothing_and_says_so() {
    let fixture = Fixture::new();
    let path = fixture.stores.path("copilot.db");
    let writer = Connection::open(&path).unwrap();
    writer.execute_batch("PRAGMA cache_spill = 1; BEGIN EXCLUSIVE; INSERT INTO turns VALUES ('cli-1', 2, 'x', 'y')").unwrap();
    let found = fixture.harvest(Source::CopilotCli);
    writer.execute_batch("COMMIT").unwrap();
    assert_eq!(report(&found).state, SourceState::Locked);
    assert!(found.nothing_because().unwrap().contains("is writing to its database"));
    assert_eq!(ids(&fixture.harvest(Source::CopilotCli)), ["cli-1"]);
}

#[test]
fn c106_a_reader_of_a_write_ahead_log_never_stops_the_writer() {
    let fixture = Fixture::new();
    let path = fixture.stores.path("copilot.db");
    let writer = Connection::open(&path).unwrap();
    writer.execute_batch("PRAGMA journal_mode = WAL; BEGIN IMMEDIATE; INSERT INTO turns VALUES ('cli-1', 2, 'Unseen', 'y')").unwrap();
    let found = fixture.harvest(Source::CopilotCli);
    writer.execute_batch("COMMIT").unwrap();
    assert_eq!(session(&found, "cli-1").user_prompts.len(), 2);
    assert_eq!(session(&fixture.harvest(Source::CopilotCli), "cli-1").user_prompts.len(), 3);
}

/// Every file below a folder with its bytes, by its path. A link that leads nowhere is none.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(self::files(&path));
        } else if path.is_file() {
            files.insert(path.clone(), std::fs::read(&path).unwrap());
        }
    }
    files
}

#[test]
fn a_harvest_leaves_no_file_behind_and_changes_none() {
    let fixture = Fixture::new();
    let before = files(fixture.folder.path());
    harvest(&fixture.stores.options(), &HarvestState::default());
    assert!(before.len() > 10, "{:?}", before.keys());
    assert!(files(fixture.folder.path()) == before);
}

#[test]
fn what_tools_said_and_what_agents_thought_is_in_no_digest() {
    let fixture = Fixture::new();
    let stored = files(fixture.folder.path()).into_values().collect::<Vec<_>>().concat();
    let stored = String::from_utf8_lossy(&stored);
    assert!(stored.matches("planted result").count() >= 5, "the stores hold some");
    assert!(stored.matches("planted thought").count() >= 5, "the stores hold some");
    let found = harvest(&fixture.stores.options(), &HarvestState::default());
    let told = serde_json::to_string(&found.digests).unwrap();
    assert!(!told.contains("planted"), "{told}");
}

#[test]
fn secrets_are_masked_at_harvest_whoever_kept_them() {
    let fixture = Fixture::new();
    let secret = format!(" ghp_{}", "b".repeat(36));
    let plant = |file: &str, words: &str| {
        let path = fixture.stores.path(file);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(words), "{file}");
        std::fs::write(&path, text.replace(words, &format!("{words}{secret}"))).unwrap();
    };
    plant("vscode/0a1b/chatSessions/chat.jsonl", "Explain the cache");
    plant("cursor/projects/w-app/agent-transcripts/cur-1/cur-1.jsonl", "Sort the imports");
    plant("pi/agent/sessions/--w-app--/linear.jsonl", "Line by line");
    plant("devin/transcripts/one.json", "Bumped, tests pass");
    for (file, change) in [
        ("copilot.db", "UPDATE turns SET user_message = user_message || ?1"),
        ("opencode.db", "UPDATE part SET data = replace(data, 'the docs', 'the docs' || ?1)"),
    ] {
        let database = Connection::open(fixture.stores.path(file)).unwrap();
        assert!(database.execute(change, [&secret]).unwrap() > 0, "{file}");
    }
    let found = harvest(&fixture.stores.options(), &HarvestState::default());
    let told = serde_json::to_string(&found).unwrap();
    assert!(!told.contains("ghp_"), "{told}");
    for source in Source::ALL {
        let own = found.digests.iter().filter(|digest| digest.source == Some(source));
        let text = serde_json::to_string(&own.collect::<Vec<_>>()).unwrap();
        assert!(text.contains("[REDACTED_"), "{source}: {text}");
    }
}

#[test]
fn every_session_of_a_database_counts_once_whatever_became_of_it() {
    let fixture = Fixture::new();
    let sums = |found: &crate::harvest::Harvest| {
        let report = report(found);
        (report.sessions, report.kept + report.dropped.values().sum::<u64>())
    };
    for (source, n_sessions) in [(Source::CopilotCli, 3), (Source::Opencode, 4)] {
        let options = fixture.options(source);
        let first = harvest(&options, &HarvestState::default());
        assert_eq!(sums(&first), (n_sessions, n_sessions), "{source}");
        assert_eq!(sums(&harvest(&options, &first.state)), (n_sessions, n_sessions), "{source}");
        let mut none = options;
        none.limits.max_sessions = Some(0);
        let found = harvest(&none, &HarvestState::default());
        assert_eq!(sums(&found), (n_sessions, n_sessions), "{source}");
    }
}

#[test]
fn a_database_of_another_shape_is_named() {
    let fixture = Fixture::new();
    let path = fixture.stores.path("opencode.db");
    Connection::open(&path).unwrap().execute_batch("ALTER TABLE part DROP COLUMN data").unwrap();
    let found = fixture.harvest(Source::Opencode);
    assert_eq!(report(&found).state, SourceState::Unsupported);
    assert!(report(&found).remarks[0].contains("part.data"));
    std::fs::write(&path, "no database at all, but long enough to be looked at as one".repeat(40))
        .unwrap();
    assert_eq!(report(&fixture.harvest(Source::Opencode)).state, SourceState::Unsupported);
}
