//! One attempt as the optimizer reads it. All of it comes from elsewhere: it is cut, barred, and quoted by the
//! caller.

use crate::ports::RolloutRecord;
use crate::prompts::{barred, cut_middle, one_line};
use skillopt_domain::outcome::Outcome;
use std::fmt::Write;

/// Longest parts of one trajectory that are shown, in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Room {
    pub(crate) prompt: usize,
    pub(crate) reply: usize,
}

impl Room {
    /// For one attempt at a task.
    pub(crate) const FULL: Self = Self { prompt: 3000, reply: 4000 };

    /// The same share for each of `n` attempts, so that all of them fit in about `total` characters.
    pub(crate) fn shared(total: usize, n: usize) -> Self {
        let each = (total / n.max(1) / 2).max(300);
        Self { prompt: each.min(Self::FULL.prompt), reply: each.min(Self::FULL.reply) }
    }
}

/// Writes an attempt under a heading of our own.
pub(crate) fn write_trajectory(out: &mut String, record: &RolloutRecord, room: Room) {
    // Writing to a String cannot fail.
    if let Outcome::Scored { fail_reason, truncated, .. } = &record.outcome.outcome {
        if !fail_reason.is_empty() {
            let _ = writeln!(out, "Failure: {}", one_line(fail_reason));
        }
        if *truncated {
            out.push_str("The reply was cut at the token limit.\n");
        }
    }
    for message in record.messages.iter().skip(1) {
        let shown = barred(&cut_middle(&message.content, room.prompt));
        let _ = writeln!(out, "[given to the target]\n{shown}");
    }
    let shown = barred(&cut_middle(&record.reply, room.reply));
    let _ = writeln!(out, "[reply of the target]\n{shown}");
    let _ = writeln!(out, "[evaluation]\n{}\n---", barred(&record.evaluation_note));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_attempts_share_the_room_that_there_is() {
        assert_eq!(Room::shared(160_000, 2), Room::FULL);
        let shared = Room::shared(160_000, 40);
        assert_eq!((shared.prompt, shared.reply), (2000, 2000));
        assert_eq!(Room::shared(160_000, 100_000).prompt, 300);
        assert_eq!(Room::shared(160_000, 0), Room::FULL);
    }
}
