//! The Rejected edits tab: what did not make it, why, and whether it keeps coming back.

use super::query::{QueryValue, query_value};
use super::rejected_table::RejectedTable;
use super::state::RunState;
use crate::api;
use crate::components::dynamic::when;
use crate::components::handler::handler;
use crate::components::icon::Icon;
use crate::components::loaded::{Frame, loaded};
use crate::components::states::Empty;
use crate::order::sorted;
use crate::state::load::Load;
use crate::state::memo::Memo;
use crate::text::lower;
use leptos::prelude::*;
use skillopt_domain::api::RejectedEdit;
use skillopt_domain::edit::EditStatus;
use std::str::FromStr;

/// Why an edit is in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    Gate,
    NotApplied,
}

impl Reason {
    fn of(edit: &RejectedEdit) -> Self {
        if edit.report.status == EditStatus::Applied { Self::Gate } else { Self::NotApplied }
    }
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Gate => "gate",
            Self::NotApplied => "not_applied",
        })
    }
}

impl FromStr for Reason {
    type Err = ();
    fn from_str(word: &str) -> Result<Self, ()> {
        [Self::Gate, Self::NotApplied]
            .into_iter()
            .find(|reason| reason.to_string() == word)
            .ok_or(())
    }
}

#[component]
pub(super) fn RejectedTab(run: RunState) -> impl IntoView {
    let n_steps = Memo::new(move || run.view.with(|view| view.n_steps));
    let edits = Load::new(move || {
        // Each finished step may add some.
        let _ = n_steps.get();
        let id = run.id();
        async move { api::rejected(&id).await }
    });
    loaded(
        edits,
        Frame::new("The rejected edits could not be loaded."),
        move |edits: &Vec<RejectedEdit>| view! { <Rejected run edits=edits.clone()/> }.into_any(),
    )
}

#[component]
fn Rejected(run: RunState, edits: Vec<RejectedEdit>) -> impl IntoView {
    if edits.is_empty() {
        let text = "Edits that lose at the gate or cannot be applied are kept here, and shown to the optimizer as what not to try again.";
        return view! { <Empty title="No rejected edits" text/> }.into_any();
    }
    let reason = query_value::<Reason>("why");
    let text = query_value::<String>("q");
    let again = query_value::<u32>("again");
    let edits = StoredValue::new(edits);
    let rows = Memo::new(move || {
        edits.with_value(|edits| {
            filtered(edits, reason.get(), text.get().as_deref(), again.get().is_some())
        })
    });
    view! {
        <Filters edits reason text again/>
        {when(
            move || rows.with(|rows| !rows.is_empty()),
            move || view! { <RejectedTable run rows/> }.into_any(),
            move || view! { <NoMatch reason text again/> }.into_any(),
        )}
    }
    .into_any()
}

/// The edits that match, newest step first.
fn filtered(
    edits: &[RejectedEdit],
    reason: Option<Reason>,
    text: Option<&str>,
    only_again: bool,
) -> Vec<RejectedEdit> {
    let text = lower(text.unwrap_or_default());
    let has_text = |edit: &RejectedEdit| {
        let gist = lower(edit.report.edit.gist());
        text.is_empty() || gist.contains(&text) || lower(&edit.reason).contains(&text)
    };
    let rows: Vec<RejectedEdit> = edits
        .iter()
        .filter(|edit| reason.is_none_or(|reason| Reason::of(edit) == reason))
        .filter(|edit| !only_again || !edit.proposed_again_in.is_empty())
        .filter(|edit| has_text(edit))
        .cloned()
        .collect();
    sorted(rows, |edit| u64::MAX - u64::from(edit.step))
}

#[component]
fn NoMatch(
    reason: QueryValue<Reason>,
    text: QueryValue<String>,
    again: QueryValue<u32>,
) -> impl IntoView {
    let clear = move |_| {
        reason.set(None);
        text.set(None);
        again.set(None);
    };
    view! {
        <Empty title="No edit matches" text="Take a filter away to see more.">
            <button class="button" type="button" on:click=handler(clear)>"Clear filters"</button>
        </Empty>
    }
}

#[component]
fn Filters(
    edits: StoredValue<Vec<RejectedEdit>>,
    reason: QueryValue<Reason>,
    text: QueryValue<String>,
    again: QueryValue<u32>,
) -> impl IntoView {
    let count = move |wanted: Option<Reason>| {
        edits.with_value(|edits| {
            filtered(edits, wanted, text.get().as_deref(), again.get().is_some()).len()
        })
    };
    let choice = move |wanted: Option<Reason>, label: &'static str| {
        let is_on = move || (reason.get() == wanted).to_string();
        view! {
            <button type="button" aria-pressed=move || is_on() on:click=handler(move |_| reason.set(wanted))>
                {label}" "<span class="segmented__n">{move || count(wanted).to_string()}</span>
            </button>
        }
    };
    let typed =
        move |event| text.set(Some(event_target_value(&event)).filter(|text| !text.is_empty()));
    view! {
        <div class="filters" data-flush>
            <label class="input" data-size="search">
                <Icon name="search"/>
                <input type="search" placeholder="Text of an edit" aria-label="Filter edits"
                    prop:value=move || text.get().unwrap_or_default() on:input=handler(typed)/>
            </label>
            <div class="segmented" role="group" aria-label="Reason">
                {choice(None, "All")}{choice(Some(Reason::Gate), "Lost at the gate")}{choice(Some(Reason::NotApplied), "Not applied")}
            </div>
            <label class="choice small">
                <input class="check" type="checkbox" prop:checked=move || again.get().is_some()
                    on:change=handler(move |event| again.set(event_target_checked(&event).then_some(1)))/>
                <span>"proposed again"</span>
            </label>
        </div>
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skillopt_domain::edit::{Edit, EditOp, EditReport};

    fn edit(step: u32, status: EditStatus, text: &str, again: &[u32]) -> RejectedEdit {
        let edit = Edit::new(EditOp::Append, None, Some(text));
        RejectedEdit {
            step,
            report: EditReport {
                edit,
                status,
                detail: String::new(),
                resembles_rejected_step: None,
            },
            reason: "not strictly better".into(),
            before: None,
            after: None,
            n: None,
            n_fixed: 0,
            n_broke: 0,
            proposed_again_in: again.to_vec(),
        }
    }

    #[test]
    fn filters_work_together_and_the_newest_step_is_first() {
        let all = [
            edit(2, EditStatus::Applied, "Round results", &[5]),
            edit(4, EditStatus::NotFound, "Round up", &[]),
            edit(9, EditStatus::Applied, "Colour cells", &[]),
        ];
        let steps =
            |rows: Vec<RejectedEdit>| rows.into_iter().map(|edit| edit.step).collect::<Vec<_>>();
        assert_eq!(steps(filtered(&all, None, None, false)), [9, 4, 2]);
        assert_eq!(steps(filtered(&all, Some(Reason::Gate), Some("round"), false)), [2]);
        assert_eq!(steps(filtered(&all, None, None, true)), [2]);
        assert_eq!(steps(filtered(&all, Some(Reason::NotApplied), None, false)), [4]);
    }

    #[test]
    fn reasons_have_words_for_the_address() {
        assert_eq!("not_applied".parse(), Ok(Reason::NotApplied));
        assert!("else".parse::<Reason>().is_err());
    }
}
