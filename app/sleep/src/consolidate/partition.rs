//! Which tasks a night learns from, validates on and tests on. Pure.

use crate::task::{Split, TaskRecord};
use std::collections::HashSet;

/// The tasks of a night by use.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parts {
    /// Edits come from these.
    pub train: Vec<TaskRecord>,
    /// The gate measures on these.
    pub val: Vec<TaskRecord>,
    /// Measured at the end and fed to nobody.
    pub test: Vec<TaskRecord>,
    /// Validation and training share tasks: a gain on them proves nothing.
    pub leaked: bool,
}

/// Shares tasks out. A night without validation tasks validates on its training tasks and the other way round, and says
/// so; test tasks are never borrowed.
#[must_use]
pub fn partition(tasks: &[TaskRecord]) -> Parts {
    let of = |split| -> Vec<TaskRecord> {
        tasks.iter().filter(|task| task.split == split).cloned().collect()
    };
    let mut parts = Parts {
        train: of(Split::Train),
        val: of(Split::Val),
        test: of(Split::Test),
        leaked: false,
    };
    match (parts.train.is_empty(), parts.val.is_empty()) {
        (true, true) => return parts,
        (false, true) => parts.val.clone_from(&parts.train),
        (true, false) => parts.train.clone_from(&parts.val),
        (false, false) => {}
    }
    let trained: HashSet<&str> = parts.train.iter().map(|task| task.id.as_str()).collect();
    parts.leaked = parts.val.iter().any(|task| trained.contains(task.id.as_str()));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use Split::{Test, Train, Val};
    use rstest::rstest;

    #[rstest]
    #[case(&[("a", Train), ("b", Val)], "a", "b", false)]
    #[case(&[("a", Train)], "a", "a", true)]
    #[case(&[("a", Val), ("c", Test)], "a", "a", true)]
    #[case(&[("a", Train), ("a", Val)], "a", "a", true)]
    #[case(&[("c", Test)], "", "", false)]
    #[case(&[], "", "", false)]
    fn tasks_are_shared_out_and_a_leak_is_seen(
        #[case] tasks: &[(&str, Split)],
        #[case] train: &str,
        #[case] val: &str,
        #[case] leaked: bool,
    ) {
        let task = |(id, split): &(&str, Split)| TaskRecord {
            id: (*id).to_owned(),
            split: *split,
            ..TaskRecord::default()
        };
        let parts = partition(&tasks.iter().map(task).collect::<Vec<_>>());
        let ids = |tasks: &[TaskRecord]| tasks.iter().map(|t| t.id.clone()).collect::<String>();
        assert_eq!((ids(&parts.train), ids(&parts.val)), (train.to_owned(), val.to_owned()));
        assert_eq!(parts.leaked, leaked);
    }
}
