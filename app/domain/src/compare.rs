//! Two to many runs beside each other: what differs, whether they can be compared at all, and what pairs of
//! results say. Pure; the numbers come from a store.

mod cautions;
mod pairs;

pub use cautions::{Caution, CautionKind, RunFacts, cautions};
pub use pairs::{Paired, PairedSplit, TaskMark, paired, statement};

use crate::api::RunSummary;
use crate::config::ChangeEffect;
use crate::diff::Diff;
use crate::hash::Sha256Hex;
use crate::ids::RunId;
use crate::json::from_fields;
use serde::{Deserialize, Serialize};

/// At most so many runs are compared at once.
pub const MAX_RUNS: usize = 50;

/// Query of `GET /compare`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema, utoipa::IntoParams), into_params(parameter_in = Query))]
pub struct CompareQuery {
    /// Ids between commas, in the order in which they are shown.
    #[serde(default)]
    pub runs: String,
    /// The run against which the others are held; the first one when left out.
    pub base: Option<String>,
}

/// `GET /compare`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Compared {
    /// The runs that are there, in the order asked for, each once.
    pub runs: Vec<ComparedRun>,
    /// What was asked for and is no run of this store.
    pub missing: Vec<String>,
    /// The run against which the others are held.
    pub base: Option<RunId>,
    /// Why their numbers may not be compared.
    pub cautions: Vec<Caution>,
    /// All config keys, with one value a run.
    pub keys: Vec<ComparedKey>,
    /// Each other run against the base.
    pub pairs: Vec<ComparedPair>,
}

from_fields! { Compared { runs, missing, base, cautions, keys, pairs } }

/// One run of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ComparedRun {
    /// The row of the run table.
    pub summary: RunSummary,
    /// Metric of the gate: `hard`, `soft` or `mixed`.
    pub metric: String,
    /// It was read from a run folder.
    pub is_imported: bool,
    /// The best skill; `None` before the plan is known.
    pub best_skill: Option<Sha256Hex>,
    /// Its number among the versions.
    pub best_version: Option<u32>,
    /// Its size in tokens, estimated.
    pub best_tokens: Option<u32>,
    /// 95 % interval of the best skill's hard share on the test split.
    pub test_interval: Option<[f64; 2]>,
    /// Working time in milliseconds; 0 when it is not known.
    pub active_ms: u64,
    /// Scores over steps and over what the steps cost.
    pub curve: CompareCurve,
}

from_fields! { ComparedRun {
    summary, metric, is_imported, best_skill, best_version, best_tokens, test_interval, active_ms, curve
} }

/// Columns of the same length, one place a step that was kept; the first one is step 0, the baseline.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CompareCurve {
    /// Numbers of steps, rising.
    pub steps: Vec<u32>,
    /// The best skill so far on the selection split, in the gate's metric.
    pub best: Vec<Option<f64>>,
    /// The current skill on the selection split, in the gate's metric.
    pub current: Vec<Option<f64>>,
    /// Calls of the steps so far, those answered by the ledger included.
    pub calls: Vec<u64>,
    /// Tokens of the steps so far.
    pub tokens: Vec<u64>,
    /// Money of the steps so far in millionths of a dollar; `None` once a call had no price.
    pub cost_usd_micros: Vec<Option<u64>>,
}

from_fields! { CompareCurve { steps, best, current, calls, tokens, cost_usd_micros } }

/// A config key with one value a run, in the order of the runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ComparedKey {
    /// `section.key`.
    pub path: String,
    /// Values as text; `None` where it is not set.
    pub values: Vec<Option<String>>,
    /// Not all are the same.
    pub differs: bool,
    /// Whether the difference can change results; of no meaning where nothing differs.
    pub effect: ChangeEffect,
    /// Why; empty where nothing differs.
    pub why: String,
}

/// A run against the base.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ComparedPair {
    /// The run.
    pub run: RunId,
    /// Best skills on the tasks of the test split that both have.
    pub test: Option<Paired>,
    /// Best skills on the tasks of the selection split that both have.
    pub selection: Option<Paired>,
    /// What this shows, in sentences.
    pub statement: String,
}

/// Query of `GET /compare/skills`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema, utoipa::IntoParams), into_params(parameter_in = Query))]
pub struct SkillPairQuery {
    /// The run whose best skill is the old text.
    pub left: RunId,
    /// The run whose best skill is the new text.
    pub right: RunId,
}

/// `GET /compare/skills`: the best skills of two runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SkillPair {
    /// From left to right.
    pub diff: Diff,
    /// Both texts are the same.
    pub is_same: bool,
}
