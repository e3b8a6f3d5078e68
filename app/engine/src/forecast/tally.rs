//! Sums of a walk by part and role, and the ranges that several walks make up.

use super::known::RoleModel;
use super::planned::Planned;
use skillopt_domain::cost::CostPart;
use skillopt_domain::forecast::{Estimate, PartForecast, RoleForecast};
use skillopt_domain::spend::Role;
use std::collections::BTreeMap;

/// Calls of one role with their tokens.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Calls {
    pub(super) n: f64,
    pub(super) read: f64,
    pub(super) written: f64,
}

impl Calls {
    fn add(&mut self, other: Self) {
        self.n += other.n;
        self.read += other.read;
        self.written += other.written;
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Part {
    target: Calls,
    optimizer: Calls,
    ms: f64,
}

/// What one walk came to.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally(BTreeMap<CostPart, Part>);

impl Tally {
    /// Adds calls that took `ms` together.
    pub(super) fn add(&mut self, part: CostPart, role: Role, calls: Calls, ms: f64) {
        let row = self.0.entry(part).or_default();
        match role {
            Role::Target => row.target.add(calls),
            Role::Optimizer => row.optimizer.add(calls),
        }
        row.ms += ms;
    }

    fn of(&self, part: CostPart) -> Part {
        self.0.get(&part).copied().unwrap_or_default()
    }
}

/// What sums of fractions may be off by.
const NOISE: f64 = 1e-6;

/// The parts with their ranges.
pub(super) fn parts(planned: &Planned<'_>, likely: &Tally, others: &[Tally]) -> Vec<PartForecast> {
    let row = |part: CostPart| {
        let range = |pick: &dyn Fn(&Part) -> f64| {
            let all = others.iter().chain([likely]).map(|tally| pick(&tally.of(part)));
            let (low, high) =
                all.fold((f64::MAX, 0.0f64), |(low, high), n| (low.min(n), high.max(n)));
            Estimate {
                low: whole((low + NOISE).floor()),
                likely: whole(pick(&likely.of(part))),
                high: whole((high - NOISE).ceil()),
            }
        };
        let role = |pick: fn(&Part) -> Calls, model: &RoleModel<'_>| {
            let prompt_tokens = range(&|part| pick(part).read);
            let completion_tokens = range(&|part| pick(part).written);
            let cost_usd_micros = model.cost(prompt_tokens, completion_tokens);
            let calls = range(&|part| pick(part).n);
            RoleForecast { calls, prompt_tokens, completion_tokens, cost_usd_micros }
        };
        PartForecast {
            part,
            units: planned.units(part),
            target: role(|part| part.target, &planned.target),
            optimizer: role(|part| part.optimizer, &planned.optimizer),
            wall_ms: range(&|part| part.ms),
        }
    };
    let has_calls = |part: &PartForecast| part.target.calls.high + part.optimizer.calls.high > 0;
    CostPart::ALL.into_iter().map(row).filter(has_calls).collect()
}

/// A number that is not negative, to the nearest whole.
fn whole(n: f64) -> u64 {
    // Adding zero takes the sign off a zero.
    format!("{:.0}", n.max(0.0) + 0.0).parse().unwrap_or(u64::MAX)
}
