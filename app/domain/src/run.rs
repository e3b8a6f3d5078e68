//! The life of a run: one enum of states and one transition function.

use crate::json::{Fields, FromFields, JsonError, from_fields};
use serde::{Deserialize, Serialize};
use std::fmt;

/// State of a run. Stored, shown and filtered by the same word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum RunStatus {
    /// Accepted, not started yet.
    Queued,
    /// An engine works on it.
    Running,
    /// Pause was asked for; calls in flight are being finished.
    Pausing,
    /// No call is made until resumed.
    Paused,
    /// Cancel was asked for; calls in flight are being finished.
    Cancelling,
    /// Finished as planned.
    Done,
    /// Ended by an error, which is told.
    Failed,
    /// Ended by a person. Can be resumed.
    Cancelled,
    /// A cap (calls, tokens, money, minutes) was reached. Can be resumed with a higher cap.
    Capped,
    /// The process that owned it is gone. Can be resumed.
    Interrupted,
}

/// What can happen to a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunTransition {
    /// An engine takes it, first or again.
    Start,
    /// A person asks to pause.
    AskPause,
    /// The engine confirms that nothing is in flight.
    ConfirmPause,
    /// A person asks to go on after a pause.
    Unpause,
    /// A person asks to cancel.
    AskCancel,
    /// The engine confirms the cancellation.
    ConfirmCancel,
    /// The engine finished.
    Finish,
    /// The engine failed.
    Fail,
    /// The engine stopped before a call that would have passed a cap.
    Cap,
    /// The owner's lease ran out.
    LoseOwner,
}

/// The transition does not exist from this state.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a run that is {from} cannot take the step {transition:?}")]
pub struct ForbiddenTransition {
    /// The state.
    pub from: RunStatus,
    /// The wanted transition.
    pub transition: RunTransition,
}

impl RunStatus {
    /// All states.
    pub const ALL: [Self; 10] = [
        Self::Queued,
        Self::Running,
        Self::Pausing,
        Self::Paused,
        Self::Cancelling,
        Self::Done,
        Self::Failed,
        Self::Cancelled,
        Self::Capped,
        Self::Interrupted,
    ];

    /// The one transition function.
    ///
    /// # Errors
    /// [`ForbiddenTransition`] when the state does not know the transition.
    pub fn after(self, transition: RunTransition) -> Result<Self, ForbiddenTransition> {
        use RunTransition as T;
        let next = match (self, transition) {
            (
                Self::Queued | Self::Interrupted | Self::Capped | Self::Cancelled | Self::Failed,
                T::Start,
            ) => Self::Running,
            (Self::Running, T::AskPause) => Self::Pausing,
            (Self::Pausing, T::ConfirmPause) => Self::Paused,
            (Self::Paused | Self::Pausing, T::Unpause) => Self::Running,
            (Self::Running | Self::Pausing | Self::Paused, T::AskCancel) => Self::Cancelling,
            (Self::Queued | Self::Interrupted, T::AskCancel) => Self::Cancelled,
            (Self::Cancelling | Self::Running | Self::Pausing | Self::Paused, T::ConfirmCancel) => {
                Self::Cancelled
            }
            (Self::Running | Self::Pausing | Self::Cancelling, T::Finish) => Self::Done,
            (
                Self::Queued | Self::Running | Self::Pausing | Self::Paused | Self::Cancelling,
                T::Fail,
            ) => Self::Failed,
            (Self::Running | Self::Pausing | Self::Cancelling, T::Cap) => Self::Capped,
            (
                Self::Queued | Self::Running | Self::Pausing | Self::Paused | Self::Cancelling,
                T::LoseOwner,
            ) => Self::Interrupted,
            (from, transition) => return Err(ForbiddenTransition { from, transition }),
        };
        Ok(next)
    }

    /// An engine owns the run now.
    #[must_use]
    pub fn is_live(self) -> bool {
        matches!(self, Self::Running | Self::Pausing | Self::Paused | Self::Cancelling)
    }

    /// Nothing will happen any more unless a person asks for it.
    #[must_use]
    pub fn is_over(self) -> bool {
        matches!(
            self,
            Self::Done | Self::Failed | Self::Cancelled | Self::Capped | Self::Interrupted
        )
    }

    /// *Resume* is offered.
    #[must_use]
    pub fn is_resumable(self) -> bool {
        self.after(RunTransition::Start).is_ok() && self != Self::Queued
    }

