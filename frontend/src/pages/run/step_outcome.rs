//! The second half of a step's story: the candidate's text, the gate with the tasks that changed, time and cost.

use super::costs::step_costs;
use super::state::RunState;
use super::step_story::StepFacts;
use super::step_words as words;
use super::story_parts::part;
use super::update_words::Item;
use crate::api;
use crate::components::diff_view::DiffView;
use crate::components::dynamic::CollectAny;
use crate::components::loaded::{Frame, loaded};
use crate::components::look::Look;
use crate::components::states::SkeletonRows;
use crate::components::status::Status;
use crate::fmt;
use crate::state::load::Load;
use leptos::prelude::*;
use skillopt_domain::api::SkillText;
use skillopt_domain::diff::diff;
use skillopt_domain::edit::EditStatus;
use skillopt_domain::event::EventKind;
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::verdict::{TaskChange, Verdict};

pub(super) fn candidate(run: RunState, facts: &StepFacts) -> Option<AnyView> {
    let (sha, tokens, applied) = facts.find(|kind| match kind {
        EventKind::Updated { candidate, candidate_tokens, edits, .. } => {
            let applied = edits.iter().filter(|edit| edit.status == EditStatus::Applied).count();
            Some((candidate.clone(), *candidate_tokens, applied))
        }
        _ => None,
    })?;
    let before = facts.before.clone().filter(|before| *before != sha)?;
    let n_notes = facts.find(|kind| match kind {
        EventKind::Noted { appendix, .. } => Some(appendix.n_added),
        _ => None,
    });
    let made_of = made_of(Item::of(&facts.events), applied, n_notes.unwrap_or(0));
    let tokens = fmt::count(u64::from(tokens));
    let note = format!("{} + {made_of}, {tokens} tokens", facts.before_name());
    Some(part(
        "pencil",
        "Candidate",
        note,
        None,
        view! { <CandidateDiff run before after=sha/> }.into_any(),
    ))
}

/// What was added to the text before: edits, notes, or a whole new text.
fn made_of(item: Item, applied: usize, n_notes: u32) -> String {
    let notes = (n_notes > 0).then(|| fmt::plural(u64::from(n_notes), "note", "notes"));
    let text = match (item, applied) {
        (Item::Edit, 0) => None,
        (Item::Edit, applied) => Some(Item::Edit.count(applied)),
        _ => Some("a new text".to_owned()),
    };
    let parts: Vec<String> = text.into_iter().chain(notes).collect();
    if parts.is_empty() {
        "changes that are not told apart".to_owned()
    } else {
        parts.join(" and ")
    }
}

#[component]
pub(super) fn CandidateDiff(run: RunState, before: Sha256Hex, after: Sha256Hex) -> impl IntoView {
    let texts = Load::new(move || {
        let (id, before, after) = (run.id(), before.clone(), after.clone());
        async move {
            let old = api::skill(&id, &before).await?;
            Ok::<_, api::ApiError>((old, api::skill(&id, &after).await?))
        }
    });
    let frame = Frame::new("The texts could not be loaded.")
        .loading(|| view! { <SkeletonRows rows=4/> }.into_any());
    loaded(texts, frame, |(old, new): &(SkillText, SkillText)| {
        view! {
            <div class="panel scroll-x" data-clip>
                <DiffView diff=diff(&old.text, &new.text) label="Change from the current skill to the candidate"/>
            </div>
        }
        .into_any()
    })
}

pub(super) fn gate(run: RunState, facts: &StepFacts) -> Option<AnyView> {
    facts.verdict().map(|verdict| gate_part(run, verdict, Look::from(verdict.action)))
}

/// The gate's arithmetic and the tasks that changed.
pub(super) fn gate_part(run: RunState, verdict: &Verdict, look: Look) -> AnyView {
    let changes = if verdict.changes_unknown {
        view! { <p class="muted">"Which tasks changed is not known."</p> }.into_any()
    } else if verdict.changes.is_empty() {
        view! { <p class="muted">"No task changed."</p> }.into_any()
    } else {
        changes_table(run, &verdict.changes)
    };
    let means = words::means_words(verdict);
    let inner = view! { <p class="second story__means">{means}</p> {changes} };
    part("gate", "Gate", words::gate_words(verdict), Some(look.status), inner.into_any())
}

fn changes_table(run: RunState, changes: &[TaskChange]) -> AnyView {
    let rows = changes.iter().map(|change| change_row(run, change)).collect_any();
    view! {
        <div class="scroll-x" tabindex="0" role="region" aria-label="Tasks that changed">
            <table class="table" data-variant="plain">
                <thead><tr>
                    <th scope="col">"Changed task"</th>
                    <th scope="col">"Change"</th>
                    <th scope="col" data-num>"Before → after"</th>
                    <th scope="col">"Evidence"</th>
                </tr></thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
    }
    .into_any()
}

fn change_row(run: RunState, change: &TaskChange) -> impl IntoView + use<> {
    let href = super::trajectories::task_href(run, change.task.as_str());
    view! {
        <tr>
            <td class="table__wrap"><span class="mono muted">{change.task.to_string()}</span>" "{change.title.clone()}</td>
            <td><Status look=change.change/></td>
            <td data-num>{format!("{:.2} → {:.2}", change.before, change.after)}</td>
            <td><a class="link" href=href>"all runs of it"</a></td>
        </tr>
    }
}

pub(super) fn time_and_cost(facts: &StepFacts) -> Option<AnyView> {
    let summary = facts.summary()?;
    let total: u64 = summary.stages.iter().map(|stage| stage.wall_ms).sum();
    let note = format!("{}, {}", fmt::duration(total), words::cost_words(&summary.spend));
    Some(part("clock", "Time and cost", note, None, step_costs(&summary.stages)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_candidate_is_never_said_to_be_made_of_no_edits() {
        assert_eq!(made_of(Item::Edit, 2, 0), "2 edits");
        assert_eq!(made_of(Item::Edit, 1, 2), "1 edit and 2 notes");
        assert_eq!(made_of(Item::Edit, 0, 1), "1 note");
        assert_eq!(made_of(Item::Suggestion, 0, 0), "a new text");
        assert_eq!(made_of(Item::Edit, 0, 0), "changes that are not told apart");
    }
}
