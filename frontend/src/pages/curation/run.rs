//! A night with the tasks as they are here.

use super::state::Desk;
use super::words::refusal;
use crate::api::{self, ApiError};
use crate::components::dynamic::CollectAny;
use crate::components::handler::handler;
use crate::components::icon::Icon;
use crate::components::night_cells::night_href;
use crate::components::states::ErrorCallout;
use crate::pages::sleep::draft::BACKENDS;
use crate::state::memo::Memo;
use crate::state::signal::RwSignal;
use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos_router::NavigateOptions;
use leptos_router::hooks::use_navigate;
use skillopt_domain::api::NightRequest;

#[component]
pub(super) fn RunBar(desk: Desk) -> impl IntoView {
    let backend = RwSignal::new(BACKENDS[0].0.to_owned());
    let model = RwSignal::new(String::new());
    let failure = RwSignal::new(None::<ApiError>);
    let is_starting = RwSignal::new(false);
    let why = Memo::new(move || {
        let refused = backend.with(|backend| desk.with(|tasks| refusal(tasks, backend)));
        // The night has what is saved.
        let unsaved = desk.has_unsaved().then_some("Save or undo the changed task first.");
        refused.or(unsaved)
    });
    let navigate = use_navigate();
    let start = Callback::new(move |dry_run: bool| {
        let said = |text: RwSignal<String>| {
            Some(text.get_untracked().trim().to_owned()).filter(|text| !text.is_empty())
        };
        let request = NightRequest {
            project: desk.project(),
            dry_run,
            backend: said(backend),
            model: said(model),
            tasks_version: Some(desk.with_untracked(|tasks| tasks.version.clone())),
            ..NightRequest::default()
        };
        let navigate = navigate.clone();
        is_starting.set(true);
        failure.set(None);
        spawn_local(async move {
            match api::begin_night(&request).await {
                Ok(begun) => navigate(&night_href(&begun.id), NavigateOptions::default()),
                Err(error) => failure.set(Some(error)),
            }
            is_starting.set(false);
        });
    });
    let cannot = move || why.with(Option::is_some) || is_starting.get() || desk.is_sending.get();
    let options =
        BACKENDS.iter().map(|(word, words)| view! { <option value=*word>{*words}</option> });
    let words = move || {
        why.get().unwrap_or("Sessions are not read: the night uses the tasks that are not muted.")
    };
    view! {
        <section class="panel curation-run" aria-label="A night with these tasks">
            <div class="field">
                <label class="field__label" for="tasks-backend">"Backend"</label>
                <div class="input">
                    <select id="tasks-backend" on:change=handler(move |event| backend.set(event_target_value(&event)))>{options.collect_any()}</select>
                    <Icon name="down"/>
                </div>
            </div>
            <div class="field">
                <label class="field__label" for="tasks-model">"Model"</label>
                <div class="input">
                    <input
                        id="tasks-model" class="mono" autocomplete="off" spellcheck="false" placeholder="the backend’s own"
                        prop:value=move || model.get() on:input=handler(move |event| model.set(event_target_value(&event)))
                    />
                </div>
            </div>
            <div class="curation-run__go">
                <span class="muted" role="status">{move || words().to_owned()}</span>
                <span class="row" data-gap="tight">
                    <button class="button" type="button" disabled=move || cannot() on:click=handler(move |_| start.run(true))>
                        <Icon name="search"/>"Dry run"
                    </button>
                    <button
                        class="button" data-variant="primary" type="button" id="tasks-run" disabled=move || cannot()
                        aria-busy=move || is_starting.get().then_some("true") on:click=handler(move |_| start.run(false))
                    >
                        <Icon name="moon"/>"Run a night with these tasks"
                    </button>
                </span>
            </div>
        </section>
        {move || failure.get().map(|error| view! { <ErrorCallout what="The night was not started." error/> }.into_any())}
    }
}
