//! What happens between epochs: the skills of two epochs are compared on the same tasks, guidance is written
//! into the skill, and the optimizer's memory is renewed.

use crate::config::PairPolicy;
use crate::hash::Sha256Hex;
use crate::ids::TaskId;
use crate::json::from_fields;
use crate::spend::{SpendByRole, Spent};
use crate::verdict::Verdict;
use serde::{Deserialize, Serialize};

/// How a task fared under the skills of two epochs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum PairCategory {
    /// Failed before, passes now.
    Improved,
    /// Passed before, fails now.
    Regressed,
    /// Fails with both.
    PersistentFail,
    /// Passes with both.
    StableSuccess,
}

impl PairCategory {
    /// All, the most urgent first.
    pub const ALL: [Self; 4] =
        [Self::Regressed, Self::PersistentFail, Self::Improved, Self::StableSuccess];

    /// Sorts a pair of results.
    #[must_use]
    pub fn of(passed_before: bool, passes_now: bool) -> Self {
        match (passed_before, passes_now) {
            (false, true) => Self::Improved,
            (true, false) => Self::Regressed,
            (false, false) => Self::PersistentFail,
            (true, true) => Self::StableSuccess,
        }
    }

    /// The result changed.
    #[must_use]
    pub fn is_change(self) -> bool {
        matches!(self, Self::Improved | Self::Regressed)
    }

    /// The word in files.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Improved => "improved",
            Self::Regressed => "regressed",
            Self::PersistentFail => "persistent_fail",
            Self::StableSuccess => "stable_success",
        }
    }
}

/// Pairs of one category.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PairGroup {
    /// The category.
    pub category: PairCategory,
    /// Its tasks.
    pub tasks: Vec<TaskId>,
}

from_fields! { PairGroup { category, tasks } }

/// A comparison of the skills of two epochs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Comparison {
    /// The later epoch.
    pub epoch: u32,
    /// The skill at the end of the epoch before.
    pub previous: Sha256Hex,
    /// The skill now.
    pub current: Sha256Hex,
    /// Which pairs are shown.
    pub policy: PairPolicy,
    /// The pairs that are shown, by category.
    pub groups: Vec<PairGroup>,
    /// Tasks that were tried with both skills.
    pub n_tried: u32,
    /// Of those, tasks that were tried because there were not enough pairs of the wanted kind.
    pub n_topped_up: u32,
    /// Tasks whose change did not show again in a second draw: noise, which nobody is told about.
    pub n_unsteady: u32,
    /// Tasks without a score with one of the skills.
    pub n_unscored: u32,
    /// Names of the rollout sets.
    pub sets: Vec<String>,
}

from_fields! { Comparison {
    epoch, previous, current, policy, groups, n_tried, n_topped_up, n_unsteady, n_unscored, sets
} }

impl Comparison {
    /// Tasks of one category.
    #[must_use]
    pub fn count(&self, category: PairCategory) -> usize {
        self.groups
            .iter()
            .filter(|group| group.category == category)
            .map(|group| group.tasks.len())
            .sum()
    }
}

/// What became of the guidance or the memory of an epoch. The words are those of Python run folders where they
/// exist there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum EpochAction {
    /// The guidance is in the skill: strictly better than current and best.
    AcceptNewBest,
    /// The guidance is in the skill: strictly better than current.
    Accept,
    /// The guidance is in the skill, though it did not measure better.
    ForceAccept,
    /// The guidance did not measure better.
    Reject,
    /// The evaluation broke; nothing was decided.
    Inconclusive,
    /// No usable text came.
    NoContent,
    /// The text says what was there already.
    NoChange,
    /// A memory was written.
    WriteMetaSkill,
}

impl EpochAction {
    /// The stable word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AcceptNewBest => "accept_new_best",
            Self::Accept => "accept",
            Self::ForceAccept => "force_accept",
            Self::Reject => "reject",
            Self::Inconclusive => "inconclusive",
            Self::NoContent => "no_content",
            Self::NoChange => "no_change",
            Self::WriteMetaSkill => "write_meta_skill",
        }
    }

    /// The skill changed.
    #[must_use]
    pub fn is_accepted(self) -> bool {
        matches!(self, Self::AcceptNewBest | Self::Accept | Self::ForceAccept)
    }
}

/// The slow update of an epoch.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SlowUpdate {
    /// The epoch that ended.
    pub epoch: u32,
    /// Its last step.
    pub step: u32,
    /// What became of it.
    pub action: EpochAction,
    /// The guidance; empty when none came.
    pub content: String,
    /// The optimizer's reason.
    pub reasoning: String,
    /// The skill with the guidance, where there is one.
    pub candidate: Option<Sha256Hex>,
    /// The gate's arithmetic; when it is not gated, what the gate would have said.
    pub verdict: Option<Verdict>,
    /// Name of the candidate's rollout set.
    pub set: Option<String>,
    /// Number of accepted versions so far.
    pub version: u32,
    /// The current skill in the gate's metric, after the update, on all of its scored tasks.
    pub current_score: Option<f64>,
    /// Selection tasks behind it.
    pub current_n: Option<u32>,
    /// Size of the current skill in tokens, estimated.
    pub skill_tokens: u32,
    /// Wall time in milliseconds, the comparison included.
    pub wall_ms: u64,
    /// What it spent, the comparison included.
    pub spend: SpendByRole,
    /// One sentence: why.
    pub reason: String,
}

from_fields! { SlowUpdate {
    epoch, step, action, content, reasoning, candidate, verdict, set, version, current_score,
    current_n, skill_tokens, wall_ms, spend, reason
} }

/// The optimizer's memory after an epoch.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MetaSkill {
    /// The epoch that ended.
    pub epoch: u32,
    /// What became of it.
    pub action: EpochAction,
    /// The memory in force from the next epoch on; empty when there is none.
    pub content: String,
    /// The optimizer's reason.
    pub reasoning: String,
    /// Wall time in milliseconds.
    pub wall_ms: u64,
    /// What it spent.
    pub spend: SpendByRole,
    /// Why no text came; empty when one did.
    pub reason: String,
}

from_fields! { MetaSkill { epoch, action, content, reasoning, wall_ms, spend, reason } }

/// The last look before the final test.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FinalSelection {
    /// The skill at the end of the run.
    pub last: Sha256Hex,
    /// The best skill after this look.
    pub best: Sha256Hex,
    /// The last skill in the gate's metric, on the tasks scored with both.
    pub last_score: Option<f64>,
    /// The best skill before this look in the gate's metric, on the same tasks.
    pub best_score: Option<f64>,
    /// The last skill took the place of the best.
    pub promoted: bool,
    /// The step that made the best skill; 0 for the initial one.
    pub best_step: u32,
    /// Number of the best skill among the versions.
    pub version: u32,
    /// One sentence: why.
    pub reason: String,
    /// What the look took, where the last skill was measured for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Spent>,
}

from_fields! { FinalSelection {
    last, best, last_score, best_score, promoted, best_step, version, reason, cost
} }
