//! An edit that a night proposes.

use serde::{Deserialize, Serialize};

/// The document that an edit is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// The skill.
    Skill,
    /// The project's memory: `CLAUDE.md` or `AGENTS.md`.
    Memory,
}

/// What an edit does with the learned block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EditOp {
    /// A new entry.
    Add,
    /// Entries that contain the anchor go.
    Delete,
    /// Entries that contain the anchor become the content.
    Replace,
}

/// One edit. The field names are those of the reference system's files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EditRecord {
    /// The document.
    pub target: Target,
    /// What it does.
    pub op: EditOp,
    /// The text; may have several lines.
    #[serde(default)]
    pub content: String,
    /// What the entry to change contains.
    #[serde(default)]
    pub anchor: String,
    /// Why, in the optimizer's words.
    #[serde(default)]
    pub rationale: String,
}
