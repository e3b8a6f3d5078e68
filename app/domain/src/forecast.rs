//! What a run is likely to call, read, write, cost and take, each with the range in which it will lie. The engine makes
//! it before the run; what is left while the run works follows from it and from what the run has spent.

use crate::cost::CostPart;
use crate::json::from_fields;
use crate::spend::{Role, Spend};
use crate::view::RunView;
use serde::{Deserialize, Serialize};

/// A number that is not known yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Estimate {
    /// It is hardly lower.
    pub low: u64,
    /// The most likely value.
    pub likely: u64,
    /// It is hardly higher.
    pub high: u64,
}

from_fields! { Estimate { low, likely, high } }

impl Estimate {
    /// A number that is known.
    #[must_use]
    pub fn exactly(n: u64) -> Self {
        Self { low: n, likely: n, high: n }
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            low: self.low.saturating_add(other.low),
            likely: self.likely.saturating_add(other.likely),
            high: self.high.saturating_add(other.high),
        }
    }

    /// Whether a number lies in the range.
    #[must_use]
    pub fn holds(self, n: u64) -> bool {
        (self.low..=self.high).contains(&n)
    }

    fn map(self, change: impl Fn(u64) -> u64) -> Self {
        Self { low: change(self.low), likely: change(self.likely), high: change(self.high) }
    }
}

/// What the calls of one role come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RoleForecast {
    /// Calls.
    pub calls: Estimate,
    /// Tokens read.
    pub prompt_tokens: Estimate,
    /// Tokens written.
    pub completion_tokens: Estimate,
    /// Money in millionths of a US dollar; `None` where no price is known.
    pub cost_usd_micros: Option<Estimate>,
}

from_fields! { RoleForecast { calls, prompt_tokens, completion_tokens, cost_usd_micros } }

/// What one part of a run comes to, all its units together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PartForecast {
    /// The part.
    pub part: CostPart,
    /// How often it comes: once a step, once an epoch, or once a run.
    pub units: u32,
    /// Calls of the target.
    pub target: RoleForecast,
    /// Calls of the optimizer.
    pub optimizer: RoleForecast,
    /// Wall time in milliseconds.
    pub wall_ms: Estimate,
}

from_fields! { PartForecast { part, units, target, optimizer, wall_ms } }

impl PartForecast {
    /// One role.
    #[must_use]
    pub fn of(&self, role: Role) -> &RoleForecast {
        match role {
            Role::Target => &self.target,
            Role::Optimizer => &self.optimizer,
        }
    }
}

/// The forecast of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RunForecast {
    /// By part, in the order of [`CostPart::ALL`].
    pub parts: Vec<PartForecast>,
    /// What it rests on, a sentence each.
    pub assumptions: Vec<String>,
}

from_fields! { RunForecast { parts, assumptions } }

/// All parts and both roles together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ForecastTotal {
    /// Calls.
    pub calls: Estimate,
    /// Tokens read.
    pub prompt_tokens: Estimate,
    /// Tokens written.
    pub completion_tokens: Estimate,
    /// Money in millionths of a US dollar; `None` where a role has no known price.
    pub cost_usd_micros: Option<Estimate>,
    /// Wall time in milliseconds.
    pub wall_ms: Estimate,
}

impl ForecastTotal {
    /// Tokens read and written.
    #[must_use]
    pub fn tokens(&self) -> Estimate {
        self.prompt_tokens.plus(self.completion_tokens)
    }
}

impl RunForecast {
    /// One role over all parts.
    #[must_use]
    pub fn of(&self, role: Role) -> RoleForecast {
        let mut all =
            RoleForecast { cost_usd_micros: Some(Estimate::default()), ..RoleForecast::default() };
        for part in &self.parts {
            all.add(part.of(role));
        }
        all
    }

    /// Everything together.
    #[must_use]
    pub fn total(&self) -> ForecastTotal {
        let mut all = self.of(Role::Target);
        all.add(&self.of(Role::Optimizer));
        let wall_ms =
            self.parts.iter().fold(Estimate::default(), |sum, part| sum.plus(part.wall_ms));
        ForecastTotal {
            calls: all.calls,
            prompt_tokens: all.prompt_tokens,
            completion_tokens: all.completion_tokens,
            cost_usd_micros: all.cost_usd_micros,
            wall_ms,
        }
    }

