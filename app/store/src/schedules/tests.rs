//! One schedule a project, one server a night, and a memory that does not grow without end.

use super::*;
use crate::nights::NewNight;
use skillopt_domain::ids::NightId;
use skillopt_domain::night::ScheduleOutcomeKind as Kind;

fn id(no: u8) -> ScheduleId {
    ScheduleId::parse(&format!("0190a0c2-7b1e-7c33-8f00-0123456789{no:02x}")).expect("an id")
}

fn new(no: u8, project: &str) -> NewSchedule {
    NewSchedule {
        id: id(no),
        project: project.into(),
        terms: ScheduleTerms {
            options_json: "{}".into(),
            time: ScheduleTime { hour: 3, minute: 30, zone: "Europe/Berlin".into() },
            is_enabled: true,
        },
        served: "2026-11-29".into(),
        actor: "anna".into(),
        at_ms: 1,
    }
}

fn edit(row: &ScheduleRow) -> ScheduleEdit {
    ScheduleEdit {
        revision: row.revision,
        terms: row.terms.clone(),
        served: None,
        actor: "ben".into(),
        at_ms: 2,
    }
}

fn switch_off(row: &ScheduleRow) -> ScheduleEdit {
    ScheduleEdit { terms: ScheduleTerms { is_enabled: false, ..row.terms.clone() }, ..edit(row) }
}

fn outcome(kind: Kind, due_ms: u64) -> OutcomeRow {
    OutcomeRow { kind, due_ms, at_ms: due_ms + 1, night: None, words: String::new() }
}

fn claim(row: &ScheduleRow, after: &str, outcomes: Vec<OutcomeRow>) -> ScheduleClaim {
    ScheduleClaim {
        id: row.id.clone(),
        revision: row.revision,
        before: row.served.clone(),
        after: after.into(),
        outcomes,
    }
}

async fn with_one() -> (Store, ScheduleRow) {
    let store = Store::in_memory().await.expect("a store");
    store.add_schedule(&new(1, "/p")).await.expect("added");
    let row = store.schedule(&id(1)).await.expect("read").expect("there");
    (store, row)
}

#[tokio::test]
async fn a_project_has_one_schedule_and_each_change_is_in_the_audit_log() {
    let (store, row) = with_one().await;
    let second = store.add_schedule(&new(2, "/p")).await;
    assert!(matches!(second, Err(AddScheduleError::Taken(taken)) if taken == id(1)));
    store.add_schedule(&new(2, "/a")).await.expect("another project");
    let all = store.schedules().await.expect("read");
    assert_eq!(all.iter().map(|row| row.project.as_str()).collect::<Vec<_>>(), ["/a", "/p"]);
    let later = switch_off(&row);
    assert!(store.change_schedule(&id(1), &later).await.expect("changed"));
    assert!(store.remove_schedule(&id(1), "ben", 3).await.expect("removed"));
    assert!(!store.remove_schedule(&id(1), "ben", 3).await.expect("nothing"));
    let log = store.audit_log(9).await.expect("read");
    let told: Vec<_> = log.iter().map(|row| (row.action.as_str(), row.detail.as_str())).collect();
    assert_eq!(
        told,
        [
            ("remove_schedule", "/p"),
            ("change_schedule", "at 03:30 Europe/Berlin, off"),
            ("add_schedule", "/a at 03:30 Europe/Berlin"),
            ("add_schedule", "/p at 03:30 Europe/Berlin"),
        ]
    );
}

#[tokio::test]
async fn a_change_of_what_another_changed_meanwhile_is_not_written() {
    let (store, row) = with_one().await;
    assert!(store.change_schedule(&id(1), &edit(&row)).await.expect("changed"));
    assert!(!store.change_schedule(&id(1), &edit(&row)).await.expect("looked"));
    let now = store.schedule(&id(1)).await.expect("read").expect("there");
    assert_eq!(
        (now.revision, now.changed_by.as_str(), now.served.as_str()),
        (1, "ben", row.served.as_str())
    );
    let moved = ScheduleEdit { served: Some("2026-11-30".into()), revision: 1, ..edit(&row) };
    assert!(store.change_schedule(&id(1), &moved).await.expect("changed"));
    let now = store.schedule(&id(1)).await.expect("read").expect("there");
    assert_eq!(now.served, "2026-11-30");
}

