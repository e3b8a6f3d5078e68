//! How often something was asked: sessions whose tasks say nearly the same count together. A hint for people and for
//! what to treat first; it decides nothing.

use crate::split::Joined;
use crate::task::TaskRecord;
use skillopt_domain::edit::normalised_words;
use std::collections::{BTreeMap, BTreeSet};

/// Share of words that two intents have in common when they are nearly the same.
const NEAR: f64 = 0.6;

/// Tasks that are nearly the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recurrence {
    /// Their ids, in the order of the tasks.
    pub task_ids: Vec<String>,
    /// The different sessions that they come from.
    pub n_sessions: usize,
}

impl Recurrence {
    /// It was asked in more than one session.
    #[must_use]
    pub fn is_recurring(&self) -> bool {
        self.n_sessions > 1
    }
}

/// Groups all real tasks, the most frequent first; equally frequent ones in the order of the tasks. Compares each two
/// tasks, so it is meant for the tasks of a night.
#[must_use]
pub fn recurrences(tasks: &[TaskRecord]) -> Vec<Recurrence> {
    let real: Vec<&TaskRecord> = tasks.iter().filter(|task| task.is_real()).collect();
    let texts: Vec<String> = real.iter().map(|task| normalised_words(&task.intent)).collect();
    let words: Vec<BTreeSet<&str>> =
        texts.iter().map(|text| text.split_whitespace().collect()).collect();
    let mut joined = Joined::new(real.len());
    for right in 0..real.len() {
        for left in 0..right {
            if is_near(&words[left], &words[right]) {
                joined.join(left, right);
            }
        }
    }
    let mut groups: BTreeMap<usize, Vec<&TaskRecord>> = BTreeMap::new();
    for (at, task) in real.into_iter().enumerate() {
        groups.entry(joined.root(at)).or_default().push(task);
    }
    let mut found: Vec<Recurrence> = groups.values().map(|tasks| recurrence(tasks)).collect();
    found.sort_by_key(|group| std::cmp::Reverse(group.n_sessions));
    found
}

fn recurrence(tasks: &[&TaskRecord]) -> Recurrence {
    let sessions: BTreeSet<&String> = tasks.iter().flat_map(|task| &task.source_sessions).collect();
    let task_ids = tasks.iter().map(|task| task.id.clone()).collect();
    Recurrence { task_ids, n_sessions: sessions.len() }
}

fn is_near(left: &BTreeSet<&str>, right: &BTreeSet<&str>) -> bool {
    let count = |n: usize| f64::from(u32::try_from(n).unwrap_or(u32::MAX));
    let common = left.intersection(right).count();
    let all = left.len() + right.len() - common;
    all > 0 && count(common) >= NEAR * count(all)
}
