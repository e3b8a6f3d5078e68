//! Attempts on the wire: rows, conversations, and the attempts of an evaluation.

use super::Page;
use crate::hash::Sha256Hex;
use crate::json::{Fields, FromFields, JsonError, from_fields};
use crate::outcome::{Outcome, OutcomeCounts, OutcomeFilter, RolloutPurpose, TaskOutcome};
use serde::{Deserialize, Serialize};

/// Query of `GET /runs/{id}/trajectories`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema, utoipa::IntoParams), into_params(parameter_in = Query))]
pub struct TrajectoryQuery {
    /// Only these outcomes.
    pub outcome: Option<OutcomeFilter>,
    /// Only this purpose.
    pub purpose: Option<RolloutPurpose>,
    /// Only this step.
    pub step: Option<u32>,
    /// Only this rollout set.
    pub set: Option<String>,
    /// Only this task.
    pub task: Option<String>,
    /// Only task ids, titles and answers that contain this text.
    pub q: Option<String>,
    /// From the page before.
    pub cursor: Option<String>,
    /// 1 to 500, default 100.
    pub limit: Option<u32>,
}

/// A row of the trajectory list.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TrajectoryRow {
    /// Number within the store; names it in the URL.
    pub id: u64,
    /// Rollout set.
    pub set: String,
    /// Why it was made.
    pub purpose: RolloutPurpose,
    /// Step; 0 before the first.
    pub step: u32,
    /// Skill in use.
    pub skill: Sha256Hex,
    /// The task and its outcome.
    #[serde(flatten)]
    pub outcome: TaskOutcome,
}

/// Counts for the filter buttons of the trajectory list.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TrajectoryPage {
    /// The rows.
    #[serde(flatten)]
    pub page: Page<TrajectoryRow>,
    /// Counts by outcome, with all filters but the outcome's.
    pub counts: OutcomeCounts,
}

from_fields!(TrajectoryRow, TrajectoryPage);

impl FromFields for TrajectoryRow {
    fn from_fields(fields: &mut Fields) -> Result<Self, JsonError> {
        Ok(Self {
            id: fields.take("id")?,
            set: fields.take("set")?,
            purpose: fields.take("purpose")?,
            step: fields.take("step")?,
            skill: fields.take("skill")?,
            outcome: FromFields::from_fields(fields)?,
        })
    }
}

impl FromFields for TrajectoryPage {
    fn from_fields(fields: &mut Fields) -> Result<Self, JsonError> {
        Ok(Self { counts: fields.take("counts")?, page: fields.take_rest()? })
    }
}

/// `GET /runs/{id}/trajectories/{number}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Trajectory {
    /// The row.
    pub row: TrajectoryRow,
    /// The conversation; empty when no call succeeded.
    pub messages: Vec<TrajectoryMessage>,
    /// What an agent did before its answer, the last message; empty for models that are no agents.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<TrajectoryStep>,
    /// Tokens read.
    pub prompt_tokens: Option<u64>,
    /// Tokens written.
    pub completion_tokens: Option<u64>,
    /// Time of the call in milliseconds.
    pub latency_ms: Option<u64>,
    /// Attempts of the call.
    pub attempts: Option<u32>,
}

/// A message of a trajectory. Untrusted text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TrajectoryMessage {
    /// `system`, `user` or `assistant`; attempts that were imported may have others, such as `action`.
    pub role: String,
    /// The text.
    pub content: String,
}

/// Something that an agent did on the way to its answer. Untrusted text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TrajectoryStep {
    /// What it was, such as `thought`, `message`, `command` or `tool`.
    pub kind: String,
    /// What it did, shortened.
    pub text: String,
    /// What came of it, shortened; empty when it is not told.
    pub result: String,
}

/// One attempt of an evaluation, as `skillopt eval --json` prints it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct EvalRow {
    /// The task.
    pub task: String,
    /// Its outcome.
    #[serde(flatten)]
    pub outcome: Outcome,
}
