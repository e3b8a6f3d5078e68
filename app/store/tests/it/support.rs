//! Stores, clocks and sample values for the tests.

use skillopt_domain::config::{Place, Resolved, Setting, Value, resolve};
use skillopt_domain::event::{EventKind, Measured, Progress, RunPlan, StepSummary};
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::ids::RunId;
use skillopt_domain::outcome::{
    Outcome, OutcomeCounts, RolloutPurpose, RolloutSet, Sample, TaskOutcome,
};
use skillopt_domain::run::{Phase, RunTransition, Stage};
use skillopt_domain::score::{MeanScore, Score, TaskScore};
use skillopt_domain::spend::{Role, Spend, SpendByRole, Usage};
use skillopt_domain::verdict::Action;
use skillopt_engine::ports::{ChatReply, Clock, Finish, Message, Purpose, RecordedCall};
use skillopt_store::{Author, Change, LeaseTerm, NewRun, RunJournal, Store};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

pub(crate) const OWNER: &str = "host:1";
pub(crate) const TTL_MS: u64 = 10_000;

/// A store with the folder that it lives in.
pub(crate) struct Opened {
    pub(crate) store: Store,
    pub(crate) dir: Option<tempfile::TempDir>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    File,
    Memory,
}

impl Kind {
    pub(crate) async fn open(self) -> Opened {
        match self {
            Self::File => {
                let dir = tempfile::tempdir().unwrap();
                let store = Store::open(dir.path()).await.unwrap();
                Opened { store, dir: Some(dir) }
            }
            Self::Memory => Opened { store: Store::in_memory().await.unwrap(), dir: None },
        }
    }
}

impl Opened {
    pub(crate) fn path(&self) -> &Path {
        self.dir.as_ref().unwrap().path()
    }
}

/// A clock that stands still unless it is told.
#[derive(Debug, Default)]
pub(crate) struct StillClock(AtomicU64);

