//! From step summaries to the small charts. Pure, tested.

use crate::charts::scale::count_f64;
use crate::charts::series::{Limit, Series, Shape, SmallPlot};
use skillopt_domain::event::StepSummary;
use skillopt_domain::spend::Spend;
use skillopt_domain::view::RunView;

fn plot(steps: &[StepSummary], series: Vec<Series>) -> SmallPlot {
    SmallPlot { steps: steps.iter().map(|step| step.step).collect(), series, limit: None }
}

fn series(
    name: &'static str,
    tone: &'static str,
    shape: Shape,
    values: Vec<Option<f64>>,
) -> Series {
    Series { name, tone, dash: None, shape, values }
}

fn collect(steps: &[StepSummary], value: impl Fn(&StepSummary) -> Option<f64>) -> Vec<Option<f64>> {
    steps.iter().map(value).collect()
}

/// Training batches: hard and soft means.
pub(crate) fn rollout(steps: &[StepSummary]) -> SmallPlot {
    let hard = collect(steps, |step| step.rollout.map(|score| score.hard));
    let soft = collect(steps, |step| step.rollout.map(|score| score.soft));
    let soft = Series { dash: Some("2"), ..series("soft", "5", Shape::Line, soft) };
    plot(steps, vec![series("hard", "3", Shape::Line, hard), soft])
}

/// The current skill's size after each step, from the initial one on.
pub(crate) fn skill_size(view: &RunView, steps: &[StepSummary]) -> SmallPlot {
    let start = view.plan.as_ref().map(|plan| (0, Some(f64::from(plan.initial_tokens))));
    let rest = steps.iter().map(|step| (step.step, Some(f64::from(step.skill_tokens))));
    let (numbers, values): (Vec<u32>, Vec<Option<f64>>) = start.into_iter().chain(rest).unzip();
    SmallPlot {
        steps: numbers,
        series: vec![series("tokens", "1", Shape::Steps, values)],
        limit: None,
    }
}

/// How many edits could apply, and how many did.
pub(crate) fn edits(steps: &[StepSummary]) -> SmallPlot {
    let applied = collect(steps, |step| Some(f64::from(step.n_applied)));
    let budget = collect(steps, |step| Some(f64::from(step.edit_budget)));
    let budget = Series { dash: Some("3"), ..series("budget", "8", Shape::Steps, budget) };
    plot(steps, vec![series("applied", "1", Shape::Bars, applied), budget])
}

/// A number of each role, stacked.
fn by_role(steps: &[StepSummary], value: impl Fn(&Spend) -> Option<f64>) -> SmallPlot {
    let target = collect(steps, |step| value(&step.spend.target));
    let optimizer = collect(steps, |step| value(&step.spend.optimizer));
    let target = series("target", "1", Shape::Bars, target);
    plot(steps, vec![target, series("optimizer", "2", Shape::Bars, optimizer)])
}

/// Dollars a step. A step with a call that has no price has no value.
pub(crate) fn cost(steps: &[StepSummary]) -> SmallPlot {
    by_role(steps, |spend| spend.known_cost_usd_micros().map(|micros| count_f64(micros) / 1e6))
}

pub(crate) fn tokens(steps: &[StepSummary]) -> SmallPlot {
    by_role(steps, |spend| Some(count_f64(spend.tokens())))
}

pub(crate) fn calls(steps: &[StepSummary]) -> SmallPlot {
    by_role(steps, |spend| Some(count_f64(spend.calls)))
}

/// Attempts that ended in errors, in percent of all attempts of the step.
pub(crate) fn error_share(steps: &[StepSummary]) -> SmallPlot {
    let share = collect(steps, |step| {
        (step.n_attempts > 0).then(|| f64::from(step.n_errors) / f64::from(step.n_attempts) * 100.0)
    });
    let limit = Limit { value: 10.0, name: "10 %".to_owned() };
    SmallPlot {
        limit: Some(limit),
        ..plot(steps, vec![series("errors", "7", Shape::Stems, share)])
    }
}

/// Money is known and some was spent: the cost chart says something.
pub(crate) fn has_cost(steps: &[StepSummary]) -> bool {
    let known = |step: &StepSummary| step.spend.total().known_cost_usd_micros();
    steps.iter().all(|step| known(step).is_some()) && steps.iter().any(|step| known(step) > Some(0))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use skillopt_domain::hash::Sha256Hex;
    use skillopt_domain::score::MeanScore;
    use skillopt_domain::spend::SpendByRole;
    use skillopt_domain::verdict::Action;

    /// A step that was rejected at 0.5 on 40 tasks.
    pub(crate) fn step(number: u32) -> StepSummary {
        StepSummary {
            step: number,
            epoch: 1,
            action: Action::Reject,
            rollout: Some(MeanScore { hard: 0.5, soft: 0.6, n: 40 }),
            candidate_score: Some(0.5),
            current_score: Some(0.5),
            current_n: Some(40),
            best_score: Some(0.5),
            best_n: Some(40),
            n_selection: Some(40),
            n_fixed: Some(0),
            n_broke: Some(0),
            edit_budget: 4,
            n_applied: 2,
            n_not_applied: 1,
            skill: Sha256Hex::of("a"),
            candidate: None,
            version: 0,
            skill_tokens: 400,
            n_errors: 1,
            n_attempts: 80,
            spend: SpendByRole::default(),
            stages: Vec::new(),
            reason: String::new(),
        }
    }

    #[test]
    fn an_unpriced_step_has_no_cost_instead_of_none() {
        let mut unpriced = step(1);
        unpriced.spend.target.unpriced_calls = 1;
        assert_eq!(cost(std::slice::from_ref(&unpriced)).value_at(0, 1), None);
        assert!(!has_cost(&[unpriced]));
        let mut priced = step(2);
        priced.spend.target.cost_usd_micros = 250_000;
        assert_eq!(cost(std::slice::from_ref(&priced)).value_at(0, 2), Some(0.25));
        assert!(has_cost(&[priced]));
    }

    #[test]
    fn errors_are_a_share_of_attempts() {
        assert_eq!(error_share(&[step(1)]).value_at(0, 1), Some(1.25));
    }
}
