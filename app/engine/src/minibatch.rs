//! Groups of trajectories that one optimizer call reads. A group that does not fit in a call is split, never dropped;
//! a trajectory that does not even fit alone is cut.

use crate::ports::RolloutRecord;
use crate::prompts::{cut_middle, one_line};
use crate::reflect::ScoredBatch;
use crate::rng::PythonRandom;
use crate::trajectory::{Feedback, LEAST_WEIGHT, Room, weight, within};
use skillopt_domain::edit::SourceType;
use std::fmt::Write;

/// Trajectories of one call, and how they are shown.
#[derive(Clone, Debug)]
pub(crate) struct Minibatch<'a> {
    pub(crate) source: SourceType,
    /// The file in the run folder.
    pub(crate) file: String,
    pub(crate) records: Vec<&'a RolloutRecord>,
    /// The trajectories as text. It comes from elsewhere and is quoted by the caller.
    pub(crate) text: String,
}

/// All minibatches of a step, and what did not fit as it was.
#[derive(Clone, Debug, Default)]
pub(crate) struct Minibatches<'a> {
    pub(crate) all: Vec<Minibatch<'a>>,
    /// Groups that became several calls.
    pub(crate) n_split: u32,
    /// Trajectories that were cut to fit in a call.
    pub(crate) n_cut: u32,
}

/// How groups are made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grouping {
    /// Trajectories of a call, at least 1.
    pub(crate) size: usize,
    pub(crate) failure_only: bool,
    pub(crate) feedback: Feedback,
    /// Room for the trajectories of a call of failures and of one of successes, as [`weight`] counts.
    pub(crate) room: [usize; 2],
    /// Whether an attempt passed; `None` without a score, which nobody reads.
    pub(crate) has_passed: fn(&RolloutRecord) -> Option<bool>,
}

/// Only a whole point passes.
pub(crate) fn has_passed(record: &RolloutRecord) -> Option<bool> {
    record.outcome.outcome.score().map(|score| score.hard.get() >= 1.0)
}

impl<'a> Minibatches<'a> {
    /// Failures shuffled with the batch's seed, successes with the next one, cut in groups.
    pub(crate) fn add(&mut self, batch: &'a ScoredBatch, grouping: &Grouping) {
        let scored = |passed: bool| {
            let is_one =
                move |record: &&RolloutRecord| (grouping.has_passed)(record) == Some(passed);
            batch.records.iter().filter(is_one)
        };
        let mut failed: Vec<&RolloutRecord> = scored(false).collect();
        let mut passed: Vec<&RolloutRecord> = scored(true).collect();
        PythonRandom::new(batch.seed).shuffle(&mut failed);
        PythonRandom::new(batch.seed.wrapping_add(1)).shuffle(&mut passed);
        if grouping.failure_only {
            passed.clear();
        }
        self.add_groups(&failed, SourceType::Failure, &batch.dir, grouping);
        self.add_groups(&passed, SourceType::Success, &batch.dir, grouping);
    }

    fn add_groups(
        &mut self,
        records: &[&'a RolloutRecord],
        source: SourceType,
        dir: &str,
        grouping: &Grouping,
    ) {
        let (word, room) = match source {
            SourceType::Failure => ("fail", grouping.room[0]),
            SourceType::Success => ("succ", grouping.room[1]),
        };
        let mut number = 0;
        for group in records.chunks(grouping.size.max(1)) {
            let (pieces, n_cut) = packed(group, room, grouping.feedback);
            self.n_split += u32::from(pieces.len() > 1);
            self.n_cut += n_cut;
            for (records, text) in pieces {
                let file = format!("{dir}/patches/minibatch_{word}_{number:03}.json");
                self.all.push(Minibatch { source, file, records, text });
                number += 1;
            }
        }
    }
}

/// The records in their order, in as few pieces as fit, each with its text; and how many had to be cut.
fn packed<'a>(
    records: &[&'a RolloutRecord],
    room: usize,
    feedback: Feedback,
) -> (Vec<(Vec<&'a RolloutRecord>, String)>, u32) {
    let room = room.max(LEAST_WEIGHT);
    let shown = |number: usize, record: &RolloutRecord| {
        within(room, record, feedback, |out, room| head(out, number, record, room))
    };
    let mut pieces: Vec<(Vec<&RolloutRecord>, String)> = Vec::new();
    let (mut n_cut, mut taken) = (0, 0);
    for record in records {
        let number = pieces.last().map_or(1, |(held, _)| held.len() + 1);
        let (text, cut) = shown(number, record);
        let more = weight(&text);
        match pieces.last_mut() {
            Some((held, so_far)) if taken + more <= room => {
                held.push(record);
                so_far.push_str(&text);
                taken += more;
            }
            _ => {
                // The first one of a call has the number 1.
                let text = if number == 1 { text } else { shown(1, record).0 };
                taken = weight(&text);
                pieces.push((vec![record], text));
            }
        }
        n_cut += u32::from(cut);
    }
    (pieces, n_cut)
}

fn head(out: &mut String, number: usize, record: &RolloutRecord, room: Room) {
    // Writing to a String cannot fail.
    let _ = writeln!(out, "### Trajectory {number}, id {}", one_line(record.outcome.task.as_str()));
    let _ = writeln!(out, "Task: {}", one_line(&cut_middle(&record.outcome.title, room.note)));
}

#[cfg(test)]
mod tests;
