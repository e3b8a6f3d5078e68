//! Tasks with the same id are one task that was asked several times.

use crate::task::{TaskOutcome, TaskRecord};
use std::collections::{BTreeMap, BTreeSet};

/// Joins tasks by id, in the order in which ids come first. Sessions and tags add up; the outcome that says most counts,
/// with its solution; a skill is a hint only when no other one was seen.
#[must_use]
pub fn merge_tasks(tasks: Vec<TaskRecord>) -> Vec<TaskRecord> {
    let mut merged: Vec<TaskRecord> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut hints: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for task in tasks {
        let hint = task.skill_hint.trim();
        if !hint.is_empty() {
            hints.entry(task.id.clone()).or_default().insert(hint.to_owned());
        }
        match places.get(&task.id) {
            Some(at) => join(&mut merged[*at], task),
            None => {
                places.insert(task.id.clone(), merged.len());
                merged.push(task);
            }
        }
    }
    for task in &mut merged {
        let mut seen = hints.remove(&task.id).unwrap_or_default().into_iter();
        task.skill_hint = match (seen.next(), seen.next()) {
            (Some(only), None) => only,
            _ => String::new(),
        };
    }
    merged
}

/// The skill of each task for which every observation agrees on one; for all others there is none, also when only some
/// observations know. Stricter than what [`merge_tasks`] keeps, because it decides whose document changes.
#[must_use]
pub fn agreed_hints(observations: &[TaskRecord]) -> BTreeMap<String, String> {
    let mut seen: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for task in observations {
        seen.entry(&task.id).or_default().insert(task.skill_hint.trim());
    }
    let only = |hints: BTreeSet<&str>| match hints.into_iter().collect::<Vec<_>>().as_slice() {
        [only] if !only.is_empty() => Some((*only).to_owned()),
        _ => None,
    };
    seen.into_iter().filter_map(|(id, hints)| Some((id.to_owned(), only(hints)?))).collect()
}

/// Adds what another task knows: sessions, tags, and the outcome that says most. Its texts are not taken.
pub(crate) fn join(task: &mut TaskRecord, other: TaskRecord) {
    add_new(&mut task.source_sessions, other.source_sessions);
    add_new(&mut task.tags, other.tags);
    if rank(other.outcome) > rank(task.outcome) {
        task.outcome = other.outcome;
        if !other.attempted_solution.is_empty() {
            task.attempted_solution = other.attempted_solution;
        }
    }
}

fn add_new(to: &mut Vec<String>, from: Vec<String>) {
    for text in from {
        if !to.contains(&text) {
            to.push(text);
        }
    }
}

fn rank(outcome: TaskOutcome) -> u8 {
    match outcome {
        TaskOutcome::Unknown => 0,
        TaskOutcome::Mixed => 1,
        TaskOutcome::Fail => 2,
        TaskOutcome::Success => 3,
    }
}
