//! The models by role, with their last test call and a button for the next one.

use super::calls::{Calls, in_words};
use crate::components::dynamic::{CollectAny, dynamic};
use crate::components::handler::handler;
use crate::components::icon::Icon;
use crate::components::status::{SimulatedBadge, Status};
use crate::fmt;
use crate::state::memo::Memo;
use crate::state::query::QueryValue;
use leptos::prelude::*;
use skillopt_domain::api::ModelUse;

#[component]
pub(super) fn UsesTable(
    uses: StoredValue<Vec<ModelUse>>,
    calls: Calls,
    shown: Memo<String>,
    chosen: QueryValue<String>,
) -> impl IntoView {
    let rows =
        uses.with_value(|uses| uses.iter().map(|one| row(one, calls, shown, chosen)).collect_any());
    view! {
        <div class="panel">
            <div class="scroll-x" tabindex="0" role="region" aria-label="Models">
                <table class="table models">
                    <thead>
                        <tr>
                            <th scope="col">"Model"</th>
                            <th scope="col">"Last test call"</th>
                            <th scope="col" class="hide-narrow">"Used by"</th>
                            <th scope="col" class="hide-narrow">"Key, by reference"</th>
                            <th scope="col" class="hide-narrow"><span class="visually-hidden">"Test call"</span></th>
                        </tr>
                    </thead>
                    <tbody>{rows}</tbody>
                </table>
            </div>
            <div class="panel__foot">
                <span>"A test call asks for one word. It is written to the audit log where it may cost money."</span>
            </div>
        </div>
    }
}

fn row(one: &ModelUse, calls: Calls, shown: Memo<String>, chosen: QueryValue<String>) -> AnyView {
    let (for_choice, for_mark) = (one.id.clone(), one.id.clone());
    let is_chosen = move || if shown.get() == for_mark { "true" } else { "false" };
    let name = name_of(one);
    let choose = move |_| chosen.set(Some(for_choice.clone()));
    view! {
        <tr aria-selected=is_chosen>
            <td>
                <button class="link table__main" type="button" on:click=handler(choose)>{name}</button>
                {one.is_simulated.then(|| view! { " " <SimulatedBadge/> }.into_any())}
                <br/>
                <span class="small muted">{place_of(one)}</span>
            </td>
            <td>{last_call(one, calls)}</td>
            <td class="hide-narrow">{used_by(one)}</td>
            <td class="hide-narrow">{key_of(one)}</td>
            <td class="hide-narrow" data-num>{test_button(one, calls, chosen)}</td>
        </tr>
    }
    .into_any()
}

/// The model, or what it would be if one was set.
pub(super) fn name_of(one: &ModelUse) -> String {
    if one.model.is_empty() { format!("no model for the {}", one.role) } else { one.model.clone() }
}

/// The role, the adapter and the host, as far as they are known.
pub(super) fn place_of(one: &ModelUse) -> String {
    let host = one.base_url.split('/').nth(2).unwrap_or_default();
    let parts = [one.role.as_str(), one.backend.as_str(), host];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

fn last_call(one: &ModelUse, calls: Calls) -> AnyView {
    if !one.problem.is_empty() {
        return view! {
            <span class="status" data-status="warning" title=one.problem.clone()>
                <Icon name="warning"/>"not set up"
            </span>
        }
        .into_any();
    }
    let one = one.clone();
    dynamic(move || {
        let (look, text) = in_words(calls.of(&one).as_ref());
        view! { <Status look text/> }.into_any()
    })
}

pub(super) fn used_by(one: &ModelUse) -> AnyView {
    let more = match one.n_runs {
        0 | 1 => String::new(),
        n => format!(" and {}", fmt::plural(u64::from(n - 1), "other run", "other runs")),
    };
    match &one.run {
        Some(run) => {
            let href = format!("/runs/{run}/config");
            let name =
                if one.used_by.is_empty() { run.short().to_owned() } else { one.used_by.clone() };
            view! { <a class="link" href=href>{name}</a>{more} }.into_any()
        }
        None => view! { <span class="second">{one.used_by.clone()}</span> }.into_any(),
    }
}

fn key_of(one: &ModelUse) -> AnyView {
    if one.key.is_empty() {
        return view! { <span class="models__key table__dim" title=one.key_place.clone()>{one.key_place.clone()}</span> }.into_any();
    }
    view! {
        <span class="row models__name"><Icon name="key" size="sm"/><span class="mono second">{one.key.clone()}</span></span>
        <span class="small muted models__key" title=one.key_place.clone()>{one.key_place.clone()}</span>
    }
    .into_any()
}

/// What the call says stands below, so the row is chosen too.
fn test_button(one: &ModelUse, calls: Calls, chosen: QueryValue<String>) -> Option<AnyView> {
    if !one.problem.is_empty() {
        return None;
    }
    let id = one.id.clone();
    let (for_state, label) = (id.clone(), format!("Test call to {} as {}", name_of(one), one.role));
    let for_busy = id.clone();
    let call = move |_| {
        chosen.set(Some(id.clone()));
        calls.make(&id, false);
    };
    Some(
        view! {
                    <button
                        class="button"
                        data-size="sm"
                        type="button"
                        aria-label=label
                        disabled=move || calls.is_going(&for_state)
                        aria-busy=move || calls.is_going(&for_busy).then_some("true")
                        on:click=handler(call)
        >
                        <Icon name="play"/>
                        "Test call"
                    </button>
                }
        .into_any(),
    )
}
