//! More to learn from than one attempt a task: variants of tasks, tasks of earlier nights, several attempts, guidance
//! over nights, and how deep a budget lets a night go. Real tasks alone validate and test.

mod budget;
mod recall;
mod rollouts;
mod slow;

pub use budget::{Depth, plan_depth};
pub use recall::{RECALL_TAG, recall, without_repeats};
pub use rollouts::{RolloutSet, roll_out};
pub use slow::{Movement, SlowProposal, compare_versions, propose_guidance};

use crate::task::{Split, TaskOrigin, TaskRecord};

/// The tag of a variant.
pub const DREAM_TAG: &str = "dream";

/// Variants of every real training task, `factor` of each. The wording changes and the task does not.
#[must_use]
pub fn dream(tasks: &[TaskRecord], factor: u32) -> Vec<TaskRecord> {
    let real = tasks.iter().filter(|task| task.origin == TaskOrigin::Real);
    real.flat_map(|task| (0..factor).map(move |at| variant(task, at))).collect()
}

fn variant(task: &TaskRecord, at: u32) -> TaskRecord {
    let intent = match at % 3 {
        0 => format!("(short on time) {}", task.intent),
        1 => format!("Please take care of the following: {}", task.intent),
        _ => format!("This goes into today's summary: {}", task.intent),
    };
    let mut tags = task.tags.clone();
    tags.push(DREAM_TAG.to_owned());
    TaskRecord {
        id: format!("{}_dream{at}", task.id),
        intent,
        tags,
        split: Split::Train,
        origin: TaskOrigin::Dream,
        derived_from: task.id.clone(),
        ..task.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variants_train_and_keep_how_they_are_scored() {
        let task = TaskRecord {
            id: "a".into(),
            intent: "sum up".into(),
            reference: "r".into(),
            ..TaskRecord::default()
        };
        let dreams = dream(&[task], 4);
        let ids: Vec<_> = dreams.iter().map(|dream| dream.id.as_str()).collect();
        assert_eq!(ids, ["a_dream0", "a_dream1", "a_dream2", "a_dream3"]);
        assert!(dreams.iter().all(|dream| {
            let kept = dream.derived_from == "a" && dream.reference == "r";
            kept && dream.split == Split::Train && dream.intent.contains("sum up")
        }));
        assert!(dream(&dreams, 2).is_empty(), "a variant has no variants");
    }
}
