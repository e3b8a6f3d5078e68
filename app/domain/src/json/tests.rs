//! Every wire type is read as serde reads it, and every journal row is written again as it was.

use super::{Json, JsonError, from_str};
use crate::api::{
    About, AdoptPreview, ConfigCheck, ConfigView, Curves, Page, Preset, Problem, ProblemCode,
    Receipt, RejectedEdit, RejectedPage, RunDetail, RunSummary, SkillBlame, SkillText, StepDetail,
    TaskMatrix, Trajectory, TrajectoryPage, TrajectoryPair,
};
use crate::epoch::FinalSelection;
use crate::event::{EventKind, Progress, RunEvent};
use crate::hash::Sha256Hex;
use crate::outcome::{Outcome, TaskOutcome};
use crate::prompt::{PromptRow, PromptText};
use crate::run::Phase;
use crate::view::RunView;
use proptest::prelude::*;
use rstest::rstest;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

/// A journal with each kind of event, as it is stored.
const JOURNAL: &str = include_str!("tests/journal.jsonl");

/// The kinds that only some modes have: rewrites, budgets set by the optimizer, and what happens between epochs.
const JOURNAL_OF_MODES: &str = include_str!("tests/journal_modes.jsonl");

const SHA: &str = "abababababababababababababababababababababababababababababababab";
const ID: &str = "0190a0c2-7b1e-7c33-8f00-0123456789ab";
const SPEND: &str = r#"{"calls":3,"cached":1,"failed_attempts":0,"prompt_tokens":10,"completion_tokens":5,"unmetered_calls":0,"cost_usd_micros":7,"unpriced_calls":0}"#;

