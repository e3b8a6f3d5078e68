//! What the parts of a run took: calls, tokens, money and time by stage. The rows add up to the run's spend. And what was
//! paid for steps by what became of them.

use crate::json::from_fields;
use crate::run::Stage;
use crate::spend::SpendByRole;
use crate::verdict::Action;
use crate::view::RunView;
use serde::{Deserialize, Serialize};

/// A part of a run that is paid for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum CostPart {
    /// The initial skill is measured on the selection split.
    Baseline,
    /// Training batches.
    Rollout,
    /// The optimizer reads trajectories.
    Reflect,
    /// Patches are merged.
    Aggregate,
    /// Edits are ranked, and the budget is decided.
    Select,
    /// Edits are applied, or a new text is written; notes are condensed.
    Update,
    /// Candidates are measured and gated.
    Evaluate,
    /// Skills of two epochs are compared, guidance is written and gated.
    SlowUpdate,
    /// The optimizer's memory is renewed.
    MetaSkill,
    /// Skills are measured on the test split.
    FinalTest,
    /// Everything else: the preflight, a part that is under way, and work that an interruption made void.
    Other,
}

impl CostPart {
    /// All parts, in the order in which they are listed.
    pub const ALL: [Self; 11] = [
        Self::Baseline,
        Self::Rollout,
        Self::Reflect,
        Self::Aggregate,
        Self::Select,
        Self::Update,
        Self::Evaluate,
        Self::SlowUpdate,
        Self::MetaSkill,
        Self::FinalTest,
        Self::Other,
    ];
}

impl From<Stage> for CostPart {
    fn from(stage: Stage) -> Self {
        match stage {
            Stage::Rollout => Self::Rollout,
            Stage::Reflect => Self::Reflect,
            Stage::Aggregate => Self::Aggregate,
            Stage::Select => Self::Select,
            Stage::Update => Self::Update,
            Stage::Evaluate => Self::Evaluate,
        }
    }
}

/// Time and spend of one part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PartCost {
    /// The part.
    pub part: CostPart,
    /// Wall time in milliseconds; `None` where it was not measured.
    pub wall_ms: Option<u64>,
    /// Calls, tokens, money.
    pub spend: SpendByRole,
}

from_fields! { PartCost { part, wall_ms, spend } }

/// What became of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum StepFate {
    /// Its candidate stayed.
    Accepted,
    /// Its candidate was rejected.
    Rejected,
    /// It had no candidate.
    Skipped,
    /// Too much failed for a decision.
    Undecided,
}

impl StepFate {
    /// All of them, in the order in which they are listed.
    pub const ALL: [Self; 4] = [Self::Accepted, Self::Rejected, Self::Skipped, Self::Undecided];
}

impl From<Action> for StepFate {
    fn from(action: Action) -> Self {
        match action {
            Action::Accept | Action::AcceptNewBest | Action::ForceAccept => Self::Accepted,
            Action::Reject => Self::Rejected,
            Action::SkipNoPatches | Action::SkipNoChange | Action::SkipNoRewrite => Self::Skipped,
            Action::Inconclusive => Self::Undecided,
        }
    }
}

/// What the steps with one fate took together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FateCost {
    /// What became of them.
    pub fate: StepFate,
    /// How many there are.
    pub n_steps: u32,
    /// Wall time in milliseconds.
    pub wall_ms: u64,
    /// Calls, tokens, money.
    pub spend: SpendByRole,
}

from_fields! { FateCost { fate, n_steps, wall_ms, spend } }

impl RunView {
    /// What steps took by their fate, in the order of [`StepFate::ALL`]; only fates that steps had.
    #[must_use]
    pub fn fate_rows(&self) -> Vec<FateCost> {
        let of = |fate| self.fates.iter().filter(move |row: &&FateCost| row.fate == fate);
        StepFate::ALL.into_iter().flat_map(of).copied().collect()
    }

    /// What one accepted step cost in millionths of a US dollar, all steps paid for; `None` without an accepted step, or
    /// while any call has no known price.
    #[must_use]
    pub fn cost_per_accepted_step(&self) -> Option<u64> {
        let accepted = self.fates.iter().find(|row| row.fate == StepFate::Accepted)?.n_steps;
        let mut all = SpendByRole::default();
        for row in &self.fates {
            all += row.spend;
        }
        Some(all.total().known_cost_usd_micros()? / u64::from(accepted.max(1)))
    }

    /// Adds a finished step.
    pub(crate) fn add_fate(&mut self, fate: StepFate, wall_ms: u64, spend: SpendByRole) {
        let at = self.fates.iter().position(|row| row.fate == fate).unwrap_or_else(|| {
            self.fates.push(FateCost {
                fate,
                n_steps: 0,
                wall_ms: 0,
                spend: SpendByRole::default(),
            });
            self.fates.len() - 1
        });
        let row = &mut self.fates[at];
        row.n_steps += 1;
        row.wall_ms += wall_ms;
        row.spend += spend;
    }

