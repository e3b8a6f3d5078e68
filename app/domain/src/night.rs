//! The life of a night: what state it is in, which stage it works on, and how far that is.

pub mod edit;
pub mod forecast;
pub mod report;
mod schedule;

pub use schedule::ScheduleOutcomeKind;

use crate::json::from_fields;
use crate::spend::Spend;
use serde::{Deserialize, Serialize};
use std::fmt;

/// State of a night. Stored, shown and filtered by the same word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum NightStatus {
    /// A process works on it.
    Running,
    /// It is done, and its folder holds what it found.
    Staged,
    /// It is done, and there were no tasks.
    Empty,
    /// It was a dry run and is done: nothing was kept.
    Rehearsed,
    /// It waits for answers to its prompts.
    Pending,
    /// Ended by an error, which is told.
    Failed,
    /// Ended by a person.
    Cancelled,
    /// A cap (calls, tokens, money, minutes) ended it.
    Capped,
    /// The process that worked on it is gone.
    Interrupted,
}

/// What can happen to a night.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NightTransition {
    /// Its folder is written.
    Stage,
    /// There are no tasks.
    FindNothing,
    /// A dry run comes to its end.
    Rehearse,
    /// Prompts wait for answers.
    AskAnswers,
    /// An error ends it.
    Fail,
    /// A person ends it.
    Cancel,
    /// A cap ends it.
    Cap,
    /// The process that worked on it is gone.
    LoseOwner,
}

impl NightStatus {
    /// All states.
    pub const ALL: [Self; 9] = [
        Self::Running,
        Self::Staged,
        Self::Empty,
        Self::Rehearsed,
        Self::Pending,
        Self::Failed,
        Self::Cancelled,
        Self::Capped,
        Self::Interrupted,
    ];

    /// The one transition function. Only a running night goes anywhere: the next try is a night of its own.
    /// `None` when the state does not know the transition.
    #[must_use]
    pub fn after(self, transition: NightTransition) -> Option<Self> {
        if self != Self::Running {
            return None;
        }
        Some(match transition {
            NightTransition::Stage => Self::Staged,
            NightTransition::FindNothing => Self::Empty,
            NightTransition::Rehearse => Self::Rehearsed,
            NightTransition::AskAnswers => Self::Pending,
            NightTransition::Fail => Self::Failed,
            NightTransition::Cancel => Self::Cancelled,
            NightTransition::Cap => Self::Capped,
            NightTransition::LoseOwner => Self::Interrupted,
        })
    }

    /// The stable word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Staged => "staged",
            Self::Empty => "empty",
            Self::Rehearsed => "rehearsed",
            Self::Pending => "pending",
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

impl fmt::Display for NightStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The stages of a night, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum NightStage {
    /// Sessions are read, and secrets in them masked.
    Harvest,
    /// Tasks are found in them.
    Mine,
    /// The live documents are measured and tried: what fails is what edits are made from.
    Replay,
    /// The optimizer reads what failed and proposes edits.
    Reflect,
    /// Each candidate is measured, and the gate decides.
    Consolidate,
    /// The proposal is laid aside.
    Stage,
}

impl NightStage {
    /// All stages in order.
    pub const ALL: [Self; 6] =
        [Self::Harvest, Self::Mine, Self::Replay, Self::Reflect, Self::Consolidate, Self::Stage];

    /// The stable word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Harvest => "harvest",
            Self::Mine => "mine",
            Self::Replay => "replay",
            Self::Reflect => "reflect",
            Self::Consolidate => "consolidate",
            Self::Stage => "stage",
        }
    }
}

/// How far a night is. Later tellings replace earlier ones.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct NightProgress {
    /// The stage that is worked on, or the last one.
    pub stage: NightStage,
    /// What is done there, in a few words.
    pub doing: String,
    /// Units done there: sessions, tasks or attempts.
    pub done: u32,
    /// Units that there are; `None` when that is not known yet.
    pub total: Option<u32>,
    /// Sessions that were kept; `None` before the harvest is done.
    pub n_sessions: Option<u32>,
    /// Secrets that were masked; `None` before the harvest is done.
    pub n_masked: Option<u64>,
    /// Tasks; `None` before mining is done.
    pub n_tasks: Option<u32>,
    /// What is spent so far, all roles together.
    pub spend: Spend,
}

from_fields! { NightProgress {
    stage, doing, done, total, n_sessions, n_masked, n_tasks, spend
} }

impl NightProgress {
    /// Nothing has happened yet.
    #[must_use]
    pub fn start() -> Self {
        Self {
            stage: NightStage::Harvest,
            doing: String::new(),
            done: 0,
            total: None,
            n_sessions: None,
            n_masked: None,
            n_tasks: None,
            spend: Spend::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_night_ends_once() {
        let transitions = [
            (NightTransition::Stage, NightStatus::Staged),
            (NightTransition::FindNothing, NightStatus::Empty),
            (NightTransition::Rehearse, NightStatus::Rehearsed),
            (NightTransition::AskAnswers, NightStatus::Pending),
            (NightTransition::Fail, NightStatus::Failed),
            (NightTransition::Cancel, NightStatus::Cancelled),
            (NightTransition::Cap, NightStatus::Capped),
            (NightTransition::LoseOwner, NightStatus::Interrupted),
        ];
        for (transition, end) in transitions {
            assert_eq!(NightStatus::Running.after(transition), Some(end));
            for over in
                NightStatus::ALL.into_iter().filter(|status| *status != NightStatus::Running)
            {
                assert_eq!(over.after(transition), None, "{over} {transition:?}");
            }
        }
    }

    #[test]
    fn words_of_states_read_back() {
        for status in NightStatus::ALL {
            assert_eq!(NightStatus::parse(status.as_str()), Some(status));
        }
        assert_eq!(NightStatus::parse("asleep"), None);
    }
}
