//! What the optimizer is told about earlier steps: failure patterns, edits that lost the gate with their
//! scores, and edits that could not be applied with the reason.
//!
//! Unlike the Python system the memory outlives an epoch and a resume: it is made anew from the journal's
//! own values, because a resumed run runs the loop again.

use skillopt_domain::edit::{EditReport, EditStatus, similarity};
use skillopt_domain::event::FailurePattern;
use skillopt_domain::proposal::RewriteReport;
use skillopt_domain::verdict::{Action, Verdict};
use std::collections::VecDeque;
use std::fmt::Write;

/// Older steps are forgotten.
const MAX_STEPS: usize = 12;
/// Edits of one step that are told as not applied.
const MAX_NOT_APPLIED: usize = 20;
/// Edits with this share of common words say the same to people.
const SIMILAR: f64 = 0.8;

/// One finished step as the optimizer may know it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BufferEntry {
    /// The step.
    pub(crate) step: u32,
    /// What became of it.
    pub(crate) action: Action,
    /// Scored tasks of its batch.
    pub(crate) n_scored: u32,
    /// Failed ones among them.
    pub(crate) n_failed: u32,
    /// What failed.
    pub(crate) patterns: Vec<FailurePattern>,
    /// All edits with what became of them.
    pub(crate) edits: Vec<EditReport>,
    /// The whole new text, in modes that write one.
    pub(crate) rewrite: Option<RewriteReport>,
    /// Notes on lapses that were in the candidate for the first time.
    pub(crate) notes: Vec<String>,
    /// The gate's decision, where there was one.
    pub(crate) verdict: Option<Verdict>,
}

/// The memory of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct StepBuffer {
    entries: VecDeque<BufferEntry>,
    /// It is kept and told by the rules of the Python system.
    is_python: bool,
}

impl StepBuffer {
    /// An empty one.
    pub(crate) fn new(is_python: bool) -> Self {
        Self { entries: VecDeque::new(), is_python }
    }

    /// A new epoch begins: the Python system forgets what was before.
    pub(crate) fn begin_epoch(&mut self) {
        if self.is_python {
            self.entries.clear();
        }
    }

    /// Remembers a step. The Python system remembers those that were measured, however many.
    pub(crate) fn push(&mut self, entry: BufferEntry) {
        if self.is_python {
            if !entry.action.is_skip() {
                self.entries.push_back(entry);
            }
            return;
        }
        if self.entries.len() == MAX_STEPS {
            self.entries.pop_front();
        }
        self.entries.push_back(entry);
    }

    /// Marks edits that resemble one that was in a rejected candidate.
    pub(crate) fn flag_repeats(&self, reports: &mut [EditReport]) {
        for report in reports {
            report.resembles_rejected_step = self
                .rejected()
                .filter(|(_, earlier)| {
                    similarity(earlier.edit.gist(), report.edit.gist()) >= SIMILAR
                })
                .map(|(step, _)| step)
                .last();
        }
    }

    /// The text for the optimizer's next prompts; empty when there is nothing to tell.
    #[must_use]
    pub(crate) fn render(&self) -> String {
        if self.is_python {
            return crate::python::render(&self.entries);
        }
        let mut out = String::new();
        for entry in &self.entries {
            entry.render(&mut out);
        }
        out
    }

    fn rejected(&self) -> impl Iterator<Item = (u32, &EditReport)> {
        self.entries.iter().filter(|entry| entry.action == Action::Reject).flat_map(|entry| {
            let applied = entry.edits.iter().filter(|report| report.status == EditStatus::Applied);
            applied.map(move |report| (entry.step, report))
        })
    }
}

impl BufferEntry {
    fn render(&self, out: &mut String) {
        // Writing to a String cannot fail.
        let _ = writeln!(
            out,
            "### Step {} - {} ({}/{} failed)",
            self.step,
            self.action.as_str().to_uppercase(),
            self.n_failed,
            self.n_scored
        );
        for pattern in self.patterns.iter().take(6) {
            let _ = writeln!(
                out,
                "- failure pattern, seen {} times: {}",
                pattern.count,
                one_line(&pattern.pattern)
            );
        }
        if let (Action::Reject, Some(verdict)) = (self.action, &self.verdict) {
            self.render_rejection(verdict, out);
        }
        if let Some(report) =
            self.rewrite.as_ref().filter(|report| report.status != EditStatus::Applied)
        {
            let _ = writeln!(out, "- the new text was not taken: {}", one_line(&report.detail));
        }
        let not_applied = self.edits.iter().filter(|report| {
            !matches!(report.status, EditStatus::Applied | EditStatus::OverBudget)
        });
        for report in not_applied.take(MAX_NOT_APPLIED) {
            let _ = writeln!(
                out,
                "- {} [{}]: {} (`{}`)",
                report.status.label(),
                report.edit.op.as_str(),
                one_line(&report.detail),
                one_line(report.edit.gist())
            );
        }
        out.push('\n');
    }

