//! Why nothing was adopted. Every text says what became of the live file.

use super::path::PathError;
use skillopt_domain::hash::Sha256Hex;
use skillopt_store::{AdoptionError, StoreFailure};
use std::io;
use std::path::PathBuf;

/// Why nothing was adopted or reverted. The texts are shown as they are.
#[derive(Debug, thiserror::Error)]
pub enum AdoptError {
    /// The path breaks a rule.
    #[error(transparent)]
    Path(#[from] PathError),
    /// No such run, version or adoption.
    #[error("{0}")]
    NotFound(String),
    /// The request makes no sense.
    #[error("{0}")]
    BadRequest(String),
    /// The live file is not what was shown; nothing was written.
    #[error("{path} is not what was shown: it is now {}; nothing was written, look at the new difference",
        shown(.live.as_ref()))]
    FileChanged {
        /// The file.
        path: PathBuf,
        /// What it is now.
        live: Option<Sha256Hex>,
    },
    /// The version may not be adopted, or not now.
    #[error("{0}")]
    Refused(String),
    /// The file system refused; the live file is as it was.
    #[error("cannot {action} {path}: {reason}; the live file is as it was")]
    Io {
        /// What was tried.
        action: &'static str,
        /// Where.
        path: PathBuf,
        /// The words of the operating system.
        reason: io::Error,
    },
    /// The store failed.
    #[error("the store failed")]
    Store(#[from] StoreFailure),
    /// A task of ours died.
    #[error("the write was interrupted")]
    Interrupted,
}

fn shown(live: Option<&Sha256Hex>) -> String {
    live.map_or_else(|| "gone".to_owned(), |sha| format!("sha256 {sha}"))
}

impl From<AdoptionError> for AdoptError {
    fn from(err: AdoptionError) -> Self {
        match err {
            AdoptionError::Store(failure) => Self::Store(failure),
            other => Self::Refused(other.to_string()),
        }
    }
}
