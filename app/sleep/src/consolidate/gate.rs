//! The gate of a night: a candidate goes on only if it is strictly better on the tasks that were scored with both. Pure.

use crate::replay::{RewardWeights, reward};
use skillopt_domain::night::report::{DeltaStatus, GateTrial, TaskDelta};
use skillopt_domain::noise::{p_words, sign_test};
use skillopt_domain::score::{GateMetric, MeanScore, TaskScore};

/// Differences below this are rounding, not results.
const ROUNDING: f64 = 1e-12;

/// What the gate counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GateRule {
    /// The number that is compared.
    pub metric: GateMetric,
    /// Weight of `soft` in the mixed metric.
    // Invariant: 0..=1.
    mixed_weight: f64,
    /// No task may get worse.
    pub no_regression: bool,
    /// How much higher a candidate has to score, `0..=1`; 0 is any gain.
    pub margin: f64,
    /// The fewest tasks, scored with both, that a gain may rest on.
    pub min_tasks: u32,
    /// What the number is made of beside the score.
    pub weights: RewardWeights,
}

impl Default for GateRule {
    /// Mixed, half and half.
    fn default() -> Self {
        Self::new(GateMetric::Mixed, 0.5)
    }
}

impl GateRule {
    /// A rule; the weight is held to `0..=1`, and what is no number counts as 0.5.
    #[must_use]
    pub fn new(metric: GateMetric, mixed_weight: f64) -> Self {
        let weight = if mixed_weight.is_nan() { 0.5 } else { mixed_weight.clamp(0.0, 1.0) };
        Self {
            metric,
            mixed_weight: weight,
            no_regression: false,
            margin: 0.0,
            min_tasks: 1,
            weights: RewardWeights::default(),
        }
    }

    /// The gate number of a score, `0..=1`.
    #[must_use]
    pub fn number(&self, score: TaskScore) -> f64 {
        self.metric.project(score.hard.get(), score.soft.get(), self.mixed_weight)
    }

    /// The gate number of means, `0..=1`.
    #[must_use]
    pub fn number_of(&self, mean: MeanScore) -> f64 {
        self.metric.project(mean.hard, mean.soft, self.mixed_weight)
    }

    /// The number that the gate compares of a task, `0..=1`: its score, and what it took where that counts. `None` when
    /// it was not scored, and when something that counts is unknown.
    #[must_use]
    pub fn number_of_measured(&self, measured: &Measured) -> Option<f64> {
        let accuracy = self.number_of(measured.mean?);
        match self.weights == RewardWeights::default() {
            true => Some(accuracy),
            false => reward(accuracy, measured.tokens, measured.latency_ms, &self.weights),
        }
    }

    /// How the number is made, for people.
    #[must_use]
    pub fn formula(&self) -> String {
        let score = match self.metric {
            GateMetric::Hard => "hard".to_owned(),
            GateMetric::Soft => "soft".to_owned(),
            GateMetric::Mixed => {
                format!("{} * hard + {} * soft", 1.0 - self.mixed_weight, self.mixed_weight)
            }
        };
        let RewardWeights { tokens, latency, .. } = self.weights;
        match self.weights == RewardWeights::default() {
            true => score,
            false => format!("({score}, weighing 1; few tokens, {tokens}; little time, {latency})"),
        }
    }

    fn is_gain(&self, before: f64, after: f64) -> bool {
        after > before + ROUNDING && after + ROUNDING >= before + self.margin
    }
}

/// One validation task as it was measured with one pair of documents.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The task.
    pub task_id: String,
    /// Its tags.
    pub tags: Vec<String>,
    /// Means over its measurements; `None` when none was scored.
    pub mean: Option<MeanScore>,
    /// Mean tokens of those that were scored; `None` when one of them is unknown.
    pub tokens: Option<f64>,
    /// Mean time of those that were scored, in milliseconds.
    pub latency_ms: Option<f64>,
    /// The target declined it every time that it was not spoiled.
    pub declined: bool,
}

/// What a comparison says.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// For the report.
    pub trial: GateTrial,
    /// The candidate is strictly better, whatever blocks it.
    pub better: bool,
}

