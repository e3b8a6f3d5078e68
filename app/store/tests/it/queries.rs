//! Reading one run: curves, steps, rejected edits, trajectories.

use crate::support::{
    Kind, call, measured, planned, run_id, scored, set, sha, started, step, with_outcome,
};
use rstest::rstest;
use skillopt_domain::api::{CurveQuery, TrajectoryQuery};
use skillopt_domain::edit::{Edit, EditOp, EditReport, EditStatus};
use skillopt_domain::epoch::{EpochAction, SlowUpdate};
use skillopt_domain::event::EventKind;
use skillopt_domain::outcome::{Outcome, OutcomeFilter, RolloutPurpose, RolloutSet};
use skillopt_domain::score::GateMetric;
use skillopt_domain::spend::SpendByRole;
use skillopt_domain::verdict::{Action, Change, TaskChange, Verdict};
use skillopt_engine::ports::{Journal, Ledger};
use skillopt_store::StoreFailure;

#[tokio::test]
async fn c77_a_spike_of_one_step_in_a_hundred_thousand_is_drawn() {
    let opened = Kind::File.open().await;
    let store = &opened.store;
    let journal = started(store, 1).await;
    let mut spiked = step(1, Action::Reject, Some(0.99), 0.5);
    journal.append("step/1", EventKind::StepFinished(spiked.clone())).await.unwrap();
    spiked.step = 54_321;
    fill_steps(opened.path(), &step(1, Action::Reject, Some(0.4), 0.5), &spiked).await;

    let query = CurveQuery { max_points: Some(500), ..CurveQuery::default() };
    let curves = store.curves(&run_id(1), &query).await.unwrap();
    let again = store.curves(&run_id(1), &query).await.unwrap();
    assert_eq!(again, curves, "kept blocks tell the same as the scan");
    assert_eq!(curves.n_steps, 100_000);
    assert!(curves.steps.len() <= 500, "{}", curves.steps.len());
    assert!(curves.steps.iter().any(|step| step.step == 54_321));
    assert_eq!(curves.steps.first().map(|step| step.step), Some(1));
    assert_eq!(curves.steps.last().map(|step| step.step), Some(100_000));
    assert!(curves.steps.is_sorted_by_key(|step| step.step));

    let query = CurveQuery { from: Some(1000), to: Some(90_000), max_points: Some(100) };
    let part = store.curves(&run_id(1), &query).await.unwrap();
    assert_eq!(part.n_steps, 89_001);
    assert!(part.steps.iter().any(|step| step.step == 54_321));

    let query = CurveQuery { from: Some(54_300), to: Some(54_400), max_points: None };
    let curves = store.curves(&run_id(1), &query).await.unwrap();
    assert_eq!((curves.steps.len(), curves.n_steps), (101, 101), "zooming in shows every step");
    assert_eq!(store.view(&run_id(1)).await.unwrap().steps.len(), 500);
}

/// Writes the steps 2 to 100 000 at once.
async fn fill_steps(
    dir: &std::path::Path,
    flat: &skillopt_domain::event::StepSummary,
    spiked: &skillopt_domain::event::StepSummary,
) {
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(dir.join("skillopt.db"));
    let pool = sqlx::SqlitePool::connect_with(options).await.unwrap();
    sqlx::query(
        "INSERT INTO steps (run_no, step, action, candidate_score, current_score, best_score, rollout_hard, \
         rollout_soft, skill_tokens, tokens, error_share, summary_json) \
         WITH RECURSIVE n(step) AS (VALUES (2) UNION ALL SELECT step + 1 FROM n WHERE step < 100000) \
         SELECT 1, step, 'reject', CASE step WHEN 54321 THEN 0.99 ELSE 0.4 END, 0.5, 0.5, 0.5, 0.5, 100, 100, 0.0, \
         json_set(CASE step WHEN 54321 THEN ?1 ELSE ?2 END, '$.step', step) FROM n",
    )
    .bind(serde_json::to_string(spiked).unwrap())
    .bind(serde_json::to_string(flat).unwrap())
    .execute(&pool)
    .await
    .unwrap();
    pool.close().await;
}

fn report(content: &str, status: EditStatus, detail: &str) -> EditReport {
    EditReport {
        edit: Edit::new(EditOp::Append, None, Some(content)),
        status,
        detail: detail.into(),
        resembles_rejected_step: None,
    }
}

fn updated(step: u32, edits: Vec<EditReport>) -> EventKind {
    EventKind::Updated { step, edits, candidate: sha("c"), candidate_chars: 9, candidate_tokens: 3 }
}

