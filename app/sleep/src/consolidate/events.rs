//! What a night tells while it runs, for a dashboard. Not a record: that is the evidence log.

use crate::backend::Phase;
use serde::Serialize;
use skillopt_domain::night::edit::Target;
use skillopt_domain::night::report::GateAction;
use skillopt_domain::outcome::OutcomeKind;
use skillopt_domain::score::TaskScore;
use std::fmt::Debug;

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum NightEvent {
    /// The tasks are shared out.
    Partitioned {
        /// Training tasks, variants and recalled ones among them.
        n_train: u32,
        /// Validation tasks.
        n_val: u32,
        /// Test tasks.
        n_test: u32,
        /// Validation and training are the same tasks.
        leaked: bool,
    },
    /// Attempts begin.
    StageBegan {
        /// Which.
        phase: Phase,
        /// Attempts.
        n_tasks: u32,
    },
    /// An attempt ended.
    TaskScored {
        /// Which stage.
        phase: Phase,
        /// The task.
        task_id: String,
        /// How it ended.
        outcome: OutcomeKind,
        /// The score, where there is one.
        score: Option<TaskScore>,
        /// Attempts of the stage that ended.
        n_done: u32,
        /// Attempts of the stage.
        n_tasks: u32,
    },
    /// Attempts ended.
    StageEnded {
        /// Which.
        phase: Phase,
        /// Attempts.
        n_tasks: u32,
    },
    /// The optimizer is asked for edits.
    ReflectBegan {
        /// For which document.
        target: Target,
    },
    /// The optimizer is asked for guidance between two versions of the skill.
    GuidanceBegan,
    /// The optimizer proposed edits.
    Reflected {
        /// For which document.
        target: Target,
        /// How many.
        n_edits: u32,
        /// Why none; empty when there are.
        reason: String,
    },
    /// A candidate was measured.
    Trial {
        /// `skill`, `memory` or `final`.
        target: String,
        /// It went on.
        accepted: bool,
        /// Gate score before.
        baseline: Option<f64>,
        /// Gate score after.
        candidate: Option<f64>,
        /// The comparison in words.
        words: String,
    },
    /// The night is decided.
    Decided {
        /// The verdict.
        action: GateAction,
        /// Its edits may be adopted.
        accepted: bool,
        /// Why, in words.
        reason: String,
    },
    /// One skill of several begins.
    GroupBegan {
        /// The skill.
        skill: String,
        /// Its tasks.
        n_tasks: u32,
    },
}

/// Who watches. Must not block: it is told in the middle of the work.
pub trait NightSink: Send + Sync + Debug {
    /// Takes an event; may drop some when they come too fast.
    fn tell(&self, event: NightEvent);
}

/// Nobody watches.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl NightSink for Silent {
    fn tell(&self, _: NightEvent) {}
}
