//! What can go wrong in the store, one enum a kind of operation.

use crate::adoptions::AdoptionState;
use skillopt_domain::ids::{AdoptionId, RunId};
use skillopt_domain::run::ForbiddenTransition;
use skillopt_engine::ports::StoreError;
use std::error::Error;
use std::path::PathBuf;

/// The store could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// A later version of the program has changed the schema.
    #[error(
        "{} was written by a newer version of skillopt (its schema has step {version}, which this version does \
         not know); update skillopt, or choose another data directory", path.display()
    )]
    Newer {
        /// The database.
        path: PathBuf,
        /// The step of the schema that is not known here.
        version: i64,
    },
    /// A step of the schema is not the one that was applied.
    #[error(
        "{} has another schema than this version of skillopt (step {version} differs); choose another data \
         directory", path.display()
    )]
    Differs {
        /// The database.
        path: PathBuf,
        /// The step of the schema.
        version: i64,
    },
    /// Directory or file cannot be made or locked.
    #[error("cannot use {}", path.display())]
    Io {
        /// The path.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// SQLite refuses.
    #[error("cannot open {}", path.display())]
    Sql {
        /// The database.
        path: PathBuf,
        /// Why.
        source: Box<dyn Error + Send + Sync>,
    },
}

/// A read or a write failed.
#[derive(Debug, thiserror::Error)]
pub enum StoreFailure {
    /// There is no such thing.
    #[error("no {what} {id}")]
    NotFound {
        /// What was looked for, such as `run`.
        what: &'static str,
        /// Its id.
        id: String,
    },
    /// The query has a part that cannot be understood.
    #[error("{message}")]
    BadQuery {
        /// Which and why.
        message: String,
    },
    /// Stored bytes are not what was written.
    #[error("the store holds {what} that cannot be read: {message}")]
    Corrupt {
        /// Which part.
        what: String,
        /// Why.
        message: String,
    },
    /// SQLite failed.
    #[error("the store cannot {action}")]
    Sql {
        /// What was being done, such as `record a call`.
        action: &'static str,
        /// Why.
        source: sqlx::Error,
    },
    /// The store was closed.
    #[error("the store is closed")]
    Closed,
}

/// The state of a run could not be changed.
#[derive(Debug, thiserror::Error)]
pub enum TransitionError {
    /// The state does not know the step.
    #[error(transparent)]
    Forbidden(#[from] ForbiddenTransition),
    /// The one who asks does not own the run any more.
    #[error("another process owns the run {run} now")]
    LeaseLost {
        /// The run.
        run: RunId,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreFailure),
}

/// A lease could not be taken or kept.
#[derive(Debug, thiserror::Error)]
pub enum LeaseError {
    /// Another owner lives.
    #[error("{owner} works on the run")]
    Held {
        /// The other owner.
        owner: String,
        /// When its lease runs out unless it is renewed, in milliseconds since 1970-01-01 UTC.
        until_ms: u64,
    },
    /// The lease ran out and was taken away.
    #[error("another process owns the run {run} now")]
    Lost {
        /// The run.
        run: RunId,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreFailure),
}

/// An adoption could not be noted.
#[derive(Debug, thiserror::Error)]
pub enum AdoptionError {
    /// Another adoption writes the same file now.
    #[error("{real_path} is being written by the adoption {other}")]
    InProgress {
        /// The file.
        real_path: String,
        /// The other adoption.
        other: AdoptionId,
    },
    /// The key was used for another skill or another file.
    #[error("the idempotency key {key} was used for another adoption")]
    KeyReused {
        /// The key.
        key: String,
    },
    /// The adoption is not in the state that the step needs.
    #[error("the adoption {id} is {state}")]
    WrongState {
        /// The adoption.
        id: AdoptionId,
        /// Its state.
        state: AdoptionState,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreFailure),
}

impl StoreFailure {
    pub(crate) fn no_run(run: &RunId) -> Self {
        Self::NotFound { what: "run", id: run.to_string() }
    }

    pub(crate) fn corrupt(what: impl Into<String>, why: impl std::fmt::Display) -> Self {
        Self::Corrupt { what: what.into(), message: format!("{why}") }
    }
}

impl From<StoreFailure> for StoreError {
    fn from(failure: StoreFailure) -> Self {
        Self { message: with_causes(&failure) }
    }
}

impl From<LeaseError> for StoreError {
    fn from(error: LeaseError) -> Self {
        Self { message: with_causes(&error) }
    }
}

/// The engine's error is one sentence, so the causes go into it.
fn with_causes(error: &dyn Error) -> String {
    let mut message = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        message = format!("{message}: {error}");
        cause = error.source();
    }
    message
}
