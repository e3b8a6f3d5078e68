//! Claude Code.

use super::{Fixture, counts, ids, report, session};
use crate::harvest::{HarvestOptions, HarvestState, Scope, Source, harvest};
use serde_json::json;

#[test]
fn c05_only_the_words_of_the_person_are_prompts() {
    let found = Fixture::new().harvest(Source::Claude);
    let main = session(&found, "main");
    assert_eq!(
        main.user_prompts,
        [
            "The login is broken. Fix the parser in src/parse.rs",
            "That is incorrect, my key is [REDACTED_ANTHROPIC_KEY]",
            "Perfect, thanks"
        ]
    );
    assert_eq!(
        main.assistant_finals,
        ["I look at it.", "Done.", "Fixed with password=[REDACTED].", "You are welcome."]
    );
    assert_eq!(main.tools_used, ["Read", "Skill"]);
    assert_eq!(main.skills_used, ["docs:style"]);
    assert_eq!(main.files_touched, ["src/parse.rs"]);
    assert_eq!((main.n_user_turns, main.n_assistant_turns), (3, 5));
    assert_eq!((main.project.as_str(), main.git_branch.as_str()), ("/w/app", "main"));
    assert_eq!(main.started_at, "2026-01-10T11:00:00Z");
    assert_eq!(main.ended_at, "2026-01-10T11:09:00Z");
}

#[test]
fn f14_a_report_of_a_bug_in_the_first_prompt_is_no_blame() {
    let found = Fixture::new().harvest(Source::Claude);
    assert_eq!(
        session(&found, "main").feedback_signals,
        ["neg:incorrect", "pos:perfect", "pos:thanks"]
    );
}

#[test]
fn f12_c01_c03_c100_c103_broken_lines_lose_only_themselves() {
    let found = Fixture::new().harvest(Source::Claude);
    let broken = session(&found, "broken");
    assert_eq!(broken.user_prompts, ["One", "Two \u{2028} lines", "Three \u{fffd} Latin", "Four"]);
    assert_eq!(broken.assistant_finals, ["Half \u{1f600}"]);
    assert_eq!(
        counts(&report(&found).skipped),
        json!({"truncated": 1, "not_json": 2, "wrong_shape": 6})
    );
    assert_eq!(report(&found).live, 1);
}

#[test]
fn c07_a_message_counts_once_however_often_it_is_written() {
    let found = Fixture::new().harvest(Source::Claude);
    let usage = session(&found, "usage");
    assert_eq!(usage.n_assistant_turns, 3);
    assert_eq!(usage.assistant_finals, ["They are", "42 tokens", "Without a name"]);
    let resumed = session(&found, "resumed");
    assert_eq!(resumed.user_prompts, ["And the words?"]);
    assert_eq!((resumed.n_user_turns, resumed.n_assistant_turns), (1, 1));
    // Five messages of main, one of broken, resumed and short, and three of usage: 30, 7 and 2.
    let total = report(&found).usage.output_tokens;
    assert_eq!(total, 5 * 5 + 5 + 5 + 5 + 39);
}

#[test]
fn c105_a_session_that_moves_is_attributed_by_record() {
    let fixture = Fixture::new();
    let here = fixture.harvest(Source::Claude);
    assert_eq!(session(&here, "moved").user_prompts, ["Work here", "Still here", "Back again"]);
    let options = HarvestOptions { scope: Scope::All, ..fixture.options(Source::Claude) };
    let all = harvest(&options, &HarvestState::default());
    let there = all.digests.iter().find(|digest| digest.project == "/w/app-two").unwrap();
    assert_eq!(
        (there.session_id.as_str(), there.user_prompts.as_slice()),
        ("moved", &["Work there".to_owned()][..])
    );
    assert_eq!(there.assistant_finals, ["Did it there"]);
}

#[test]
fn c06_f48_own_calls_are_dropped_and_a_short_question_is_kept() {
    let found = Fixture::new().harvest(Source::Claude);
    assert_eq!(session(&found, "short").user_prompts, ["What is 2 + 2?"]);
    assert_eq!(ids(&found), ["broken", "main", "short", "moved", "resumed", "usage"]);
    assert_eq!(
        counts(&report(&found).dropped),
        json!({
            "no_user_turn": 1, "own_call": 2, "subagent": 2, "other_plugin": 1, "out_of_scope": 1,
            "before_window": 1,
        })
    );
}

#[test]
fn c102_what_is_no_session_is_listed_with_its_reason() {
    let found = Fixture::new().harvest(Source::Claude);
    let expected = if cfg!(unix) {
        json!({"empty": 1, "not_a_file": 1, "unreadable": 1})
    } else {
        json!({"empty": 1, "not_a_file": 1})
    };
    assert_eq!(counts(&report(&found).refused), expected);
    assert_eq!(report(&found).notes.len(), if cfg!(unix) { 3 } else { 2 });
}

#[test]
fn c10_a_lookback_longer_than_transcripts_live_is_a_warning() {
    let fixture = Fixture::new();
    let options = HarvestOptions { lookback_hours: 60 * 24, ..fixture.options(Source::Claude) };
    let found = harvest(&options, &HarvestState::default());
    let remark = report(&found).remarks.concat();
    assert!(
        remark.starts_with("transcripts are deleted after 30 days, look-back is 60"),
        "{remark}"
    );
    let home = fixture.stores.path("claude");
    std::fs::write(home.join("settings.json"), r#"{"cleanupPeriodDays": 90}"#).unwrap();
    let found = harvest(&options, &HarvestState::default());
    assert!(report(&found).remarks.is_empty());
}

#[test]
fn c04_an_oversized_record_is_skipped_and_the_others_are_read() {
    let fixture = Fixture::new();
    let file = fixture.stores.path("claude/projects/-w-app/giant.jsonl");
    let record = |text: &str| json!({"type": "user", "cwd": "/w/app", "message": {"role": "user", "content": text}});
    let text =
        format!("{}\n{}\n{}\n", record("Before"), record(&"x".repeat(3 << 20)), record("After"));
    std::fs::write(file, text).unwrap();
    let mut options = fixture.options(Source::Claude);
    options.limits.record_bytes = 1 << 20;
    let found = harvest(&options, &HarvestState::default());
    assert_eq!(session(&found, "giant").user_prompts, ["Before", "After"]);
    assert_eq!(report(&found).skipped[&crate::harvest::LineReason::Oversized], 1);
}
