//! Adoption, rejection and revert of a staged night: locks, journal, backups, receipts. The only code of nights that
//! writes live documents, and it never overwrites bytes that nobody has seen.

mod again;
mod choose;
mod decision;
mod error;
mod journal;
pub mod live_file;
mod locks;
mod receipt;
mod recover;
mod reject;
mod revert;
mod review;
mod select;
#[cfg(test)]
mod tests;
mod transaction;

pub use choose::{Choice, Whole, report_edits, report_guidance};
pub use decision::{Action, Decision, Decisions};
pub use error::{AdoptError, ErrorKind, Refusal};
pub use receipt::Receipt;
pub use recover::{Recovered, recover};
pub use reject::{reject, reopen};
pub use revert::{Reverted, revert};
pub use review::{Review, RowState, Texts, decisions, is_interrupted, review, texts};
pub use select::{Derived, Selection};
pub use transaction::{Adoption, Step, Stop, Watcher, adopt, adopt_watched};

use std::path::PathBuf;

/// What the machine gives to adoptions: passed in, because nothing here reads an environment.
#[derive(Clone, Debug)]
pub struct Places {
    /// The system's folder for temporary files: locks that all nights share are in it.
    pub temp_dir: PathBuf,
    /// Folders below which live documents may be written: the project, the agents' homes, the roots of skills. What a
    /// staging folder says about itself cannot widen them.
    pub allowed: Vec<PathBuf>,
}
