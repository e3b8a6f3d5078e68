//! Which task trains, which validates, which tests: stable over nights, and never by chance. Sessions and equal
//! contents are kept whole unless the reference system's rule is asked for. Knows no files and no clock.

mod bucket;
mod fractions;
mod group;
mod overlap;

pub use bucket::{Bucket, bucket};
pub use fractions::{Fractions, FractionsError};
pub(crate) use group::Joined;
pub use overlap::{Overlap, OverlapKind, overlaps};

use crate::task::{Split, TaskRecord};
use std::collections::BTreeMap;

/// How tasks become members of a split.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SplitRule {
    /// Tasks that share a session or say the same go together, so that no validation task repeats a training task.
    /// The group stands where its smallest id stands.
    #[default]
    Grouped,
    /// Every task by its own id, as the reference system does: tasks of one session may stand on both sides.
    Python,
}

/// What assigning came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SplitCounts {
    /// Training tasks, dreams with them.
    pub n_train: usize,
    /// Validation tasks.
    pub n_val: usize,
    /// Test tasks.
    pub n_test: usize,
    /// Units that were assigned: groups, or tasks by the reference system's rule. Dreams are none.
    pub n_units: usize,
}

/// Gives every task its split. Real tasks go by the hash of `seed` and id; dreams always train. When several units
/// leave no validation task, the training unit with the smallest hash is promoted; when they leave no training task
/// and several validation units, the validation unit with the smallest hash is demoted. Test tasks are never borrowed.
pub fn assign_splits(
    tasks: &mut [TaskRecord],
    seed: i64,
    fractions: Fractions,
    rule: SplitRule,
) -> SplitCounts {
    let units = match rule {
        SplitRule::Grouped => group::by_session_and_content(tasks),
        SplitRule::Python => group::each_alone(tasks),
    };
    let mut splits: BTreeMap<Bucket, (Split, Vec<usize>)> = BTreeMap::new();
    for members in units {
        let Some(key) = members.iter().map(|at| tasks[*at].id.as_str()).min() else { continue };
        let bucket = bucket(seed, key);
        let split = fractions.split_of(bucket.percent());
        splits.entry(bucket).or_insert_with(|| (split, Vec::new())).1.extend(members);
    }
    let has_dreams = tasks.iter().any(|task| !task.is_real());
    balance(&mut splits, has_dreams);
    for task in tasks.iter_mut() {
        task.split = Split::Train;
    }
    let n_units = splits.len();
    for (split, members) in splits.into_values() {
        for at in members {
            tasks[at].split = split;
        }
    }
    let count = |split| tasks.iter().filter(|task| task.split == split).count();
    SplitCounts {
        n_train: count(Split::Train),
        n_val: count(Split::Val),
        n_test: count(Split::Test),
        n_units,
    }
}

/// Which tasks go together, as places in the list: they share a session, say the same, or do so by steps.
#[must_use]
pub fn together(tasks: &[TaskRecord]) -> Vec<Vec<usize>> {
    group::by_session_and_content(tasks)
}

/// Assigns splits to all but the first `n_known` tasks, whose splits stay. A new task goes where a known one of its
/// group stands; a group that is all new stands where [`assign_splits`] would put it.
pub fn assign_new_splits(
    tasks: &mut [TaskRecord],
    n_known: usize,
    seed: i64,
    fractions: Fractions,
) {
    for members in group::by_session_and_content(tasks) {
        let (known, new): (Vec<usize>, Vec<usize>) = members.iter().partition(|at| **at < n_known);
        let Some(key) = members.iter().map(|at| tasks[*at].id.as_str()).min() else { continue };
        let split = match known.first() {
            Some(at) => tasks[*at].split,
            None => fractions.split_of(bucket(seed, key).percent()),
        };
        for at in new {
            tasks[at].split = split;
        }
    }
}

/// Promotes and demotes. The map is ordered by hash, so the first that fits is the smallest.
fn balance(splits: &mut BTreeMap<Bucket, (Split, Vec<usize>)>, has_dreams: bool) {
    if splits.len() < 2 {
        return;
    }
    let n = |split| splits.values().filter(|(is, _)| *is == split).count();
    let (n_train, n_val) = (n(Split::Train), n(Split::Val));
    let (from, to) = match (n_train, n_val) {
        // One training unit stays one: a night that cannot learn is of no use.
        (2.., 0) => (Split::Train, Split::Val),
        (1, 0) if has_dreams => (Split::Train, Split::Val),
        (0, 2..) if !has_dreams => (Split::Val, Split::Train),
        _ => return,
    };
    if let Some((split, _)) = splits.values_mut().find(|(split, _)| *split == from) {
        *split = to;
    }
}

#[cfg(test)]
mod tests;
