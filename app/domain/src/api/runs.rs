//! Runs on the wire: a row, a run with its fold, and the stream.

use crate::event::Progress;
use crate::ids::RunId;
use crate::import::ImportOrigin;
use crate::json::from_fields;
use crate::origin::RunOrigin;
use crate::run::{Phase, RunStatus};
use crate::score::MeanScore;
use crate::spend::SpendByRole;
use crate::view::RunView;
use serde::{Deserialize, Serialize};

/// A row of the run table.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RunSummary {
    /// Its id.
    pub id: RunId,
    /// Its name.
    pub name: String,
    /// The state.
    pub status: RunStatus,
    /// Why, where there is something to say.
    pub detail: Option<String>,
    /// The benchmark.
    pub benchmark: String,
    /// Model of the target.
    pub target_model: String,
    /// Model of the optimizer.
    pub optimizer_model: String,
    /// The target is a simulation.
    pub target_simulated: bool,
    /// The optimizer is a simulation.
    pub optimizer_simulated: bool,
    /// When it was created, in milliseconds since 1970-01-01 UTC.
    pub created_at_ms: u64,
    /// When an engine took it first.
    pub started_at_ms: Option<u64>,
    /// When it ended.
    pub ended_at_ms: Option<u64>,
    /// Where a live run is.
    pub phase: Option<Phase>,
    /// Finished steps.
    pub n_steps: u32,
    /// Planned steps.
    pub total_steps: Option<u32>,
    /// Accepted steps.
    pub n_accepted: u32,
    /// Rejected steps.
    pub n_rejected: u32,
    /// Initial skill on the selection split, in the gate's metric.
    pub baseline_score: Option<f64>,
    /// Best skill on the selection split, in the gate's metric.
    pub best_score: Option<f64>,
    /// Selection tasks behind the best score.
    pub n_selection: Option<u32>,
    /// Initial skill on the test split.
    pub test_initial: Option<MeanScore>,
    /// Best skill on the test split.
    pub test_best: Option<MeanScore>,
    /// Best score after each step, thinned to 40 points that keep the extremes.
    pub spark: Vec<f64>,
    /// Spend so far.
    pub spend: SpendByRole,
    /// Where the run folder is.
    pub out_root: String,
    /// Who started it.
    pub actor: String,
}

from_fields! { RunSummary {
    id, name, status, detail, benchmark, target_model, optimizer_model, target_simulated,
    optimizer_simulated, created_at_ms, started_at_ms, ended_at_ms, phase, n_steps,
    total_steps, n_accepted, n_rejected, baseline_score, best_score, n_selection,
    test_initial, test_best, spark, spend, out_root, actor
} }

/// Query of `GET /runs`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema, utoipa::IntoParams), into_params(parameter_in = Query))]
pub struct RunQuery {
    /// Only this state.
    pub status: Option<RunStatus>,
    /// Only names, models and benchmarks that contain this text.
    pub q: Option<String>,
    /// `created` (default), `name`, `best`, `steps`, `status`, `cost`; with `-` in front: falling.
    pub sort: Option<String>,
    /// From the page before.
    pub cursor: Option<String>,
    /// 1 to 500, default 100.
    pub limit: Option<u32>,
}

/// `GET /runs/{id}`: the row and the folded journal. `view.steps` holds the last 100 steps at most, without their stages.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RunDetail {
    /// The row.
    pub summary: RunSummary,
    /// The fold.
    pub view: RunView,
    /// Metric of the gate: `hard`, `soft` or `mixed`.
    pub gate_metric: String,
    /// Caps, to be shown beside the spend.
    pub caps: Caps,
    /// Where it came from, for a run that was imported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported: Option<ImportOrigin>,
    /// The run that it was made from, for a re-run or a fork.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<RunOrigin>,
}

from_fields! { RunDetail { summary, view, gate_metric, caps, imported, origin } }

/// The hard caps of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Caps {
    /// Calls.
    pub max_calls: Option<u64>,
    /// Tokens.
    pub max_tokens: Option<u64>,
    /// Millionths of a dollar.
    pub max_cost_usd_micros: Option<u64>,
    /// Working time in milliseconds.
    pub max_ms: Option<u64>,
}

from_fields! { Caps { max_calls, max_tokens, max_cost_usd_micros, max_ms } }

/// Answer of the actions `pause`, `resume`, `cancel`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StatusChanged {
    /// The state now.
    pub status: RunStatus,
}

/// What a run's stream sends besides events: `event: progress`.
pub type ProgressMessage = Progress;

/// What the stream of all runs sends: `event: run`, one row that changed.
pub type RunChanged = RunSummary;
