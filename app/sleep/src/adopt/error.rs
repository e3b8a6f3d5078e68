//! Why nothing was adopted, with the words and exit codes of the reference system. Every text says what became of the
//! live documents.

use super::recover::Recovered;
use crate::lock::LockError;
use crate::stage::{ManifestError, Role, TargetFault};
use skillopt_domain::hash::Sha256Hex;
use std::io;
use std::path::PathBuf;

/// Why nothing was adopted, rejected or reverted.
#[derive(Debug, thiserror::Error)]
pub enum AdoptError {
    /// There is no such staging folder.
    #[error("there is no staged night at {}", .0.display())]
    NoStaging(PathBuf),
    /// The staging folder cannot be used.
    #[error("the staged night cannot be used: {0}")]
    InvalidStaging(String),
    /// Names that the night does not have, or twice.
    #[error("{0}")]
    InvalidSelection(String),
    /// The night has several skills, and none was chosen.
    #[error("the night proposes several skills; choose some of: {}", .available.join(", "))]
    SelectionRequired {
        /// The names.
        available: Vec<String>,
    },
    /// The night proposes no skills of their own.
    #[error("the night proposes no skills of their own")]
    NoStagedSkills,
    /// It may not be done, or not now; nothing was written.
    #[error("nothing was written: {0}")]
    Refused(#[from] Refusal),
    /// The file system refused; everything is as it was.
    #[error("cannot {action} {}: {reason}; everything is as it was", .path.display())]
    Failed {
        /// What was tried.
        action: &'static str,
        /// Where.
        path: PathBuf,
        /// The words of the operating system.
        reason: io::Error,
    },
    /// It failed, and taking it back failed too. The journal stays, and the next adoption begins with it.
    #[error(
        "the adoption failed ({cause}) and could not be taken back ({reason}); try again when that is mended"
    )]
    NeedsRecovery {
        /// Why it failed.
        cause: String,
        /// Why it could not be taken back.
        reason: String,
    },
    /// The process was told to stop in the middle, as by a crash.
    #[error("the adoption was interrupted; the next one takes it back first")]
    Interrupted,
}

/// What stands against an adoption.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// The live document is not what the night saw.
    #[error("{role} at {} changed since the night; it is now {}", .path.display(), shown(.live.as_ref()))]
    Changed {
        /// What it is.
        role: Role,
        /// Where it is.
        path: PathBuf,
        /// What it is now.
        live: Option<Sha256Hex>,
    },
    /// The live document cannot be written.
    #[error("{role} at {}: {fault}", .path.display())]
    Target {
        /// What it is.
        role: Role,
        /// Where it is.
        path: PathBuf,
        /// What is wrong.
        fault: TargetFault,
    },
    /// The live document is below none of the allowed folders.
    #[error("{} is outside of the folders that may be written", .0.display())]
    Outside(PathBuf),
    /// The proposed bytes are not those of the manifest.
    #[error("the proposal {0} was changed after the night, or is missing")]
    ProposalChanged(String),
    /// The document to adopt has no text.
    #[error("the proposal for {0} is empty")]
    Empty(Role),
    /// It was adopted before.
    #[error("{0} was adopted from this night already")]
    AlreadyAdopted(Role),
    /// A person rejected it.
    #[error("{0} was rejected; open it again first")]
    Rejected(Role),
    /// There is nothing to take back.
    #[error("{0} is not adopted from this night")]
    NotAdopted(Role),
    /// The backup is gone or was changed.
    #[error("the backup {} is gone or was changed", .0.display())]
    NoBackup(PathBuf),
    /// The history of nights does not know the folder: it may have come with the project.
    #[error(
        "{} is not in the history of this machine's nights, as if it had come with the project; look into it, and if \
         you want it name it with --staging", .0.display()
    )]
    Foreign(PathBuf),
    /// A reason is asked for.
    #[error("say why")]
    NoReason,
    /// Another adoption is under way.
    #[error("another adoption is under way: {0}")]
    Busy(LockError),
}

fn shown(live: Option<&Sha256Hex>) -> String {
    live.map_or_else(|| "gone".to_owned(), |sha| format!("sha256 {sha}"))
}

/// The reference system's word for a kind of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// `no_staging`
    NoStaging,
    /// `invalid_selection`
    InvalidSelection,
    /// `invalid_staging`
    InvalidStaging,
    /// `adoption_refused`
    AdoptionRefused,
    /// `adoption_failed`
    AdoptionFailed,
    /// `no_staged_skills`
    NoStagedSkills,
    /// `selection_required`
    SelectionRequired,
}

impl ErrorKind {
    /// The word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NoStaging => "no_staging",
            Self::InvalidSelection => "invalid_selection",
            Self::InvalidStaging => "invalid_staging",
            Self::AdoptionRefused => "adoption_refused",
            Self::AdoptionFailed => "adoption_failed",
            Self::NoStagedSkills => "no_staged_skills",
            Self::SelectionRequired => "selection_required",
        }
    }

    /// The exit code: 1 where the night or the system is at fault, 2 where the choice is.
    #[must_use]
    pub fn exit_code(self) -> u8 {
        match self {
            Self::NoStaging | Self::InvalidStaging | Self::AdoptionFailed => 1,
            Self::InvalidSelection
            | Self::AdoptionRefused
            | Self::NoStagedSkills
            | Self::SelectionRequired => 2,
        }
    }
}

impl AdoptError {
    /// The kind of failure.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::NoStaging(_) => ErrorKind::NoStaging,
            Self::InvalidStaging(_) => ErrorKind::InvalidStaging,
            Self::InvalidSelection(_) => ErrorKind::InvalidSelection,
            Self::SelectionRequired { .. } => ErrorKind::SelectionRequired,
            Self::NoStagedSkills => ErrorKind::NoStagedSkills,
            Self::Refused(_) => ErrorKind::AdoptionRefused,
            Self::Failed { .. } | Self::NeedsRecovery { .. } | Self::Interrupted => {
                ErrorKind::AdoptionFailed
            }
        }
    }

    pub(super) fn io(
        action: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |reason| Self::Failed { action, path, reason }
    }
}

impl From<ManifestError> for AdoptError {
    fn from(err: ManifestError) -> Self {
        Self::InvalidStaging(err.to_string())
    }
}

impl From<LockError> for AdoptError {
    fn from(err: LockError) -> Self {
        match err {
            LockError::Io { path, reason } => Self::Failed { action: "lock", path, reason },
            busy @ LockError::Busy { .. } => Self::Refused(Refusal::Busy(busy)),
        }
    }
}

impl Recovered {
    /// A sentence for people; empty when there was nothing to recover.
    #[must_use]
    pub fn text(&self) -> String {
        let list = |paths: &[PathBuf]| {
            paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
        };
        let mut parts = Vec::new();
        if !self.rolled_back.is_empty() {
            parts.push(format!(
                "an interrupted adoption was taken back: {}",
                list(&self.rolled_back)
            ));
        }
        if !self.kept.is_empty() {
            parts.push(format!("edits made since were kept: {}", list(&self.kept)));
        }
        parts.join("; ")
    }
}
