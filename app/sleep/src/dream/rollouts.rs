//! Several attempts at each task, for what differs between them.

use crate::backend::{Docs, Phase};
use crate::consolidate::{GateRule, NightError};
use crate::replay::{Draws, NightTools, Replayed, replay_sets};
use crate::task::TaskRecord;

/// The scored attempts at one task.
#[derive(Clone, Debug)]
pub struct RolloutSet<'a> {
    /// The task.
    pub task: &'a TaskRecord,
    /// Attempts with their gate number, the best first.
    // Invariant: sorted by number, the highest first.
    attempts: Vec<(f64, Replayed)>,
}

impl<'a> RolloutSet<'a> {
    /// Keeps what was scored.
    #[must_use]
    pub fn new(task: &'a TaskRecord, rule: &GateRule, attempts: Vec<Replayed>) -> Self {
        let number = |replayed: Replayed| Some((rule.number(replayed.score()?), replayed));
        let mut attempts: Vec<_> = attempts.into_iter().filter_map(number).collect();
        attempts.sort_by(|(left, _), (right, _)| right.total_cmp(left));
        Self { task, attempts }
    }

    /// The best attempt.
    #[must_use]
    pub fn best(&self) -> Option<&Replayed> {
        self.attempts.first().map(|(_, replayed)| replayed)
    }

    /// The worst attempt.
    #[must_use]
    pub fn worst(&self) -> Option<&Replayed> {
        self.attempts.last().map(|(_, replayed)| replayed)
    }

    /// Gate number of the best less that of the worst; 0 with fewer than two attempts.
    #[must_use]
    pub fn spread(&self) -> f64 {
        match (self.attempts.first(), self.attempts.last()) {
            (Some((best, _)), Some((worst, _))) => best - worst,
            _ => 0.0,
        }
    }

    /// Share of scored attempts that pass; `None` when none was scored.
    #[must_use]
    pub fn pass_rate(&self) -> Option<f64> {
        let n = crate::replay::count(self.attempts.len());
        let passed = self.attempts.iter().filter(|(_, replayed)| !replayed.has_failed()).count();
        (n > 0).then(|| f64::from(crate::replay::count(passed)) / f64::from(n))
    }
}

/// Makes `k` attempts at each task. The first is the one that a single replay makes, so that it costs nothing anew.
///
/// # Errors
/// As [`replay_sets`].
pub async fn roll_out<'a>(
    tools: &NightTools<'_>,
    tasks: &'a [TaskRecord],
    docs: Docs<'_>,
    (phase, k): (Phase, u32),
    rule: &GateRule,
) -> Result<Vec<RolloutSet<'a>>, NightError> {
    let sets = replay_sets(tools, tasks, docs, Draws::up_to(phase, k)).await?;
    let set = |(task, attempts)| RolloutSet::new(task, rule, attempts);
    Ok(tasks.iter().zip(sets).map(set).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use skillopt_domain::outcome::Outcome;
    use skillopt_domain::score::{Score, TaskScore};

    fn attempt(soft: Option<f64>) -> Replayed {
        let score = |soft| {
            let soft = Score::try_new(soft).expect("a score");
            TaskScore { hard: Score::from_bool(soft.get() >= 1.0), soft }
        };
        let outcome = match soft {
            Some(soft) => Outcome::Scored {
                score: score(soft),
                predicted: String::new(),
                fail_reason: String::new(),
                truncated: false,
            },
            None => Outcome::Refused { reason: String::new() },
        };
        Replayed {
            id: "t".into(),
            outcome,
            response: format!("{soft:?}"),
            rationale: String::new(),
            tools_called: Vec::new(),
            tokens: None,
            latency_ms: 0,
        }
    }

    #[test]
    fn a_set_knows_its_best_worst_spread_and_pass_rate() {
        let task = TaskRecord::default();
        let attempts = [Some(0.5), None, Some(1.0), Some(0.0)].map(attempt).to_vec();
        let set = RolloutSet::new(&task, &GateRule::default(), attempts);
        assert_eq!(set.best().map(|best| best.response.as_str()), Some("Some(1.0)"));
        assert_eq!(set.worst().map(|worst| worst.response.as_str()), Some("Some(0.0)"));
        assert!((set.spread() - 1.0).abs() < 1e-12);
        assert!(set.pass_rate().is_some_and(|rate| (rate - 1.0 / 3.0).abs() < 1e-12));
        let empty = RolloutSet::new(&task, &GateRule::default(), vec![attempt(None)]);
        assert_eq!((empty.pass_rate(), empty.best()), (None, None));
    }
}
