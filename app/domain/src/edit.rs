//! Edits: what an optimizer proposes and what became of each. A skill never changes in another way.

mod apply;
mod normalise;
mod rewrite;

pub use apply::{EditRefusal, apply_in_order, apply_one};
pub use normalise::{normalised_words, similarity};
pub use rewrite::{Rewritten, rewrite};

use crate::json::{Fields, FromFields, JsonError, from_fields};
use serde::{Deserialize, Serialize};

/// What an edit does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum EditOp {
    /// Adds text at the end of the body.
    Append,
    /// Adds text after the line that holds the anchor.
    InsertAfter,
    /// Puts text in the place of the anchor.
    Replace,
    /// Removes the anchor.
    Delete,
    /// A word that is none of these; kept for the report.
    Unknown(String),
}

#[cfg(feature = "openapi")]
impl utoipa::PartialSchema for EditOp {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
        String::schema()
    }
}

#[cfg(feature = "openapi")]
impl utoipa::ToSchema for EditOp {}

impl From<String> for EditOp {
    fn from(word: String) -> Self {
        match word.trim().to_ascii_lowercase().as_str() {
            "append" => Self::Append,
            "insert_after" => Self::InsertAfter,
            "replace" => Self::Replace,
            "delete" => Self::Delete,
            _ => Self::Unknown(word),
        }
    }
}

impl EditOp {
    /// The word in prompts and files.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Append => "append",
            Self::InsertAfter => "insert_after",
            Self::Replace => "replace",
            Self::Delete => "delete",
            Self::Unknown(word) => word,
        }
    }
}

impl From<EditOp> for String {
    fn from(op: EditOp) -> Self {
        op.as_str().to_owned()
    }
}

/// Whether an edit came from failed or from passed trajectories.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum SourceType {
    /// From failures: repairs.
    #[default]
    Failure,
    /// From successes: reinforces.
    Success,
}

/// One proposed edit. The field names are those of Python run folders.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Edit {
    /// What to do.
    pub op: EditOp,
    /// The anchor: text that must occur exactly once in the skill. Not used by `append`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// The new text. Not used by `delete`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// Trajectories behind the edit: the size of its minibatch, summed by merges.
    #[serde(default)]
    pub support_count: u32,
    /// Where it came from.
    #[serde(default)]
    pub source_type: SourceType,
    /// The merge level that it survived last; 0 for none.
    #[serde(default)]
    pub merge_level: u32,
}

from_fields! { Edit { op, target, content; or default: support_count, source_type, merge_level } }

impl Edit {
    /// An edit without provenance.
    #[must_use]
    pub fn new(op: EditOp, target: Option<&str>, content: Option<&str>) -> Self {
        Self {
            op,
            target: target.map(str::to_owned),
            content: content.map(str::to_owned),
            support_count: 1,
            source_type: SourceType::Failure,
            merge_level: 0,
        }
    }

    /// The text that tells most about the edit: its content, or its anchor for a deletion.
    #[must_use]
    pub fn gist(&self) -> &str {
        let content = self.content.as_deref().map(str::trim).filter(|text| !text.is_empty());
        content.or(self.target.as_deref()).unwrap_or_default()
    }
}

/// What became of an edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum EditStatus {
    /// The text changed as asked.
    Applied,
    /// The anchor does not occur.
    NotFound,
    /// The anchor occurs more than once.
    Ambiguous,
    /// It would touch front matter or a marked region.
    Protected,
    /// The skill says this already.
    Duplicate,
    /// Nothing to add or to look for.
    Empty,
    /// An earlier edit of the same step took its anchor away.
    Conflict,
    /// It would leave a code block open.
    BrokenMarkdown,
    /// It would lose text: it stands for text that it leaves out, or takes most of the skill away.
    LeftOut,
    /// The operation is not known.
    UnknownOp,
    /// The budget was used up by better ranked edits.
    OverBudget,
}

impl EditStatus {
    /// The stable word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Applied => "applied",
            Self::NotFound => "not_found",
            Self::Ambiguous => "ambiguous",
            Self::Protected => "protected",
            Self::Duplicate => "duplicate",
            Self::Empty => "empty",
            Self::Conflict => "conflict",
            Self::BrokenMarkdown => "broken_markdown",
            Self::LeftOut => "left_out",
            Self::UnknownOp => "unknown_op",
            Self::OverBudget => "over_budget",
        }
    }

    /// The words shown to people.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Applied => "applied",
            Self::NotFound => "not applied, anchor not found",
            Self::Ambiguous => "not applied, anchor is ambiguous",
            Self::Protected => "not applied, protected text",
            Self::Duplicate => "not applied, duplicate",
            Self::Empty => "not applied, empty",
            Self::Conflict => "not applied, conflict",
            Self::BrokenMarkdown => "not applied, breaks Markdown",
            Self::LeftOut => "not applied, would lose text",
            Self::UnknownOp => "not applied, unknown operation",
            Self::OverBudget => "over budget",
        }
    }
}

/// An edit with what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct EditReport {
    /// The edit.
    #[serde(flatten)]
    pub edit: Edit,
    /// What became of it.
    pub status: EditStatus,
    /// One sentence with the place or the reason; empty when there is nothing to add.
    pub detail: String,
    /// The earlier step whose rejected edit this one resembles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resembles_rejected_step: Option<u32>,
}

from_fields!(EditReport);

impl FromFields for EditReport {
    fn from_fields(fields: &mut Fields) -> Result<Self, JsonError> {
        Ok(Self {
            status: fields.take("status")?,
            detail: fields.take("detail")?,
            resembles_rejected_step: fields.take("resembles_rejected_step")?,
            edit: Edit::from_fields(fields)?,
        })
    }
}

#[cfg(test)]
mod tests;