/// Compares two measurements of the same tasks in the same order. `target` is `skill`, `memory` or `final`.
#[must_use]
pub fn compare(
    target: &str,
    baseline: &[Measured],
    candidate: &[Measured],
    rule: &GateRule,
) -> Comparison {
    let deltas: Vec<TaskDelta> =
        baseline.iter().zip(candidate).map(|(before, after)| delta(before, after, rule)).collect();
    let pairs: Vec<(f64, f64)> =
        deltas.iter().filter_map(|delta| delta.baseline_score.zip(delta.candidate_score)).collect();
    let before = mean(pairs.iter().map(|pair| pair.0));
    let after = mean(pairs.iter().map(|pair| pair.1));
    let is_higher = before.zip(after).is_some_and(|(before, after)| after > before + ROUNDING);
    let better = before.zip(after).is_some_and(|(before, after)| rule.is_gain(before, after));
    let n_fixed = tally(&deltas, DeltaStatus::Improved);
    let n_broke = tally(&deltas, DeltaStatus::Regressed);
    let n_declined = crate::replay::count(
        baseline.iter().zip(candidate).filter(|(b, c)| b.mean.is_some() && c.declined).count(),
    );
    // A document that makes the target decline tasks must not gain by leaving them out.
    let loses = n_declined > 0 && n_declined >= n_fixed;
    let regressed = deltas.iter().any(|delta| delta.status == DeltaStatus::Regressed);
    let blocked = better && rule.no_regression && regressed;
    let counts = Counts { n: crate::replay::count(pairs.len()), n_fixed, n_broke, n_declined };
    let is_enough = counts.n >= rule.min_tasks;
    let mut words = counts.words(crate::replay::count(deltas.len()));
    if is_higher && !better {
        words.push_str(&format!("; the gain is below the margin of {}", rule.margin));
    }
    if is_higher && !is_enough {
        words.push_str(&format!("; a gain has to rest on {} tasks", rule.min_tasks));
    }
    let trial = GateTrial {
        target: target.to_owned(),
        baseline_score: before,
        candidate_score: after,
        accepted: better && !blocked && !loses && is_enough,
        blocked_by_regression: blocked,
        words,
        task_deltas: deltas,
        n_compared: counts.n,
        n_fixed,
        n_broke,
    };
    Comparison { trial, better }
}

struct Counts {
    n: u32,
    n_fixed: u32,
    n_broke: u32,
    n_declined: u32,
}

impl Counts {
    fn words(&self, n_tasks: u32) -> String {
        let Self { n, n_fixed, n_broke, n_declined } = self;
        let mut words =
            format!("{n} of {n_tasks} tasks compared: {n_fixed} better, {n_broke} worse");
        if n_fixed + n_broke > 0 {
            words.push_str(&format!(" ({})", p_words(sign_test(*n_fixed, *n_broke))));
        }
        if *n_declined > 0 {
            words.push_str(&format!(", {n_declined} newly declined"));
        }
        words
    }
}

/// Of the tasks that were compared those with this status.
fn tally(deltas: &[TaskDelta], status: DeltaStatus) -> u32 {
    let is_counted = |delta: &&TaskDelta| delta.scores_are_finite && delta.status == status;
    crate::replay::count(deltas.iter().filter(is_counted).count())
}

/// A task is better or worse by its score alone: what it took differs by chance.
fn delta(before: &Measured, after: &Measured, rule: &GateRule) -> TaskDelta {
    let number = |measured: &Measured| rule.number_of_measured(measured);
    let (baseline_score, candidate_score) = (number(before), number(after));
    let score = |measured: &Measured| measured.mean.map(|mean| rule.number_of(mean));
    let status = match (baseline_score.and(score(before)), candidate_score.and(score(after))) {
        (Some(before), Some(after)) if after > before + ROUNDING => DeltaStatus::Improved,
        (Some(before), Some(after)) if before > after + ROUNDING => DeltaStatus::Regressed,
        (Some(_), Some(_)) => DeltaStatus::Unchanged,
        _ => DeltaStatus::Regressed,
    };
    TaskDelta {
        task_id: before.task_id.clone(),
        tags: before.tags.clone(),
        baseline_score,
        candidate_score,
        status,
        scores_are_finite: baseline_score.is_some() && candidate_score.is_some(),
    }
}

