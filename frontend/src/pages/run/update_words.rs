//! What a step hands in and how it becomes a text, in words: suggestions and whole texts, the budget that the
//! optimizer set, the new text, the notes of the appendix. Pure, tested.

use super::journal_event::JournalEvent;
use super::state::find;
use crate::fmt;
use skillopt_domain::config::LrControl;
use skillopt_domain::edit::EditStatus;
use skillopt_domain::event::EventKind;
use skillopt_domain::proposal::{AppendixReport, LrDecision, ProposalNote, RewriteReport};

/// What the optimizer hands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Item {
    Edit,
    Suggestion,
    WholeText,
    /// A mode without edits, in a step without anything to tell more from.
    Proposal,
}

impl Item {
    /// As the events of a step show it.
    pub(crate) fn of(events: &[JournalEvent]) -> Self {
        let notes = find(events, |kind| match kind {
            EventKind::Aggregated { proposals, .. } | EventKind::Selected { proposals, .. } => {
                Self::of_notes(proposals)
            }
            EventKind::Rewritten { report, .. } => Self::of_notes(&report.proposals),
            _ => None,
        });
        let is_rewrite = || find(events, |kind| rewrite_report(kind).map(|_| Self::Proposal));
        notes.or_else(is_rewrite).unwrap_or(Self::Edit)
    }

    /// `None` without a note.
    pub(crate) fn of_notes(notes: &[ProposalNote]) -> Option<Self> {
        let first = notes.first()?;
        Some(if first.kind == "skill" { Self::WholeText } else { Self::Suggestion })
    }

    pub(crate) fn noun(self) -> (&'static str, &'static str) {
        match self {
            Self::Edit => ("edit", "edits"),
            Self::Suggestion => ("suggestion", "suggestions"),
            Self::WholeText => ("whole text", "whole texts"),
            Self::Proposal => ("proposal", "proposals"),
        }
    }

    /// `3 suggestions`.
    pub(crate) fn count(self, count: usize) -> String {
        let (one, many) = self.noun();
        fmt::plural(u64::try_from(count).unwrap_or(0), one, many)
    }
}

pub(crate) fn rewrite_report(kind: &EventKind) -> Option<&RewriteReport> {
    if let EventKind::Rewritten { report, .. } = kind { Some(report) } else { None }
}

/// How many may be used: `budget 4`, and who said so.
pub(crate) fn budget_words(control: LrControl, budget: u32) -> String {
    match control {
        LrControl::Fixed => format!("budget {budget}"),
        LrControl::Autonomous => format!("budget {budget}, set by the optimizer"),
        LrControl::None => "no budget".to_owned(),
    }
}

/// A sentence with its first words in bold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) bold: String,
    pub(crate) rest: String,
}

/// What the optimizer decided about the budget.
pub(crate) fn lr_words(decision: &LrDecision, item: Item) -> Said {
    let of = item.count(usize::try_from(decision.available).unwrap_or(usize::MAX));
    if decision.fallback {
        let why = Some(decision.error.as_str()).filter(|error| !error.is_empty());
        let why = why.map_or_else(String::new, |error| format!(" ({error})"));
        return Said {
            bold: format!("None of {of} is used."),
            rest: format!(
                " The optimizer's answer could not be read{why}, so nothing changes in this step."
            ),
        };
    }
    let bold = format!("{} of {of} may be used.", decision.learning_rate);
    let rest = match decision.raw_learning_rate {
        Some(asked) if decision.clamped => {
            format!(" The optimizer asked for {asked}; that is out of bounds and was cut.")
        }
        Some(_) => " That is what the optimizer asked for.".to_owned(),
        None => String::new(),
    };
    Said { bold, rest }
}

/// The head of the decision: how sure the optimizer is.
pub(crate) fn confidence_words(decision: &LrDecision) -> String {
    match decision.confidence.as_str() {
        "" => "set by the optimizer".to_owned(),
        word => format!("set by the optimizer, confidence {word}"),
    }
}

/// What became of the new text, and of what is protected in it.
pub(crate) fn rewrite_words(report: &RewriteReport) -> Said {
    if report.status == EditStatus::Applied {
        let rest = if report.restored {
            " It had changed front matter or marked regions; they were put back as they had been."
        } else {
            " Front matter and marked regions are as they had been."
        };
        return Said { bold: "The new text was taken.".to_owned(), rest: rest.to_owned() };
    }
    let why = if report.detail.is_empty() { report.status.label() } else { &report.detail };
    Said { bold: "No new text was taken:".to_owned(), rest: format!(" {why}.") }
}