fn gated(step: u32, action: Action) -> EventKind {
    let change = |task: &str, change| TaskChange {
        task: task.into(),
        title: "t".into(),
        change,
        before: 0.0,
        after: 1.0,
    };
    let verdict = Verdict {
        action,
        metric: GateMetric::Hard,
        mixed_weight: 0.5,
        current: measured(0.0).score,
        candidate: measured(0.0).score,
        current_score: Some(0.0),
        candidate_score: Some(0.0),
        n_not_compared: 0,
        changes_unknown: false,
        changes: vec![change("a", Change::Fixed), change("b", Change::Broke)],
        reused: false,
        reason: "a tie".into(),
    };
    EventKind::Gated { step, verdict, set: "s".into() }
}

#[rstest]
#[case(Kind::File)]
#[case(Kind::Memory)]
#[tokio::test]
async fn rejected_edits_tell_why_and_when_they_came_again(#[case] kind: Kind) {
    let opened = kind.open().await;
    let journal = started(&opened.store, 1).await;
    let applied = |text| report(text, EditStatus::Applied, "");
    let refused = report("Quote the page", EditStatus::NotFound, "");
    for (key, kind) in [
        ("u1", updated(1, vec![applied("Answer with the shortest phrase"), refused])),
        ("g1", gated(1, Action::Reject)),
        ("u2", updated(2, vec![applied("answer with the shortest phrase.")])),
        ("g2", gated(2, Action::AcceptNewBest)),
    ] {
        journal.append(key, kind).await.unwrap();
    }
    let rows = opened.store.rejected_edits(&run_id(1)).await.unwrap();
    assert_eq!(rows.len(), 2, "an accepted edit is not rejected");
    assert_eq!(rows[0].reason, "a tie");
    assert_eq!((rows[0].before, rows[0].after, rows[0].n), (Some(0.0), Some(0.0), Some(40)));
    assert_eq!((rows[0].n_fixed, rows[0].n_broke), (Some(1), Some(1)));
    assert_eq!(rows[0].proposed_again_in, [2]);
    assert_eq!(rows[1].reason, EditStatus::NotFound.label());
    assert_eq!((rows[1].before, rows[1].proposed_again_in.len()), (None, 0));
}

/// Guidance after a step that stayed.
fn guided(step: u32) -> EventKind {
    EventKind::SlowUpdated(SlowUpdate {
        epoch: 2,
        step,
        action: EpochAction::Accept,
        content: "Look twice.".into(),
        reasoning: String::new(),
        candidate: Some(sha("with guidance")),
        verdict: None,
        set: None,
        version: 3,
        current_score: Some(0.7),
        current_n: Some(8),
        skill_tokens: 9,
        wall_ms: 1,
        spend: SpendByRole::default(),
        reason: "better".into(),
    })
}

#[rstest]
#[case(Kind::File)]
#[case(Kind::Memory)]
#[tokio::test]
async fn a_step_is_told_with_the_skill_that_it_started_from(#[case] kind: Kind) {
    let opened = kind.open().await;
    let store = &opened.store;
    let journal = started(store, 1).await;
    let finished = |n| EventKind::StepFinished(step(n, Action::Accept, Some(0.6), 0.6));
    for (key, kind) in [
        ("planned", planned()),
        ("u1", updated(1, vec![])),
        ("s1", finished(1)),
        ("u2", updated(2, vec![])),
        ("s2", finished(2)),
    ] {
        journal.append(key, kind).await.unwrap();
    }
    let first = store.step_detail(&run_id(1), 1).await.unwrap();
    assert_eq!((first.before, first.before_version), (Some(sha("initial")), Some(0)));
    assert_eq!(first.events.len(), 2);
    let second = store.step_detail(&run_id(1), 2).await.unwrap();
    assert_eq!((second.before, second.before_version), (Some(sha("skill 1")), Some(1)));
    journal.append("g2", guided(2)).await.unwrap();
    journal.append("u3", updated(3, vec![])).await.unwrap();
    let third = store.step_detail(&run_id(1), 3).await.unwrap();
    assert_eq!((third.before, third.before_version), (Some(sha("with guidance")), Some(3)));
    let missing = store.step_detail(&run_id(1), 4).await;
    assert!(matches!(missing, Err(StoreFailure::NotFound { what: "step", .. })));
}

