//! One harvest after another.

use super::{Fixture, ids, report};
use crate::harvest::testing::NOW;
use crate::harvest::{DropReason, HarvestOptions, HarvestState, Instant, Scope, Source, harvest};
use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::Write;

#[test]
fn what_has_not_changed_is_not_read_again() {
    let fixture = Fixture::new();
    let options = fixture.stores.options();
    let first = harvest(&options, &HarvestState::default());
    let second = harvest(&options, &first.state);
    assert!(second.digests.is_empty(), "{:?}", ids(&second));
    let unread: u64 = second.sources.iter().map(|report| report.bytes).sum();
    assert_eq!(unread, 0);
    let unchanged: u64 =
        second.sources.iter().filter_map(|report| report.dropped.get(&DropReason::Unchanged)).sum();
    assert_eq!(unchanged, 16);
    assert_eq!(second.state, first.state);
}

#[test]
fn c01_a_record_that_is_completed_later_is_taken_once() {
    let fixture = Fixture::new();
    let options = fixture.options(Source::Claude);
    let first = harvest(&options, &HarvestState::default());
    let path = fixture.stores.path("claude/projects/-w-app/broken.jsonl");
    let rest = r#""cwd":"/w/app","message":{"role":"user","content":"Six"}}"#;
    let text = std::fs::read(&path).unwrap();
    let cut = text.iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    let mut file = std::fs::File::create(&path).unwrap();
    file.write_all(&text[..cut]).unwrap();
    file.write_all(format!("{{\"type\":\"user\",{rest}\n").as_bytes()).unwrap();
    drop(file);
    let second = harvest(&options, &first.state);
    assert_eq!(ids(&second), ["broken"]);
    assert_eq!(second.digests[0].user_prompts.iter().filter(|prompt| *prompt == "Six").count(), 1);
    assert!(!report(&second).skipped.contains_key(&crate::harvest::LineReason::Truncated));
}

#[test]
fn f35_sessions_over_the_cap_come_with_the_next_harvests() {
    let fixture = Fixture::new();
    let mut options = fixture.stores.options();
    let all: BTreeSet<String> = harvest(&options, &HarvestState::default())
        .digests
        .into_iter()
        .map(|digest| digest.session_id)
        .collect();
    options.limits.max_sessions = Some(3);
    let mut state = HarvestState::default();
    let mut taken: Vec<String> = Vec::new();
    loop {
        let found = harvest(&options, &state);
        assert!(found.digests.len() <= 3);
        if found.digests.is_empty() {
            break;
        }
        taken.extend(found.digests.iter().map(|digest| digest.session_id.clone()));
        state = found.state;
    }
    assert_eq!(taken.len(), all.len());
    assert_eq!(taken.into_iter().collect::<BTreeSet<_>>(), all);
}

#[test]
fn another_scope_is_told_from_what_is_known() {
    let fixture = Fixture::new();
    let options = fixture.options(Source::Claude);
    let first = harvest(&options, &HarvestState::default());
    let wider = HarvestOptions { scope: Scope::All, ..options };
    assert_eq!(ids(&harvest(&wider, &first.state)), ["other"]);
}

#[test]
fn a_list_of_projects_takes_their_sessions_and_no_others() {
    let fixture = Fixture::new();
    let options = fixture.options(Source::Claude);
    let take = |list: &[&str]| {
        let list = list.iter().map(|project| (*project).to_owned()).collect();
        let options = HarvestOptions { scope: Scope::List(list), ..options.clone() };
        harvest(&options, &HarvestState::default()).digests
    };
    let projects = |list: &[&str]| -> BTreeSet<String> {
        take(list).into_iter().map(|digest| digest.project).collect()
    };
    assert_eq!(take(&["/w/nowhere"]), []);
    let both = projects(&["/w/app", "/w/other"]);
    assert_eq!(both, BTreeSet::from(["/w/app", "/w/other"].map(str::to_owned)));
    assert_eq!(projects(&["/w/other"]), BTreeSet::from(["/w/other".to_owned()]));
}

#[test]
fn the_state_survives_being_stored() {
    let fixture = Fixture::new();
    let first = harvest(&fixture.stores.options(), &HarvestState::default());
    let stored = serde_json::to_string(&first.state).unwrap();
    assert_eq!(serde_json::from_str::<HarvestState>(&stored).unwrap(), first.state);
}

#[test]
fn c106_what_is_appended_is_for_the_next_harvest() {
    let fixture = Fixture::new();
    let options = fixture.options(Source::Claude);
    let first = harvest(&options, &HarvestState::default());
    let path = fixture.stores.path("claude/projects/-w-app/short.jsonl");
    let mut file = OpenOptions::new().append(true).open(path).unwrap();
    writeln!(file, r#"{{"type":"user","uuid":"q3","cwd":"/w/app","message":{{"role":"user","content":"And 3?"}}}}"#).unwrap();
    drop(file);
    let second = harvest(&options, &first.state);
    assert_eq!(ids(&second), ["short"]);
    assert_eq!(second.digests[0].user_prompts, ["What is 2 + 2?", "And 3?"]);
}

#[test]
fn f35_a_session_that_waited_is_taken_however_old_it_is_by_then() {
    let fixture = Fixture::new();
    let mut options = fixture.options(Source::Claude);
    options.limits.max_sessions = Some(1);
    let first = harvest(&options, &HarvestState::default());
    assert_eq!(ids(&first), ["broken"]);
    let later = HarvestOptions { now: Instant::from_ms(NOW.as_ms() + 40 * 86_400_000), ..options };
    assert_eq!(ids(&harvest(&later, &first.state)), ["main"]);
    assert!(harvest(&later, &HarvestState::default()).digests.is_empty());
}

#[test]
fn results_do_not_depend_on_threads() {
    let fixture = Fixture::new();
    let mut options = fixture.stores.options();
    options.limits.threads = 1;
    let one = harvest(&options, &HarvestState::default());
    options.limits.threads = 7;
    assert_eq!(harvest(&options, &HarvestState::default()), one);
}