impl Clock for StillClock {
    fn monotonic(&self) -> Duration {
        Duration::from_millis(self.now_ms())
    }
    fn now_ms(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

pub(crate) fn clock() -> Arc<StillClock> {
    let clock = StillClock::default();
    clock.0.store(1_000_000, Ordering::Relaxed);
    Arc::new(clock)
}

pub(crate) fn run_id(n: u32) -> RunId {
    RunId::parse(&format!("0190a0c2-7b1e-7c33-8f00-{n:012x}")).unwrap()
}

pub(crate) fn mock_config() -> Resolved {
    let setting = |path: &str, value: &str| Setting {
        path: path.into(),
        value: Value::Text(value.into()),
        place: Place::flag("test"),
    };
    resolve(&[
        setting("model.backend", "mock"),
        setting("env.split_dir", "data"),
        setting("limits.max_calls", "100"),
    ])
    .unwrap_or_default()
}

pub(crate) fn new_run(n: u32) -> NewRun {
    NewRun {
        id: run_id(n),
        name: format!("run {n}"),
        config: mock_config(),
        out_root: format!("out/{n}"),
        actor: "local".into(),
        fresh: None,
        created_at_ms: 1000 + u64::from(n),
        lease: None,
    }
}

pub(crate) fn term(owner: &str) -> LeaseTerm {
    LeaseTerm { owner: owner.into(), ttl_ms: TTL_MS }
}

pub(crate) fn change(transition: RunTransition) -> Change<'static> {
    Change { transition, detail: None, by: Author::System, at_ms: 2000 }
}

/// A run that `OWNER` works on.
pub(crate) async fn started(store: &Store, n: u32) -> RunJournal {
    let lease = Some(LeaseTerm { owner: OWNER.into(), ttl_ms: 2_000_000 });
    store.create_run(&NewRun { lease, ..new_run(n) }).await.unwrap();
    let by = Author::Owner(OWNER);
    let start = Change { by, ..change(RunTransition::Start) };
    store.transition(&run_id(n), start).await.unwrap();
    RunJournal::open(store, &run_id(n), OWNER, clock()).await.unwrap()
}

pub(crate) fn sha(text: &str) -> Sha256Hex {
    Sha256Hex::of(text)
}

pub(crate) fn mean(hard: f64, n: u32) -> MeanScore {
    MeanScore { hard, soft: hard, n }
}

pub(crate) fn planned() -> EventKind {
    EventKind::Planned(RunPlan {
        benchmark: "searchqa".into(),
        n_train: 80,
        n_selection: 40,
        n_test: 40,
        epochs: 1,
        steps_per_epoch: 8,
        total_steps: 8,
        data: sha("data"),
        initial_skill: sha("initial"),
        initial_tokens: 12,
        target_model: "Target-7B".into(),
        optimizer_model: "optimizer".into(),
        target_simulated: false,
        optimizer_simulated: true,
        seed: 42,
        forecast: None,
    })
}

pub(crate) fn measured(hard: f64) -> Measured {
    Measured {
        skill: sha("initial"),
        score: Some(mean(hard, 40)),
        gate_score: Some(hard),
        counts: OutcomeCounts::default(),
        set: "selection/initial".into(),
        cost: None,
    }
}

pub(crate) fn step(step: u32, action: Action, candidate: Option<f64>, best: f64) -> StepSummary {
    StepSummary {
        step,
        epoch: 1,
        action,
        rollout: Some(mean(0.5, 10)),
        candidate_score: candidate,
        current_score: Some(best),
        current_n: Some(40),
        best_score: Some(best),
        best_n: Some(40),
        n_selection: Some(40),
        n_fixed: Some(1),
        n_broke: Some(0),
        edit_budget: 3,
        n_applied: 2,
        n_not_applied: 1,
        skill: sha(&format!("skill {step}")),
        candidate: Some(sha(&format!("skill {step}"))),
        version: step,
        skill_tokens: 100,
        n_errors: 0,
        n_attempts: 10,
        spend: spend(10),
        stages: Vec::new(),
        reason: "because".into(),
    }
}

pub(crate) fn spend(calls: u64) -> SpendByRole {
    let target =
        Spend { calls, prompt_tokens: calls * 10, cost_usd_micros: calls, ..Spend::default() };
    SpendByRole { target, optimizer: Spend::default() }
}

pub(crate) fn progress(calls: u64) -> Progress {
    Progress {
        phase: Phase::Step { step: 1, stage: Stage::Rollout },
        done: 3,
        total: 10,
        errors: 0,
        spend: spend(calls),
        at_ms: 1,
    }
}

pub(crate) fn call(n: u32, reply: &str) -> RecordedCall {
    RecordedCall {
        key: sha(&format!("key {n}")),
        role: Role::Target,
        purpose: Purpose::Qa,
        model: "m".into(),
        messages: vec![
            Message::system("You answer questions. ".repeat(40)),
            Message::user(format!("question {n}")),
        ],
        reply: ChatReply {
            text: reply.into(),
            finish: Finish::Stop,
            usage: Some(Usage::new(12, 3)),
            cost_usd_micros: None,
            latency_ms: 5,
            attempts: 2,
            adaptations: vec!["sends max_tokens".into()],
            ..ChatReply::default()
        },
    }
}

pub(crate) fn scored(task: &str, hard: f64, call: Option<Sha256Hex>) -> TaskOutcome {
    TaskOutcome {
        task: task.into(),
        title: format!("Question of {task}?"),
        task_type: "qa".into(),
        outcome: Outcome::Scored {
            score: TaskScore {
                hard: Score::try_new(hard).unwrap(),
                soft: Score::try_new(hard / 3.0).unwrap(),
            },
            predicted: format!("answer 100% {task}"),
            fail_reason: if hard < 1.0 { "wrong".into() } else { String::new() },
            truncated: false,
        },
        call,
        cached: false,
    }
}

pub(crate) fn with_outcome(task: &str, outcome: Outcome) -> TaskOutcome {
    TaskOutcome { outcome, ..scored(task, 0.0, None) }
}

pub(crate) fn set(key: &str, step: u32, outcomes: Vec<TaskOutcome>) -> RolloutSet {
    RolloutSet {
        key: key.into(),
        purpose: RolloutPurpose::Train,
        step,
        skill: sha("initial"),
        sample: Sample { seed: 42, epoch: 1, repeat: 0, fresh: None },
        outcomes,
    }
}
