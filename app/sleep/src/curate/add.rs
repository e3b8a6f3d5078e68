//! Found tasks join those that are there. What a person did to a task stays.

use crate::split::assign_new_splits;
use crate::task::TaskRecord;
use crate::tasks_file::{SplitChoice, TasksFile};
use std::collections::BTreeSet;

/// What was added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Added {
    /// Tasks that were not there before.
    pub n_new: usize,
    /// Tasks that were there already, muted and merged ones too: they stay as they were.
    pub n_known: usize,
}

/// Adds tasks that are not there yet, without secrets. Where there were none their splits stay; else they stand with the
/// tasks that they belong to. New tasks have to be looked at.
pub fn add_tasks(file: &mut TasksFile, found: &[TaskRecord], choice: SplitChoice) -> Added {
    let mut ids: BTreeSet<String> =
        file.tasks.iter().chain(&file.muted).map(|task| task.id.clone()).collect();
    let merged = file.merged.iter().filter(|(_, into)| ids.contains(*into));
    let merged: Vec<String> = merged.map(|(id, _)| id.clone()).collect();
    ids.extend(merged);
    let new: Vec<TaskRecord> =
        found.iter().filter(|task| ids.insert(task.id.clone())).map(TaskRecord::redacted).collect();
    let added = Added { n_new: new.len(), n_known: found.len() - new.len() };
    let n_before = file.tasks.len();
    file.tasks.extend(new);
    if n_before > 0 {
        assign_new_splits(&mut file.tasks, n_before, choice.seed, choice.fractions);
    }
    if added.n_new > 0 {
        file.reviewed = false;
    }
    added
}
