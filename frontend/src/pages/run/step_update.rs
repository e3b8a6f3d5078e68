//! The parts of a step's story between reflection and gate that not every mode has: suggestions or whole texts in
//! place of edits, the budget that the optimizer set, the new text, the notes of the appendix.

use super::edits_table::first_line;
use super::ranked_table::{RankedRow, ranked_table};
use super::step_story::StepFacts;
use super::step_words as words;
use super::story_parts::{bullets, labelled, part, quoted, sentence, together};
use super::update_words::{
    Item, appendix_words, budget_words, confidence_words, lr_words, rewrite_report, rewrite_words,
};
use crate::components::icon::Icon;
use crate::components::look::Look;
use crate::components::status::Status;
use crate::fmt;
use leptos::prelude::*;
use skillopt_domain::config::LrControl;
use skillopt_domain::edit::EditStatus;
use skillopt_domain::event::{EventKind, Ranking};
use skillopt_domain::proposal::{AppendixReport, ProposalNote};

/// The decision about the budget, where the optimizer took one.
pub(super) fn budget(facts: &StepFacts) -> Option<AnyView> {
    let decision = facts.find(|kind| {
        if let EventKind::LrDecided { decision, .. } = kind { Some(decision) } else { None }
    })?;
    let said = sentence(lr_words(decision, Item::of(&facts.events)));
    let reason = labelled("Its reason", &decision.reasoning);
    let risks = labelled("What may go wrong", &decision.risk_notes.join("; "));
    let inner = together([Some(said), reason, risks]);
    let status = (decision.fallback || decision.clamped).then_some("warning");
    Some(part("sliders", "Budget", confidence_words(decision), status, inner))
}

/// Suggestions or whole texts in their order; `None` in steps of edits.
pub(super) fn proposals(facts: &StepFacts) -> Option<AnyView> {
    let selected = facts.find(|kind| match kind {
        EventKind::Selected { budget, ranking, proposals, control, .. } => {
            Some((proposals, *budget, *ranking, *control))
        }
        _ => None,
    });
    let (notes, budget, ranking, control) = selected?;
    let item = Item::of(&facts.events);
    if item == Item::Edit {
        return None;
    }
    let note = format!(
        "{}, {}, {}",
        item.count(notes.len()),
        budget_words(control, budget),
        order_words(ranking, control)
    );
    let title = match item {
        Item::WholeText => "Whole texts ranked",
        _ => "Suggestions ranked",
    };
    let inner = if notes.is_empty() {
        view! { <p class="muted">"There was nothing to rank."</p> }.into_any()
    } else {
        let report = facts.find(rewrite_report);
        let n_used = report.map(|report| report.proposals.len());
        let n_used = n_used.unwrap_or_else(|| usize::try_from(budget).unwrap_or(usize::MAX));
        proposals_table(notes, n_used)
    };
    Some(part("filter", title, note, None, inner))
}

/// Without a budget, "all fit the budget" would say something that is not so.
pub(super) fn order_words(ranking: Ranking, control: LrControl) -> &'static str {
    match (ranking, control) {
        (Ranking::NotNeeded, LrControl::None) => "all are used",
        _ => words::ranking_words(ranking),
    }
}

fn proposals_table(notes: &[ProposalNote], n_used: usize) -> AnyView {
    let row = |(at, note)| proposal_row(note, at < n_used);
    ranked_table("Kind", "What it asks for", notes.iter().enumerate().map(row).collect())
}

fn proposal_row(note: &ProposalNote, is_used: bool) -> RankedRow {
    let gist = if note.detail.is_empty() { &note.title } else { &note.detail };
    let status = if is_used { EditStatus::Applied } else { EditStatus::OverBudget };
    let word = if is_used { "used" } else { "over budget" };
    let text = gist.clone();
    RankedRow {
        kind: note.kind.replace('_', " "),
        gist: first_line(gist),
        notes: Vec::new(),
        from: fmt::plural(u64::from(note.support_count), "trajectory", "trajectories"),
        look: Look { word, ..Look::from(status) },
        is_quiet: !is_used,
        inner: Box::new(move || view! { <div class="edit-text">{quoted(&text)}</div> }.into_any()),
    }
}

/// The new text: taken or not, and why; what changed in the optimizer's words.
pub(super) fn new_text(facts: &StepFacts) -> Option<AnyView> {
    let report = facts.find(rewrite_report)?;
    let look = Look::from(report.status);
    let is_taken = report.status == EditStatus::Applied;
    let from = report.proposals.len();
    let note = match Item::of_notes(&report.proposals) {
        Some(item) => format!("from {}", item.count(from)),
        None => "from nothing that could be used".to_owned(),
    };
    let status = (!is_taken).then(|| view! { <p><Status look/></p> }.into_any());
    let changes = bullets(&report.change_summary);
    let inner = together([Some(sentence(rewrite_words(report))), status, changes]);
    Some(part("pencil", "New text", note, (!is_taken).then_some("warning"), inner))
}

/// The notes of the appendix, where there are any.
pub(super) fn appendix(facts: &StepFacts) -> Option<AnyView> {
    let report = facts.find(|kind| {
        if let EventKind::Noted { appendix, .. } = kind { Some(appendix) } else { None }
    })?;
    if *report == AppendixReport::default() {
        return None;
    }
    let detail = Some(report.detail.clone()).filter(|detail| !detail.is_empty());
    let detail = detail
        .map(|detail| view! { <p class="text-warn">{fmt::capital(&detail)}"."</p> }.into_any());
    let said = sentence(appendix_words(report));
    let inner = together([Some(said), detail, bullets(&report.proposed), all_notes(&report.notes)]);
    let note = "reminders of rules that were not followed".to_owned();
    Some(part("tag", "Appendix", note, None, inner))
}

fn all_notes(notes: &[String]) -> Option<AnyView> {
    if notes.is_empty() {
        return None;
    }
    let count = u64::try_from(notes.len()).unwrap_or(0);
    let words = format!("The appendix after the step: {}", fmt::plural(count, "note", "notes"));
    let inner = view! {
        <details class="disclosure quoted-fold">
            <summary class="disclosure__head"><Icon name="right"/>{words}</summary>
            <div class="disclosure__body">{bullets(notes)}</div>
        </details>
    };
    Some(inner.into_any())
}
