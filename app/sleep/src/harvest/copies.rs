//! Turns that two files have: a resumed session begins with a copy of the one before, an archive holds what is live.

use super::report::{DropReason, SourceReport};
use super::session::Finished;
use super::state::{Outcome, Seen};
use crate::digest::SessionDigest;
use crate::redact::add_counts;
use std::collections::{BTreeMap, HashSet};

/// Takes out of each session what an older one has too. What remains is counted as kept.
pub(crate) fn without_copies(
    mut kept: Vec<Finished>,
    report: &mut SourceReport,
    seen: &mut BTreeMap<String, Seen>,
) -> Vec<SessionDigest> {
    kept.sort_by(|a, b| {
        a.ended.cmp(&b.ended).then_with(|| a.digest.raw_path.cmp(&b.digest.raw_path))
    });
    let mut marks = HashSet::new();
    let mut digests = Vec::with_capacity(kept.len());
    for mut finished in kept {
        remove_copied_prompts(&mut finished, &mut marks);
        count_messages(&mut finished, &mut marks, report);
        if finished.digest.user_prompts.is_empty() {
            report.count_dropped(DropReason::Duplicate);
            if let Some(was) = seen.get_mut(&finished.digest.raw_path) {
                was.outcome = Outcome::Dropped(DropReason::Duplicate);
            }
            continue;
        }
        add_counts(&mut report.redactions, &finished.counts);
        report.kept += 1;
        digests.push(finished.digest);
    }
    digests
}

fn remove_copied_prompts(finished: &mut Finished, marks: &mut HashSet<u64>) {
    let copied: Vec<bool> = finished
        .prompt_marks
        .iter()
        .map(|mark| mark.is_some_and(|mark| !marks.insert(mark)))
        .collect();
    let n_copies = copied.iter().filter(|copied| **copied).count();
    let mut copied = copied.into_iter();
    finished.digest.user_prompts.retain(|_| !copied.next().unwrap_or(false));
    take_off(&mut finished.digest.n_user_turns, n_copies);
}

fn count_messages(finished: &mut Finished, marks: &mut HashSet<u64>, report: &mut SourceReport) {
    let mut n_copies = 0;
    for (mark, tokens) in &finished.messages {
        if !marks.insert(*mark) {
            n_copies += 1;
            continue;
        }
        if tokens.input + tokens.output > 0 {
            report.usage.messages += 1;
            report.usage.input_tokens += tokens.input;
            report.usage.output_tokens += tokens.output;
        }
    }
    take_off(&mut finished.digest.n_assistant_turns, n_copies);
}

fn take_off(count: &mut u32, n: usize) {
    *count = count.saturating_sub(u32::try_from(n).unwrap_or(u32::MAX));
}
