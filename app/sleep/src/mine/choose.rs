//! The tasks of a night, out of all that were found, and what was left out by it.

use super::target::{TargetTerms, filter_for_target};
use crate::task::TaskRecord;
use std::collections::BTreeSet;

/// Tasks that were chosen and tasks that were not. Nothing is lost on the way: who keeps a place in the transcripts
/// knows by it what was never treated.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChosenTasks {
    /// For this night, in order.
    pub tasks: Vec<TaskRecord>,
    /// Not for this night.
    pub left_out: Vec<TaskRecord>,
}

/// Chooses at most `max_tasks`: for a target skill those that it is about, the closest first; else the first ones. Ids
/// have to differ.
#[must_use]
pub fn choose_tasks(
    tasks: Vec<TaskRecord>,
    target: Option<&TargetTerms>,
    max_tasks: usize,
) -> ChosenTasks {
    let mut chosen = match target {
        Some(target) => filter_for_target(tasks.clone(), target),
        None => tasks.clone(),
    };
    chosen.truncate(max_tasks);
    let ids: BTreeSet<&str> = chosen.iter().map(|task| task.id.as_str()).collect();
    let left_out = tasks.into_iter().filter(|task| !ids.contains(task.id.as_str())).collect();
    ChosenTasks { left_out, tasks: chosen }
}
