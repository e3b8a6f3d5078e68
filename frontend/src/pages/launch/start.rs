//! The one decision of the page: start. Beside the form, and at the bottom of a phone.

use super::CheckSignal;
use super::checking::{Checking, sentence};
use super::derived::has_results;
use super::draft::Draft;
use super::field::field_id;
use super::focus_by_id;
use super::source::Purpose;
use crate::api::{self, ApiError};
use crate::components::handler::handler;
use crate::components::icon::Icon;
use crate::components::states::ErrorCallout;
use crate::fmt;
use crate::state::signal::RwSignal;
use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos_router::NavigateOptions;
use leptos_router::hooks::use_navigate;
use skillopt_domain::origin::ResumeRequest;

#[component]
pub(super) fn StartButton(draft: Draft, checking: CheckSignal) -> impl IntoView {
    let is_starting = RwSignal::new(false);
    let failed = RwSignal::new(None::<ApiError>);
    let navigate = use_navigate();
    let start = move |_| {
        let request = draft.request();
        let navigate = navigate.clone();
        is_starting.set(true);
        failed.set(None);
        let resume = ResumeRequest { values: untrack(|| draft.changes()) };
        spawn_local(async move {
            let started = match (draft.purpose, &request.origin) {
                (Purpose::Resume, Some(origin)) => {
                    api::resume_with(&origin.run, &resume).await.map(|_| origin.run.clone())
                }
                _ => api::start_run(&request).await.map(|launched| launched.id),
            };
            match started {
                Ok(run) => {
                    draft.forget();
                    navigate(&format!("/runs/{run}"), NavigateOptions::default());
                }
                Err(error) => failed.set(Some(error)),
            }
            is_starting.set(false);
        });
    };
    let words = match draft.purpose {
        Purpose::New => "Start run",
        Purpose::Fork => "Start fork",
        Purpose::Resume => "Resume run",
    };
    view! {
        <button
            class="button"
            data-variant="primary"
            type="button"
            disabled=move || is_starting.get() || !checking.with(|now| may_start(now, draft.purpose))
            aria-busy=move || is_starting.get().then_some("true")
            on:click=handler(start)
        >
            <Icon name="play"/>
            {words}
        </button>
        {move || failed.get().map(|error| view! {
            <ErrorCallout what=if draft.purpose == Purpose::Resume { "The run could not be resumed." } else { "The run could not be started." } error=error/>
        }
        .into_any())}
    }
}

/// A resume takes only what is safe.
fn may_start(now: &Checking, purpose: Purpose) -> bool {
    now.is_startable() && (purpose != Purpose::Resume || !has_results(&now.answer.differences))
}

/// Why the button is not live, with a way to the first field that needs a look.
#[component]
pub(super) fn StartNote(draft: Draft, checking: CheckSignal) -> impl IntoView {
    let note = move || {
        checking.with(|now| {
            if let Some(error) = &now.failed {
                let error = error.clone();
                return view! { <ErrorCallout what="The form could not be checked." error=error/> }
                    .into_any();
            }
            let Some(first) = now.answer.problems.first() else {
                let words = if may_start(now, draft.purpose) {
                    "It starts at once, or waits for a free place."
                } else if now.is_startable() {
                    "What changes results needs a fork."
                } else if now.is_current {
                    "A check failed; the run would not work."
                } else {
                    "Checking…"
                };
                return view! { <p class="small muted" role="status">{words}</p> }.into_any();
            };
            let path = first.path.clone();
            let n = u64::try_from(now.answer.problems.len()).unwrap_or_default();
            view! {
                <p class="small text-error" role="status">
                    {fmt::plural(n, "field needs a look: ", "fields need a look, first ")}
                    <FieldLink draft=draft path=path message=sentence(&first.message)/>
                </p>
            }
            .into_any()
        })
    };
    view! { <div>{move || note()}</div> }
}

#[component]
fn FieldLink(draft: Draft, path: String, message: String) -> impl IntoView {
    if path.is_empty() {
        return message.into_any();
    }
    let id = field_id(&path);
    let look = move |_| {
        draft.show_all_problems();
        focus_by_id(&id);
    };
    view! {
        <button class="link" type="button" title=message on:click=handler(look)>
            <code>{path}</code>
        </button>
    }
    .into_any()
}

/// On a phone the decision stays in reach.
#[component]
pub(super) fn StartBar(draft: Draft, checking: CheckSignal) -> impl IntoView {
    let words = move || {
        checking.with(|now| {
            let problems = u64::try_from(now.answer.problems.len()).unwrap_or_default();
            match &now.answer.forecast {
                _ if problems > 0 => {
                    fmt::plural(problems, "field needs a look", "fields need a look")
                }
                Some(forecast) => {
                    let calls = forecast.estimate.total().calls;
                    format!("About {} calls", fmt::count(calls.likely))
                }
                None => "Checking…".to_owned(),
            }
        })
    };
    view! {
        <div class="action-bar" role="region" aria-label="Start">
            <span>{move || words()}</span>
            <StartButton draft=draft checking=checking/>
        </div>
    }
}