#[rstest]
#[case(Kind::File)]
#[case(Kind::Memory)]
#[tokio::test]
async fn trajectories_are_filtered_counted_and_paged(#[case] kind: Kind) {
    let opened = kind.open().await;
    let store = &opened.store;
    let journal = started(store, 1).await;
    let train = |n: u32| scored(&format!("train {n}"), f64::from(n % 2), None);
    journal.keep_outcomes(&set("batch", 1, (0..6).map(train).collect())).await.unwrap();
    let error = Outcome::InfraError { code: "timeout".into(), message: "late".into() };
    let selection = RolloutSet {
        purpose: RolloutPurpose::Selection,
        ..set("selection", 2, vec![scored("val_1", 0.5, None), with_outcome("valx1", error)])
    };
    journal.keep_outcomes(&selection).await.unwrap();
    let judge = Outcome::JudgeError { message: "no verdict".into() };
    let judged = RolloutSet {
        purpose: RolloutPurpose::Test,
        ..set("test", 3, vec![with_outcome("test_1", judge)])
    };
    journal.keep_outcomes(&judged).await.unwrap();
    let other = started(store, 2).await;
    other.keep_outcomes(&set("batch", 1, vec![scored("foreign", 1.0, None)])).await.unwrap();

    let ask = async |query: TrajectoryQuery| store.trajectories(&run_id(1), &query).await.unwrap();
    let all = ask(TrajectoryQuery::default()).await;
    assert_eq!((all.page.total, all.page.items.len()), (9, 9));
    assert_eq!((all.counts.passed, all.counts.failed, all.counts.errors), (3, 4, 2));
    let query = TrajectoryQuery { outcome: Some(OutcomeFilter::Passed), ..Default::default() };
    let passed = ask(query).await;
    assert_eq!(
        (passed.page.total, passed.counts.total()),
        (3, 9),
        "counts ignore their own filter"
    );
    let query = TrajectoryQuery { outcome: Some(OutcomeFilter::Error), ..Default::default() };
    assert_eq!(ask(query).await.page.total, 2, "errors of both kinds");
    let query = TrajectoryQuery { purpose: Some(RolloutPurpose::Selection), ..Default::default() };
    assert_eq!(ask(query).await.page.total, 2);
    let query = TrajectoryQuery { step: Some(1), set: Some("batch".into()), ..Default::default() };
    assert_eq!(ask(query).await.page.total, 6);
    let query = TrajectoryQuery { task: Some("train 3".into()), ..Default::default() };
    assert_eq!(ask(query).await.page.items[0].outcome, train(3));
    for (text, n) in [("val_1", 1), ("QUESTION OF", 9), ("100%", 7), ("100_", 0), ("foreign", 0)] {
        let query = TrajectoryQuery { q: Some(text.into()), ..Default::default() };
        assert_eq!(ask(query).await.page.total, n, "{text}");
    }

    let mut query = TrajectoryQuery { limit: Some(3), ..Default::default() };
    let mut ids = Vec::new();
    loop {
        let page = ask(query.clone()).await.page;
        ids.extend(page.items.iter().map(|row| row.id));
        query.cursor = page.next;
        if query.cursor.is_none() {
            break;
        }
    }
    assert_eq!(ids.len(), 9);
    assert!(ids.is_sorted());
    let wrong = TrajectoryQuery { cursor: Some("x".into()), ..Default::default() };
    assert!(matches!(
        store.trajectories(&run_id(1), &wrong).await,
        Err(StoreFailure::BadQuery { .. })
    ));
}

#[rstest]
#[case(Kind::File)]
#[case(Kind::Memory)]
#[tokio::test]
async fn a_trajectory_holds_the_conversation_of_its_call(#[case] kind: Kind) {
    let opened = kind.open().await;
    let store = &opened.store;
    let journal = started(store, 1).await;
    let recorded = call(1, "Paris");
    store.record(recorded.clone()).await.unwrap();
    let error = Outcome::InfraError { code: "timeout".into(), message: "late".into() };
    let outcomes = vec![scored("a", 1.0, Some(recorded.key.clone())), with_outcome("b", error)];
    journal.keep_outcomes(&set("batch", 1, outcomes)).await.unwrap();
    let rows =
        store.trajectories(&run_id(1), &TrajectoryQuery::default()).await.unwrap().page.items;

    let told = store.trajectory(&run_id(1), rows[0].id).await.unwrap();
    let roles: Vec<&str> = told.messages.iter().map(|message| message.role.as_str()).collect();
    assert_eq!(roles, ["system", "user", "assistant"]);
    assert_eq!(told.messages[2].content, "Paris");
    assert_eq!((told.prompt_tokens, told.latency_ms, told.attempts), (Some(12), Some(5), Some(2)));
    let failed = store.trajectory(&run_id(1), rows[1].id).await.unwrap();
    assert!(failed.messages.is_empty());
    started(store, 2).await;
    let foreign = store.trajectory(&run_id(2), rows[0].id).await;
    assert!(matches!(foreign, Err(StoreFailure::NotFound { what: "trajectory", .. })));
}
