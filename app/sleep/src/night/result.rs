//! What a night came to, and why it may come to nothing.

use crate::adopt::Receipt;
use crate::backend::BackendError;
use crate::consolidate::NightError;
use crate::handoff::HandoffError;
use crate::harvest::Harvest;
use crate::lock::LockError;
use crate::stage::{PublishError, TargetError};
use crate::state::StateError;
use crate::task::TaskRecord;
use skillopt_domain::night::report::SleepReport;
use std::path::PathBuf;

/// What a night came to.
#[derive(Debug)]
pub struct NightResult {
    /// The report.
    pub report: SleepReport,
    /// The harvest; `None` when tasks were given.
    pub harvest: Option<Harvest>,
    /// The tasks with their splits.
    pub tasks: Vec<TaskRecord>,
    /// The night's folder; `None` for dry runs and nights without tasks.
    pub staging: Option<PathBuf>,
    /// Skills of their own with a proposal.
    pub staged_skills: Vec<String>,
    /// What was adopted at once.
    pub adopted: Vec<Receipt>,
    /// Why what could have been adopted at once was not; empty otherwise.
    pub not_adopted: String,
    /// Why the state of nights does not know of this night although its proposal is there; empty otherwise. The next
    /// night reads the same sessions again then.
    pub state_failure: String,
}

/// Why a night ended without a result. No live document changed, and no proposal is left behind.
#[derive(Debug, thiserror::Error)]
pub enum NightFailure {
    /// A live document could not be adopted into; no model was called.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// The night's own decision failed.
    #[error(transparent)]
    Night(#[from] NightError),
    /// Another night works on the project, whichever program runs it.
    #[error(transparent)]
    Busy(#[from] LockError),
    /// The state of nights cannot be used.
    #[error(transparent)]
    State(#[from] StateError),
    /// The proposal cannot be laid aside.
    #[error(transparent)]
    Publish(#[from] PublishError),
    /// The files through which a person answers cannot be used.
    #[error(transparent)]
    Handoff(#[from] HandoffError),
    /// No session was read: nothing follows about what a person asked for.
    #[error(
        "the miner's answers on all {n_sessions} sessions could not be used; the last one: {last}"
    )]
    Mining {
        /// Sessions that it was asked about. They come again.
        n_sessions: u32,
        /// Why the last answer could not be used.
        last: String,
    },
    /// The file system refused.
    #[error("cannot {action}: {reason}")]
    Io {
        /// What was tried.
        action: String,
        /// The words of the operating system.
        reason: std::io::Error,
    },
    /// A key of the config cannot be used.
    #[error("{0}")]
    Config(String),
}

impl NightFailure {
    /// Somebody has to answer prompts first.
    #[must_use]
    pub fn is_pending(&self) -> bool {
        matches!(self, Self::Night(NightError::Backend(BackendError::Pending)))
    }

    /// A person ended it.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        matches!(self, Self::Night(NightError::Backend(BackendError::Cancelled)))
    }

    /// What a person has to mend: a live document, the state, or the folder of the night.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        matches!(
            self,
            Self::Target(_)
                | Self::Busy(_)
                | Self::State(_)
                | Self::Publish(_)
                | Self::Handoff(_)
                | Self::Io { .. }
        )
    }

    /// A cap ended it.
    #[must_use]
    pub fn is_capped(&self) -> bool {
        matches!(self, Self::Night(NightError::Backend(BackendError::Budget(_))))
    }
}
