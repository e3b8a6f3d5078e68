//! The form that starts a night or a dry run.

use super::draft::{Draft, FIELDS, Kind, N_MAIN, PROJECT, problem, request};
use crate::api::{self, ApiError};
use crate::components::dynamic::CollectAny;
use crate::components::handler::handler;
use crate::components::icon::Icon;
use crate::components::night_cells::night_href;
use crate::components::states::ErrorCallout;
use crate::state::memo::Memo;
use crate::state::signal::RwSignal;
use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos_router::NavigateOptions;
use leptos_router::hooks::use_navigate;

#[component]
pub(super) fn StartForm(draft: Draft, projects: StoredValue<Vec<String>>) -> impl IntoView {
    let failure = RwSignal::new(None::<ApiError>);
    let is_starting = RwSignal::new(false);
    let navigate = use_navigate();
    let start = Callback::new(move |dry_run: bool| {
        let Some(request) = draft.texts.with_untracked(|texts| request(texts, dry_run)) else {
            return;
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
    let is_whole = Memo::new(move || draft.texts.with(|texts| request(texts, true).is_some()));
    let cannot = move || !is_whole.get() || is_starting.get();
    let fields = |range: std::ops::Range<usize>| range.map(|at| field(draft, at)).collect_any();
    let submit = move |event: web_sys::SubmitEvent| {
        event.prevent_default();
        start.run(true);
    };
    let known = projects.get_value().into_iter().map(|path| view! { <option value=path></option> });
    view! {
        <form class="panel sleep-start" aria-label="Start a night" on:submit=handler(submit)>
            <datalist id="sleep-projects">{known.collect_any()}</datalist>
            <div class="sleep-start__fields">{fields(0..N_MAIN)}</div>
            <details class="disclosure sleep-start__more">
                <summary class="disclosure__head"><Icon name="right"/>"More"</summary>
                <div class="sleep-start__fields disclosure__body">{fields(N_MAIN..FIELDS.len())}</div>
            </details>
            <div class="panel__foot">
                <span>"A dry run makes the same calls and keeps nothing."</span>
                <span class="row end" data-gap="tight">
                    <button class="button" type="submit" disabled=move || cannot()>
                        <Icon name="search"/>"Dry run"
                    </button>
                    <button
                        class="button" data-variant="primary" type="button"
                        disabled=move || cannot() aria-busy=move || is_starting.get().then_some("true")
                        on:click=handler(move |_| start.run(false))
                    >
                        <Icon name="moon"/>"Run a night"
                    </button>
                </span>
            </div>
        </form>
        {move || failure.get().map(|error| view! {
            <div class="section" data-space="tight">
                <ErrorCallout what="The night was not started." error=error/>
            </div>
        }
        .into_any())}
    }
}

fn field(draft: Draft, at: usize) -> AnyView {
    let spec = FIELDS[at];
    let id = format!("sleep-{}", spec.name);
    let help_id = format!("{id}-help");
    let wrong = Memo::new(move || draft.texts.with(|texts| problem(texts, at)));
    let said = move || wrong.get().unwrap_or(spec.help);
    let state = move || wrong.get().map(|_| "error");
    let label_for = id.clone();
    let control = match spec.kind {
        Kind::OneOf(options) => select(draft, at, id, help_id.clone(), options),
        Kind::Text | Kind::Path | Kind::Count => input(draft, at, id, help_id.clone(), wrong),
    };
    view! {
        <div class="field" data-state=move || state()>
            <label class="field__label" for=label_for>{spec.label}</label>
            {control}
            <p class="field__help" id=help_id>{move || said()}</p>
        </div>
    }
    .into_any()
}

fn select(
    draft: Draft,
    at: usize,
    id: String,
    help_id: String,
    options: &'static [(&'static str, &'static str)],
) -> AnyView {
    let option = |(word, words): &(&'static str, &'static str)| {
        let is_chosen = draft.texts.with_untracked(|texts| texts[at] == *word);
        view! { <option value=*word selected=is_chosen>{*words}</option> }
    };
    let choose = move |event| draft.set(at, event_target_value(&event));
    view! {
        <div class="input">
            <select id=id aria-describedby=help_id on:change=handler(choose)>
                {options.iter().map(option).collect_any()}
            </select>
            <Icon name="down"/>
        </div>
    }
    .into_any()
}

fn input(
    draft: Draft,
    at: usize,
    id: String,
    help_id: String,
    wrong: Memo<Option<&'static str>>,
) -> AnyView {
    let kind = FIELDS[at].kind;
    let is_path = matches!(kind, Kind::Path);
    let input_mode = if matches!(kind, Kind::Count) { "numeric" } else { "text" };
    let list = (at == PROJECT).then_some("sleep-projects");
    let is_wrong = move || wrong.get().map(|_| "true");
    let text = move || draft.texts.with(|texts| texts[at].clone());
    let typed = move |event| draft.set(at, event_target_value(&event));
    view! {
        <div class="input">
            <input
                id=id class:mono=is_path inputmode=input_mode list=list autocomplete="off" spellcheck="false"
                aria-describedby=help_id aria-invalid=move || is_wrong()
                prop:value=move || text() on:input=handler(typed)
            />
        </div>
    }
    .into_any()
}
