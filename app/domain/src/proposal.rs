//! What the optimizer hands in beside edits, as people read it: suggestions and whole texts.

use crate::edit::{EditStatus, SourceType};
use crate::json::from_fields;
use serde::Serialize;

/// A suggestion or a whole text in a few words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ProposalNote {
    /// The kind of suggestion, such as `add_rule`; `skill` for a whole text.
    pub kind: String,
    /// A line that names it.
    pub title: String,
    /// What it asks for, or what it changes.
    pub detail: String,
    /// Where it came from.
    pub source_type: SourceType,
    /// Trajectories behind it.
    pub support_count: u32,
    /// The merge level that it survived last; 0 for none.
    pub merge_level: u32,
}

from_fields! { ProposalNote { kind, title, detail, source_type, support_count, merge_level } }

/// What became of a whole new text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RewriteReport {
    /// `applied`, or why the text was not taken.
    pub status: EditStatus,
    /// One sentence with the reason; empty when there is nothing to add.
    pub detail: String,
    /// The changes in the optimizer's words.
    pub change_summary: Vec<String>,
    /// Front matter or marked regions had been changed and were put back.
    pub restored: bool,
    /// Suggestions or texts that it was made from.
    pub proposals: Vec<ProposalNote>,
}

from_fields! { RewriteReport { status, detail, change_summary, restored, proposals } }

/// What a step did to the appendix of its candidate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AppendixReport {
    /// Notes of the step, each once.
    pub proposed: Vec<String>,
    /// Notes of the candidate after the step.
    pub notes: Vec<String>,
    /// Notes that the skill did not have before.
    pub n_added: u32,
    /// Notes that a condensing call saved.
    pub n_condensed: u32,
    /// Why notes were not kept, or not condensed; empty when nothing went wrong.
    pub detail: String,
}

from_fields! { AppendixReport { proposed, notes, n_added, n_condensed, detail } }

/// How many edits may apply in a step, as the optimizer decided.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LrDecision {
    /// The budget in force.
    pub learning_rate: u32,
    /// What the optimizer asked for; `None` when it could not be read.
    pub raw_learning_rate: Option<i64>,
    /// Items that there were to choose from.
    pub available: u32,
    /// The wish was out of bounds and was cut.
    pub clamped: bool,
    /// No wish could be read, so that nothing is changed.
    pub fallback: bool,
    /// The optimizer's reason.
    pub reasoning: String,
    /// `low`, `medium` or `high`; empty when it did not say.
    pub confidence: String,
    /// What may go wrong, in the optimizer's words.
    pub risk_notes: Vec<String>,
    /// Why the reply could not be used; empty when it could.
    pub error: String,
}

from_fields! { LrDecision {
    learning_rate, raw_learning_rate, available, clamped, fallback, reasoning, confidence,
    risk_notes, error
} }