#[tokio::test]
async fn c96_of_two_who_read_the_same_day_one_takes_the_night_on() {
    let (store, row) = with_one().await;
    let wanted = claim(&row, "2026-11-30", vec![outcome(Kind::Claimed, 7)]);
    assert!(store.claim_schedule(&wanted).await.expect("written"));
    assert!(!store.claim_schedule(&wanted).await.expect("looked"));
    let outcomes = store.schedule_outcomes(&id(1), 9).await.expect("read");
    assert_eq!(outcomes, [outcome(Kind::Claimed, 7)], "the one that lost left nothing");
}

#[tokio::test]
async fn a_schedule_that_was_changed_or_switched_off_since_is_not_taken_on() {
    let (store, row) = with_one().await;
    let stale = claim(&row, "2026-11-30", Vec::new());
    let off = switch_off(&row);
    assert!(store.change_schedule(&id(1), &off).await.expect("changed"));
    assert!(!store.claim_schedule(&stale).await.expect("looked"));
    let row = store.schedule(&id(1)).await.expect("read").expect("there");
    assert!(!store.claim_schedule(&claim(&row, "2026-11-30", Vec::new())).await.expect("looked"));
}

#[tokio::test]
async fn what_became_of_a_night_is_completed_once_and_old_ones_go() {
    let (store, row) = with_one().await;
    let outcomes = (0..100).map(|day| outcome(Kind::Missed, day)).collect();
    assert!(store.claim_schedule(&claim(&row, "2026-11-30", outcomes)).await.expect("written"));
    store.note_schedule(&id(1), &outcome(Kind::Claimed, 500)).await.expect("noted");
    let night = NightId::parse("0190a0c2-7b1e-7c33-8f00-0123456789ab").expect("an id");
    let begun = OutcomeRow { night: Some(night), ..outcome(Kind::Begun, 500) };
    assert!(store.settle_schedule(&id(1), &begun).await.expect("settled"));
    assert!(!store.settle_schedule(&id(1), &begun).await.expect("nothing"));
    let kept = store.schedule_outcomes(&id(1), 1000).await.expect("read");
    assert_eq!((kept.len(), &kept[0]), (60, &begun));
    assert_eq!(kept[59].due_ms, 41, "the oldest went");
    store.note_schedule(&id(9), &begun).await.expect("a schedule that is gone is no error");
    store.remove_schedule(&id(1), "ben", 3).await.expect("removed");
    assert_eq!(store.schedule_outcomes(&id(1), 9).await.expect("read"), []);
}

#[tokio::test]
async fn a_night_that_was_taken_on_by_a_server_that_ended_is_completed_with_what_began() {
    let (store, row) = with_one().await;
    let claims = [10, 100].map(|at| outcome(Kind::Claimed, at)).to_vec();
    assert!(store.claim_schedule(&claim(&row, "2026-11-30", claims)).await.expect("written"));
    let night = NightId::parse("0190a0c2-7b1e-7c33-8f00-0123456789ab").expect("an id");
    let begun = NewNight {
        id: night.clone(),
        project: row.project,
        is_dry: false,
        is_simulated: true,
        models: "mock".into(),
        actor: "schedule".into(),
        at_ms: 12,
        owner: "a".into(),
        ttl_ms: 9,
        settings_json: "[]".into(),
    };
    store.begin_night(&begun).await.expect("begun");
    let settled = async |before_ms: u64| {
        let old = OldClaims { before_ms, actor: "schedule", words: "it ended", at_ms: 900 };
        store.settle_old_claims(&old).await.expect("settled")
    };
    assert_eq!((settled(11).await, settled(101).await), (0, 1), "one is too young");
    assert_eq!((settled(500).await, settled(500).await), (1, 0));
    let outcomes = store.schedule_outcomes(&id(1), 9).await.expect("read");
    let told: Vec<_> =
        outcomes.iter().map(|one| (one.kind, one.night.as_ref(), one.words.as_str())).collect();
    assert_eq!(told, [(Kind::Failed, None, "it ended"), (Kind::Begun, Some(&night), "")]);
}
