//! States: the allowed steps, the forbidden ones, and what is written beside them.

use crate::support::{Kind, OWNER, change, new_run, run_id, started, term};
use rstest::rstest;
use skillopt_domain::event::EventKind;
use skillopt_domain::run::{RunStatus, RunTransition};
use skillopt_store::{Author, Change, Command, LeaseTerm, NewRun, StoreFailure, TransitionError};

#[rstest]
#[case(&[], RunTransition::Start, Some(RunStatus::Running))]
#[case(&[], RunTransition::AskCancel, Some(RunStatus::Cancelled))]
#[case(&[], RunTransition::Finish, None)]
#[case(&[], RunTransition::AskPause, None)]
#[case(&[RunTransition::Start], RunTransition::Start, None)]
#[case(&[RunTransition::Start], RunTransition::AskPause, Some(RunStatus::Pausing))]
#[case(&[RunTransition::Start], RunTransition::Cap, Some(RunStatus::Capped))]
#[case(&[RunTransition::Start], RunTransition::ConfirmPause, None)]
#[case(&[RunTransition::Start, RunTransition::AskPause], RunTransition::ConfirmPause, Some(RunStatus::Paused))]
#[case(&[RunTransition::Start, RunTransition::AskCancel], RunTransition::ConfirmCancel, Some(RunStatus::Cancelled))]
#[case(&[RunTransition::Start, RunTransition::AskCancel], RunTransition::AskPause, None)]
#[case(&[RunTransition::Start, RunTransition::Finish], RunTransition::Start, None)]
#[case(&[RunTransition::Start, RunTransition::Fail], RunTransition::Start, Some(RunStatus::Running))]
#[case(&[RunTransition::Start, RunTransition::LoseOwner], RunTransition::Start, Some(RunStatus::Running))]
#[tokio::test]
async fn states_change_as_the_domain_allows_and_not_otherwise(
    #[case] before: &[RunTransition],
    #[case] transition: RunTransition,
    #[case] expected: Option<RunStatus>,
) {
    let opened = Kind::Memory.open().await;
    let store = &opened.store;
    store.create_run(&new_run(1)).await.unwrap();
    for step in before {
        store.transition(&run_id(1), change(*step)).await.unwrap();
    }
    let seq = store.max_seq(&run_id(1)).await.unwrap();
    let result = store.transition(&run_id(1), change(transition)).await;
    let row = store.run_row(&run_id(1)).await.unwrap();
    match expected {
        Some(status) => {
            assert_eq!(result.unwrap(), status);
            assert_eq!((row.status, row.seq), (status, seq + 1));
            let last = store.events_after(&run_id(1), seq, 10).await.unwrap();
            assert_eq!(last[0].kind, EventKind::Status { status, detail: None });
        }
        None => {
            assert!(matches!(result, Err(TransitionError::Forbidden(_))));
            assert_eq!(row.seq, seq, "nothing was written");
        }
    }
}

#[rstest]
#[case(Kind::File)]
#[case(Kind::Memory)]
#[tokio::test]
async fn a_person_leaves_a_trace_and_the_owner_finds_the_command_once(#[case] kind: Kind) {
    let opened = kind.open().await;
    let store = &opened.store;
    let journal = started(store, 1).await;
    let run = run_id(1);
    assert_eq!(store.request(&run, Command::Pause, "ada", 3000).await.unwrap(), RunStatus::Pausing);
    assert_eq!(
        store.request(&run, Command::Pause, "ada", 3001).await.unwrap(),
        RunStatus::Pausing,
        "a double click is fine"
    );
    assert_eq!(journal.heartbeat(10, None).await.unwrap(), Some(Command::Pause));
    assert_eq!(journal.heartbeat(10, None).await.unwrap(), None);
    let log = store.audit_log(10).await.unwrap();
    assert_eq!((log[0].actor.as_str(), log[0].action.as_str()), ("ada", "ask_pause"));
    assert_eq!(log.iter().filter(|row| row.action == "ask_pause").count(), 1);

    store.request(&run, Command::Unpause, "ada", 3002).await.unwrap();
    store.request(&run, Command::Cancel, "ada", 3003).await.unwrap();
    assert_eq!(journal.heartbeat(10, None).await.unwrap(), Some(Command::Cancel));
}

#[tokio::test]
async fn a_queued_run_with_an_owner_is_told_that_it_was_cancelled() {
    let opened = Kind::Memory.open().await;
    let store = &opened.store;
    let lease = Some(LeaseTerm { owner: OWNER.into(), ttl_ms: 100 });
    store.create_run(&NewRun { lease, ..new_run(1) }).await.unwrap();
    let status = store.request(&run_id(1), Command::Cancel, "ada", 1010).await.unwrap();
    assert_eq!(status, RunStatus::Cancelled);
    assert_eq!(store.run_row(&run_id(1)).await.unwrap().command, Some(Command::Cancel));
}

#[tokio::test]
async fn who_lost_the_lease_cannot_end_the_run() {
    let opened = Kind::Memory.open().await;
    let store = &opened.store;
    let _journal = started(store, 1).await;
    store.reap_orphans(9_000_000).await.unwrap();
    store.acquire_lease(&run_id(1), &term("host:2"), 9_000_000).await.unwrap();
    store.transition(&run_id(1), change(RunTransition::Start)).await.unwrap();
    let finish = Change { by: Author::Owner(OWNER), ..change(RunTransition::Finish) };
    let result = store.transition(&run_id(1), finish).await;
    assert!(matches!(result, Err(TransitionError::LeaseLost { .. })));
    assert_eq!(store.run_row(&run_id(1)).await.unwrap().status, RunStatus::Running);
}

#[tokio::test]
async fn an_unknown_run_is_not_found() {
    let opened = Kind::Memory.open().await;
    let store = &opened.store;
    let is_missing = |failure| matches!(failure, StoreFailure::NotFound { what: "run", .. });
    assert!(is_missing(store.run_row(&run_id(9)).await.unwrap_err()));
    assert!(is_missing(store.run_detail(&run_id(9)).await.unwrap_err()));
    assert!(is_missing(store.events_after(&run_id(9), 0, 1).await.unwrap_err()));
    assert!(is_missing(store.rejected_edits(&run_id(9)).await.unwrap_err()));
}

#[tokio::test]
async fn a_run_folder_finds_its_newest_run() {
    let opened = Kind::Memory.open().await;
    let store = &opened.store;
    for n in [1, 2] {
        store.create_run(&NewRun { out_root: "same".into(), ..new_run(n) }).await.unwrap();
    }
    assert_eq!(store.find_run_by_out_root("same").await.unwrap(), Some(run_id(2)));
    assert_eq!(store.find_run_by_out_root("other").await.unwrap(), None);
}
