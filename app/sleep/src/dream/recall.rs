//! Tasks of earlier nights that resemble tonight's. Pure.

use crate::task::{Split, TaskRecord};
use std::collections::{BTreeSet, HashSet};

/// The tag of a recalled task.
pub const RECALL_TAG: &str = "recall";

/// The archive with each task once; of several the newest, which stands last, counts.
#[must_use]
pub fn without_repeats(archive: &[TaskRecord]) -> Vec<TaskRecord> {
    let mut seen = HashSet::new();
    let mut kept: Vec<TaskRecord> =
        archive.iter().rev().filter(|task| seen.insert(task.id.as_str())).cloned().collect();
    kept.reverse();
    kept
}

/// The `k` archived training tasks that are most like one of tonight's training tasks, by shared words; ties by id.
/// Tasks of tonight, their relatives, and tasks without a common word are not among them.
#[must_use]
pub fn recall(tonight: &[TaskRecord], archive: &[TaskRecord], k: u32) -> Vec<TaskRecord> {
    let known: HashSet<&str> = tonight
        .iter()
        .flat_map(|task| [task.id.as_str(), task.derived_from.as_str()])
        .filter(|id| !id.is_empty())
        .collect();
    let wanted: Vec<BTreeSet<String>> = tonight
        .iter()
        .filter(|task| task.split == Split::Train)
        .map(|task| words(&task.intent))
        .collect();
    let mut found: Vec<(f64, TaskRecord)> = without_repeats(archive)
        .into_iter()
        .filter(|task| task.split == Split::Train && task.is_real())
        .filter(|task| {
            !known.contains(task.id.as_str()) && !known.contains(task.derived_from.as_str())
        })
        .map(|task| {
            let own = words(&task.intent);
            let likeness = wanted.iter().map(|other| jaccard(&own, other)).fold(0.0, f64::max);
            (likeness, task)
        })
        .filter(|(likeness, _)| *likeness > 0.0)
        .collect();
    found.sort_by(|(left, one), (right, two)| {
        right.total_cmp(left).then_with(|| one.id.cmp(&two.id))
    });
    found.truncate(usize::try_from(k).unwrap_or(usize::MAX));
    found.into_iter().map(|(_, task)| recalled(task)).collect()
}

fn recalled(task: TaskRecord) -> TaskRecord {
    let mut tags = task.tags.clone();
    tags.push(RECALL_TAG.to_owned());
    TaskRecord {
        id: format!("recall:{}", task.id),
        derived_from: task.id.clone(),
        tags,
        split: Split::Train,
        ..task
    }
}

/// Different words of more than two characters.
fn words(text: &str) -> BTreeSet<String> {
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric());
    words.filter(|word| word.chars().count() > 2).map(str::to_owned).collect()
}

fn jaccard(left: &BTreeSet<String>, right: &BTreeSet<String>) -> f64 {
    let number = |n: usize| f64::from(u32::try_from(n).unwrap_or(u32::MAX));
    match left.union(right).count() {
        0 => 0.0,
        all => number(left.intersection(right).count()) / number(all),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(id: &str, intent: &str, split: Split) -> TaskRecord {
        TaskRecord { id: id.into(), intent: intent.into(), split, ..TaskRecord::default() }
    }

    fn ids(tasks: &[TaskRecord]) -> Vec<&str> {
        tasks.iter().map(|task| task.id.as_str()).collect()
    }

    #[test]
    fn f17_a_task_that_stands_twice_in_the_archive_is_recalled_once() {
        let tonight = [task("now", "write the weekly report", Split::Train)];
        let archive = [
            task("b", "write the monthly report", Split::Train),
            task("a", "unrelated words only", Split::Train),
            task("b", "write the monthly report", Split::Train),
        ];
        let recalled = recall(&tonight, &archive, 5);
        assert_eq!(ids(&recalled), ["recall:b"]);
        assert_eq!((recalled[0].derived_from.as_str(), recalled[0].split), ("b", Split::Train));
        assert_eq!(without_repeats(&archive).len(), 2);
    }

    #[test]
    fn the_most_alike_come_first_and_ties_go_by_id() {
        let tonight = [task("now", "alpha beta gamma", Split::Train)];
        let archive = [
            task("z", "alpha delta epsilon", Split::Train),
            task("y", "alpha delta epsilon", Split::Train),
            task("x", "alpha beta", Split::Train),
        ];
        assert_eq!(ids(&recall(&tonight, &archive, 2)), ["recall:x", "recall:y"]);
    }

    #[test]
    fn what_validates_or_belongs_to_tonight_is_never_recalled() {
        let tonight = [
            task("now", "alpha beta", Split::Train),
            TaskRecord { derived_from: "kin".into(), ..task("other", "gamma", Split::Val) },
        ];
        let archive = [
            task("now", "alpha beta", Split::Train),
            task("kin", "alpha beta", Split::Train),
            task("v", "alpha beta", Split::Val),
            task("t", "alpha beta", Split::Test),
        ];
        assert!(recall(&tonight, &archive, 9).is_empty());
    }
}
