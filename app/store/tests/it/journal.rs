//! The journal: once, in order, only by the owner, and folded into what people see.

use crate::support::{
    Kind, OWNER, change, clock, measured, planned, progress, run_id, scored, set, sha, spend,
    started, step, term, with_outcome,
};
use rstest::rstest;
use skillopt_domain::event::{EventKind, TestedSkill};
use skillopt_domain::outcome::Outcome;
use skillopt_domain::prompt::{PromptOrigin, PromptUse};
use skillopt_domain::run::{Phase, RunStatus, RunTransition, Stage};
use skillopt_domain::verdict::Action;
use skillopt_domain::view::RunView;
use skillopt_engine::ports::Journal;
use skillopt_store::{LeaseError, RunJournal, Signal, Store};
use std::sync::Arc;

fn warning(n: u32) -> EventKind {
    EventKind::Warning { code: "x".into(), message: format!("look {n}") }
}

#[rstest]
#[case(Kind::File)]
#[case(Kind::Memory)]
#[tokio::test]
async fn an_event_said_twice_is_kept_once(#[case] kind: Kind) {
    let opened = kind.open().await;
    let journal = started(&opened.store, 1).await;
    journal.append("warning/a", warning(1)).await.unwrap();
    journal.append("warning/a", warning(2)).await.unwrap();
    assert_eq!(journal.find("warning/a").await.unwrap(), Some(warning(1)));
    assert_eq!(journal.find("warning/b").await.unwrap(), None);
    let events = opened.store.events_after(&run_id(1), 2, 100).await.unwrap();
    assert_eq!(events.len(), 1);
    assert_eq!((events[0].seq, &events[0].kind), (3, &warning(1)));
    assert_eq!(opened.store.view(&run_id(1)).await.unwrap().warnings, ["look 1"]);
}