fn mean(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, n) = numbers.fold((0.0, 0u32), |(sum, n), number| (sum + number, n + 1));
    (n > 0).then(|| sum / f64::from(n))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use skillopt_domain::score::Score;

    fn measured(scores: &[Option<(f64, f64)>]) -> Vec<Measured> {
        let score = |value| Score::try_new(value).expect("a score");
        let one = |(at, pair): (usize, &Option<(f64, f64)>)| Measured {
            task_id: at.to_string(),
            tags: Vec::new(),
            mean: pair.and_then(|(hard, soft)| {
                MeanScore::of([TaskScore { hard: score(hard), soft: score(soft) }])
            }),
            tokens: None,
            latency_ms: None,
            declined: false,
        };
        scores.iter().enumerate().map(one).collect()
    }

    fn trial(before: &[f64], after: &[f64], no_regression: bool) -> GateTrial {
        let of = |numbers: &[f64]| {
            measured(&numbers.iter().map(|number| Some((*number, *number))).collect::<Vec<_>>())
        };
        let rule = GateRule { no_regression, ..GateRule::default() };
        compare("skill", &of(before), &of(after), &rule).trial
    }

    #[test]
    fn mixed_is_half_hard_and_half_soft() {
        let rule = GateRule::default();
        let mean = MeanScore { hard: 0.5, soft: 0.6, n: 2 };
        assert!((rule.number_of(mean) - 0.55).abs() < 1e-12);
        assert!((GateRule::new(GateMetric::Mixed, 7.0).number_of(mean) - 0.6).abs() < 1e-12);
    }

    #[rstest]
    #[case(&[0.5, 0.5], &[0.5, 0.6], false, true, false)]
    #[case(&[0.5, 0.5], &[0.5, 0.5], false, false, false)]
    #[case(&[0.5, 0.5], &[0.4, 0.5], false, false, false)]
    #[case(&[0.5, 0.5], &[0.4, 1.0], false, true, false)]
    #[case(&[0.5, 0.5], &[0.4, 1.0], true, false, true)]
    #[case(&[], &[], false, false, false)]
    fn only_strictly_better_goes_on(
        #[case] before: &[f64],
        #[case] after: &[f64],
        #[case] no_regression: bool,
        #[case] accepted: bool,
        #[case] blocked: bool,
    ) {
        let trial = trial(before, after, no_regression);
        assert_eq!((trial.accepted, trial.blocked_by_regression), (accepted, blocked));
    }

    #[test]
    fn what_was_not_scored_with_both_counts_as_regressed_and_in_no_mean() {
        let before = measured(&[Some((0.0, 0.5)), Some((1.0, 1.0))]);
        let after = measured(&[Some((1.0, 1.0)), None]);
        let trial = compare("skill", &before, &after, &GateRule::default()).trial;
        assert_eq!((trial.baseline_score, trial.candidate_score), (Some(0.25), Some(1.0)));
        assert_eq!(trial.task_deltas[1].status, DeltaStatus::Regressed);
        assert!(!trial.task_deltas[1].scores_are_finite);
        assert_eq!(trial.words, "1 of 2 tasks compared: 1 better, 0 worse (p = 1.00)");
    }

    #[rstest]
    #[case(0.0, 1, true, "")]
    #[case(0.25, 2, true, "")]
    #[case(0.3, 1, false, "; the gain is below the margin of 0.3")]
    #[case(0.0, 3, false, "; a gain has to rest on 3 tasks")]
    fn a_gain_needs_the_margin_and_the_tasks_that_the_rule_asks_for(
        #[case] margin: f64,
        #[case] min_tasks: u32,
        #[case] accepted: bool,
        #[case] words: &str,
    ) {
        let rule = GateRule { margin, min_tasks, ..GateRule::default() };
        let before = measured(&[Some((0.5, 0.5)), Some((0.5, 0.5))]);
        let after = measured(&[Some((0.5, 0.5)), Some((1.0, 1.0))]);
        let trial = compare("skill", &before, &after, &rule).trial;
        assert_eq!(trial.accepted, accepted, "{}", trial.words);
        assert!(trial.words.ends_with(words), "{}", trial.words);
        let margin_alone = GateRule { margin, min_tasks, ..GateRule::default() };
        assert!(!compare("skill", &before, &before, &margin_alone).trial.accepted, "a tie");
    }

    #[test]
    fn what_an_answer_takes_counts_where_it_weighs_something_and_unknown_is_not_free() {
        let weights = RewardWeights { accuracy: 1.0, tokens: 1.0, latency: 0.0 };
        let rule = GateRule { weights, ..GateRule::default() };
        let with = |tokens: Option<f64>| {
            let mut one = measured(&[Some((1.0, 1.0))]);
            one[0].tokens = tokens;
            one
        };
        let trial = compare("skill", &with(Some(1000.0)), &with(Some(500.0)), &rule).trial;
        assert!(trial.accepted, "as good, and shorter: {}", trial.words);
        assert_eq!((trial.baseline_score, trial.candidate_score), (Some(0.75), Some(0.875)));
        assert_eq!(trial.task_deltas[0].status, DeltaStatus::Unchanged, "its score is the same");
        let strict = GateRule { no_regression: true, ..rule };
        let longer = compare("skill", &with(Some(500.0)), &with(Some(1000.0)), &strict).trial;
        assert!(!longer.accepted && longer.n_broke == 0, "{}", longer.words);
        let unknown = compare("skill", &with(Some(1000.0)), &with(None), &rule).trial;
        assert!(!unknown.accepted && unknown.n_compared == 0);
        assert_eq!(unknown.task_deltas[0].status, DeltaStatus::Regressed);
        let plain = compare("skill", &with(None), &with(None), &GateRule::default()).trial;
        assert_eq!(plain.n_compared, 1, "tokens do not count there");
    }

    #[test]
    fn declining_a_task_is_no_way_to_win() {
        let before = measured(&[Some((0.0, 0.0)), Some((0.0, 0.5))]);
        let mut after = measured(&[None, Some((1.0, 1.0))]);
        after[0].declined = true;
        let comparison = compare("skill", &before, &after, &GateRule::default());
        assert!(comparison.better && !comparison.trial.accepted);
        assert!(comparison.trial.words.ends_with("1 newly declined"), "{}", comparison.trial.words);
    }
}