    fn render_rejection(&self, verdict: &Verdict, out: &mut String) {
        let score =
            |value: Option<f64>| value.map_or_else(|| "none".to_owned(), |v| format!("{v:.4}"));
        let _ = writeln!(
            out,
            "Rejected edits, score {} -> {}: {}",
            score(verdict.current_score),
            score(verdict.candidate_score),
            verdict.reason
        );
        for report in self.edits.iter().filter(|report| report.status == EditStatus::Applied) {
            let edit = &report.edit;
            let target = edit.target.as_deref().map(one_line).unwrap_or_default();
            let _ = writeln!(
                out,
                "- [{}] target: `{target}` content: `{}`",
                edit.op.as_str(),
                one_line(edit.content.as_deref().unwrap_or_default())
            );
        }
        for note in self.rewrite.iter().flat_map(|report| &report.proposals) {
            let (title, detail) = (one_line(&note.title), one_line(&note.detail));
            let _ = writeln!(out, "- [{}] {title}: `{detail}`", one_line(&note.kind));
        }
        for note in &self.notes {
            let _ = writeln!(out, "- [reminder] `{}`", one_line(note));
        }
    }
}

/// At most 400 characters of a text on one line.
fn one_line(text: &str) -> String {
    crate::prompts::one_line(text).chars().take(400).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use skillopt_domain::edit::{Edit, EditOp, SourceType};
    use skillopt_domain::proposal::ProposalNote;
    use skillopt_domain::score::GateMetric;

    fn report(content: &str, status: EditStatus) -> EditReport {
        EditReport {
            edit: Edit::new(EditOp::Append, None, Some(content)),
            status,
            detail: "line 3 says this already".into(),
            resembles_rejected_step: None,
        }
    }

    fn rejected_step() -> BufferEntry {
        BufferEntry {
            step: 1,
            action: Action::Reject,
            n_scored: 8,
            n_failed: 5,
            patterns: vec![FailurePattern {
                pattern: "adds the season to years".into(),
                count: 3,
                tasks: vec![],
            }],
            edits: vec![
                report("- Always hedge the answer.", EditStatus::Applied),
                report("- Be brief.", EditStatus::Duplicate),
            ],
            rewrite: None,
            notes: vec![],
            verdict: Some(Verdict {
                action: Action::Reject,
                metric: GateMetric::Hard,
                mixed_weight: 0.5,
                current: None,
                candidate: None,
                current_score: Some(0.5),
                candidate_score: Some(0.25),
                n_not_compared: 0,
                changes_unknown: false,
                changes: vec![],
                reused: false,
                reason: "0.500 → 0.250 on 4 tasks".into(),
            }),
        }
    }

    #[test]
    fn c26_rejected_edits_and_patterns_are_in_the_next_prompt() {
        let mut buffer = StepBuffer::default();
        buffer.push(rejected_step());
        let text = buffer.render();
        for part in [
            "### Step 1 - REJECT (5/8 failed)",
            "adds the season",
            "Always hedge",
            "0.5000 -> 0.2500",
            "says this already",
        ] {
            assert!(text.contains(part), "{part} is missing in {text}");
        }
    }

    #[test]
    fn c26_rejected_suggestions_and_refused_texts_are_told_as_well() {
        let note = ProposalNote {
            kind: "add_rule".into(),
            title: "hedging".into(),
            detail: "Always hedge.".into(),
            source_type: SourceType::Failure,
            support_count: 3,
            merge_level: 1,
        };
        let rewrite = RewriteReport {
            status: EditStatus::Applied,
            detail: String::new(),
            change_summary: vec![],
            restored: false,
            proposals: vec![note],
        };
        let refused = RewriteReport {
            status: EditStatus::LeftOut,
            detail: "it would shrink the body".into(),
            ..rewrite.clone()
        };
        let mut buffer = StepBuffer::default();
        buffer.push(BufferEntry { rewrite: Some(rewrite), ..rejected_step() });
        buffer.push(BufferEntry {
            step: 2,
            action: Action::SkipNoRewrite,
            rewrite: Some(refused),
            verdict: None,
            ..rejected_step()
        });
        let text = buffer.render();
        assert!(text.contains("[add_rule] hedging: `Always hedge.`"), "{text}");
        assert!(text.contains("was not taken: it would shrink"), "{text}");
    }

    #[test]
    fn c23_a_reworded_rejected_edit_is_flagged_with_its_step() {
        let mut buffer = StepBuffer::default();
        buffer.push(rejected_step());
        let mut reports = [
            report("- hedge the answer always", EditStatus::Applied),
            report("- New.", EditStatus::Applied),
        ];
        buffer.flag_repeats(&mut reports);
        assert_eq!(reports[0].resembles_rejected_step, Some(1));
        assert_eq!(reports[1].resembles_rejected_step, None);
    }

    #[test]
    fn old_steps_are_forgotten() {
        let mut buffer = StepBuffer::default();
        for step in 0..30 {
            buffer.push(BufferEntry { step, ..rejected_step() });
        }
        assert!(
            !buffer.render().contains("### Step 17 ") && buffer.render().contains("### Step 18 ")
        );
    }
}
