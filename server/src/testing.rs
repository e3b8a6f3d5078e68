//! What tests of several modules need: a clock, and runs with a history. Compiled for tests only.

use skillopt_domain::config::resolve;
use skillopt_domain::event::{EventKind, Measured, RunPlan, StepSummary};
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::ids::RunId;
use skillopt_domain::outcome::OutcomeCounts;
use skillopt_domain::run::RunTransition;
use skillopt_domain::score::MeanScore;
use skillopt_domain::spend::SpendByRole;
use skillopt_domain::verdict::Action;
use skillopt_engine::ports::{Clock, Journal};
use skillopt_store::{Author, Change, LeaseTerm, NewRun, RunJournal, Store};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

pub(crate) const OWNER: &str = "test";
pub(crate) const INITIAL: &str = "# Skill\n\nAnswer.\n";
pub(crate) const IMPROVED: &str = "# Skill\n\nAnswer with the shortest phrase.\n";

/// Each look is a millisecond later.
#[derive(Debug, Default)]
pub(crate) struct TestClock(AtomicU64);

impl TestClock {
    pub(crate) fn shared() -> Arc<dyn Clock> {
        Arc::new(Self::default())
    }
}

impl Clock for TestClock {
    fn monotonic(&self) -> Duration {
        Duration::from_millis(self.now_ms())
    }

    fn now_ms(&self) -> u64 {
        1_700_000_000_000 + self.0.fetch_add(1, Ordering::Relaxed)
    }
}

/// A run at work, whose journal a test writes.
#[derive(Debug)]
pub(crate) struct LiveRun {
    pub(crate) id: RunId,
    pub(crate) journal: RunJournal,
}

/// A queued run. With an owner it has a lease.
pub(crate) async fn queued_run(store: &Store, owner: Option<&str>) -> RunId {
    let id = RunId::parse(&uuid::Uuid::now_v7().to_string()).unwrap();
    let new = NewRun {
        id: id.clone(),
        name: "a run".to_owned(),
        config: resolve(&[]).unwrap(),
        out_root: format!("/runs/{id}"),
        actor: "local".to_owned(),
        fresh: None,
        created_at_ms: 1_700_000_000_000,
        lease: owner
            .map(|owner| LeaseTerm { owner: owner.to_owned(), ttl_ms: u64::from(u32::MAX) }),
    };
    store.create_run(&new).await.unwrap();
    id
}

/// A run that started.
pub(crate) async fn live_run(store: &Store) -> LiveRun {
    let id = queued_run(store, Some(OWNER)).await;
    let change = Change {
        transition: RunTransition::Start,
        detail: None,
        by: Author::Owner(OWNER),
        at_ms: 1_700_000_000_001,
    };
    store.transition(&id, change).await.unwrap();
    let journal = RunJournal::open(store, &id, OWNER, TestClock::shared()).await.unwrap();
    LiveRun { id, journal }
}

/// A run with an initial skill and one accepted version.
pub(crate) async fn trained_run(store: &Store, n_selection: u32) -> LiveRun {
    let run = live_run(store).await;
    for text in [INITIAL, IMPROVED] {
        run.journal.keep_skill(text).await.unwrap();
    }
    run.journal.append("planned", EventKind::Planned(plan(n_selection))).await.unwrap();
    if n_selection > 0 {
        run.journal
            .append("baseline", EventKind::Baseline(measured(0.5, n_selection)))
            .await
            .unwrap();
    }
    let step = EventKind::StepFinished(accepted_step(1, n_selection));
    run.journal.append("step/1", step).await.unwrap();
    run
}

fn plan(n_selection: u32) -> RunPlan {
    RunPlan {
        benchmark: "searchqa".to_owned(),
        n_train: 10,
        n_selection,
        n_test: 10,
        epochs: 1,
        steps_per_epoch: 1,
        total_steps: 1,
        data: Sha256Hex::of("tasks"),
        initial_skill: Sha256Hex::of(INITIAL),
        initial_tokens: 5,
        target_model: "simulated".to_owned(),
        optimizer_model: "simulated".to_owned(),
        target_simulated: true,
        optimizer_simulated: true,
        seed: 42,
        forecast: None,
    }
}

fn measured(score: f64, n: u32) -> Measured {
    Measured {
        skill: Sha256Hex::of(INITIAL),
        score: Some(MeanScore { hard: score, soft: score, n }),
        gate_score: Some(score),
        counts: OutcomeCounts::default(),
        set: "baseline".to_owned(),
        cost: None,
    }
}

/// The numbers of a step that accepted [`IMPROVED`].
pub(crate) fn accepted_step(step: u32, n_selection: u32) -> StepSummary {
    let score = (n_selection > 0).then_some(0.75);
    let n = (n_selection > 0).then_some(n_selection);
    StepSummary {
        step,
        epoch: 1,
        action: Action::AcceptNewBest,
        rollout: None,
        candidate_score: score,
        current_score: score,
        current_n: n,
        best_score: score,
        best_n: n,
        n_selection: n,
        n_fixed: Some(1),
        n_broke: Some(0),
        edit_budget: 4,
        n_applied: 1,
        n_not_applied: 0,
        skill: Sha256Hex::of(IMPROVED),
        candidate: Some(Sha256Hex::of(IMPROVED)),
        version: 1,
        skill_tokens: 9,
        n_errors: 0,
        n_attempts: 10,
        spend: SpendByRole::default(),
        stages: Vec::new(),
        reason: "0.50 → 0.75".to_owned(),
    }
}
