//! What a night tells: `report.json`, with the field names of the reference system.

use super::edit::{EditRecord, GuidanceRecord};
use crate::json::from_fields;
use serde::{Deserialize, Serialize};

/// The verdict of a night.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum GateAction {
    /// Better than what is live and than any night before.
    AcceptNewBest,
    /// Better than what is live.
    Accept,
    /// Not better.
    #[default]
    Reject,
    /// Better, but on tasks that the edits were made from.
    RejectUnverified,
    /// The gate is off and edits were applied.
    GreedyApplied,
    /// The gate is off and nothing applied.
    GreedyNoop,
}

/// What became of a task between two documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum DeltaStatus {
    /// Higher.
    Improved,
    /// Lower, or missing.
    Regressed,
    /// Equal.
    Unchanged,
}

/// One task of a gate trial.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TaskDelta {
    /// The task.
    pub task_id: String,
    /// Its tags.
    pub tags: Vec<String>,
    /// Gate score before, 0 to 1; `None` when it is missing.
    pub baseline_score: Option<f64>,
    /// Gate score after, 0 to 1; `None` when it is missing.
    pub candidate_score: Option<f64>,
    /// Which way it went.
    pub status: DeltaStatus,
    /// Both scores are there.
    pub scores_are_finite: bool,
}

from_fields! { TaskDelta {
    task_id, baseline_score, candidate_score, status, scores_are_finite;
    or default: tags
} }

/// One comparison of the gate.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GateTrial {
    /// `skill`, `memory` or `final`.
    pub target: String,
    /// Mean gate score before, 0 to 1.
    pub baseline_score: Option<f64>,
    /// Mean gate score after, 0 to 1.
    pub candidate_score: Option<f64>,
    /// The candidate went on.
    pub accepted: bool,
    /// It was better, but a task got worse.
    pub blocked_by_regression: bool,
    /// Task by task.
    pub task_deltas: Vec<TaskDelta>,
    /// Tasks that were scored with both.
    pub n_compared: u32,
    /// Of these, those that got better.
    pub n_fixed: u32,
    /// Of these, those that got worse.
    pub n_broke: u32,
    /// The comparison for people.
    pub words: String,
}

from_fields! { GateTrial {
    target, baseline_score, candidate_score, accepted, blocked_by_regression;
    or default: task_deltas, n_compared, n_fixed, n_broke, words
} }

/// What became of the proposals for one skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum GroupStatus {
    /// It was measured.
    Consolidated,
    /// It could not be found or read.
    Skipped,
    /// Measuring it failed.
    Failed,
}

/// One skill of a night that treats several.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SkillGroupReport {
    /// The skill.
    pub skill_name: String,
    /// What became of it.
    pub status: GroupStatus,
    /// Its edits may be adopted.
    pub accepted: bool,
    /// The verdict; empty when nothing was measured.
    pub gate_action: Option<GateAction>,
    /// Mean gate score before, 0 to 1.
    pub baseline_score: Option<f64>,
    /// Mean gate score after, 0 to 1.
    pub candidate_score: Option<f64>,
    /// Its tasks.
    pub n_tasks: u32,
    /// Edits that applied.
    pub n_applied_edits: u32,
    /// Edits that the gate rejected.
    pub n_rejected_edits: u32,
    /// Why, when it was not consolidated.
    pub reason: String,
    /// Edits that are part of the proposal; empty in nights of the reference system.
    pub edits: Vec<EditRecord>,
    /// Guidance that was tried, whatever became of it.
    pub guidance: Option<GuidanceRecord>,
}

from_fields! { SkillGroupReport {
    skill_name, status;
    or default: accepted, gate_action, baseline_score, candidate_score, n_tasks, n_applied_edits, n_rejected_edits, reason,
    edits, guidance
} }

/// The whole night.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SleepReport {
    /// Number of the night.
    pub night: u32,
    /// Absolute path of the project.
    pub project: String,
    /// RFC 3339 in UTC.
    pub started_at: String,
    /// RFC 3339 in UTC.
    pub ended_at: String,
    /// Sessions that were read.
    pub n_sessions: u32,
    /// Tasks that were mined or given.
    pub n_tasks: u32,
    /// Tasks that were replayed.
    pub n_replayed: u32,
    /// Mean gate score before on the validation tasks, 0 to 1; `None` when it was not measured.
    pub baseline_score: Option<f64>,
    /// Mean gate score after.
    pub candidate_score: Option<f64>,
    /// The edits may be adopted.
    pub accepted: bool,
    /// The verdict.
    pub gate_action: GateAction,
    /// Validation and training tasks were the same.
    pub holdout_leaked: bool,
    /// Why there are no edits; empty when there are.
    pub no_edits_reason: String,
    /// Edits that are part of the proposal.
    pub edits: Vec<EditRecord>,
    /// Edits that the gate rejected.
    pub rejected_edits: Vec<EditRecord>,
    /// Edits that changed nothing.
    pub unmatched_edits: Vec<EditRecord>,
    /// Guidance that was tried, whatever became of it. Not among the edits.
    pub guidance: Option<GuidanceRecord>,
    /// Skill by skill, when there are several.
    pub skill_groups: Vec<SkillGroupReport>,
    /// Tokens of the night, where reported.
    pub tokens_used: u64,
    /// Calls whose tokens nobody reported.
    pub unmetered_calls: u64,
    /// Money of the night in millionths of a dollar; `None` while any call has no known price.
    pub cost_usd_micros: Option<u64>,
    /// Validation tasks that the baseline rests on.
    pub n_validated: u32,
    /// Mean gate score of the final documents on the test tasks, 0 to 1; `None` when there are none.
    pub test_score: Option<f64>,
    /// Test tasks that the score rests on.
    pub n_tested: u32,
    /// The decision in words.
    pub decision: String,
    /// For people.
    pub notes: Vec<String>,
    /// The rule that no task may get worse was in force.
    pub gate_no_regression: bool,
    /// Every comparison of the gate.
    pub gate_trials: Vec<GateTrial>,
}

from_fields! { SleepReport {
    night;
    or default: project, started_at, ended_at, n_sessions, n_tasks, n_replayed, baseline_score, candidate_score, accepted,
    gate_action, holdout_leaked, no_edits_reason, edits, rejected_edits, unmatched_edits, guidance, skill_groups, tokens_used, unmetered_calls, cost_usd_micros,
    n_validated, test_score, n_tested, decision, notes,
    gate_no_regression, gate_trials
} }
