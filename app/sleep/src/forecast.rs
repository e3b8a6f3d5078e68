//! How many calls a night makes at most, from its options and its tasks, before it begins. Pure.

mod config;

pub use config::night_forecast;

use crate::consolidate::{GateMode, NightOptions, partition};
use crate::judge::Judge;
use crate::replay::count;
use crate::task::TaskRecord;

/// A target that calls stand-ins for tools is answered so often at most.
const TOOL_ROUNDS: u64 = 4;
/// An attempt and a judge: what a task takes of which nothing is known.
const USUAL_CALLS: u64 = 2;

/// Tasks with the calls of one attempt at each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// Tasks.
    pub tasks: u32,
    /// Calls of one attempt at each of them: attempts, rounds with tools, judges.
    pub calls: u64,
}

/// The tasks of a night, or of one group of it, by use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NightLoad {
    /// Edits come from these.
    pub train: Load,
    /// Tasks of earlier nights that train as well.
    pub recalled: Load,
    /// The gate measures on these.
    pub val: Load,
    /// Measured at the end.
    pub test: Load,
}

/// Calls by what they are for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlannedCalls {
    /// Training tasks.
    pub training: u64,
    /// Validation tasks.
    pub validation: u64,
    /// Edits are asked for.
    pub reflection: u64,
    /// Test tasks.
    pub test: u64,
}

impl Load {
    /// These tasks.
    #[must_use]
    pub fn of(tasks: &[TaskRecord]) -> Self {
        Self { tasks: count(tasks.len()), calls: tasks.iter().map(calls_of).sum() }
    }

    /// So many tasks of which nothing is known: each is performed and judged.
    #[must_use]
    pub fn unknown(tasks: u32) -> Self {
        Self { tasks, calls: USUAL_CALLS * u64::from(tasks) }
    }

    /// At most `k` of these tasks, whichever they are.
    #[must_use]
    fn dearest(tasks: &[TaskRecord], k: u32) -> Self {
        let mut calls: Vec<u64> = tasks.iter().map(calls_of).collect();
        calls.sort_unstable_by(|left, right| right.cmp(left));
        calls.truncate(usize::try_from(k).unwrap_or(usize::MAX));
        Self { tasks: count(calls.len()), calls: calls.iter().sum() }
    }
}

impl NightLoad {
    /// Tasks with their splits; of the archive at most `recall_k` are recalled.
    #[must_use]
    pub fn of(tasks: &[TaskRecord], archive: &[TaskRecord], recall_k: u32) -> Self {
        let parts = partition(tasks);
        let recalled = match parts.train.is_empty() {
            true => Load::default(),
            false => Load::dearest(archive, recall_k),
        };
        Self {
            train: Load::of(&parts.train),
            recalled,
            val: Load::of(&parts.val),
            test: Load::of(&parts.test),
        }
    }
}

impl PlannedCalls {
    /// All of them.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.training + self.validation + self.reflection + self.test
    }
}

/// The most calls of one decision, when each is answered the first time.
#[must_use]
pub fn planned_calls(options: &NightOptions, load: &NightLoad) -> PlannedCalls {
    let stages = u64::from(options.evolve_skill) + u64::from(options.evolve_memory);
    let rollouts = u64::from(options.rollouts.max(1));
    // Rollouts begin with the attempt that a single replay makes, and are made anew when the skill is another one.
    let rounds = match stages {
        0 => 1,
        n => n * rollouts,
    };
    // Guidance rests on one more attempt with the new skill.
    let slow = u64::from(has_slow_update(options));
    let variants = 1 + u64::from(options.dream_factor);
    let trained = (load.train.calls + load.recalled.calls).saturating_mul(variants);
    // With several rollouts their differences are read first, and failures when those bring no edit.
    let readings = if rollouts > 1 { 2 } else { 1 };
    PlannedCalls {
        training: trained.saturating_mul(rounds + slow),
        validation: load.val.calls.saturating_mul(measurements(options, stages)),
        reflection: if load.train.tasks > 0 { stages * readings + slow } else { 0 },
        test: load.test.calls,
    }
}

fn has_slow_update(options: &NightOptions) -> bool {
    options.slow_update && options.evolve_skill && options.gate != GateMode::Off
}

/// How often each validation task is measured at most.
fn measurements(options: &NightOptions, stages: u64) -> u64 {
    if options.gate == GateMode::Off {
        return 0;
    }
    let budget = u64::from(options.edit_budget);
    let alone = if options.gate_per_edit { budget } else { 0 };
    let trials = match stages {
        0 => 0,
        1 => 1 + alone,
        // An edit of the second reflection that is for the first document is tried by itself.
        _ => 2 + alone + budget,
    };
    let end = u64::from(stages > 0);
    let slow = u64::from(has_slow_update(options));
    u64::from(options.gate_repeats.max(1)).saturating_mul(1 + trials + slow + end)
}

/// Calls of one attempt at a task, its judge's among them.
fn calls_of(task: &TaskRecord) -> u64 {
    // What cannot be scored is not attempted.
    let Ok(judge) = Judge::of(task) else { return 0 };
    let rounds = if judge.required_tools().is_empty() { 1 } else { 1 + TOOL_ROUNDS };
    let judged = match judge {
        Judge::Rule(_) | Judge::Exact { .. } => 0,
        Judge::Rubric { .. } | Judge::Answer | Judge::Outcome => 1,
    };
    rounds + judged
}

#[cfg(test)]
mod tests;
