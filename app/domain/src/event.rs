//! The journal of a run: what happened, in an order that a resumed run repeats exactly.
//!
//! An event has a key that depends only on its place in the run, so that a store can append it once and
//! ignore it when a resumed run says it again.

mod read;
mod step;

pub use step::{StageCost, StepSummary};

use crate::config::LrControl;
use crate::edit::{Edit, EditReport};
use crate::epoch::{Comparison, FinalSelection, MetaSkill, SlowUpdate};
use crate::forecast::RunForecast;
use crate::hash::Sha256Hex;
use crate::ids::TaskId;
use crate::json::from_fields;
use crate::outage::Outage;
use crate::outcome::OutcomeCounts;
use crate::prompt::PromptUse;
use crate::proposal::{AppendixReport, LrDecision, ProposalNote, RewriteReport};
use crate::run::{Phase, RunStatus};
use crate::score::MeanScore;
use crate::spend::{Role, SpendByRole, Spent};
use crate::verdict::Verdict;
use serde::{Deserialize, Serialize};

/// One journal row as it is stored and sent.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RunEvent {
    /// Position in the run's journal, from 1 without gaps. Also the id of the server-sent event.
    pub seq: u64,
    /// Milliseconds since 1970-01-01 UTC.
    pub at_ms: u64,
    /// Deterministic key, unique within the run.
    pub key: String,
    /// What happened.
    #[serde(flatten)]
    pub kind: EventKind,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum EventKind {
    /// The state of the run changed.
    Status {
        /// The new state.
        status: RunStatus,
        /// Why, where there is something to say: an error, a cap, who asked.
        detail: Option<String>,
    },
    /// The plan of the run, known once data and skill are loaded.
    Planned(RunPlan),
    /// The prompts that the run is made with.
    PromptsChosen {
        /// Those that the config calls for: the optimizer's, their parts, and the target's.
        prompts: Vec<PromptUse>,
    },
    /// A role answered its preflight call.
    PreflightPassed {
        /// The role.
        role: Role,
        /// Time until the answer, in milliseconds; 0 when it came from the ledger.
        latency_ms: u64,
    },
    /// A stage began.
    PhaseStarted(Phase),
    /// The initial skill was measured on the selection split.
    Baseline(Measured),
    /// The training batch was rolled out.
    RolledOut {
        /// The step.
        step: u32,
        /// Means over scored tasks; `None` when none was scored.
        score: Option<MeanScore>,
        /// How the attempts ended.
        counts: OutcomeCounts,
        /// Names of the rollout sets, one an accumulated batch.
        sets: Vec<String>,
    },
    /// The optimizer read the batch.
    Reflected {
        /// The step.
        step: u32,
        /// What it found and proposed.
        reflection: ReflectionSummary,
    },
    /// The patches were merged.
    Aggregated {
        /// The step.
        step: u32,
        /// Edits before the merge.
        n_edits_in: u32,
        /// Levels of merge calls; 0 when no call was needed.
        levels: u32,
        /// Merge calls whose reply was unusable, so that edits were joined without them.
        n_fallbacks: u32,
        /// The merged edits.
        edits: Vec<Edit>,
        /// The merged suggestions or texts, in modes that have them in place of edits.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        proposals: Vec<ProposalNote>,
    },
    /// The optimizer set the budget of the step.
    LrDecided {
        /// The step.
        step: u32,
        /// The decision.
        decision: LrDecision,
    },
    /// The edits were ranked.
    Selected {
        /// The step.
        step: u32,
        /// How many edits may apply.
        budget: u32,
        /// How the order was found.
        ranking: Ranking,
        /// The edits in the order in which they will be tried.
        edits: Vec<Edit>,
        /// The suggestions or texts that are used, in modes that have them in place of edits.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        proposals: Vec<ProposalNote>,
        /// Who set the budget.
        #[serde(default, skip_serializing_if = "LrControl::is_fixed")]
        control: LrControl,
    },
    /// A whole new text was written, or none that could be used.
    Rewritten {
        /// The step.
        step: u32,
        /// What became of it.
        report: RewriteReport,
    },
    /// The candidate's appendix took in the notes of the step.
    Noted {
        /// The step.
        step: u32,
        /// Notes before and after.
        appendix: AppendixReport,
    },
    /// The edits were applied.
    Updated {
        /// The step.
        step: u32,
        /// One row an edit, in the order tried.
        edits: Vec<EditReport>,
        /// The text after all edits.
        candidate: Sha256Hex,
        /// Its length in characters.
        candidate_chars: u32,
        /// Its size in tokens, estimated.
        candidate_tokens: u32,
    },
    /// The gate decided.
    Gated {
        /// The step.
        step: u32,
        /// The decision.
        verdict: Verdict,
        /// Name of the candidate's rollout set.
        set: String,
    },
    /// The step is over.
    StepFinished(StepSummary),
    /// The skills of two epochs were compared.
    Compared(Comparison),
    /// Guidance was written between epochs, or none that stayed.
    SlowUpdated(SlowUpdate),
    /// The optimizer's memory was renewed, or not.
    MetaSkillWritten(MetaSkill),
    /// Last and best skill were compared at the end.
    FinalSelected(FinalSelection),
    /// A skill was measured on the test split.
    Tested {
        /// Which skill.
        which: TestedSkill,
        /// The measurement.
        measured: Measured,
    },
    /// A role's requests are changed, because the provider refused them as they were.
    Adapted {
        /// The role.
        role: Role,
        /// The change, such as "sends `max_tokens`".
        change: String,
    },
    /// An endpoint of the run does not answer, or a try was in vain. Calls wait.
    EndpointDown(Outage),
    /// It answers again.
    EndpointUp {
        /// Its address, without anything secret.
        endpoint: String,
        /// The model that is called there.
        model: String,
        /// When the outage began, in milliseconds since 1970-01-01 UTC.
        since_ms: u64,
    },
    /// Something to look at that did not stop the run.
    Warning {
        /// A stable word.
        code: String,
        /// One sentence.
        message: String,
    },
}

