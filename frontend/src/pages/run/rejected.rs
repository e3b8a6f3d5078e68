//! The Rejected edits tab: what did not make it, why, and whether it keeps coming back.

use super::TabFrame;
use super::edits_table::{EditText, first_line, op_words};
use super::query::{QueryValue, query_value};
use super::state::RunState;
use super::tab::RunTab;
use crate::api;
use crate::components::icon::Icon;
use crate::components::numbers::Delta;
use crate::components::states::Empty;
use crate::components::status::Status;
use crate::fmt;
use leptos::prelude::*;
use skillopt_domain::api::RejectedEdit;
use skillopt_domain::edit::EditStatus;
use std::str::FromStr;

/// Rows drawn at once.
const WINDOW: usize = 300;

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
    let n_steps = Memo::new(move |_| run.view.with(|view| view.n_steps));
    let edits = LocalResource::new(move || {
        // Each finished step may add some.
        let _ = n_steps.get();
        let id = run.id();
        async move { api::rejected(&id).await }
    });
    view! {
        <TabFrame what="The rejected edits could not be loaded." on_retry=Callback::new(move |()| edits.refetch())>
            {move || Suspend::new(async move { edits.await.map(|edits| view! { <Rejected run edits/> }) })}
        </TabFrame>
    }
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
    let rows = Memo::new(move |_| {
        edits.with_value(|edits| {
            filtered(edits, reason.get(), text.get().as_deref(), again.get().is_some())
        })
    });
    view! {
        <Filters edits reason text again/>
        <Show when=move || rows.with(|rows| !rows.is_empty()) fallback=move || view! { <NoMatch reason text again/> }>
            <RejectedTable run rows/>
        </Show>
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
    let text = text.unwrap_or_default().to_lowercase();
    let has_text = |edit: &RejectedEdit| {
        let gist = edit.report.edit.gist().to_lowercase();
        text.is_empty() || gist.contains(&text) || edit.reason.to_lowercase().contains(&text)
    };
    let mut rows: Vec<RejectedEdit> = edits
        .iter()
        .filter(|edit| reason.is_none_or(|reason| Reason::of(edit) == reason))
        .filter(|edit| !only_again || !edit.proposed_again_in.is_empty())
        .filter(|edit| has_text(edit))
        .cloned()
        .collect();
    rows.sort_by_key(|edit| std::cmp::Reverse(edit.step));
    rows
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
            <button class="button" type="button" on:click=clear>"Clear filters"</button>
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
            <button type="button" aria-pressed=is_on on:click=move |_| reason.set(wanted)>
                {label}" "<span class="segmented__n">{move || count(wanted)}</span>
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
                    prop:value=move || text.get().unwrap_or_default() on:input=typed/>
            </label>
            <div class="segmented" role="group" aria-label="Reason">
                {choice(None, "All")}{choice(Some(Reason::Gate), "Lost at the gate")}{choice(Some(Reason::NotApplied), "Not applied")}
            </div>
            <label class="choice small">
                <input class="check" type="checkbox" prop:checked=move || again.get().is_some()
                    on:change=move |event| again.set(event_target_checked(&event).then_some(1))/>
                <span>"proposed again"</span>
            </label>
        </div>
    }
}

#[component]
fn RejectedTable(run: RunState, rows: Memo<Vec<RejectedEdit>>) -> impl IntoView {
    let shown = RwSignal::new(WINDOW);
    let body = move || {
        rows.with(|rows| {
            let limit = shown.get().min(rows.len());
            (0..limit)
                .map(|at| {
                    let opens = at == 0 || rows[at - 1].step != rows[at].step;
                    let number = rows[..=at]
                        .iter()
                        .rev()
                        .take_while(|edit| edit.step == rows[at].step)
                        .count();
                    let head = opens.then(|| step_head(run, &rows[at]));
                    view! { {head} <RejectedRow run edit=rows[at].clone() number/> }
                })
                .collect_view()
        })
    };
    let left = move || rows.with(Vec::len).saturating_sub(shown.get());
    view! {
        <div class="panel">
            <div class="scroll-x" tabindex="0" role="region" aria-label="Rejected edits">
                <table class="table">
                    <thead><tr>
                        <th scope="col" data-col="id">"Edit"</th>
                        <th scope="col" class="hide-narrow" data-col="op">"Op"</th>
                        <th scope="col">"Text"</th>
                        <th scope="col" class="hide-narrow">"Status"</th>
                        <th scope="col" data-num>"Change"</th>
                        <th scope="col" data-num title="Other steps that proposed something similar">"Again"</th>
                    </tr></thead>
                    <tbody>{body}</tbody>
                </table>
            </div>
            <div class="panel__foot">
                <span>{move || format!("{} of {}", shown.get().min(rows.with(Vec::len)), rows.with(Vec::len))}</span>
                {move || (left() > 0).then(|| view! {
                    <span class="end"><button class="link" type="button" on:click=move |_| shown.update(|n| *n += WINDOW)>"Show more"</button></span>
                })}
            </div>
        </div>
    }
}

