//! The one fold: a run's events become the view that store, server and browser share.

mod fold;

use crate::cost::{FateCost, PartCost};
use crate::epoch::{Comparison, FinalSelection, MetaSkill, SlowUpdate};
use crate::event::{Measured, Progress, RunPlan, StepSummary};
use crate::hash::Sha256Hex;
use crate::json::from_fields;
use crate::outage::Outage;
use crate::run::{Phase, RunStatus};
use crate::spend::{Role, SpendByRole};
use serde::Serialize;

/// A run as far as its journal tells.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RunView {
    /// The state.
    pub status: RunStatus,
    /// Why it is in that state, where there is something to say.
    pub detail: Option<String>,
    /// What it will do; `None` until data and skill are loaded.
    pub plan: Option<RunPlan>,
    /// Where it is.
    pub phase: Option<Phase>,
    /// Live counts of the phase.
    pub progress: Option<Progress>,
    /// The initial skill on the selection split.
    pub baseline: Option<Measured>,
    /// The initial skill on the test split.
    pub test_initial: Option<Measured>,
    /// The best skill on the test split.
    pub test_best: Option<Measured>,
    /// The last skill on the test split, where it is neither the initial nor the best one.
    #[serde(default)]
    pub test_last: Option<Measured>,
    /// Comparisons of the skills of two epochs, in order.
    #[serde(default)]
    pub comparisons: Vec<Comparison>,
    /// Guidance between epochs, in order.
    #[serde(default)]
    pub slow_updates: Vec<SlowUpdate>,
    /// Renewals of the optimizer's memory, in order.
    #[serde(default)]
    pub meta_skills: Vec<MetaSkill>,
    /// The last look at current and best skill.
    #[serde(default)]
    pub final_selection: Option<FinalSelection>,
    /// Finished steps, in order. A server may leave out the oldest; see [`RunView::n_steps`].
    pub steps: Vec<StepSummary>,
    /// Finished steps in all.
    pub n_steps: u32,
    /// Steps that accepted their candidate.
    pub n_accepted: u32,
    /// Steps that rejected it.
    pub n_rejected: u32,
    /// Steps without a candidate.
    pub n_skipped: u32,
    /// Steps that could not decide.
    pub n_inconclusive: u32,
    /// The best skill so far.
    pub best: Option<BestSkill>,
    /// All versions: the initial skill and each accepted candidate.
    pub versions: Vec<SkillVersion>,
    /// Spend so far.
    pub spend: SpendByRole,
    /// What the parts of the run took, as far as they are finished; see [`RunView::cost_rows`].
    #[serde(default)]
    pub costs: Vec<PartCost>,
    /// What finished steps took by what became of them; see [`RunView::fate_rows`].
    #[serde(default)]
    pub fates: Vec<FateCost>,
    /// When the first engine took it, in milliseconds since 1970-01-01 UTC.
    pub started_at_ms: Option<u64>,
    /// When it ended.
    pub ended_at_ms: Option<u64>,
    /// Warnings, in order.
    pub warnings: Vec<String>,
    /// Endpoints of the run that do not answer now.
    #[serde(default)]
    pub outages: Vec<Outage>,
    /// How requests are changed so that the provider takes them, in order.
    #[serde(default)]
    pub adapted: Vec<Adapted>,
    /// Number of the last event folded in; 0 for none.
    pub seq: u64,
}

from_fields! { RunView {
    status, detail, plan, phase, progress, baseline, test_initial, test_best, steps,
    n_steps, n_accepted, n_rejected, n_skipped, n_inconclusive, best, versions, spend,
    started_at_ms, ended_at_ms, warnings, seq;
    or default: test_last, comparisons, slow_updates, meta_skills, final_selection, costs, fates,
    outages, adapted
} }

/// A change to the requests of a role.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Adapted {
    /// The role.
    pub role: Role,
    /// The change, such as "sends `max_tokens`".
    pub change: String,
}

from_fields! { Adapted { role, change } }

/// The best skill of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BestSkill {
    /// The step that made it; 0 for the initial skill.
    pub step: u32,
    /// Its number among the versions.
    pub version: u32,
    /// The text.
    pub skill: Sha256Hex,
    /// Its score in the gate's metric.
    pub score: Option<f64>,
    /// Selection tasks behind the score.
    pub n: Option<u32>,
}

from_fields! { BestSkill { step, version, skill, score, n } }

/// A version of the skill: the initial text or an accepted candidate.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SkillVersion {
    /// 0 for the initial skill.
    pub version: u32,
    /// The step that made it; 0 for the initial skill.
    pub step: u32,
    /// The text.
    pub skill: Sha256Hex,
    /// Score on the selection split in the gate's metric.
    pub score: Option<f64>,
    /// Selection tasks behind the score.
    pub n: Option<u32>,
    /// Size in tokens, estimated.
    pub tokens: u32,
}

from_fields! { SkillVersion { version, step, skill, score, n, tokens } }

impl Default for RunView {
    fn default() -> Self {
        Self {
            status: RunStatus::Queued,
            detail: None,
            plan: None,
            phase: None,
            progress: None,
            baseline: None,
            test_initial: None,
            test_best: None,
            test_last: None,
            comparisons: Vec::new(),
            slow_updates: Vec::new(),
            meta_skills: Vec::new(),
            final_selection: None,
            steps: Vec::new(),
            n_steps: 0,
            n_accepted: 0,
            n_rejected: 0,
            n_skipped: 0,
            n_inconclusive: 0,
            best: None,
            versions: Vec::new(),
            spend: SpendByRole::default(),
            costs: Vec::new(),
            fates: Vec::new(),
            started_at_ms: None,
            ended_at_ms: None,
            warnings: Vec::new(),
            outages: Vec::new(),
            adapted: Vec::new(),
            seq: 0,
        }
    }
}
