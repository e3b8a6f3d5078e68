//! How nights wait for each other, and what their ends do to the files of a handoff, the store and the audit log.

use super::*;
use crate::config::Environment;
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::night::report::SleepReport;
use skillopt_sleep::adopt::Receipt;
use skillopt_sleep::night::TASKS_CHANGED;
use skillopt_sleep::stage::Role;
use skillopt_store::Store;
use std::path::Path;

async fn nights(dir: &Path) -> Nights {
    let store = Store::in_memory().await.unwrap();
    Nights::new(Hosting::with_store(store, dir, Environment::default()))
}

fn cancelled() -> NightFailure {
    NightError::from(BackendError::Cancelled).into()
}

fn result(dir: &Path, adopted: Vec<Receipt>) -> NightResult {
    NightResult {
        report: SleepReport { night: 1, ..SleepReport::default() },
        harvest: None,
        tasks: Vec::new(),
        staging: Some(dir.to_owned()),
        staged_skills: Vec::new(),
        adopted,
        not_adopted: String::new(),
        state_failure: String::new(),
    }
}

#[tokio::test]
async fn more_nights_than_there_are_places_wait_and_say_so_and_can_be_cancelled() {
    let dir = tempfile::tempdir().unwrap();
    let nights = nights(dir.path()).await;
    let (_, ctx) = RunControl::new();
    let pulse = Pulse::default();
    let first = nights.place(&pulse, &ctx).await.expect("a place");
    let _second = nights.place(&pulse, &ctx).await.expect("a place");
    let (control, ctx) = RunControl::new();
    let waiting = nights.place(&pulse, &ctx);
    let look = async {
        tokio::task::yield_now().await;
        assert_eq!(pulse.progress(&Watch::default()).doing, "waits for another night");
        control.cancel();
    };
    let (place, ()) = tokio::join!(waiting, look);
    assert!(place.is_none());
    let (_, ctx) = RunControl::new();
    let (place, ()) = tokio::join!(nights.place(&pulse, &ctx), async { drop(first) });
    assert!(place.is_some(), "the next one takes the place that is free");
    assert_eq!(pulse.progress(&Watch::default()).doing, "");
}

#[tokio::test]
async fn a_deed_comes_to_its_end_when_the_one_who_asked_has_hung_up() {
    let dir = tempfile::tempdir().unwrap();
    let nights = nights(dir.path()).await;
    let (go, asked) = tokio::sync::oneshot::channel();
    let (done, mut end) = tokio::sync::oneshot::channel();
    let deed = nights.to_the_end(async move {
        let word: &str = asked.await.unwrap();
        done.send(word).unwrap();
    });
    let hung_up = CancellationToken::new();
    hung_up.cancel();
    tokio::select! {
        biased;
        () = deed => panic!("it waits for a word"),
        () = hung_up.cancelled() => {}
    }
    go.send("noted").unwrap();
    nights.drained().await;
    assert_eq!(end.try_recv(), Ok("noted"));
}

#[test]
fn a_night_that_lost_its_row_was_not_ended_by_a_person() {
    let pulse = Pulse::default();
    let by_person = told(Err(cancelled()), &pulse);
    assert!(matches!(by_person, Err(NightRunError::Night(failure)) if failure.is_cancelled()));
    pulse.is_lost.store(true, Ordering::Release);
    let lost = told(Err(cancelled()), &pulse);
    assert!(matches!(lost, Err(NightRunError::LeaseLost)));
    let end = end_of(&lost, NightProgress::start(), false, ("a".to_owned(), 1));
    assert_eq!(end.transition, NightTransition::Fail);
}

#[test]
fn a_night_that_fails_leaves_the_prompts_of_an_earlier_round_where_they_are() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("handoff");
    let state = dir.path().join("state");
    let earlier = Handoff::new(folder.clone(), &state, Arc::new(str::to_owned));
    earlier.pend("What is asked?", 9).unwrap();
    earlier.flush().unwrap();
    let now = Handoff::new(folder.clone(), &state, Arc::new(str::to_owned));
    assert!(end_round(Some(&now), Err(cancelled().into())).is_err());
    assert!(folder.join("PROMPTS.md").is_file() && folder.join("pending.json").is_file());
    now.pend("And then?", 9).unwrap();
    let pending: NightFailure = NightError::from(BackendError::Pending).into();
    let done = end_round(Some(&now), Err(pending.into()));
    assert!(matches!(done, Err(NightRunError::Night(failure)) if failure.is_pending()));
    let text = std::fs::read_to_string(folder.join("PROMPTS.md")).unwrap();
    assert!(text.contains("And then?"), "{text}");
}

#[test]
fn what_changed_is_told_by_a_night_that_waits_and_else_by_its_report() {
    let told = [TASKS_CHANGED.to_owned(), "pins are not used".to_owned()];
    let end = |done: Result<NightResult, NightRunError>| {
        let mut end = end_of(&done, NightProgress::start(), false, ("a".to_owned(), 1));
        tell_beside(&mut end, &told);
        end.detail
    };
    let pending: NightFailure = NightError::from(BackendError::Pending).into();
    let waits = end(Err(pending.into()));
    assert!(waits.ends_with(&format!("; {}; {}", told[0], told[1])), "{waits}");
    let is_over = end(Ok(result(Path::new("/n"), Vec::new())));
    assert!(!is_over.contains("pins") && !is_over.contains(TASKS_CHANGED), "{is_over}");
}

#[tokio::test]
async fn what_a_night_adopted_at_once_stands_in_the_audit_log() {
    let dir = tempfile::tempdir().unwrap();
    let nights = nights(dir.path()).await;
    let receipt = Receipt {
        role: Role::Memory,
        live_path: dir.path().join("CLAUDE.md"),
        before: None,
        after: Sha256Hex::of("x"),
        backup: None,
    };
    nights.after(&result(dir.path(), vec![receipt]), None, "anna").await;
    let rows = nights.hosting.store().audit_log(9).await.unwrap();
    let told: Vec<_> = rows.iter().map(|row| (row.action.as_str(), row.actor.as_str())).collect();
    assert_eq!(told, [("adopt_night", "anna")]);
}
