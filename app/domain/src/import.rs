//! What the import of a run folder found: where the run came from, what was taken over, and what was not.

use crate::ids::RunId;
use crate::run::RunStatus;
use serde::{Deserialize, Serialize};
use std::fmt;

/// `POST /imports`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ImportRequest {
    /// The run folder, from the root or from `~/`.
    pub path: String,
    /// Only read the folder and say what would be imported.
    #[serde(default)]
    pub dry_run: bool,
}

/// Where an imported run came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ImportOrigin {
    /// The folder, as it was when the run was imported last.
    pub folder: String,
    /// The system that wrote it, such as `Python SkillOpt 0.2`.
    pub system: String,
    /// When it was imported last, in milliseconds since 1970-01-01 UTC.
    pub imported_at_ms: u64,
    /// Why it cannot be resumed here.
    pub why_not_resumable: String,
    /// What was left out or changed on the way when it was imported last.
    #[serde(default)]
    pub findings: Vec<Finding>,
    /// Further findings that are not listed.
    #[serde(default)]
    pub n_findings_more: u64,
}

/// What an import changed in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum ImportChange {
    /// A new run.
    New,
    /// The folder has grown since it was imported: its run was brought up to date.
    Updated,
    /// Everything was known already.
    Unchanged,
    /// The folder belongs to a run of this data directory; there is nothing to import.
    Own,
}

impl ImportChange {
    /// The stable word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Updated => "updated",
            Self::Unchanged => "unchanged",
            Self::Own => "own",
        }
    }
}

/// Something in a run folder that was not taken over, or not as it stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Finding {
    /// The file, relative to the folder.
    pub file: String,
    /// Line, row or field within it; empty for the whole file.
    pub place: String,
    /// What is wrong, and what was left out.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if !self.place.is_empty() {
            write!(f, ", {}", self.place)?;
        }
        write!(f, ": {}", self.message)
    }
}

/// Answer of `POST /imports` and output of `skillopt import --json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ImportReport {
    /// The run.
    pub run: RunId,
    /// The folder that was read.
    pub folder: String,
    /// The system that wrote it.
    pub system: String,
    /// What changed; after a dry run, what would change.
    pub change: ImportChange,
    /// State of the run now.
    pub status: RunStatus,
    /// Finished steps in the folder.
    pub n_steps: u32,
    /// Attempts in the folder.
    pub n_attempts: u64,
    /// Attempts with a conversation.
    pub n_conversations: u64,
    /// Skill texts in the folder.
    pub n_skills: u32,
    /// What was left out or changed on the way, in the order in which it was found.
    pub findings: Vec<Finding>,
    /// Further findings that are not listed.
    pub n_findings_more: u64,
    /// Why the run cannot be resumed here; empty for a run of this data directory.
    pub why_not_resumable: String,
    /// The folder was only looked at: nothing was written.
    #[serde(default)]
    pub is_dry_run: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_names_file_place_and_what_was_left_out() {
        let finding = |place: &str| Finding {
            file: "history.json".into(),
            place: place.into(),
            message: "no number, left out".into(),
        };
        assert_eq!(
            finding("row 2, current_score").to_string(),
            "history.json, row 2, current_score: no number, left out"
        );
        assert_eq!(finding("").to_string(), "history.json: no number, left out");
    }
}