#[rstest]
#[case(Kind::File)]
#[case(Kind::Memory)]
#[tokio::test(flavor = "multi_thread")]
async fn fifty_appends_at_once_leave_no_gap(#[case] kind: Kind) {
    let opened = kind.open().await;
    let journal = Arc::new(started(&opened.store, 1).await);
    let mut tasks = tokio::task::JoinSet::new();
    for n in 0..50 {
        let journal = journal.clone();
        tasks.spawn(async move { journal.append(&format!("warning/{n}"), warning(n)).await });
    }
    while let Some(result) = tasks.join_next().await {
        result.unwrap().unwrap();
    }
    let events = opened.store.events_after(&run_id(1), 0, 100).await.unwrap();
    let seqs: Vec<u64> = events.iter().map(|event| event.seq).collect();
    assert_eq!(seqs, (1..=52).collect::<Vec<u64>>());
    assert_eq!(opened.store.view(&run_id(1)).await.unwrap().warnings.len(), 50);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_processes_write_one_file() {
    let opened = Kind::File.open().await;
    let other = Store::open(opened.path()).await.unwrap();
    let journals = [Arc::new(started(&opened.store, 1).await), Arc::new(started(&other, 2).await)];
    let mut tasks = tokio::task::JoinSet::new();
    for n in 0..100 {
        let journal = journals[n % 2].clone();
        tasks.spawn(async move { journal.append(&format!("warning/{n}"), warning(0)).await });
    }
    while let Some(result) = tasks.join_next().await {
        result.unwrap().unwrap();
    }
    for n in [1, 2] {
        assert_eq!(opened.store.max_seq(&run_id(n)).await.unwrap(), 52);
        assert_eq!(other.events_after(&run_id(n), 0, 100).await.unwrap().len(), 52);
    }
}

#[rstest]
#[case(Kind::File)]
#[case(Kind::Memory)]
#[tokio::test]
async fn a_lost_lease_ends_every_write(#[case] kind: Kind) {
    let opened = kind.open().await;
    let store = &opened.store;
    let journal = started(store, 1).await;
    journal.append("warning/a", warning(1)).await.unwrap();
    assert_eq!(store.reap_orphans(9_000_000).await.unwrap(), [run_id(1)]);
    store.acquire_lease(&run_id(1), &term("host:2"), 9_000_000).await.unwrap();

    let refused = journal.append("warning/b", warning(2)).await.unwrap_err();
    assert!(refused.message.contains("another process owns the run"), "{refused}");
    assert!(journal.keep_outcomes(&set("s", 1, vec![])).await.is_err());
    assert!(journal.keep_skill("text").await.is_err());
    assert!(matches!(journal.heartbeat(10, None).await, Err(LeaseError::Lost { .. })));
    let opened_again = RunJournal::open(store, &run_id(1), OWNER, clock()).await;
    assert!(matches!(opened_again, Err(LeaseError::Lost { .. })));
    assert_eq!(store.view(&run_id(1)).await.unwrap().warnings.len(), 1);
}

#[rstest]
#[case(Kind::File)]
#[case(Kind::Memory)]
#[tokio::test]
async fn the_stored_fold_equals_the_fold_of_the_journal(#[case] kind: Kind) {
    let opened = kind.open().await;
    let store = &opened.store;
    let journal = started(store, 1).await;
    let phase = Phase::Step { step: 1, stage: Stage::Rollout };
    let measured_best =
        EventKind::Tested { which: TestedSkill::Best, measured: measured(0.1 + 0.2) };
    for (key, kind) in [
        ("planned", planned()),
        ("baseline", EventKind::Baseline(measured(1.0 / 3.0))),
        ("phase/1", EventKind::PhaseStarted(phase)),
        ("step/1", EventKind::StepFinished(step(1, Action::AcceptNewBest, Some(0.7), 0.7))),
        ("step/2", EventKind::StepFinished(step(2, Action::Reject, Some(0.6), 0.7))),
        (
            "aggregated",
            EventKind::Aggregated {
                step: 3,
                n_edits_in: 1,
                levels: 0,
                n_fallbacks: 0,
                edits: vec![],
                proposals: vec![],
            },
        ),
        ("test", measured_best),
    ] {
        journal.append(key, kind).await.unwrap();
    }
    let events = store.events_after(&run_id(1), 0, 100).await.unwrap();
    let view = store.view(&run_id(1)).await.unwrap();
    assert_eq!(view, RunView::of(&events));
    assert_eq!(view.versions, store.versions(&run_id(1)).await.unwrap());

    let summary = store.run_summary(&run_id(1)).await.unwrap();
    assert_eq!(summary.target_model, "Target-7B");
    assert_eq!((summary.n_steps, summary.n_accepted, summary.n_rejected), (2, 1, 1));
    assert_eq!((summary.baseline_score, summary.best_score), (Some(1.0 / 3.0), Some(0.7)));
    assert_eq!(summary.test_best.map(|score| score.hard), Some(0.1 + 0.2));
    assert_eq!(summary.spark, [0.7, 0.7]);
}

#[rstest]
#[case(Kind::File)]
#[case(Kind::Memory)]
#[tokio::test]
async fn c49_a_score_of_zero_survives_and_a_missing_one_stays_missing(#[case] kind: Kind) {
    let opened = kind.open().await;
    let store = &opened.store;
    let journal = started(store, 1).await;
    journal.append("planned", planned()).await.unwrap();
    assert_eq!(store.run_summary(&run_id(1)).await.unwrap().best_score, None);
    journal.append("baseline", EventKind::Baseline(measured(0.0))).await.unwrap();
    let skipped = step(1, Action::SkipNoPatches, None, 0.0);
    journal.append("step/1", EventKind::StepFinished(skipped)).await.unwrap();
    journal.keep_outcomes(&set("s", 1, vec![scored("t", 0.0, None)])).await.unwrap();

    let summary = store.run_summary(&run_id(1)).await.unwrap();
    assert_eq!((summary.baseline_score, summary.best_score), (Some(0.0), Some(0.0)));
    let versions = store.versions(&run_id(1)).await.unwrap();
    assert_eq!(versions[0].score, Some(0.0));
    let curves = store.curves(&run_id(1), &Default::default()).await.unwrap();
    assert_eq!(curves.steps[0].best_score, Some(0.0));
    assert_eq!(curves.steps[0].candidate_score, None);
    let sets = store.rollout_sets(&run_id(1)).await.unwrap();
    assert_eq!(sets[0].outcomes[0].outcome.score().unwrap().hard.get(), 0.0);
}

#[rstest]
#[case(Kind::File)]
#[case(Kind::Memory)]
#[tokio::test]
async fn rollout_sets_come_back_as_they_were_and_only_once(#[case] kind: Kind) {
    let opened = kind.open().await;
    let journal = started(&opened.store, 1).await;
    let mut outcomes: Vec<_> =
        (0..70).map(|n| scored(&format!("t{n}"), 1.0, Some(sha("call")))).collect();
    outcomes.push(with_outcome("r", Outcome::Refused { reason: "no".into() }));
    let error = Outcome::InfraError { code: "timeout".into(), message: "late".into() };
    outcomes.push(with_outcome("i", error));
    outcomes.push(with_outcome("j", Outcome::JudgeError { message: "broken".into() }));
    let kept = set("step/0001/batch/0", 1, outcomes);
    journal.keep_outcomes(&kept).await.unwrap();
    journal.keep_outcomes(&kept).await.unwrap();
    assert_eq!(journal.find_outcomes(&kept.key).await.unwrap(), Some(kept.clone()));
    assert_eq!(journal.find_outcomes("other").await.unwrap(), None);
    assert_eq!(opened.store.rollout_sets(&run_id(1)).await.unwrap(), [kept]);
}

#[rstest]
#[case(Kind::File)]
#[case(Kind::Memory)]
#[tokio::test]
async fn skills_are_kept_byte_for_byte_and_belong_to_their_run(#[case] kind: Kind) {
    let opened = kind.open().await;
    let store = &opened.store;
    let (first, _second) = (started(store, 1).await, started(store, 2).await);
    let text =
        format!("\u{feff}---\r\nname: x\r\n---\n{}no newline at the end", "line\r\n".repeat(200));
    first.keep_skill(&text).await.unwrap();
    first.keep_skill(&text).await.unwrap();
    assert_eq!(store.skill_text(&sha(&text)).await.unwrap(), Some(text.clone()));
    assert!(store.skill_belongs_to_run(&run_id(1), &sha(&text)).await.unwrap());
    assert!(!store.skill_belongs_to_run(&run_id(2), &sha(&text)).await.unwrap());
    assert_eq!(store.skill_text(&sha("unknown")).await.unwrap(), None);
}

#[rstest]
#[case(Kind::File)]
#[case(Kind::Memory)]
#[tokio::test]
async fn prompts_are_shown_by_their_run_only_and_are_no_skills(#[case] kind: Kind) {
    let opened = kind.open().await;
    let store = &opened.store;
    let (first, second) = (started(store, 1).await, started(store, 2).await);
    let chosen = |text: &str| PromptUse {
        name: "ranking".to_owned(),
        origin: PromptOrigin::User,
        hash: sha(text),
    };
    first.keep_text("my prompt").await.unwrap();
    second.keep_text("another").await.unwrap();
    let prompts = vec![chosen("my prompt")];
    let event = EventKind::PromptsChosen { prompts: prompts.clone() };
    first.append("prompts", event).await.unwrap();
    assert_eq!(store.prompts(&run_id(1)).await.unwrap(), prompts);
    assert_eq!(store.prompts(&run_id(2)).await.unwrap(), []);
    let text = store.prompt_text(&run_id(1), &sha("my prompt")).await.unwrap();
    assert_eq!(text.as_deref(), Some("my prompt"));
    assert_eq!(store.prompt_text(&run_id(1), &sha("another")).await.unwrap(), None);
    assert_eq!(store.prompt_text(&run_id(2), &sha("my prompt")).await.unwrap(), None);
    assert!(!store.skill_belongs_to_run(&run_id(1), &sha("my prompt")).await.unwrap());
    assert!(store.prompts(&run_id(3)).await.is_err());
}

#[rstest]
#[case(Kind::File)]
#[case(Kind::Memory)]
#[tokio::test]
async fn live_counts_are_told_at_once_and_stored_with_the_heartbeat(#[case] kind: Kind) {
    let opened = kind.open().await;
    let store = &opened.store;
    let journal = started(store, 1).await;
    let mut signals = store.subscribe();
    journal.progress(progress(7));
    assert_eq!(
        signals.recv().await.unwrap(),
        Signal::Progress { run: run_id(1), progress: Box::new(progress(7)) }
    );
    assert_eq!(store.view(&run_id(1)).await.unwrap().progress, None);
    assert_eq!(journal.heartbeat(10_000, Some(321)).await.unwrap(), None);

    let view = store.view(&run_id(1)).await.unwrap();
    assert_eq!((view.progress, view.spend), (Some(progress(7)), spend(7)));
    let row = store.run_row(&run_id(1)).await.unwrap();
    assert_eq!((row.active_ms, row.spend), (321, spend(7)));

    journal.progress(progress(9));
    journal.append("phase/2", EventKind::PhaseStarted(Phase::FinalTest)).await.unwrap();
    let view = store.view(&run_id(1)).await.unwrap();
    assert_eq!((view.progress, view.phase), (None, Some(Phase::FinalTest)));
    assert_eq!(view.spend, spend(9), "an event takes the last known spend with it");

    store.set_totals(&run_id(1), OWNER, &spend(11), 500).await.unwrap();
    store.transition(&run_id(1), change(RunTransition::Finish)).await.unwrap();
    let detail = store.run_detail(&run_id(1)).await.unwrap();
    assert_eq!((detail.summary.status, detail.view.status), (RunStatus::Done, RunStatus::Done));
    assert_eq!((detail.view.spend, detail.summary.spend), (spend(11), spend(11)));
    assert_eq!(detail.caps.max_calls, Some(100));
    assert_eq!(detail.gate_metric, "hard");
}
