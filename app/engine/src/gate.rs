//! The gate: a candidate stays only if it is strictly better on the tasks that both skills were scored on.
//! Pure functions over values.

use skillopt_domain::config::Evaluation;
use skillopt_domain::density::density;
use skillopt_domain::ids::TaskId;
use skillopt_domain::outcome::{Outcome, TaskOutcome};
use skillopt_domain::score::{MeanScore, TaskScore};
use skillopt_domain::skill::SkillDoc;
use skillopt_domain::verdict::{Action, Change, TaskChange, Verdict};
use std::collections::HashMap;

/// Differences below this are rounding, not results: sums of the same scores in another order.
const ROUNDING: f64 = 1e-12;

/// What the gate looks at. All outcomes are of the selection split.
#[derive(Clone, Copy, Debug)]
pub struct GateInput<'a> {
    /// The current skill.
    pub current: &'a [TaskOutcome],
    /// The best skill so far.
    pub best: &'a [TaskOutcome],
    /// The candidate.
    pub candidate: &'a [TaskOutcome],
    /// Metric, weight, and whether a task may regress.
    pub evaluation: &'a Evaluation,
    /// Share of the candidate's attempts that may end in errors, `0..=1`.
    pub error_share: f64,
    /// The candidate's outcomes were measured earlier in this run.
    pub reused: bool,
    /// What is added to the gate's number of each skill whatever its results.
    pub bonus: Bonus,
}

/// What is added to the gate's number of each skill; nothing, unless emphatic words are rewarded.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bonus {
    /// The current skill's.
    pub current: f64,
    /// The best skill's.
    pub best: f64,
    /// The candidate's.
    pub candidate: f64,
}

/// The bonus of a skill for emphatic words; 0 when they are not rewarded.
#[must_use]
pub fn bonus_of(evaluation: &Evaluation, skill: &SkillDoc) -> f64 {
    let reward = evaluation.density.as_ref();
    reward.map_or(0.0, |reward| reward.weight * density(skill, &reward.words))
}

/// Decides. A tie is rejected.
#[must_use]
pub fn gate(input: &GateInput<'_>) -> Verdict {
    let pairs = common(input.current, input.candidate);
    let n_errors = input.candidate.iter().filter(|outcome| outcome.outcome.is_error()).count();
    let newly_refused = newly_refused(input.current, input.candidate);
    let project = |score: TaskScore| input.evaluation.project(score.hard.get(), score.soft.get());
    let project_mean = |mean: MeanScore| input.evaluation.project(mean.hard, mean.soft);
    let current = MeanScore::of(pairs.iter().map(|pair| pair.before));
    let candidate = MeanScore::of(pairs.iter().map(|pair| pair.after));
    let mut verdict = Verdict {
        action: Action::Inconclusive,
        metric: input.evaluation.gate_metric,
        mixed_weight: input.evaluation.gate_mixed_weight,
        current,
        candidate,
        current_score: current.map(|mean| project_mean(mean) + input.bonus.current),
        candidate_score: candidate.map(|mean| project_mean(mean) + input.bonus.candidate),
        n_not_compared: count(input.candidate.len().saturating_sub(pairs.len())),
        changes_unknown: false,
        changes: pairs
            .iter()
            .filter_map(|pair| pair.change(project))
            .chain(newly_refused.iter().map(|(outcome, before)| refusal(outcome, project(*before))))
            .collect(),
        reused: input.reused,
        reason: String::new(),
    };
    let too_many_errors = as_f64(n_errors) > input.error_share * as_f64(input.candidate.len());
    verdict.action = match (verdict.current_score, verdict.candidate_score) {
        (Some(_), Some(_)) if too_many_errors => Action::Inconclusive,
        (Some(before), Some(after)) => {
            let is_better = after > before + ROUNDING;
            // A skill that makes the target decline tasks must not gain by leaving them out.
            let loses = newly_refused.len() >= verdict.n_fixed().max(1);
            let regresses = input.evaluation.no_regression && worse(&verdict).is_some();
            match (is_better && !loses && !regresses, beats_best(input, project)) {
                (true, true) => Action::AcceptNewBest,
                (true, false) => Action::Accept,
                (false, _) if input.evaluation.use_gate => Action::Reject,
                (false, _) => Action::ForceAccept,
            }
        }
        _ => Action::Inconclusive,
    };
    verdict.reason = reason(&verdict, input, n_errors);
    verdict
}

/// Tasks that were scored with the current skill and are declined with the candidate.
fn newly_refused<'a>(
    current: &[TaskOutcome],
    candidate: &'a [TaskOutcome],
) -> Vec<(&'a TaskOutcome, TaskScore)> {
    let scores = scores(current);
    candidate
        .iter()
        .filter(|outcome| matches!(outcome.outcome, Outcome::Refused { .. }))
        .filter_map(|outcome| Some((outcome, *scores.get(&outcome.task)?)))
        .collect()
}

fn refusal(outcome: &TaskOutcome, before: f64) -> TaskChange {
    let (task, title) = (outcome.task.clone(), outcome.title.clone());
    TaskChange { task, title, change: Change::Refused, before, after: 0.0 }
}

/// The first task that got worse in any way.
fn worse(verdict: &Verdict) -> Option<&TaskChange> {
    let is_worse = |change: &&TaskChange| {
        matches!(change.change, Change::Broke | Change::Fell | Change::Refused)
    };
    verdict.changes.iter().find(is_worse)
}

