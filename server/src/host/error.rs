//! Why a run could not be made, found or driven. The texts are for people.

use crate::config::BadConfig;
use skillopt_domain::config::{ConfigDifference, fork_command};
use skillopt_domain::ids::RunId;
use skillopt_domain::run::ForbiddenTransition;
use skillopt_store::{LeaseError, OpenError, StoreFailure, TransitionError};

/// An error of the host.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// The config has problems.
    #[error(transparent)]
    BadConfig(#[from] BadConfig),
    /// The store cannot be opened.
    #[error("cannot open the data directory: {0}")]
    Open(#[from] OpenError),
    /// The store failed.
    #[error("the store failed: {0}")]
    Store(#[from] StoreFailure),
    /// The run folder cannot be used.
    #[error("cannot use the run folder {path}: {message}")]
    Folder {
        /// The folder.
        path: String,
        /// Why.
        message: String,
    },
    /// Another process works on the run.
    #[error(
        "process {} works on run {run}; wait for it, or cancel the run with `skillopt runs cancel`",
        pid(owner)
    )]
    Held {
        /// The run.
        run: RunId,
        /// The process.
        owner: String,
    },
    /// The state of the run does not allow it.
    #[error(transparent)]
    Forbidden(#[from] ForbiddenTransition),
    /// The run was read from a folder and has no past here to go on from.
    #[error("{reason}")]
    Imported {
        /// Why it cannot be resumed.
        reason: String,
    },
    /// The run did nothing in its folder, and a newer one has it now.
    #[error(
        "run {} had done nothing, and its folder {folder} belongs to run {} now; resume that one, or start anew with \
         `skillopt runs fork {}`",
        run.short(), by.short(), run.short()
    )]
    Displaced {
        /// The run.
        run: RunId,
        /// The one that has its folder.
        by: RunId,
        /// The folder.
        folder: String,
    },
    /// What is wanted differs from what the run was made with, in what changes results.
    #[error("{}", needs_fork(run, differences))]
    NeedsFork {
        /// The run.
        run: RunId,
        /// All differences, the safe ones too.
        differences: Vec<ConfigDifference>,
    },
    /// Somebody else was faster.
    #[error("run {run} was taken up or got other settings meanwhile; look at it, then try again")]
    Changed {
        /// The run.
        run: RunId,
    },
    /// This process lost the run.
    #[error("another process took run {run} over")]
    Lost {
        /// The run.
        run: RunId,
    },
}

fn needs_fork(run: &RunId, differences: &[ConfigDifference]) -> String {
    let mut text = format!(
        "this differs from what run {} was made with, in what changes results; a fork can start with it: {}",
        run.short(),
        fork_command(run.short(), differences)
    );
    for one in differences {
        text += &format!("\n  {one}");
    }
    text
}

/// Owners are named by their process id and a word of their own.
fn pid(owner: &str) -> &str {
    owner.split(':').next().unwrap_or(owner)
}

impl From<LeaseError> for HostError {
    fn from(err: LeaseError) -> Self {
        match err {
            LeaseError::Lost { run } => Self::Lost { run },
            LeaseError::Store(failure) => Self::Store(failure),
            held @ LeaseError::Held { .. } => {
                Self::Folder { path: String::new(), message: held.to_string() }
            }
        }
    }
}

impl From<TransitionError> for HostError {
    fn from(err: TransitionError) -> Self {
        match err {
            TransitionError::Forbidden(forbidden) => Self::Forbidden(forbidden),
            TransitionError::LeaseLost { run } => Self::Lost { run },
            TransitionError::Store(failure) => Self::Store(failure),
        }
    }
}
