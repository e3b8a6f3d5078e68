//! What the gate takes from attempts at a task: nights and experiments measure with the same functions. Pure.

use super::Measured;
use crate::replay::{Replayed, count};
use crate::task::TaskRecord;
use skillopt_domain::outcome::Outcome;
use skillopt_domain::score::{MeanScore, TaskScore};

/// Each task by its set of attempts, both in the same order.
#[must_use]
pub fn measure_sets(tasks: &[TaskRecord], sets: &[Vec<Replayed>]) -> Vec<Measured> {
    tasks.iter().zip(sets).map(|(task, set)| measure(task, set)).collect()
}

fn measure(task: &TaskRecord, set: &[Replayed]) -> Measured {
    let scores: Vec<TaskScore> = set.iter().filter_map(Replayed::score).collect();
    let declined = scores.is_empty()
        && set.iter().any(|replayed| matches!(replayed.outcome, Outcome::Refused { .. }));
    let scored = || set.iter().filter(|replayed| replayed.score().is_some());
    // What is unknown once is unknown in the mean; tokens are far below the limit of exact doubles.
    let exact = |whole: u64| f64::from(u32::try_from(whole).unwrap_or(u32::MAX));
    let tokens: Option<Vec<f64>> = scored().map(|one| one.tokens.map(exact)).collect();
    let times: Vec<f64> = scored().map(|one| exact(one.latency_ms)).collect();
    Measured {
        task_id: task.id.clone(),
        tags: task.tags.clone(),
        mean: MeanScore::of(scores),
        tokens: tokens.and_then(|tokens| mean(&tokens)),
        latency_ms: mean(&times),
        declined,
    }
}

fn mean(numbers: &[f64]) -> Option<f64> {
    let n = f64::from(count(numbers.len()));
    (!numbers.is_empty()).then(|| numbers.iter().sum::<f64>() / n)
}