fn scores(outcomes: &[TaskOutcome]) -> HashMap<&TaskId, TaskScore> {
    outcomes
        .iter()
        .filter_map(|outcome| outcome.outcome.score().map(|score| (&outcome.task, score)))
        .collect()
}

fn beats_best(input: &GateInput<'_>, project: impl Fn(TaskScore) -> f64) -> bool {
    let means = common_means(input.best, input.candidate, project);
    means.is_some_and(|(best, candidate)| {
        candidate + input.bonus.candidate > best + input.bonus.best + ROUNDING
    })
}

/// Means of two skills in the gate's number, over the tasks that both were scored on; `None` without any.
fn common_means(
    before: &[TaskOutcome],
    after: &[TaskOutcome],
    project: impl Fn(TaskScore) -> f64,
) -> Option<(f64, f64)> {
    let pairs = common(before, after);
    let mean = |pick: fn(&Pair<'_>) -> TaskScore| -> f64 {
        pairs.iter().map(|pair| project(pick(pair))).sum::<f64>() / as_f64(pairs.len())
    };
    (!pairs.is_empty()).then(|| (mean(|pair| pair.before), mean(|pair| pair.after)))
}

/// Last and best skill in the gate's number on the tasks that both were scored on, and whether the last one is
/// strictly better.
#[must_use]
pub fn compare_last(input: &GateInput<'_>) -> Option<(f64, f64, bool)> {
    let project = |score: TaskScore| input.evaluation.project(score.hard.get(), score.soft.get());
    let (best, last) = common_means(input.best, input.candidate, project)?;
    let (best, last) = (best + input.bonus.best, last + input.bonus.candidate);
    Some((best, last, last > best + ROUNDING))
}

/// The tasks that changed between two skills, in the order of the later one.
pub(crate) fn changes(
    before: &[TaskOutcome],
    after: &[TaskOutcome],
    evaluation: &Evaluation,
) -> Vec<TaskChange> {
    let project = |score: TaskScore| evaluation.project(score.hard.get(), score.soft.get());
    common(before, after).iter().filter_map(|pair| pair.change(project)).collect()
}

struct Pair<'a> {
    outcome: &'a TaskOutcome,
    before: TaskScore,
    after: TaskScore,
}

impl Pair<'_> {
    fn change(&self, project: impl Fn(TaskScore) -> f64) -> Option<TaskChange> {
        let passed = |score: TaskScore| score.hard.get() >= 1.0;
        let (before, after) = (project(self.before), project(self.after));
        let change = match (passed(self.before), passed(self.after)) {
            (false, true) => Change::Fixed,
            (true, false) => Change::Broke,
            _ if after > before + ROUNDING => Change::Rose,
            _ if after < before - ROUNDING => Change::Fell,
            _ => return None,
        };
        Some(TaskChange {
            task: self.outcome.task.clone(),
            title: self.outcome.title.clone(),
            change,
            before,
            after,
        })
    }
}

/// Tasks that were scored with both skills, in the order of the candidate.
fn common<'a>(before: &'a [TaskOutcome], after: &'a [TaskOutcome]) -> Vec<Pair<'a>> {
    let scores = scores(before);
    after
        .iter()
        .filter_map(|outcome| {
            let after = outcome.outcome.score()?;
            let before = *scores.get(&outcome.task)?;
            Some(Pair { outcome, before, after })
        })
        .collect()
}

fn reason(verdict: &Verdict, input: &GateInput<'_>, n_errors: usize) -> String {
    let (Some(before), Some(after), Some(mean)) =
        (verdict.current_score, verdict.candidate_score, verdict.candidate)
    else {
        return format!(
            "no task was scored with both skills ({n_errors} of {} attempts ended in errors); nothing was decided",
            input.candidate.len()
        );
    };
    let arithmetic = format!(
        "{before:.3} → {after:.3} on {} tasks: {} fixed, {} broke",
        mean.n,
        verdict.n_fixed(),
        verdict.n_broke()
    );
    let declined = match verdict.changes.iter().filter(|c| c.change == Change::Refused).count() {
        0 => String::new(),
        n => format!(", {n} newly refused"),
    };
    let not_compared = match verdict.n_not_compared {
        0 => String::new(),
        n => format!(" ({n} more could not be compared)"),
    };
    let ending = match verdict.action {
        Action::AcceptNewBest | Action::Accept => {
            let word = if verdict.action == Action::Accept { "" } else { " as new best" };
            match worse(verdict) {
                Some(change) => format!("accepted{word}, though {} got worse", change.task),
                None => format!("accepted{word}"),
            }
        }
        Action::ForceAccept if after > before + ROUNDING => {
            "kept because the gate is off, though it would have been rejected".to_owned()
        }
        Action::ForceAccept => "kept because the gate is off, though it is no gain".to_owned(),
        Action::Inconclusive => format!(
            "nothing was decided, {n_errors} of {} attempts ended in errors",
            input.candidate.len()
        ),
        _ if after > before + ROUNDING => {
            let task = worse(verdict).map_or("a task", |change| change.task.as_str());
            if input.evaluation.no_regression {
                format!("rejected, no task may regress and {task} did")
            } else {
                "rejected, it makes the target decline as many tasks as it mends".to_owned()
            }
        }
        _ if (after - before).abs() <= ROUNDING => "rejected, a tie is no gain".to_owned(),
        _ => "rejected, the score fell".to_owned(),
    };
    format!("{arithmetic}{declined}{not_compared}; {ending}")
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

fn as_f64(n: usize) -> f64 {
    f64::from(count(n))
}

#[cfg(test)]
mod tests;
