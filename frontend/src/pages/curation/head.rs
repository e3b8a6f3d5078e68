//! The head: the project, what there is, where it is kept, and the ways to find more.

use super::state::Desk;
use super::words::head_words;
use crate::components::copy_button::CopyButton;
use crate::components::dynamic::{dynamic, nothing};
use crate::components::handler::handler;
use crate::components::icon::Icon;
use leptos::prelude::*;
use skillopt_domain::api::TaskChange;

#[component]
pub(super) fn Head(desk: Desk) -> impl IntoView {
    let words = desk.memo(head_words);
    let project = desk.project();
    view! {
        <div class="page-head">
            <div class="page-head__main">
                <div class="page-head__title"><h1>"Tasks"</h1><Reviewed desk/></div>
                <div class="page-head__meta">
                    <span>"Project "<span class="mono path">{project}</span></span>
                    <span role="status">{move || words.get()}</span>
                    <Place desk/>
                </div>
            </div>
            <Actions desk/>
        </div>
    }
}

#[component]
fn Reviewed(desk: Desk) -> impl IntoView {
    let state = desk.memo(|tasks| (tasks.reviewed, tasks.tasks.is_empty()));
    dynamic(move || {
        match state.get() {
        (_, true) => nothing(),
        (true, _) => view! { <span class="badge" data-tone="accept">"reviewed"</span> }.into_any(),
        (false, _) => view! {
            <span class="badge" data-tone="warn" title="No model sees them before a person has">"not reviewed"</span>
        }
        .into_any(),
    }
    })
}

/// The file, for the command line.
#[component]
fn Place(desk: Desk) -> impl IntoView {
    let path = desk.memo(|tasks| (!tasks.version.is_empty()).then(|| tasks.path.clone()));
    dynamic(move || {
        let Some(path) = path.get() else { return nothing() };
        let command = format!("skillopt sleep run --tasks-file '{path}'");
        view! {
            <span class="row" data-gap="tight" title=path>"On the command line "<CopyButton text=command what="command"/></span>
        }
        .into_any()
    })
}

#[component]
fn Actions(desk: Desk) -> impl IntoView {
    let is_busy = move || desk.is_sending.get();
    let state = desk.memo(|tasks| (tasks.reviewed, tasks.tasks.is_empty()));
    let find = move |_| desk.find(None);
    let night = move || {
        desk.night().map(|id| {
            let add = move |_| desk.find(Some(id.clone()));
            view! {
                <button class="button" type="button" disabled=move || is_busy() on:click=handler(add)>
                    <Icon name="moon"/>"Add the night’s tasks"
                </button>
            }
            .into_any()
        })
    };
    let review = move || {
        let (reviewed, is_empty) = state.get();
        let mark = move |_| desk.change("The review was not kept.", TaskChange::Review(!reviewed));
        (!is_empty).then(|| {
            view! {
                <button class="button" type="button" id="tasks-review" disabled=move || is_busy() on:click=handler(mark)>
                    <Icon name="check"/>{if reviewed { "Take the review back" } else { "Mark all reviewed" }}
                </button>
            }
            .into_any()
        })
    };
    view! {
        <div class="page-head__actions">
            {night}
            <button
                class="button" type="button" id="tasks-find" disabled=move || is_busy() aria-busy=move || is_busy().then_some("true")
                title="Reads all sessions by rules; no model is called" on:click=handler(find)
            >
                <Icon name="search"/>"Find tasks"
            </button>
            {review}
        </div>
    }
}
