//! Imported runs: written once, brought up to date, with what was said in their attempts.

use crate::support::{Kind, measured, new_run, planned, run_id, scored, set, sha, spend, step};
use rstest::rstest;
use skillopt_domain::api::{TrajectoryMessage, TrajectoryQuery};
use skillopt_domain::event::EventKind;
use skillopt_domain::import::{Finding, ImportOrigin};
use skillopt_domain::run::RunStatus;
use skillopt_domain::verdict::Action;
use skillopt_store::{Imported, ImportedEvent, ImportedRun, ImportedSet};

fn event(key: &str, kind: EventKind) -> ImportedEvent {
    ImportedEvent { key: key.into(), at_ms: 1500, kind }
}

fn status(status: RunStatus) -> ImportedEvent {
    let detail = Some("imported from out/7".to_owned());
    event(&format!("import/{status}"), EventKind::Status { status, detail })
}

/// A run of which one step is known.
fn imported() -> ImportedRun {
    let message = |role: &str, content: &str| TrajectoryMessage {
        role: role.into(),
        content: content.into(),
    };
    let attempts = vec![scored("a", 1.0, None), scored("b", 0.0, None)];
    let conversations = vec![vec![message("user", "Who?"), message("action", "look")], Vec::new()];
    ImportedRun {
        run: new_run(7),
        origin: ImportOrigin {
            folder: "out/7".into(),
            system: "Python SkillOpt 0.2".into(),
            imported_at_ms: 2000,
            why_not_resumable: "no ledger".into(),
            findings: vec![Finding {
                file: "history.json".into(),
                place: String::new(),
                message: "cut".into(),
            }],
            n_findings_more: 2,
        },
        skills: vec!["initial".into()],
        sets: vec![ImportedSet { set: set("step/0001/batch/0", 1, attempts), conversations }],
        events: vec![
            event("planned", planned()),
            event("baseline", EventKind::Baseline(measured(0.5))),
            event(
                "step/0001/finished",
                EventKind::StepFinished(step(1, Action::Reject, Some(0.4), 0.5)),
            ),
            status(RunStatus::Interrupted),
        ],
        spend: spend(3),
        active_ms: 4000,
    }
}

#[rstest]
#[case(Kind::File)]
#[case(Kind::Memory)]
#[tokio::test]
async fn an_import_is_one_run_with_its_past_and_its_origin(#[case] kind: Kind) {
    let opened = kind.open().await;
    let (store, run) = (&opened.store, run_id(7));
    let first = store.import_run(&imported()).await.unwrap();
    assert_eq!(first, Imported { is_new: true, n_new_events: 4 });
    let detail = store.run_detail(&run).await.unwrap();
    assert_eq!((detail.view.status, detail.view.n_rejected), (RunStatus::Interrupted, 1));
    assert_eq!(detail.summary.detail.as_deref(), Some("imported from out/7"));
    assert_eq!(detail.imported, Some(imported().origin));
    assert_eq!(detail.view.spend, spend(3));
    assert_eq!(store.run_row(&run).await.unwrap().active_ms, 4000);
    assert!(store.skill_belongs_to_run(&run, &sha("initial")).await.unwrap());
    let rows = store.trajectories(&run, &TrajectoryQuery::default()).await.unwrap().page.items;
    let said = |id| async move { store.trajectory(&run_id(7), id).await.unwrap().messages };
    assert_eq!(said(rows[0].id).await, imported().sets[0].conversations[0]);
    assert_eq!(said(rows[1].id).await, []);
    assert_eq!(store.audit_log(1).await.unwrap()[0].action, "import_run");
    assert_eq!(store.import_origin(&run_id(8)).await.unwrap(), None);
}

#[rstest]
#[case(Kind::File)]
#[case(Kind::Memory)]
#[tokio::test]
async fn an_import_again_only_adds_what_is_new(#[case] kind: Kind) {
    let opened = kind.open().await;
    let (store, run) = (&opened.store, run_id(7));
    store.import_run(&imported()).await.unwrap();
    let again = store.import_run(&imported()).await.unwrap();
    assert_eq!(again, Imported { is_new: false, n_new_events: 0 });
    let mut grown = imported();
    let last = EventKind::StepFinished(step(2, Action::AcceptNewBest, Some(0.9), 0.9));
    grown.events.insert(3, event("step/0002/finished", last));
    grown.events[4] = status(RunStatus::Done);
    grown.spend = spend(9);
    grown.origin.findings.clear();
    grown.origin.n_findings_more = 0;
    let more = store.import_run(&grown).await.unwrap();
    assert_eq!(more, Imported { is_new: false, n_new_events: 2 });
    let view = store.view(&run).await.unwrap();
    assert_eq!((view.n_steps, view.n_accepted, view.status), (2, 1, RunStatus::Done));
    assert_eq!((view.versions.len(), view.spend), (2, spend(9)));
    let origin = store.import_origin(&run).await.unwrap().unwrap();
    assert_eq!((origin.findings.len(), origin.n_findings_more), (0, 0), "what is mended is gone");
    let events = store.events_after(&run, 0, 100).await.unwrap();
    assert_eq!(events.iter().map(|event| event.seq).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6]);
    let rows = store.trajectories(&run, &TrajectoryQuery::default()).await.unwrap();
    assert_eq!(rows.page.total, 2, "attempts are kept once");
}

#[rstest]
#[case(Kind::File)]
#[case(Kind::Memory)]
#[tokio::test]
async fn events_of_one_key_in_one_import_are_one_event(#[case] kind: Kind) {
    let opened = kind.open().await;
    let mut twice = imported();
    let finished = EventKind::StepFinished(step(1, Action::AcceptNewBest, Some(0.9), 0.9));
    twice.events.insert(3, event("step/0001/finished", finished));
    let keys: Vec<&str> = twice.events.iter().map(|event| event.key.as_str()).collect();
    assert_eq!(opened.store.n_unknown_events(&run_id(7), &keys).await.unwrap(), 4);
    let done = opened.store.import_run(&twice).await.unwrap();
    assert_eq!(done, Imported { is_new: true, n_new_events: 4 });
    let view = opened.store.view(&run_id(7)).await.unwrap();
    assert_eq!((view.n_steps, view.n_rejected), (1, 1), "the first one counts");
    assert_eq!(opened.store.n_unknown_events(&run_id(7), &keys).await.unwrap(), 0);
}
