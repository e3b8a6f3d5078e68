//! The table of rejected edits: a head for each step, a row for each edit, its evidence in a drawer.

use super::edits_table::{EditText, first_line, op_words};
use super::state::RunState;
use super::tab::RunTab;
use crate::api::{self, ApiError};
use crate::components::dynamic::{CollectAny, Item, each};
use crate::components::handler::handler;
use crate::components::numbers::Delta;
use crate::components::states::ErrorCallout;
use crate::components::status::Status;
use crate::fmt;
use crate::state::signal::RwSignal;
use leptos::prelude::*;
use leptos::task::spawn_local;
use skillopt_domain::api::{Page, RejectedEdit, RejectedQuery};
use skillopt_domain::edit::EditStatus;
use skillopt_domain::verdict::Action;

/// The rows that are loaded, page after page.
#[component]
pub(super) fn RejectedTable(
    run: RunState,
    page: Page<RejectedEdit>,
    query: StoredValue<RejectedQuery>,
) -> impl IntoView {
    let total = page.total;
    let rows = RwSignal::new(page.items);
    let next = RwSignal::new(page.next);
    let failure = RwSignal::new(None::<ApiError>);
    let is_loading = RwSignal::new(false);
    let item = move |rows: &[RejectedEdit], at: usize| {
        let edit = rows[at].clone();
        let opens = at == 0 || rows[at - 1].step != edit.step;
        Item::new(format!("{} {}", edit.step, edit.number), move || {
            let head = opens.then(|| step_head(run, &edit));
            view! { {head} <RejectedRow run edit/> }.into_any()
        })
    };
    let more = move |_| {
        is_loading.set(true);
        failure.set(None);
        let query = RejectedQuery { cursor: next.get_untracked(), ..query.get_value() };
        spawn_local(async move {
            match api::rejected(&run.id(), &query).await {
                Ok(page) => {
                    let _ = rows.try_update(|rows| rows.extend(page.page.items));
                    next.set(page.page.next);
                }
                Err(error) => failure.set(Some(error)),
            }
            is_loading.set(false);
        });
    };
    let shown = move || u64::try_from(rows.with(Vec::len)).unwrap_or(0);
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
                    <tbody>{each(move || rows.with(|rows| (0..rows.len()).map(|at| item(rows, at)).collect()))}</tbody>
                </table>
            </div>
            {move || failure.get().map(|error| view! { <ErrorCallout what="More could not be loaded." error/> }.into_any())}
            <div class="panel__foot">
                <span>{move || format!("{} of {}", fmt::count(shown()), fmt::count(total))}</span>
                {move || next.get().map(|_| view! {
                    <span class="end"><button class="link" type="button" disabled=move || is_loading.get() on:click=handler(more)>"Load more"</button></span>
                }
                .into_any())}
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
            <span>{fmt::flips(edit.n_fixed, edit.n_broke)}</span>
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
fn RejectedRow(run: RunState, edit: RejectedEdit) -> impl IntoView {
    let is_open = RwSignal::new(false);
    let again = match edit.n_proposed_again {
        0 => view! { <span class="table__dim">"never"</span> }.into_any(),
        times => view! { <b class="medium">{format!("{times}×")}</b> }.into_any(),
    };
    let status = if edit.report.status == EditStatus::Applied {
        view! { <Status look=Action::Reject text="lost at the gate"/> }.into_any()
    } else {
        view! { <Status look=edit.report.status/> }.into_any()
    };
    let shown = StoredValue::new(edit.clone());
    let toggle = move |_| is_open.update(|open| *open = !*open);
    view! {
        <tr aria-selected=move || is_open.get().to_string()>
            <td class="mono muted">{format!("s{}·e{}", edit.step, edit.number)}</td>
            <td class="second hide-narrow">{op_words(&edit.report.edit.op)}</td>
            <td class="table__wrap">
                <button class="edit-open" type="button" aria-expanded=move || is_open.get().to_string() on:click=handler(toggle)>
                    {first_line(edit.report.edit.gist())}
                </button>
            </td>
            <td class="hide-narrow">{status}</td>
            <td data-num><Delta before=edit.before after=edit.after/></td>
            <td data-num>{again}</td>
        </tr>
        {move || is_open.get().then(|| view! {
            <tr><td class="table__drawer" colspan="6"><RejectedDrawer run edit=shown.get_value()/></td></tr>
        }
        .into_any())}
    }
}

#[component]
fn RejectedDrawer(run: RunState, edit: RejectedEdit) -> impl IntoView {
    let again = (!edit.proposed_again_in.is_empty()).then(|| {
        let links = edit.proposed_again_in.iter().map(|step| {
            view! { " "<a class="link" href=run.step_href(*step)>{format!("step {step}")}</a> }
        });
        let more = usize::try_from(edit.n_proposed_again)
            .unwrap_or(0)
            .saturating_sub(edit.proposed_again_in.len());
        let more = (more > 0).then(|| format!(" and {more} before"));
        view! { <p>"Something similar was proposed in"{links.collect_any()}{more}</p> }
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
                {detail.map(|detail| view! { <p class="second">{detail}</p> }.into_any())}
                <p class="small muted">{format!("Proposed from {from}.")}</p>
                {again}
                {evidence}
            </div>
        </div>
    }
}