    /// What is left of a run. Finished units of a part count as much as the forecast of one, so that it gives way to
    /// what the run shows; what the unit under way took already is taken off.
    #[must_use]
    pub fn remaining(&self, view: &RunView) -> Self {
        if view.status.is_over() && !view.status.is_resumable() {
            return Self::default();
        }
        let mut known = crate::spend::SpendByRole::default();
        for row in &view.costs {
            known += row.spend;
        }
        let mut under_way = view.spend.since(&known);
        let parts = self.parts.iter().filter_map(|part| {
            let done = units_done(part.part, view).min(part.units);
            let left = part.units - done;
            if left == 0 {
                return None;
            }
            let row = view.costs.iter().find(|row| row.part == part.part);
            let role = |role: Role, under_way: &mut Spend| {
                let spent = row.map(|row| row.spend.of(role)).unwrap_or_default();
                left_of(*part.of(role), (part.units, done), &spent).less(under_way)
            };
            let (target, optimizer) = (
                role(Role::Target, &mut under_way.target),
                role(Role::Optimizer, &mut under_way.optimizer),
            );
            let wall = row.and_then(|row| row.wall_ms).unwrap_or_default();
            let wall_ms = blended(part.wall_ms, (part.units, done), wall);
            Some(PartForecast { part: part.part, units: left, target, optimizer, wall_ms })
        });
        Self { parts: parts.collect(), assumptions: self.assumptions.clone() }
    }
}

impl RoleForecast {
    fn add(&mut self, other: &Self) {
        self.calls = self.calls.plus(other.calls);
        self.prompt_tokens = self.prompt_tokens.plus(other.prompt_tokens);
        self.completion_tokens = self.completion_tokens.plus(other.completion_tokens);
        // A role that is never called costs nothing, whatever it charges.
        let free = |role: &Self| (role.calls.high == 0).then_some(Estimate::default());
        let cost = other.cost_usd_micros.or(free(other));
        self.cost_usd_micros = self.cost_usd_micros.zip(cost).map(|(one, two)| one.plus(two));
    }

    /// Takes off what was spent already, and leaves in `spent` what is more than that.
    fn less(self, spent: &mut Spend) -> Self {
        let take = |estimate: Estimate, spent: &mut u64| {
            let taken = (*spent).min(estimate.likely);
            *spent -= taken;
            estimate.map(|n| n.saturating_sub(taken))
        };
        Self {
            calls: take(self.calls, &mut spent.calls),
            prompt_tokens: take(self.prompt_tokens, &mut spent.prompt_tokens),
            completion_tokens: take(self.completion_tokens, &mut spent.completion_tokens),
            cost_usd_micros: self
                .cost_usd_micros
                .map(|cost| take(cost, &mut spent.cost_usd_micros)),
        }
    }
}

/// What is left of a role's part after `done` of its units took `spent`.
fn left_of(part: RoleForecast, (units, done): (u32, u32), spent: &Spend) -> RoleForecast {
    let blend = |estimate, spent| blended(estimate, (units, done), spent);
    RoleForecast {
        calls: blend(part.calls, spent.calls),
        prompt_tokens: blend(part.prompt_tokens, spent.prompt_tokens),
        completion_tokens: blend(part.completion_tokens, spent.completion_tokens),
        cost_usd_micros: part
            .cost_usd_micros
            .filter(|_| spent.unpriced_calls == 0)
            .map(|cost| blend(cost, spent.cost_usd_micros)),
    }
}

/// For the units that are left: the mean of the forecast for one unit and of the finished ones, times their number.
fn blended(all: Estimate, (units, done): (u32, u32), spent: u64) -> Estimate {
    let (units, done) = (u128::from(units.max(1)), u128::from(done));
    all.map(|n| {
        // (n / units + spent) / (1 + done) * (units - done), in one division.
        let sum = u128::from(n) + u128::from(spent) * units;
        let left = sum * units.saturating_sub(done) / (units * (1 + done));
        u64::try_from(left).unwrap_or(u64::MAX)
    })
}

