//! Tasks that a person looks through before a night uses them: what is changed, what is wrong with it, and the file that
//! keeps it. Several people or tabs may work on one file, so each change names the version that it was made from.

mod add;
mod change;
mod file;
mod look;

pub use add::{Added, add_tasks};
pub use change::{Change, Texts, change};
pub use file::{CuratedFile, Kept};
pub use look::{Finding, look_at, score, warnings};

use crate::split::Overlap;
use crate::tasks_file::TasksFileError;
use std::io;
use std::path::PathBuf;

/// Why tasks are as they were.
#[derive(Debug, thiserror::Error)]
pub enum CurateError {
    /// Somebody else changed them.
    #[error(
        "somebody else changed these tasks meanwhile; load them again, and make your change there"
    )]
    Changed,
    /// There is no such task.
    #[error("there is no task `{0}`")]
    Unknown(String),
    /// A change about nothing.
    #[error("name at least {0}")]
    TooFew(&'static str),
    /// Texts that no night could use.
    #[error("{}", listed(.0))]
    Broken(Vec<Finding>),
    /// Tasks that belong together would stand on two sides.
    #[error("{}; what belongs together has to stay in one split: move those tasks together", overlap_words(.0))]
    Straddles(Vec<Overlap>),
    /// Nothing was changed, or somebody else did since.
    #[error("there is no change that could be undone")]
    NothingToUndo,
    /// The file.
    #[error(transparent)]
    File(#[from] TasksFileError),
    /// The file system refused.
    #[error("cannot {action} {}: {reason}", .path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// Where.
        path: PathBuf,
        /// The words of the operating system.
        reason: io::Error,
    },
}

fn listed(findings: &[Finding]) -> String {
    let shown = findings.iter().map(|finding| format!("{}: {}", finding.field, finding.message));
    shown.collect::<Vec<_>>().join("; ")
}

fn overlap_words(overlaps: &[Overlap]) -> String {
    overlaps.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests;