/// What the appendix took in.
pub(crate) fn appendix_words(report: &AppendixReport) -> Said {
    let proposed = u64::try_from(report.proposed.len()).unwrap_or(0);
    let bold = match (proposed, report.n_added) {
        (0, _) => "No note was proposed.".to_owned(),
        (proposed, 0) => format!("{}, none of them new.", fmt::plural(proposed, "note", "notes")),
        (proposed, added) => {
            format!("{}, {added} of them new.", fmt::plural(proposed, "note", "notes"))
        }
    };
    let all = u64::try_from(report.notes.len()).unwrap_or(0);
    let mut rest =
        format!(" The candidate's appendix holds {}.", fmt::plural(all, "note", "notes"));
    if report.n_condensed > 0 {
        let saved = fmt::plural(u64::from(report.n_condensed), "note", "notes");
        rest += &format!(" Condensing saved {saved}.");
    }
    Said { bold, rest }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skillopt_domain::edit::SourceType;
    use skillopt_domain::event::RunEvent;
    use skillopt_domain::hash::Sha256Hex;

    fn note(kind: &str) -> ProposalNote {
        ProposalNote {
            kind: kind.into(),
            title: "t".into(),
            detail: "d".into(),
            source_type: SourceType::Failure,
            support_count: 7,
            merge_level: 1,
        }
    }

    fn event(kind: EventKind) -> JournalEvent {
        RunEvent { seq: 1, at_ms: 0, key: "k".into(), kind }.into()
    }

    fn decision() -> LrDecision {
        LrDecision {
            learning_rate: 4,
            raw_learning_rate: Some(4),
            available: 6,
            clamped: false,
            fallback: false,
            reasoning: String::new(),
            confidence: "medium".into(),
            risk_notes: Vec::new(),
            error: String::new(),
        }
    }

    fn report(status: EditStatus) -> RewriteReport {
        RewriteReport {
            status,
            detail: String::new(),
            change_summary: Vec::new(),
            restored: false,
            proposals: Vec::new(),
        }
    }

    #[test]
    fn items_are_named_by_what_the_events_hold() {
        let aggregated = |proposals| {
            event(EventKind::Aggregated {
                step: 1,
                n_edits_in: 2,
                levels: 1,
                n_fallbacks: 0,
                edits: Vec::new(),
                proposals,
            })
        };
        assert_eq!(Item::of(&[aggregated(vec![note("add_rule")])]), Item::Suggestion);
        assert_eq!(Item::of(&[aggregated(vec![note("skill")])]), Item::WholeText);
        assert_eq!(Item::of(&[aggregated(Vec::new())]), Item::Edit);
        let rewritten = EventKind::Rewritten { step: 1, report: report(EditStatus::Empty) };
        assert_eq!(Item::of(&[aggregated(Vec::new()), event(rewritten)]), Item::Proposal);
        let updated = EventKind::Updated {
            step: 1,
            edits: Vec::new(),
            candidate: Sha256Hex::of("x"),
            candidate_chars: 1,
            candidate_tokens: 1,
        };
        assert_eq!(Item::of(&[event(updated)]), Item::Edit);
    }

    #[test]
    fn a_budget_that_was_cut_or_not_read_is_said_plainly() {
        let words = |decision: LrDecision| {
            let said = lr_words(&decision, Item::Suggestion);
            said.bold + &said.rest
        };
        assert_eq!(
            words(decision()),
            "4 of 6 suggestions may be used. That is what the optimizer asked for."
        );
        let cut = LrDecision {
            learning_rate: 6,
            raw_learning_rate: Some(9),
            clamped: true,
            ..decision()
        };
        assert_eq!(
            words(cut),
            "6 of 6 suggestions may be used. The optimizer asked for 9; that is out of bounds and was cut."
        );
        let lost = LrDecision {
            learning_rate: 0,
            raw_learning_rate: None,
            fallback: true,
            error: "no JSON".into(),
            ..decision()
        };
        assert_eq!(
            words(lost),
            "None of 6 suggestions is used. The optimizer's answer could not be read (no JSON), so nothing changes in this step."
        );
    }

    #[test]
    fn a_new_text_tells_what_became_of_protected_text() {
        let restored = RewriteReport { restored: true, ..report(EditStatus::Applied) };
        assert!(rewrite_words(&restored).rest.contains("put back"));
        let refused = RewriteReport {
            detail: "it would shrink the body".into(),
            ..report(EditStatus::LeftOut)
        };
        let said = rewrite_words(&refused);
        assert_eq!(said.bold + &said.rest, "No new text was taken: it would shrink the body.");
    }

    #[test]
    fn notes_that_were_there_before_are_not_new() {
        let two = AppendixReport {
            proposed: vec!["a".into(), "b".into()],
            notes: vec!["a".into(), "b".into(), "c".into()],
            n_added: 1,
            n_condensed: 2,
            detail: String::new(),
        };
        let said = appendix_words(&two);
        assert_eq!(
            said.bold + &said.rest,
            "2 notes, 1 of them new. The candidate's appendix holds 3 notes. Condensing saved 2 notes."
        );
        let none = AppendixReport { n_added: 0, n_condensed: 0, ..two };
        assert_eq!(appendix_words(&none).bold, "2 notes, none of them new.");
    }
}