/// How often a part was finished.
fn units_done(part: CostPart, view: &RunView) -> u32 {
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    match part {
        CostPart::Baseline => u32::from(view.baseline.is_some()),
        CostPart::Rollout
        | CostPart::Reflect
        | CostPart::Aggregate
        | CostPart::Select
        | CostPart::Update
        | CostPart::Evaluate => view.n_steps,
        CostPart::SlowUpdate => count(view.slow_updates.len()),
        CostPart::MetaSkill => count(view.meta_skills.len()),
        CostPart::FinalTest => u32::from(view.test_best.is_some()),
        CostPart::Other => u32::from(view.baseline.is_some() || view.n_steps > 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::PartCost;
    use crate::run::RunStatus;
    use crate::spend::SpendByRole;
    use proptest::prelude::*;

    fn range(low: u64, likely: u64, high: u64) -> Estimate {
        Estimate { low, likely, high }
    }

    fn role(calls: Estimate) -> RoleForecast {
        RoleForecast { calls, prompt_tokens: calls.map(|n| n * 10), ..RoleForecast::default() }
    }

    fn forecast() -> RunForecast {
        let part = |part, units, target, optimizer| PartForecast {
            part,
            units,
            target: role(target),
            optimizer: role(optimizer),
            wall_ms: Estimate::exactly(1_000),
        };
        let none = Estimate::default();
        RunForecast {
            parts: vec![
                part(CostPart::Baseline, 1, Estimate::exactly(50), none),
                part(CostPart::Rollout, 4, Estimate::exactly(40), none),
                part(CostPart::Reflect, 4, none, range(4, 8, 16)),
                part(CostPart::Evaluate, 4, range(50, 180, 200), none),
            ],
            assumptions: Vec::new(),
        }
    }

    fn view(n_steps: u32, costs: &[(CostPart, u64, u64)], under_way: u64) -> RunView {
        let spend = |target: u64, optimizer: u64| SpendByRole {
            target: Spend { calls: target, prompt_tokens: target * 10, ..Spend::default() },
            optimizer: Spend {
                calls: optimizer,
                prompt_tokens: optimizer * 10,
                ..Spend::default()
            },
        };
        let costs: Vec<PartCost> = costs
            .iter()
            .map(|(part, target, optimizer)| PartCost {
                part: *part,
                wall_ms: Some(100),
                spend: spend(*target, *optimizer),
            })
            .collect();
        let mut all = spend(under_way, 0);
        for row in &costs {
            all += row.spend;
        }
        RunView { status: RunStatus::Running, n_steps, costs, spend: all, ..RunView::default() }
    }

    #[test]
    fn before_the_first_call_all_is_left() {
        let left = forecast().remaining(&view(0, &[], 0)).total();
        assert_eq!(left.calls, range(144, 278, 306));
        assert_eq!(left.prompt_tokens, range(1440, 2780, 3060));
        assert_eq!(left.cost_usd_micros, None, "no price is known");
    }

    #[test]
    fn what_the_unit_under_way_took_is_taken_off() {
        let left = forecast().remaining(&view(0, &[], 30)).total();
        assert_eq!(left.calls.likely, 248);
    }

    #[test]
    fn finished_steps_narrow_the_range_and_pull_it_to_what_they_took() {
        let costs =
            [(CostPart::Reflect, 0, 8), (CostPart::Evaluate, 30, 0), (CostPart::Rollout, 30, 0)];
        let left = forecast().remaining(&view(3, &costs, 0));
        let reflect = left.parts.iter().find(|part| part.part == CostPart::Reflect).expect("left");
        assert_eq!((reflect.units, reflect.optimizer.calls), (1, range(2, 2, 3)));
        let evaluate =
            left.parts.iter().find(|part| part.part == CostPart::Evaluate).expect("left");
        assert_eq!(evaluate.target.calls, range(10, 18, 20));
    }

    #[test]
    fn nothing_is_left_of_a_run_that_is_done() {
        let done = RunView { status: RunStatus::Done, ..view(4, &[], 0) };
        assert_eq!(forecast().remaining(&done).total().calls, Estimate::default());
    }

    proptest! {
        #[test]
        fn less_is_left_after_each_step_and_the_order_of_the_range_stays(n in 1u32..4, took in 0u64..90) {
            let at = |steps: u32| {
                let costs = [(CostPart::Evaluate, took * u64::from(steps), 0)];
                let left = forecast().remaining(&view(steps, &costs, 0));
                left.parts.iter().find(|part| part.part == CostPart::Evaluate).map(|part| part.target.calls)
            };
            let (before, after) = (at(n - 1).expect("left"), at(n));
            if let Some(after) = after {
                prop_assert!(after.low <= after.likely && after.likely <= after.high);
                prop_assert!(after.high - after.low <= before.high - before.low);
            }
        }
    }
}
