//! Edits: the ranked table of a step, and one edit as a small diff.

use super::ranked_table::{RankedRow, ranked_table};
use crate::components::diff_view::DiffView;
use crate::fmt;
use leptos::prelude::*;
use skillopt_domain::diff::{Diff, diff};
use skillopt_domain::edit::{Edit, EditOp, EditReport, EditStatus};

/// The edits in the order tried, each with what became of it.
pub(super) fn edits_table(edits: Vec<EditReport>) -> AnyView {
    ranked_table("Op", "Edit", edits.into_iter().map(edit_row).collect())
}

fn edit_row(report: EditReport) -> RankedRow {
    let notes = [
        Some(report.detail).filter(|detail| !detail.is_empty()),
        report.resembles_rejected_step.map(resembles),
    ];
    let edit = report.edit;
    RankedRow {
        kind: op_words(&edit.op),
        gist: first_line(edit.gist()),
        notes: notes.into_iter().flatten().collect(),
        from: fmt::plural(u64::from(edit.support_count), "trajectory", "trajectories"),
        look: report.status.into(),
        is_quiet: report.status != EditStatus::Applied,
        inner: Box::new(move || view! { <EditText edit=edit.clone()/> }.into_any()),
    }
}

fn resembles(step: u32) -> String {
    format!("Resembles an edit that was rejected at step {step}")
}

/// The operation in words.
pub(super) fn op_words(op: &EditOp) -> String {
    op.as_str().replace('_', " ")
}

/// The first line that says something, cut to what a row can hold.
pub(super) fn first_line(text: &str) -> String {
    const MAX: usize = 160;
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or(fmt::MISSING);
    let mut cut: String = line.chars().take(MAX).collect();
    if cut.len() < line.len() {
        cut.push('…');
    }
    cut
}

/// What an edit does, as the diff that it makes of its own anchor.
#[component]
pub(super) fn EditText(edit: Edit) -> impl IntoView {
    let own = own_diff(&edit);
    let place = match edit.op {
        EditOp::Append => Some("at the end of the skill".to_owned()),
        EditOp::Unknown(word) => Some(format!("the operation “{word}” is not known")),
        EditOp::InsertAfter | EditOp::Replace | EditOp::Delete => None,
    };
    view! {
        <div class="edit-text">
            {place.map(|words| view! { <p class="small muted">{words}</p> }.into_any())}
            <DiffView diff=own label="Edit"/>
        </div>
    }
}

fn own_diff(edit: &Edit) -> Diff {
    let target = whole_lines(edit.target.as_deref());
    let content = whole_lines(edit.content.as_deref());
    match edit.op {
        EditOp::Append => diff("", &content),
        EditOp::InsertAfter => diff(&target, &format!("{target}{content}")),
        EditOp::Delete => diff(&target, ""),
        EditOp::Replace | EditOp::Unknown(_) => diff(&target, &content),
    }
}

/// A missing line end at the end is no difference.
fn whole_lines(text: Option<&str>) -> String {
    let text = text.unwrap_or_default();
    if text.is_empty() || text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gist_is_one_line_and_never_long() {
        assert_eq!(first_line("\n  - a\n- b"), "- a");
        assert_eq!(first_line(&"é".repeat(300)).chars().count(), 161);
        assert_eq!(first_line(""), "—");
    }

    #[test]
    fn an_insertion_keeps_its_anchor() {
        let edit = Edit::new(EditOp::InsertAfter, Some("anchor"), Some("new"));
        let own = own_diff(&edit);
        assert_eq!((own.n_added, own.n_removed), (1, 0));
        let edit = Edit::new(EditOp::Delete, Some("anchor"), None);
        assert_eq!(own_diff(&edit).n_removed, 1);
    }
}
