//! What a finished step comes to, and what each of its stages took.

use crate::hash::Sha256Hex;
use crate::json::from_fields;
use crate::run::Stage;
use crate::score::MeanScore;
use crate::spend::SpendByRole;
use crate::verdict::Action;
use serde::Serialize;

/// The numbers of one finished step: a point of every curve and a row of the step list.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StepSummary {
    /// From 1, over all epochs.
    pub step: u32,
    /// From 1.
    pub epoch: u32,
    /// What became of it.
    pub action: Action,
    /// Means of the training batch.
    pub rollout: Option<MeanScore>,
    /// The candidate in the gate's metric, on the tasks that it was compared on.
    pub candidate_score: Option<f64>,
    /// The current skill in the gate's metric, after the step, on all of its scored tasks.
    pub current_score: Option<f64>,
    /// Selection tasks behind `current_score`.
    pub current_n: Option<u32>,
    /// The best skill in the gate's metric, after the step, on all of its scored tasks.
    pub best_score: Option<f64>,
    /// Selection tasks behind `best_score`.
    pub best_n: Option<u32>,
    /// Selection tasks that the candidate was compared on.
    pub n_selection: Option<u32>,
    /// Selection tasks fixed; `None` when the results of both skills are not known.
    pub n_fixed: Option<u32>,
    /// Selection tasks broken; `None` when the results of both skills are not known.
    pub n_broke: Option<u32>,
    /// How many edits could apply.
    pub edit_budget: u32,
    /// How many did.
    pub n_applied: u32,
    /// How many were tried in vain.
    pub n_not_applied: u32,
    /// The current skill after the step.
    pub skill: Sha256Hex,
    /// The candidate, where there was one.
    pub candidate: Option<Sha256Hex>,
    /// Number of accepted versions so far; the initial skill is version 0.
    pub version: u32,
    /// Size of the current skill in tokens, estimated.
    pub skill_tokens: u32,
    /// Attempts that ended in errors, of all attempts of the step.
    pub n_errors: u32,
    /// All attempts of the step.
    pub n_attempts: u32,
    /// What the step spent.
    pub spend: SpendByRole,
    /// Time and money by stage. Lists of steps leave it out; the step itself has it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<StageCost>,
    /// One sentence: the gate's reason, or why there was nothing to gate.
    pub reason: String,
}

from_fields! { StepSummary {
    step, epoch, action, rollout, candidate_score, current_score, current_n, best_score,
    best_n, n_selection, n_fixed, n_broke, edit_budget, n_applied, n_not_applied, skill,
    candidate, version, skill_tokens, n_errors, n_attempts, spend, reason;
    or default: stages
} }

/// Time and spend of one stage.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StageCost {
    /// The stage.
    pub stage: Stage,
    /// Wall time in milliseconds.
    pub wall_ms: u64,
    /// Calls, tokens, money.
    pub spend: SpendByRole,
}

from_fields! { StageCost { stage, wall_ms, spend } }