impl EventKind {
    /// It also happens to a run that never gets to its baseline: nothing that it says was learned.
    #[must_use]
    pub fn is_set_up(&self) -> bool {
        matches!(
            self,
            Self::Status { .. }
                | Self::Planned(_)
                | Self::PromptsChosen { .. }
                | Self::PreflightPassed { .. }
                | Self::PhaseStarted(Phase::Preflight)
                | Self::Adapted { .. }
                | Self::EndpointDown(_)
                | Self::EndpointUp { .. }
                | Self::Warning { .. }
        )
    }

    /// The step to which the event belongs.
    #[must_use]
    pub fn step(&self) -> Option<u32> {
        match self {
            Self::RolledOut { step, .. }
            | Self::Reflected { step, .. }
            | Self::Aggregated { step, .. }
            | Self::LrDecided { step, .. }
            | Self::Selected { step, .. }
            | Self::Rewritten { step, .. }
            | Self::Noted { step, .. }
            | Self::Updated { step, .. }
            | Self::Gated { step, .. }
            | Self::PhaseStarted(Phase::Step { step, .. })
            | Self::StepFinished(StepSummary { step, .. }) => Some(*step),
            Self::Status { .. }
            | Self::Planned(_)
            | Self::PromptsChosen { .. }
            | Self::PreflightPassed { .. }
            | Self::PhaseStarted(_)
            | Self::Baseline(_)
            | Self::Compared(_)
            | Self::SlowUpdated(_)
            | Self::MetaSkillWritten(_)
            | Self::FinalSelected(_)
            | Self::Tested { .. }
            | Self::Adapted { .. }
            | Self::EndpointDown(_)
            | Self::EndpointUp { .. }
            | Self::Warning { .. } => None,
        }
    }
}

/// What the run will do.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RunPlan {
    /// Name of the benchmark.
    pub benchmark: String,
    /// Tasks in the train, selection and test splits.
    pub n_train: u32,
    /// Tasks of the selection split.
    pub n_selection: u32,
    /// Tasks of the test split.
    pub n_test: u32,
    /// Epochs.
    pub epochs: u32,
    /// Steps of one epoch.
    pub steps_per_epoch: u32,
    /// Steps in all.
    pub total_steps: u32,
    /// Hash of all tasks of all splits, in order; a run is resumed on the same data only.
    pub data: Sha256Hex,
    /// The initial skill.
    pub initial_skill: Sha256Hex,
    /// Its size in tokens, estimated.
    pub initial_tokens: u32,
    /// Model of the target.
    pub target_model: String,
    /// Model of the optimizer.
    pub optimizer_model: String,
    /// The target is a simulation, no real model.
    pub target_simulated: bool,
    /// The optimizer is a simulation, no real model.
    pub optimizer_simulated: bool,
    /// `train.seed`.
    pub seed: u64,
    /// What it will come to, as it was foreseen; `None` in runs of older programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forecast: Option<RunForecast>,
}

