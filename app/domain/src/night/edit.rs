//! An edit that a night proposes, with the field names of the reference system's files.

use crate::json::from_fields;
use serde::{Deserialize, Serialize};

/// The document that an edit is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Target {
    /// The skill.
    Skill,
    /// The project's memory: `CLAUDE.md` or `AGENTS.md`.
    Memory,
}

/// What an edit does with the learned block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum EditOp {
    /// A new entry.
    Add,
    /// Entries that contain the anchor go.
    Delete,
    /// Entries that contain the anchor become the content.
    Replace,
}

/// One edit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct EditRecord {
    /// The document.
    pub target: Target,
    /// What it does.
    pub op: EditOp,
    /// The text; may have several lines.
    pub content: String,
    /// What the entry to change contains.
    pub anchor: String,
    /// Why, in the optimizer's words.
    pub rationale: String,
}

from_fields! { EditRecord { target, op; or default: content, anchor, rationale } }

/// Guidance that a slow update writes into the marked region of a skill: a change of its own kind. The optimizer's edits
/// are counted without it, and it cannot be taken or left alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GuidanceRecord {
    /// The document.
    pub target: Target,
    /// The guidance.
    pub content: String,
    /// What stood in its place before; empty for nothing.
    pub before: String,
    /// It won its trial and is part of the proposal.
    pub accepted: bool,
}

from_fields! { GuidanceRecord { target, content; or default: before, accepted } }
