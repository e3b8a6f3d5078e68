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
    /// For another night: there are more than a night takes.
    pub over_limit: Vec<TaskRecord>,
    /// For no night: the target skill is not about them.
    pub off_target: Vec<TaskRecord>,
}

/// Chooses at most `max_tasks`: for a target skill those that it is about, the closest first; else the first ones. Ids
/// have to differ.
#[must_use]
pub fn choose_tasks(
    tasks: Vec<TaskRecord>,
    target: Option<&TargetTerms>,
    max_tasks: usize,
) -> ChosenTasks {
    let Some(target) = target else { return cut(tasks, max_tasks) };
    let fitting = filter_for_target(tasks.clone(), target);
    let ids: BTreeSet<&str> = fitting.iter().map(|task| task.id.as_str()).collect();
    let off_target = tasks.into_iter().filter(|task| !ids.contains(task.id.as_str())).collect();
    ChosenTasks { off_target, ..cut(fitting, max_tasks) }
}

fn cut(mut tasks: Vec<TaskRecord>, max_tasks: usize) -> ChosenTasks {
    let over_limit = tasks.split_off(max_tasks.min(tasks.len()));
    ChosenTasks { tasks, over_limit, off_target: Vec::new() }
}