/// Reads from the text in both ways, and writes the same text again.
fn check<T: DeserializeOwned + Serialize + PartialEq + Debug>(text: &str) -> T {
    let text = text
        .replace("$SHA", SHA)
        .replace("$ID", ID)
        .replace("$SPEND", &format!(r#"{{"target":{SPEND},"optimizer":{SPEND}}}"#));
    let read: T = from_str(&text).unwrap_or_else(|err| panic!("{err} in {text}"));
    assert_eq!(serde_json::from_str::<T>(&text).unwrap(), read);
    assert_eq!(serde_json::to_string(&read).unwrap(), text);
    read
}

const SUMMARY: &str = r#"{"id":"$ID","name":"n","status":"running","detail":null,"benchmark":"searchqa","target_model":"m","optimizer_model":"o","target_simulated":true,"optimizer_simulated":false,"created_at_ms":1,"started_at_ms":2,"ended_at_ms":null,"phase":{"phase":"step","step":2,"stage":"update"},"n_steps":1,"total_steps":4,"n_accepted":1,"n_rejected":0,"baseline_score":0.5,"best_score":0.75,"n_selection":4,"test_initial":null,"test_best":{"hard":0.5,"soft":0.5,"n":6},"spark":[0.5,0.75],"spend":$SPEND,"out_root":"/o","actor":"me"}"#;
const ROW: &str = r#"{"id":7,"set":"test/x","purpose":"test","step":0,"skill":"$SHA","task":"t","title":"Who?","task_type":"qa","outcome":"scored","score":{"hard":1.0,"soft":0.5},"predicted":"p","fail_reason":"","truncated":false,"call":null,"cached":true}"#;

#[test]
fn every_stored_event_is_read_and_written_again_byte_for_byte() {
    let events: Vec<RunEvent> = JOURNAL.lines().map(check).collect();
    let mut kinds: Vec<String> = JOURNAL.lines().filter_map(type_of).collect();
    kinds.dedup();
    assert_eq!(events.len(), 16);
    assert_eq!(kinds.len(), 16 - 1, "the two phases in a row are one kind: {kinds:?}");
    let view = check::<RunView>(&serde_json::to_string(&RunView::of(&events)).unwrap());
    assert_eq!((view.n_accepted, view.seq), (1, 16));
}

#[test]
fn events_of_the_modes_and_between_epochs_are_written_again_byte_for_byte() {
    let kinds: BTreeSet<String> = JOURNAL_OF_MODES.lines().filter_map(type_of).collect();
    assert_eq!(kinds.len(), 11, "{kinds:?}");
    let events: Vec<RunEvent> = JOURNAL_OF_MODES.lines().map(check).collect();
    check::<RunView>(&serde_json::to_string(&RunView::of(&events)).unwrap());
    let last = EventKind::FinalSelected(FinalSelection {
        last: Sha256Hex::of("last"),
        best: Sha256Hex::of("best"),
        last_score: Some(0.5),
        best_score: None,
        promoted: false,
        best_step: 3,
        version: 2,
        reason: "why".to_owned(),
        cost: None,
    });
    check::<EventKind>(&serde_json::to_string(&last).unwrap());
}

fn type_of(line: &str) -> Option<String> {
    let value: serde_json::Value = serde_json::from_str(line).ok()?;
    Some(value["type"].as_str()?.to_owned())
}

#[test]
fn an_event_can_be_looked_at_in_the_words_of_the_journal() {
    for line in JOURNAL.lines().filter(|line| !line.contains('.')) {
        let json = Json::parse(line).unwrap();
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(json.to_string(), serde_json::to_string(&value).unwrap());
        assert_eq!(format!("{json:#}"), serde_json::to_string_pretty(&value).unwrap());
    }
}

#[test]
fn answers_with_events_hold_them_as_the_journal_does() {
    let lines: Vec<&str> = JOURNAL.lines().collect();
    let items = lines.join(",");
    let page: Page<RunEvent> = check(&format!(r#"{{"items":[{items}],"next":"16","total":20}}"#));
    assert_eq!(page.items.len(), 16);
    check::<StepDetail>(&format!(r#"{{"events":[{items}],"before":"$SHA","before_version":0}}"#));
    let view = serde_json::to_string(&RunView::of(&page.items)).unwrap();
    check::<RunDetail>(&format!(
        r#"{{"summary":{SUMMARY},"view":{view},"gate_metric":"hard","caps":{{"max_calls":1,"max_tokens":null,"max_cost_usd_micros":null,"max_ms":null}}}}"#
    ));
    let EventKind::StepFinished(step) = &page.items[12].kind else { panic!("a finished step") };
    let step = serde_json::to_string(step).unwrap();
    check::<Curves>(&format!(r#"{{"steps":[{step}],"n_steps":1}}"#));
}

#[test]
fn rows_and_pages_of_runs_and_trajectories_are_read() {
    check::<RunSummary>(SUMMARY);
    check::<Page<RunSummary>>(&format!(r#"{{"items":[{SUMMARY}],"next":null,"total":1}}"#));
    check::<TrajectoryPage>(&format!(
        r#"{{"items":[{ROW},{ROW}],"next":null,"total":2,"counts":{{"passed":1,"failed":0,"refused":0,"errors":0}}}}"#
    ));
    check::<Trajectory>(&format!(
        r#"{{"row":{ROW},"messages":[{{"role":"user","content":"q"}}],"prompt_tokens":1,"completion_tokens":null,"latency_ms":3,"attempts":1}}"#
    ));
    check::<Progress>(
        r#"{"phase":{"phase":"baseline"},"done":1,"total":2,"errors":0,"spend":$SPEND,"at_ms":5}"#,
    );
}

#[rstest]
#[case(r#"{"task":"t","title":"","task_type":"qa","outcome":"refused","reason":"no","call":null,"cached":false}"#)]
#[case(r#"{"task":"t","title":"","task_type":"qa","outcome":"infra_error","code":"timeout","message":"m","call":null,"cached":false}"#)]
#[case(r#"{"task":"t","title":"","task_type":"qa","outcome":"judge_error","message":"m","call":"$SHA","cached":false}"#)]
fn outcomes_share_the_object_of_their_task(#[case] text: &str) {
    let read: TaskOutcome = check(text);
    assert_ne!(read.outcome.kind().as_str(), "passed");
}

#[test]
fn evidence_is_read() {
    let told = format!(
        r#"{{"row":{ROW},"messages":[],"prompt_tokens":null,"completion_tokens":2,"latency_ms":3,"attempts":1}}"#
    );
    check::<TrajectoryPair>(&format!(
        r#"{{"left":{told},"right":{told},"same":[0,2],"skill":{{"lines":[],"n_added":0,"n_removed":0,"eol_change":null}}}}"#
    ));
    check::<TaskMatrix>(
        r#"{"purposes":["train","selection"],"columns":[{"place":3,"step":2,"version":null,"is_best":false,"skill":"$SHA","repeat":0,"n_passed":1,"n":2,"n_fixed":1,"n_broke":0,"base":1}],"n_columns":9,"rows":[{"task":"t","title":"T","n_fixed":1,"n_broke":0,"cells":[{"state":"fixed","soft":0.5,"id":7,"against":4},{"state":"missing"}]}],"first_row":0,"n_rows":1,"counts":[1,1,0,0,0],"ends":{"versions":[0,4],"n_fixed":1,"n_broke":0,"n_passed":0,"n_failed":0}}"#,
    );
    check::<SkillBlame>(
        r#"{"version":2,"skill":"$SHA","lines":[{"text":"a","origin":0},{"text":"b","origin":1,"before":0}],"origins":[{"origin":"initial","version":0,"n_lines":1,"edit":null,"reason":"","n_trajectories":null},{"origin":"edit","step":3,"number":1,"version":2,"n_lines":1,"edit":{"op":"append","content":"b","support_count":1,"source_type":"failure","merge_level":0},"reason":"r","n_trajectories":5}]}"#,
    );
    check::<RejectedPage>(r#"{"items":[],"next":null,"total":0,"n_gate":1,"n_not_applied":2}"#);
}

#[test]
fn a_measurement_knows_what_it_took_and_older_rows_do_not() {
    let row = r#"{"seq":1,"at_ms":1,"key":"baseline","type":"baseline","skill":"$SHA","score":null,"gate_score":null,"counts":{"passed":0,"failed":0,"refused":0,"errors":1},"set":"s","cost":{"wall_ms":9,"spend":$SPEND}}"#;
    let with: RunEvent = check(row);
    let without: RunEvent = check(&row.replace(r#","cost":{"wall_ms":9,"spend":$SPEND}"#, ""));
    assert_eq!(RunView::of(&[with]).costs.len(), 1);
    assert_eq!(RunView::of(&[without]).costs, []);
}

#[test]
fn the_other_answers_are_read() {
    check::<About>(r#"{"version":"1","data_dir":"/d","adopt_roots":["/a"],"n_runs":3}"#);
    let problem: Problem = check(
        r#"{"type":"about:blank","title":"t","status":422,"detail":"d","instance":"i","code":"bad_config","problems":[{"path":"a.b","place":{"origin":"file","name":"x.yaml","line":3},"message":"m"}]}"#,
    );
    assert_eq!(problem.code, ProblemCode::BadConfig);
    check::<RejectedEdit>(
        r#"{"step":1,"number":2,"report":{"op":"append","content":"c","support_count":1,"source_type":"success","merge_level":0,"status":"over_budget","detail":""},"reason":"r","before":0.5,"after":null,"n":4,"n_fixed":0,"n_broke":1,"n_proposed_again":2,"proposed_again_in":[2,3]}"#,
    );
    check::<ConfigCheck>(
        r#"{"problems":[],"warnings":[],"checks":[{"label":"l","state":"failed","figure":"f","detail":"d"}],"forecast":{"n_train":1,"n_selection":2,"n_test":3,"steps_per_epoch":1,"total_steps":1,"target_calls_max":9,"optimizer_calls_max":8,"estimate":{"parts":[{"part":"rollout","units":2,"target":{"calls":{"low":1,"likely":2,"high":3},"prompt_tokens":{"low":1,"likely":2,"high":3},"completion_tokens":{"low":1,"likely":2,"high":3},"cost_usd_micros":null},"optimizer":{"calls":{"low":0,"likely":0,"high":0},"prompt_tokens":{"low":0,"likely":0,"high":0},"completion_tokens":{"low":0,"likely":0,"high":0},"cost_usd_micros":{"low":0,"likely":0,"high":0}},"wall_ms":{"low":1,"likely":2,"high":3}}],"assumptions":["a"]}}}"#,
    );
    check::<Vec<PromptRow>>(r#"[{"name":"ranking","purpose":"p","origin":"user","hash":"$SHA"}]"#);
    check::<PromptText>(r#"{"text":"t"}"#);
    check::<ConfigView>(
        r#"{"rows":[{"path":"train.seed","value":"42","place":{"origin":"default","name":"","line":null},"default":"42"}],"yaml":"y","wire":[{"role":"target","identity":"{}"}]}"#,
    );
    check::<Preset>(r#"{"name":"n","about":"a","values":{"a.b":"1","c.d":"2"}}"#);
    check::<SkillText>(
        r#"{"sha":"$SHA","text":"t","eol":"cr_lf","tokens":1,"warnings":[{"line":1,"column":2,"message":"m"}],"rendered":{"facts":[{"key":"name","value":"x","line":2}],"nodes":[{"node":"heading","level":1,"children":[{"node":"text","text":"t"}]}],"is_cut":false}}"#,
    );
    check::<AdoptPreview>(
        r#"{"real_path":"/p","is_symlink":false,"live":null,"is_same":false,"diff":{"lines":[{"kind":"added","old_line":null,"new_line":1,"pieces":[{"text":"a","changed":false}]}],"n_added":1,"n_removed":0,"eol_change":["lf","cr"]},"mode":"644","backup":null,"blockers":["b"]}"#,
    );
    check::<Receipt>(
        r#"{"id":"$ID","run":"$ID","path":"p","real_path":"/p","before":null,"after":"$SHA","backup":null,"actor":"me","at_ms":1,"reverted_at_ms":null}"#,
    );
}

#[test]
fn what_a_newer_server_adds_is_skipped_and_what_may_be_missing_is_none() {
    let event: RunEvent = from_str(
        r#"{"new":[1,{"a":null}],"kind":9,"type":"status","seq":1,"status":"done","at_ms":2,"key":"k"}"#,
    )
    .unwrap();
    assert!(matches!(event.kind, EventKind::Status { detail: None, .. }));
    let about: About =
        from_str(r#"{"n_runs":1,"version":"v","later":{},"data_dir":"","adopt_roots":[]}"#)
            .unwrap();
    assert_eq!(about.n_runs, 1);
}

#[rstest]
#[case(r#"{"phase":"step","step":1}"#, "stage: is missing")]
#[case(r#"{"phase":"lunch"}"#, "phase: the word is not known: lunch")]
#[case(r#"{"phase":"step","step":-1,"stage":"update"}"#, "step: the value is out of range")]
#[case(r#"{"phase":"step","step":1,"stage":"x"}"#, "stage: the word is not known: x")]
#[case("[]", "an object is expected")]
fn a_value_of_another_form_is_refused_with_its_place(#[case] text: &str, #[case] error: &str) {
    assert_eq!(from_str::<Phase>(text).unwrap_err().to_string(), error);
}

#[test]
fn an_error_names_the_way_to_its_value() {
    let text = r#"{"items":[{"hard":0.5,"soft":0.5,"n":1},{"hard":0.5,"soft":"x","n":1}],"next":null,"total":2}"#;
    let error: JsonError = from_str::<Page<crate::score::MeanScore>>(text).unwrap_err();
    assert_eq!(error.at(), "items[1]");
    assert!(error.what().contains("soft"), "{}", error.what());
    assert!(from_str::<Phase>("{\"phase\"").is_err(), "half a text is no JSON");
    assert!(from_str::<Sha256Hex>("\"ab\"").unwrap_err().what().contains("64"));
    assert!(from_str::<Outcome>(r#"{"outcome":"scored","score":{"hard":2,"soft":0}}"#).is_err());
}

fn any_json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<u64>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        // Quarters: the parser is exact for them in every set of features.
        any::<i32>().prop_map(|quarters| (f64::from(quarters) / 4.0).into()),
        ".*".prop_map(Into::into),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
            prop::collection::btree_map(".*", inner, 0..6)
                .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn a_value_passes_through_unchanged(value in any_json()) {
        let json: Json = serde_json::from_value(value.clone()).unwrap();
        let again = <serde_json::Value as serde::Deserialize>::deserialize(json);
        prop_assert_eq!(again, Ok(value));
    }

    #[test]
    fn a_value_is_written_as_it_was_read(value in any_json()) {
        let json: Json = serde_json::from_value(value.clone()).unwrap();
        for text in [format!("{json}"), format!("{json:#}")] {
            prop_assert_eq!(&Json::parse(&text).unwrap().to_string(), &json.to_string());
        }
    }

    #[test]
    fn numbers_lists_and_maps_are_read_as_serde_reads_them(
        values in prop::collection::btree_map(".*", prop::collection::vec(any::<Option<i32>>(), 0..4), 0..4),
    ) {
        let text = serde_json::to_string(&values).unwrap();
        prop_assert_eq!(from_str::<BTreeMap<String, Vec<Option<i32>>>>(&text), Ok(values));
    }
}