    /// The stable word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Pausing => "pausing",
            Self::Paused => "paused",
            Self::Cancelling => "cancelling",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Capped => "capped",
            Self::Interrupted => "interrupted",
        }
    }

    /// The state with this stable word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == word)
    }
}

impl fmt::Display for RunStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The six stages of a step, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Stage {
    /// The target tries a batch of tasks.
    Rollout,
    /// The optimizer reads the scored trajectories.
    Reflect,
    /// Its patches are merged into one.
    Aggregate,
    /// The edits are ranked.
    Select,
    /// The edits are applied up to the budget.
    Update,
    /// The candidate is measured and gated.
    Evaluate,
}

impl Stage {
    /// All stages in order.
    pub const ALL: [Self; 6] =
        [Self::Rollout, Self::Reflect, Self::Aggregate, Self::Select, Self::Update, Self::Evaluate];

    /// The stable word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Rollout => "rollout",
            Self::Reflect => "reflect",
            Self::Aggregate => "aggregate",
            Self::Select => "select",
            Self::Update => "update",
            Self::Evaluate => "evaluate",
        }
    }
}

/// Where a live run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "phase", rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Phase {
    /// One cheap call a role, before anything is spent.
    Preflight,
    /// The initial skill is measured on the selection split.
    Baseline,
    /// A step is under way.
    Step {
        /// From 1, over all epochs.
        step: u32,
        /// The stage.
        stage: Stage,
    },
    /// The skills of two epochs are compared and guidance is written.
    SlowUpdate {
        /// The epoch that ended, from 2.
        epoch: u32,
    },
    /// The optimizer's memory is renewed.
    MetaSkill {
        /// The epoch that ended, from 2.
        epoch: u32,
    },
    /// Initial and best skill are measured on the test split.
    FinalTest,
}

from_fields!(Phase);

impl FromFields for Phase {
    fn from_fields(fields: &mut Fields) -> Result<Self, JsonError> {
        Ok(match &*fields.take_tag("phase")? {
            "preflight" => Self::Preflight,
            "baseline" => Self::Baseline,
            "step" => Self::Step { step: fields.take("step")?, stage: fields.take("stage")? },
            "slow_update" => Self::SlowUpdate { epoch: fields.take("epoch")? },
            "meta_skill" => Self::MetaSkill { epoch: fields.take("epoch")? },
            "final_test" => Self::FinalTest,
            other => return Err(JsonError::unknown_tag("phase", other)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case(RunStatus::Queued, RunTransition::Start, Some(RunStatus::Running))]
    #[case(RunStatus::Running, RunTransition::AskPause, Some(RunStatus::Pausing))]
    #[case(RunStatus::Pausing, RunTransition::ConfirmPause, Some(RunStatus::Paused))]
    #[case(RunStatus::Paused, RunTransition::Unpause, Some(RunStatus::Running))]
    #[case(RunStatus::Running, RunTransition::AskCancel, Some(RunStatus::Cancelling))]
    #[case(RunStatus::Cancelling, RunTransition::ConfirmCancel, Some(RunStatus::Cancelled))]
    #[case(RunStatus::Running, RunTransition::Cap, Some(RunStatus::Capped))]
    #[case(RunStatus::Capped, RunTransition::Start, Some(RunStatus::Running))]
    #[case(RunStatus::Running, RunTransition::LoseOwner, Some(RunStatus::Interrupted))]
    #[case(RunStatus::Done, RunTransition::Start, None)]
    #[case(RunStatus::Done, RunTransition::AskCancel, None)]
    #[case(RunStatus::Cancelled, RunTransition::AskPause, None)]
    #[case(RunStatus::Failed, RunTransition::ConfirmCancel, None)]
    #[case(RunStatus::Queued, RunTransition::Finish, None)]
    fn transitions(
        #[case] from: RunStatus,
        #[case] transition: RunTransition,
        #[case] to: Option<RunStatus>,
    ) {
        assert_eq!(from.after(transition).ok(), to);
    }

    #[test]
    fn nothing_leaves_done() {
        use RunTransition as T;
        for transition in [T::Start, T::AskPause, T::Unpause, T::AskCancel, T::Fail, T::LoseOwner] {
            assert!(RunStatus::Done.after(transition).is_err());
        }
    }

    #[test]
    fn every_word_parses_back() {
        for status in RunStatus::ALL {
            assert_eq!(RunStatus::parse(status.as_str()), Some(status));
        }
    }
}