fn step_head(run: RunState, edit: &RejectedEdit) -> impl IntoView + use<> {
    let scores = edit.before.zip(edit.after).map(|(before, after)| {
        let n = edit.n.map_or_else(String::new, |n| {
            format!(" on {}", fmt::plural(u64::from(n), "task", "tasks"))
        });
        view! {
            <span><b class="medium">{format!("{before:.3} → {after:.3}")}</b>{n}</span>
            <span>{format!("{} fixed, {} broke", edit.n_fixed, edit.n_broke)}</span>
        }
    });
    view! {
        <tr class="table__group"><td colspan="6">
            <span class="row" data-gap="wide">
                <b class="medium">{format!("Step {}", edit.step)}</b>
                {scores}
                <span class="end"><a class="link" href=run.step_href(edit.step)>"Open step"</a></span>
            </span>
        </td></tr>
    }
}

#[component]
fn RejectedRow(run: RunState, edit: RejectedEdit, number: usize) -> impl IntoView {
    let is_open = RwSignal::new(false);
    let again = match edit.proposed_again_in.len() {
        0 => view! { <span class="table__dim">"never"</span> }.into_any(),
        times => view! { <b class="medium">{format!("{times}×")}</b> }.into_any(),
    };
    let status = if edit.report.status == EditStatus::Applied {
        view! { <Status look=skillopt_domain::verdict::Action::Reject text="lost at the gate"/> }
            .into_any()
    } else {
        view! { <Status look=edit.report.status/> }.into_any()
    };
    let shown = StoredValue::new(edit.clone());
    let toggle = move |_| is_open.update(|open| *open = !*open);
    view! {
        <tr aria-selected=move || is_open.get().to_string()>
            <td class="mono muted">{format!("{}·e{number}", edit.step)}</td>
            <td class="second hide-narrow">{op_words(&edit.report.edit.op)}</td>
            <td class="table__wrap">
                <button class="edit-open" type="button" aria-expanded=move || is_open.get().to_string() on:click=toggle>
                    {first_line(edit.report.edit.gist())}
                </button>
            </td>
            <td class="hide-narrow">{status}</td>
            <td data-num><Delta before=edit.before after=edit.after/></td>
            <td data-num>{again}</td>
        </tr>
        {move || is_open.get().then(|| view! {
            <tr><td class="table__drawer" colspan="6"><RejectedDrawer run edit=shown.get_value()/></td></tr>
        })}
    }
}

#[component]
fn RejectedDrawer(run: RunState, edit: RejectedEdit) -> impl IntoView {
    let again = (!edit.proposed_again_in.is_empty()).then(|| {
        let links = edit.proposed_again_in.iter().map(|step| {
            view! { " "<a class="link" href=run.step_href(*step)>{format!("step {step}")}</a> }
        });
        view! { <p>"Something similar was proposed in"{links.collect_view()}</p> }
    });
    let detail = Some(edit.report.detail.clone())
        .filter(|detail| !detail.is_empty() && *detail != edit.reason);
    let evidence = edit.after.is_some().then(|| {
        let href =
            format!("{}?step={}&purpose=selection", run.href(RunTab::Trajectories), edit.step);
        view! { <p><a class="link" href=href>"Trajectories of this candidate"</a></p> }
    });
    let from = fmt::plural(u64::from(edit.report.edit.support_count), "trajectory", "trajectories");
    view! {
        <div class="drawer">
            <div><div class="stat__label">"Edit"</div><EditText edit=edit.report.edit.clone()/></div>
            <div class="stack">
                <div class="stat__label">"Why it is not in the skill"</div>
                <p>{edit.reason}</p>
                {detail.map(|detail| view! { <p class="second">{detail}</p> })}
                <p class="small muted">{format!("Proposed from {from}.")}</p>
                {again}
                {evidence}
            </div>
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