    /// Time and spend by part, in the order of [`CostPart::ALL`]. What no part accounts for is the row
    /// [`CostPart::Other`], so that the rows add up to [`RunView::spend`].
    #[must_use]
    pub fn cost_rows(&self) -> Vec<PartCost> {
        let mut known = SpendByRole::default();
        for row in &self.costs {
            known += row.spend;
        }
        let spend = self.spend.since(&known);
        let other = PartCost { part: CostPart::Other, wall_ms: None, spend };
        let is_some =
            |row: &&PartCost| row.part != CostPart::Other || row.spend != SpendByRole::default();
        let all = |part| self.costs.iter().chain([&other]).filter(move |row| row.part == part);
        CostPart::ALL.into_iter().flat_map(all).filter(is_some).copied().collect()
    }

    /// Adds what a finished part took.
    pub(crate) fn add_cost(&mut self, part: CostPart, wall_ms: u64, spend: SpendByRole) {
        let at = self.costs.iter().position(|row| row.part == part).unwrap_or_else(|| {
            self.costs.push(PartCost { part, wall_ms: None, spend: SpendByRole::default() });
            self.costs.len() - 1
        });
        let row = &mut self.costs[at];
        row.spend += spend;
        row.wall_ms = Some(row.wall_ms.unwrap_or_default() + wall_ms);
    }
}

/// All rows together.
#[must_use]
pub fn total_of(rows: &[PartCost]) -> SpendByRole {
    let mut total = SpendByRole::default();
    for row in rows {
        total += row.spend;
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spend::Spend;
    use proptest::prelude::*;

    fn spend(calls: u64, cached: u64) -> SpendByRole {
        let target = Spend { calls, prompt_tokens: 7 * calls, ..Spend::default() };
        SpendByRole { target, optimizer: Spend { cached, unpriced_calls: cached, ..target } }
    }

    #[test]
    fn what_no_part_accounts_for_is_a_row_of_its_own_and_comes_last() {
        let mut view = RunView { spend: spend(10, 4), ..RunView::default() };
        view.add_cost(CostPart::Evaluate, 5, spend(3, 1));
        view.add_cost(CostPart::Rollout, 2, spend(4, 0));
        view.add_cost(CostPart::Rollout, 3, spend(1, 1));
        let rows = view.cost_rows();
        let shape: Vec<_> = rows.iter().map(|row| (row.part, row.wall_ms)).collect();
        assert_eq!(
            shape,
            [(CostPart::Rollout, Some(5)), (CostPart::Evaluate, Some(5)), (CostPart::Other, None)]
        );
        assert_eq!(total_of(&rows), view.spend);
        assert_eq!(rows[2].spend.target.calls, 2);
    }

    #[test]
    fn nothing_is_left_over_when_all_is_accounted_for() {
        let mut view = RunView { spend: spend(3, 1), ..RunView::default() };
        view.add_cost(CostPart::Baseline, 1, spend(3, 1));
        assert_eq!(view.cost_rows().len(), 1);
        assert_eq!(RunView::default().cost_rows(), []);
    }

    #[test]
    fn steps_are_priced_by_what_became_of_them() {
        let mut view = RunView::default();
        let paid = |calls| {
            let mut spend = spend(calls, 0);
            spend.target.cost_usd_micros = 100 * calls;
            spend
        };
        assert_eq!(view.cost_per_accepted_step(), None, "no step was accepted");
        view.add_fate(Action::Reject.into(), 5, paid(3));
        view.add_fate(Action::AcceptNewBest.into(), 7, paid(2));
        view.add_fate(Action::Accept.into(), 1, paid(1));
        let rows: Vec<_> =
            view.fate_rows().iter().map(|row| (row.fate, row.n_steps, row.wall_ms)).collect();
        assert_eq!(rows, [(StepFate::Accepted, 2, 8), (StepFate::Rejected, 1, 5)]);
        assert_eq!(view.cost_per_accepted_step(), Some(300));
        let mut unpriced = paid(1);
        unpriced.optimizer.unpriced_calls = 1;
        view.add_fate(StepFate::Skipped, 1, unpriced);
        assert_eq!(view.cost_per_accepted_step(), None, "unknown is not zero");
    }

    proptest! {
        #[test]
        fn rows_add_up_to_the_spend_of_the_run(
            parts in prop::collection::vec((0usize..10, 0u64..50, 0u64..50), 0..40),
            rest in (0u64..50, 0u64..50),
        ) {
            let mut view = RunView { spend: spend(rest.0, rest.1), ..RunView::default() };
            for (part, calls, cached) in parts {
                view.add_cost(CostPart::ALL[part], 1, spend(calls, cached));
                view.spend += spend(calls, cached);
            }
            let rows = view.cost_rows();
            prop_assert_eq!(total_of(&rows), view.spend);
            prop_assert!(rows.windows(2).all(|pair| pair[0].part < pair[1].part));
        }
    }
}
