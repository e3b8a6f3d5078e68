//! What a night came to, and why it may come to nothing.

use super::{GateRule, Measured};
use crate::backend::{BackendError, Phase};
use crate::block::BlockDamage;
use crate::task::ReferenceKind;
use serde::Serialize;
use skillopt_domain::night::edit::{EditRecord, GuidanceRecord};
use skillopt_domain::night::report::{GateAction, GateTrial, SleepReport};
use skillopt_domain::score::MeanScore;
use skillopt_domain::spend::SpendByRole;

/// Why a night ended without a decision. Nothing follows about the skill.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NightError {
    /// A call ended it.
    #[error(transparent)]
    Backend(#[from] BackendError),
    /// Too many attempts failed for a score to mean anything.
    #[error(
        "{n_errors} of {n_attempts} attempts in {} ended in errors; this is no result about the skill; the last one: \
         {last}", .phase.as_str()
    )]
    TooManyErrors {
        /// Where.
        phase: Phase,
        /// Failed attempts.
        n_errors: u32,
        /// All attempts.
        n_attempts: u32,
        /// One of the errors.
        last: String,
    },
    /// A live document cannot be edited.
    #[error("the {document} cannot be edited: {damage}")]
    Damaged {
        /// `skill` or `memory`.
        document: &'static str,
        /// What is wrong with it.
        damage: BlockDamage,
    },
}

/// Scores of both documents on a set of tasks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Measurement {
    /// Gate number, `0..=1`.
    pub score: f64,
    /// Means with their n.
    pub mean: MeanScore,
}

impl Measurement {
    /// Means over tasks, as the gate counts them; `None` when no task has a number.
    #[must_use]
    pub fn of(measured: &[Measured], rule: &GateRule) -> Option<Self> {
        let counted: Vec<(f64, MeanScore)> = measured
            .iter()
            .filter_map(|measured| Some((rule.number_of_measured(measured)?, measured.mean?)))
            .collect();
        let n = crate::replay::count(counted.len());
        let mean =
            |of: fn(&(f64, MeanScore)) -> f64| counted.iter().map(of).sum::<f64>() / f64::from(n);
        (n > 0).then(|| Self {
            score: mean(|one| one.0),
            mean: MeanScore { hard: mean(|one| one.1.hard), soft: mean(|one| one.1.soft), n },
        })
    }
}

/// One validation task under the live documents. The field names are those of the reference system.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HoldoutRow {
    /// The task.
    pub id: String,
    /// How it is scored.
    pub reference_kind: ReferenceKind,
    /// Mean hard score, where there is one.
    pub hard: Option<f64>,
    /// Mean soft score, where there is one.
    pub soft: Option<f64>,
    /// Length of the answer in characters.
    pub response_len: u32,
    /// How the answer begins, 200 characters.
    pub response_head: String,
    /// Why it did not pass, 200 characters.
    pub why: String,
}

/// What a night came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NightOutcome {
    /// The edits may be adopted.
    pub accepted: bool,
    /// The verdict.
    pub gate_action: GateAction,
    /// The live documents on the validation tasks.
    pub baseline: Option<Measurement>,
    /// The final documents on the validation tasks, drawn anew when edits stood.
    pub candidate: Option<Measurement>,
    /// The skill to propose; `None` when it does not change.
    pub new_skill: Option<String>,
    /// The memory to propose; `None` when it does not change.
    pub new_memory: Option<String>,
    /// Edits that are part of the proposal.
    pub applied_edits: Vec<EditRecord>,
    /// Edits that lost, and those that were rolled back.
    pub rejected_edits: Vec<EditRecord>,
    /// Edits that changed nothing.
    pub unmatched_edits: Vec<EditRecord>,
    /// Guidance that was tried, whatever became of it.
    pub guidance: Option<GuidanceRecord>,
    /// Why there are no edits; empty when there are.
    pub no_edits_reason: String,
    /// The decision in words.
    pub reason: String,
    /// The live documents, validation task by task.
    pub holdout_detail: Vec<HoldoutRow>,
    /// Validation and training share tasks.
    pub holdout_leaked: bool,
    /// Every comparison of the gate.
    pub gate_trials: Vec<GateTrial>,
    /// The rule that no task may get worse was in force.
    pub gate_no_regression: bool,
    /// The final documents on the test tasks.
    pub test: Option<Measurement>,
    /// Different tasks that were attempted.
    pub n_replayed: u32,
    /// The last reply of the optimizer as it came.
    pub reflect_raw: String,
    /// The words of the last call that failed; empty when none did, or a later call of its role was answered.
    pub call_error: String,
    /// What this decision cost. Unknown is counted, never taken for zero.
    pub spend: SpendByRole,
    /// For people.
    pub notes: Vec<String>,
}

impl NightOutcome {
    /// Fills the fields of a report that the decision knows. Whatever is the night's own (number, times, sessions, and
    /// what all its stages cost together) stays.
    pub fn fill(&self, report: &mut SleepReport) {
        report.n_replayed = self.n_replayed;
        report.baseline_score = self.baseline.map(|measured| measured.score);
        report.candidate_score = self.candidate.map(|measured| measured.score);
        report.n_validated = self.baseline.map_or(0, |measured| measured.mean.n);
        report.accepted = self.accepted;
        report.gate_action = self.gate_action;
        report.holdout_leaked = self.holdout_leaked;
        report.no_edits_reason.clone_from(&self.no_edits_reason);
        report.decision.clone_from(&self.reason);
        report.edits.clone_from(&self.applied_edits);
        report.rejected_edits.clone_from(&self.rejected_edits);
        report.unmatched_edits.clone_from(&self.unmatched_edits);
        report.guidance.clone_from(&self.guidance);
        report.gate_trials.clone_from(&self.gate_trials);
        report.gate_no_regression = self.gate_no_regression;
        report.test_score = self.test.map(|measured| measured.score);
        report.n_tested = self.test.map_or(0, |measured| measured.mean.n);
        report.notes.extend(self.notes.iter().cloned());
    }
}