from_fields! { RunPlan {
    benchmark, n_train, n_selection, n_test, epochs, steps_per_epoch, total_steps, data,
    initial_skill, initial_tokens, target_model, optimizer_model, target_simulated,
    optimizer_simulated, seed; or default: forecast
} }

/// A skill's score with the set that proves it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Measured {
    /// The skill.
    pub skill: Sha256Hex,
    /// Means over scored tasks; `None` when none was scored.
    pub score: Option<MeanScore>,
    /// The mean in the gate's metric.
    pub gate_score: Option<f64>,
    /// How the attempts ended.
    pub counts: OutcomeCounts,
    /// Name of the rollout set.
    pub set: String,
    /// What the measurement took; `None` in older journals and where it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Spent>,
}

from_fields! { Measured {
    skill, score, gate_score, counts, set;
    or default: cost
} }

/// Which skill a test measurement is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum TestedSkill {
    /// The skill before training.
    Initial,
    /// The best skill.
    Best,
    /// The skill at the end of the run, where it is neither.
    Last,
}

/// What the optimizer said about a batch.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReflectionSummary {
    /// Calls over groups of failed trajectories.
    pub n_failure_minibatches: u32,
    /// Calls over groups of passed trajectories.
    pub n_success_minibatches: u32,
    /// Patches with at least one edit from failures.
    pub n_failure_patches: u32,
    /// Patches with at least one edit from successes.
    pub n_success_patches: u32,
    /// Edits proposed in all.
    pub n_edits: u32,
    /// Replies that had to be asked for again because they could not be read.
    pub n_reasked: u32,
    /// Replies that were no strict JSON and were read after repairs.
    pub n_repaired: u32,
    /// Calls without a usable reply, with the reason.
    pub lost: Vec<String>,
    /// Failure patterns as the optimizer describes them, most frequent first.
    pub patterns: Vec<FailurePattern>,
    /// What worked, as the optimizer describes it.
    pub success_patterns: Vec<String>,
    /// Reminders of rules that stand in the skill and were not followed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lapse_notes: Vec<String>,
    /// Groups of trajectories that did not fit in one call and were split.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub n_split: u32,
    /// Trajectories that were cut further than usual, because one alone did not fit in a call.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub n_cut: u32,
}

from_fields! { ReflectionSummary {
    n_failure_minibatches, n_success_minibatches, n_failure_patches, n_success_patches,
    n_edits, n_reasked, n_repaired, lost, patterns, success_patterns;
    or default: lapse_notes, n_split, n_cut
} }

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde asks for")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// A kind of failure in a batch.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FailurePattern {
    /// The optimizer's words.
    pub pattern: String,
    /// Trajectories that show it, as the optimizer counted them.
    pub count: u32,
    /// The tasks of the minibatch in which it was seen.
    pub tasks: Vec<TaskId>,
}

from_fields! { FailurePattern { pattern, count, tasks } }

/// How the order of edits was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Ranking {
    /// All fit in the budget; no call was made.
    NotNeeded,
    /// The optimizer ranked them.
    ByOptimizer,
    /// The reply was unusable; the order of the merge was kept.
    FallbackOrder,
}

/// Live counts of a running stage. Sent often, stored never.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Progress {
    /// Where the run is.
    pub phase: Phase,
    /// Units finished in this phase (tasks, minibatches, merge calls).
    pub done: u32,
    /// Units in all.
    pub total: u32,
    /// Units that ended in errors.
    pub errors: u32,
    /// Spend of the run so far.
    pub spend: SpendByRole,
    /// Milliseconds since 1970-01-01 UTC.
    pub at_ms: u64,
}

from_fields! { Progress {
    phase, done, total, errors, spend, at_ms
} }
