//! Why a model is called.

use serde::{Deserialize, Serialize};
use skillopt_domain::spend::Role;

/// Why a call is made. Goes into headers, the ledger and the spend by purpose; not into the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// The preflight call.
    Preflight,
    /// A task is performed.
    Qa,
    /// Failed trajectories are read.
    AnalystFailure,
    /// Passed trajectories are read.
    AnalystSuccess,
    /// Failure patches are merged.
    MergeFailure,
    /// Success patches are merged.
    MergeSuccess,
    /// Both sides are merged.
    MergeFinal,
    /// Edits are ranked.
    Ranking,
    /// The budget of a step is set.
    LrControl,
    /// Suggestions are worked into a whole text.
    Rewrite,
    /// Guidance is written between epochs.
    SlowUpdate,
    /// The optimizer's memory is written between epochs.
    MetaSkill,
    /// Notes of the appendix are condensed.
    AppendixConsolidate,
    /// Tasks are found in a session.
    Mine,
    /// An answer is scored by a rubric.
    Judge,
    /// A night's failures are read.
    Reflect,
    /// Good and bad answers to the same task are compared.
    Contrast,
}

impl Purpose {
    /// The stable word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Preflight => "preflight",
            Self::Qa => "qa",
            Self::AnalystFailure => "analyst_failure",
            Self::AnalystSuccess => "analyst_success",
            Self::MergeFailure => "merge_failure",
            Self::MergeSuccess => "merge_success",
            Self::MergeFinal => "merge_final",
            Self::Ranking => "ranking",
            Self::LrControl => "lr_control",
            Self::Rewrite => "rewrite",
            Self::SlowUpdate => "slow_update",
            Self::MetaSkill => "meta_skill",
            Self::AppendixConsolidate => "appendix_consolidate",
            Self::Mine => "mine",
            Self::Judge => "judge",
            Self::Reflect => "reflect",
            Self::Contrast => "contrast",
        }
    }

    /// The role that is called.
    #[must_use]
    pub fn role(self) -> Option<Role> {
        match self {
            Self::Preflight => None,
            Self::Qa => Some(Role::Target),
            _ => Some(Role::Optimizer),
        }
    }
}
