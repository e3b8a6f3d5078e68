//! What the optimizer is told about earlier steps of the epoch, by the rules of the Python system: patterns with count
//! and tasks, and after a rejection all items that were chosen, whatever became of them.

use crate::buffer::BufferEntry;
use crate::prompts::one_line;
use skillopt_domain::event::FailurePattern;
use skillopt_domain::verdict::{Action, Verdict};
use std::fmt::Write;

const INTRO: &str = "Earlier steps of this epoch. Do not try again what gained nothing; what still fails comes first.";

/// The text; empty without any step.
pub(crate) fn render<'a>(entries: impl IntoIterator<Item = &'a BufferEntry>) -> String {
    let mut out = String::new();
    for entry in entries {
        if out.is_empty() {
            let _ = writeln!(out, "{INTRO}");
        }
        render_entry(entry, &mut out);
    }
    out
}

// Writing to a String cannot fail.
fn render_entry(entry: &BufferEntry, out: &mut String) {
    let (step, action) = (entry.step, entry.action.as_str().to_uppercase());
    let _ =
        writeln!(out, "### Step {step} - {action} ({}/{} failed)", entry.n_failed, entry.n_scored);
    for pattern in &entry.patterns {
        render_pattern(pattern, out);
    }
    if let (Action::Reject, Some(verdict)) = (entry.action, &entry.verdict) {
        render_rejected(entry, verdict, out);
    }
}

fn render_pattern(pattern: &FailurePattern, out: &mut String) {
    let tasks: Vec<String> = pattern.tasks.iter().map(|task| one_line(task.as_str())).collect();
    let words = one_line(&pattern.pattern);
    let _ = writeln!(out, "- {words} (count {}; tasks {})", pattern.count, tasks.join(", "));
}

fn render_rejected(entry: &BufferEntry, verdict: &Verdict, out: &mut String) {
    let edits = entry.edits.iter().map(|report| {
        let edit = &report.edit;
        let target = edit.target.as_deref().filter(|target| !target.is_empty());
        let target =
            target.map_or_else(String::new, |text| format!(" target `{}`", one_line(text)));
        let content = one_line(edit.content.as_deref().unwrap_or_default());
        format!("[{}]{target} content `{content}`", edit.op.as_str())
    });
    let notes = entry.rewrite.iter().flat_map(|rewrite| &rewrite.proposals).map(|note| {
        let (kind, title) = (one_line(&note.kind), one_line(&note.title));
        format!("[{kind}] `{title}`: `{}`", one_line(&note.detail))
    });
    let rejected: Vec<String> = edits.chain(notes).collect();
    if rejected.is_empty() {
        return;
    }
    let score = |value: Option<f64>| format!("{:?}", value.unwrap_or_default());
    let (before, after) = (score(verdict.current_score), score(verdict.candidate_score));
    let _ = writeln!(out, "Rejected, score {before} -> {after}:");
    for (number, line) in (1..).zip(rejected) {
        let number: u32 = number;
        let _ = writeln!(out, "{number}. {line}");
    }
}
