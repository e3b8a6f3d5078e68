//! What splits have in common although they should have nothing: looked for in every batch, whoever assigned it.

use super::group::content_key;
use crate::task::{Split, TaskRecord};
use std::collections::BTreeMap;
use std::fmt;

/// In what two tasks of different splits are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OverlapKind {
    /// The same id.
    Id,
    /// The same words.
    Content,
    /// The same session.
    Session,
    /// One is a variant of the other.
    Derived,
}

/// Two tasks of different splits that are alike. Only ids and contents make a validation set worthless; a shared
/// session makes it weaker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overlap {
    /// In what they are alike.
    pub kind: OverlapKind,
    /// The task on the side that comes first of train, val, test.
    pub left: (String, Split),
    /// The other.
    pub right: (String, Split),
}

impl Overlap {
    /// The validation set does not prove anything about the training tasks.
    #[must_use]
    pub fn is_leak(&self) -> bool {
        self.kind != OverlapKind::Session
    }
}

impl fmt::Display for Overlap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let likeness = match self.kind {
            OverlapKind::Id => "have the same id",
            OverlapKind::Content => "say the same",
            OverlapKind::Session => "come from the same session",
            OverlapKind::Derived => "are variants of one task",
        };
        let ((left, left_split), (right, right_split)) = (&self.left, &self.right);
        write!(
            f,
            "`{left}` ({}) and `{right}` ({}) {likeness}",
            word(*left_split),
            word(*right_split)
        )
    }
}

fn word(split: Split) -> &'static str {
    match split {
        Split::Train => "train",
        Split::Val => "val",
        Split::Test => "test",
    }
}

/// Everything that tasks of different splits share: for each thing shared, one pair of each two splits.
#[must_use]
pub fn overlaps(tasks: &[TaskRecord]) -> Vec<Overlap> {
    let mut seen: BTreeMap<(OverlapKind, String), BTreeMap<u8, &TaskRecord>> = BTreeMap::new();
    for task in tasks {
        for key in keys(task) {
            seen.entry(key).or_default().entry(order(task.split)).or_insert(task);
        }
    }
    seen.into_iter().flat_map(|((kind, _), sides)| pairs(kind, &sides)).collect()
}

fn keys(task: &TaskRecord) -> Vec<(OverlapKind, String)> {
    let mut keys = vec![(OverlapKind::Id, task.id.clone())];
    keys.push((OverlapKind::Content, content_key(task)));
    // A task and its variants meet under the name of the original.
    let original = if task.derived_from.is_empty() { &task.id } else { &task.derived_from };
    keys.push((OverlapKind::Derived, original.clone()));
    keys.extend(task.source_sessions.iter().map(|name| (OverlapKind::Session, name.clone())));
    keys
}

fn pairs(kind: OverlapKind, sides: &BTreeMap<u8, &TaskRecord>) -> Vec<Overlap> {
    let tasks: Vec<&TaskRecord> = sides.values().copied().collect();
    let mut found = Vec::new();
    for (at, left) in tasks.iter().enumerate() {
        for right in &tasks[at + 1..] {
            // Equal ids are told once, as equal ids.
            if kind != OverlapKind::Derived || left.id != right.id {
                let side = |task: &TaskRecord| (task.id.clone(), task.split);
                found.push(Overlap { kind, left: side(left), right: side(right) });
            }
        }
    }
    found
}

fn order(split: Split) -> u8 {
    match split {
        Split::Train => 0,
        Split::Val => 1,
        Split::Test => 2,
    }
}
