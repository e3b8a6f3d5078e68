//! What repeated, resumed and older events come to.

use super::*;
use crate::hash::Sha256Hex;
use crate::outage::Outage;
use crate::spend::SpendByRole;

fn status(seq: u64, status: RunStatus) -> RunEvent {
    RunEvent {
        seq,
        at_ms: 1000 + seq,
        key: format!("status/{seq}"),
        kind: EventKind::Status { status, detail: None },
    }
}

#[test]
fn an_event_seen_twice_counts_once() {
    let mut view = RunView::default();
    let event = RunEvent {
        seq: 1,
        at_ms: 1,
        key: "warning/x".into(),
        kind: EventKind::Warning { code: "x".into(), message: "look".into() },
    };
    view.apply(&event);
    view.apply(&event);
    assert_eq!(view.warnings, ["look"]);
}

#[test]
fn a_resumed_run_keeps_its_first_start_and_loses_its_end() {
    let view = RunView::of(&[
        status(1, RunStatus::Running),
        status(2, RunStatus::Interrupted),
        status(3, RunStatus::Running),
    ]);
    assert_eq!((view.started_at_ms, view.ended_at_ms), (Some(1001), None));
}

fn slow_update(action: EpochAction) -> EventKind {
    EventKind::SlowUpdated(SlowUpdate {
        epoch: 2,
        step: 4,
        action,
        content: "Look twice.".into(),
        reasoning: String::new(),
        candidate: Some(Sha256Hex::of("with guidance")),
        verdict: None,
        set: None,
        version: 3,
        current_score: Some(0.75),
        current_n: Some(8),
        skill_tokens: 9,
        wall_ms: 1,
        spend: SpendByRole::default(),
        reason: "better".into(),
    })
}

#[test]
fn guidance_that_is_kept_is_a_version_and_may_be_the_best() {
    for (action, n_versions, is_best) in [
        (EpochAction::AcceptNewBest, 1, true),
        (EpochAction::ForceAccept, 1, false),
        (EpochAction::Reject, 0, false),
    ] {
        let view = RunView::of(&[RunEvent {
            seq: 1,
            at_ms: 1,
            key: "slow/0002/updated".into(),
            kind: slow_update(action),
        }]);
        assert_eq!((view.versions.len(), view.best.is_some()), (n_versions, is_best));
        assert_eq!(view.slow_updates.len(), 1);
    }
}

fn at(seq: u64, kind: EventKind) -> RunEvent {
    RunEvent { seq, at_ms: seq, key: format!("event/{seq}"), kind }
}

fn down(seq: u64, model: &str, next_try_ms: u64) -> RunEvent {
    let (endpoint, error) = ("http://x.example/v1".to_owned(), "refused".to_owned());
    let outage = Outage { endpoint, model: model.to_owned(), since_ms: 7, next_try_ms, error };
    at(seq, EventKind::EndpointDown(outage))
}

#[test]
fn an_outage_is_shown_with_its_next_try_until_the_endpoint_answers() {
    let mut view = RunView::of(&[down(1, "a", 10), down(2, "b", 10), down(3, "a", 20)]);
    let shown = |view: &RunView| {
        let pair = |outage: &Outage| (outage.model.clone(), outage.next_try_ms);
        view.outages.iter().map(pair).collect::<Vec<_>>()
    };
    assert_eq!(shown(&view), [("b".to_owned(), 10), ("a".to_owned(), 20)]);
    let (endpoint, model) = ("http://x.example/v1".to_owned(), "b".to_owned());
    let over = at(4, EventKind::EndpointUp { endpoint, model, since_ms: 7 });
    let text = serde_json::to_string(&over).expect("JSON");
    view.apply(&serde_json::from_str(&text).expect("the same event"));
    assert_eq!(shown(&view), [("a".to_owned(), 20)]);
    view.apply(&status(5, RunStatus::Interrupted));
    assert!(view.outages.is_empty(), "nobody waits any more");
}

#[test]
fn rows_and_views_of_older_versions_are_still_read() {
    let row = r#"{"seq": 3, "at_ms": 5, "key": "step/0001/selected", "type": "selected", "step": 1,
        "budget": 2, "ranking": "not_needed", "edits": []}"#;
    let event: RunEvent = serde_json::from_str(row).expect("an old row");
    assert!(matches!(event.kind, EventKind::Selected { budget: 2, .. }));
    let mut view = serde_json::to_value(RunView::default()).expect("JSON");
    for later in [
        "test_last",
        "comparisons",
        "slow_updates",
        "meta_skills",
        "final_selection",
        "costs",
        "outages",
        "adapted",
    ] {
        view.as_object_mut().expect("object").remove(later);
    }
    assert_eq!(serde_json::from_value::<RunView>(view).expect("an old view"), RunView::default());
}
