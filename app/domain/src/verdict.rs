//! What became of a step: one enum from which badge, history row and sentence all come.

use crate::ids::TaskId;
use crate::json::from_fields;
use crate::score::{GateMetric, MeanScore};
use serde::{Deserialize, Serialize};

/// The end of a step. The words are those of `history.json` in Python run folders where they exist there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Action {
    /// Strictly better than current and than the best so far.
    AcceptNewBest,
    /// Strictly better than current.
    Accept,
    /// Kept because the gate is off, though it is not strictly better.
    ForceAccept,
    /// Not strictly better, or a task broke while regressions are forbidden.
    Reject,
    /// No optimizer call proposed an edit.
    SkipNoPatches,
    /// No edit applied, so that the text did not change: nothing was evaluated.
    SkipNoChange,
    /// No usable new text came in a rewrite mode: nothing was evaluated.
    SkipNoRewrite,
    /// Too many evaluation attempts ended in errors to compare; nothing was decided.
    Inconclusive,
}

impl Action {
    /// The stable word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AcceptNewBest => "accept_new_best",
            Self::Accept => "accept",
            Self::ForceAccept => "force_accept",
            Self::Reject => "reject",
            Self::SkipNoPatches => "skip_no_patches",
            Self::SkipNoChange => "skip_no_change",
            Self::SkipNoRewrite => "skip_no_rewrite",
            Self::Inconclusive => "inconclusive",
        }
    }

    /// The candidate became the current skill.
    #[must_use]
    pub fn is_accepted(self) -> bool {
        matches!(self, Self::Accept | Self::AcceptNewBest | Self::ForceAccept)
    }

    /// The step ended without a candidate.
    #[must_use]
    pub fn is_skip(self) -> bool {
        matches!(self, Self::SkipNoPatches | Self::SkipNoChange | Self::SkipNoRewrite)
    }
}

/// How one task changed between two skills.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Change {
    /// Failed before, passes now.
    Fixed,
    /// Passed before, fails now.
    Broke,
    /// Scored before, declined now.
    Refused,
    /// Neither, but the gate's number rose.
    Rose,
    /// Neither, but the gate's number fell.
    Fell,
}

/// One task whose result changed.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TaskChange {
    /// The task.
    pub task: TaskId,
    /// A line that names it for people.
    pub title: String,
    /// What happened.
    pub change: Change,
    /// The gate's number before.
    pub before: f64,
    /// The gate's number now.
    pub after: f64,
}

from_fields! { TaskChange { task, title, change, before, after } }

/// The gate's decision with all its arithmetic. Both means are over the same `n` tasks: those that were
/// scored with both skills.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Verdict {
    /// The decision.
    pub action: Action,
    /// The number that was compared.
    pub metric: GateMetric,
    /// Weight of `soft` when the metric is mixed.
    pub mixed_weight: f64,
    /// The current skill on the common tasks; `None` when there is no common task.
    pub current: Option<MeanScore>,
    /// The candidate on the common tasks.
    pub candidate: Option<MeanScore>,
    /// `current` in the gate's metric.
    pub current_score: Option<f64>,
    /// `candidate` in the gate's metric.
    pub candidate_score: Option<f64>,
    /// Tasks of the selection split that could not be compared, with either skill.
    pub n_not_compared: u32,
    /// The tasks that changed.
    pub changes: Vec<TaskChange>,
    /// The results of both skills are not known, so that nobody can say which tasks changed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub changes_unknown: bool,
    /// The candidate's text was measured earlier in this run, so that nothing was spent.
    pub reused: bool,
    /// Why, in one sentence. Never empty.
    pub reason: String,
}

from_fields! { Verdict {
    action, metric, mixed_weight, current, candidate, current_score, candidate_score,
    n_not_compared, changes, reused, reason;
    or default: changes_unknown
} }

impl Verdict {
    /// Tasks that failed before and pass now, as far as it is known.
    #[must_use]
    pub fn n_fixed(&self) -> usize {
        self.changes.iter().filter(|change| change.change == Change::Fixed).count()
    }

    /// Tasks that passed before and fail now, as far as it is known.
    #[must_use]
    pub fn n_broke(&self) -> usize {
        self.changes.iter().filter(|change| change.change == Change::Broke).count()
    }

    /// Tasks fixed and broken; `None` when that is not known.
    #[must_use]
    pub fn flips(&self) -> Option<(u32, u32)> {
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        (!self.changes_unknown).then(|| (count(self.n_fixed()), count(self.n_broke())))
    }
}
