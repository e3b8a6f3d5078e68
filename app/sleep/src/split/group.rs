//! Which tasks have to stay together.

use crate::task::TaskRecord;
use skillopt_domain::edit::normalised_words;
use std::collections::BTreeMap;

/// What two texts have in common when they say the same, whatever their case and punctuation. A text without a word
/// stands for itself.
pub(super) fn content_key(task: &TaskRecord) -> String {
    let words = normalised_words(&task.intent);
    if words.is_empty() { format!("={}", task.intent.trim()) } else { words }
}

/// Every real task for itself; equal ids are one unit.
pub(super) fn each_alone(tasks: &[TaskRecord]) -> Vec<Vec<usize>> {
    let mut by_id: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, task) in real(tasks) {
        by_id.entry(&task.id).or_default().push(at);
    }
    by_id.into_values().collect()
}

/// Real tasks, joined where they share an id, a session or a content, however many steps lie between.
pub(super) fn by_session_and_content(tasks: &[TaskRecord]) -> Vec<Vec<usize>> {
    let mut first_with: BTreeMap<(u8, String), usize> = BTreeMap::new();
    let mut joined = Joined::new(tasks.len());
    for (at, task) in real(tasks) {
        let sessions = task.source_sessions.iter().map(|session| (0, session.clone()));
        for key in sessions.chain([(1, content_key(task)), (2, task.id.clone())]) {
            let first = *first_with.entry(key).or_insert(at);
            joined.join(first, at);
        }
    }
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (at, _) in real(tasks) {
        groups.entry(joined.root(at)).or_default().push(at);
    }
    groups.into_values().collect()
}

fn real(tasks: &[TaskRecord]) -> impl Iterator<Item = (usize, &TaskRecord)> {
    tasks.iter().enumerate().filter(|(_, task)| task.is_real())
}

/// Sets of numbers that only ever grow together.
#[derive(Debug)]
pub(crate) struct Joined {
    parents: Vec<usize>,
}

impl Joined {
    pub(crate) fn new(n: usize) -> Self {
        Self { parents: (0..n).collect() }
    }

    /// The smallest member of the set.
    pub(crate) fn root(&mut self, mut at: usize) -> usize {
        while self.parents[at] != at {
            self.parents[at] = self.parents[self.parents[at]];
            at = self.parents[at];
        }
        at
    }

    pub(crate) fn join(&mut self, left: usize, right: usize) {
        let (left, right) = (self.root(left), self.root(right));
        self.parents[left.max(right)] = left.min(right);
    }
}
