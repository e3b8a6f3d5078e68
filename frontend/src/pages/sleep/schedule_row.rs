//! One schedule: its switch, when it runs next, what became of its last night, and what can be done with it.

use super::schedule::{Form, Schedules};
use super::schedule_words::{option_words, reason, when_words};
use crate::api;
use crate::components::dynamic::CollectAny;
use crate::components::handler::handler;
use crate::components::icon::Icon;
use crate::components::look::Look;
use crate::components::night_cells::{folder, night_href};
use crate::components::status::Status;
use crate::components::when::When;
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::use_navigate;
use skillopt_domain::api::{ScheduleChange, ScheduleItem, ScheduleOutcome};

/// A row of the list.
pub(super) fn schedule_row(all: Schedules, item: &ScheduleItem) -> AnyView {
    let name = folder(&item.project).to_owned();
    let problem = item.problem.clone();
    let problem = (!problem.is_empty()).then(|| {
        view! { <p class="text-error small"><Icon name="error"/>{problem}</p> }.into_any()
    });
    let options = option_words(&item.night, &item.more);
    let title = item.project.clone();
    let (by, at_ms) = (item.changed_by.clone(), item.changed_at_ms);
    let is_off = (!item.enabled).then_some("");
    let act = actions(all, item.clone(), &name);
    view! {
        <li class="schedule" data-off=is_off>
            {switch(all, item, &name)}
            <div class="schedule__main">
                <p><span class="medium" title=title>{name.clone()}</span> ", " <span>{when_words(item)}</span></p>
                <p class="muted small">{options} ". Set by " {by} " at " <When at_ms/> "."</p>
                {problem}
                {latest(&item.outcomes)}
            </div>
            <div class="schedule__next">{next(item)}</div>
            {act}
        </li>
    }
    .into_any()
}

fn switch(all: Schedules, item: &ScheduleItem, name: &str) -> AnyView {
    let id = item.id.clone();
    let turn = move |event| {
        let (id, enabled) = (id.clone(), Some(event_target_checked(&event)));
        let change = ScheduleChange { enabled, ..ScheduleChange::default() };
        let changing = async move { api::change_schedule(&id, &change).await };
        all.act("The schedule was not changed.", changing, |_| ());
    };
    let label = format!("The schedule of {name} runs");
    view! {
        <input
            class="switch" type="checkbox" role="switch" aria-label=label prop:checked=item.enabled
            disabled=move || all.is_busy.get() on:change=handler(turn)
        />
    }
    .into_any()
}

fn next(item: &ScheduleItem) -> AnyView {
    match item.next_ms {
        Some(at_ms) => view! { <span class="muted">"next "</span> <When at_ms/> }.into_any(),
        None if item.enabled => view! { <span class="text-error">"cannot run"</span> }.into_any(),
        None => view! { <span class="muted">"switched off"</span> }.into_any(),
    }
}

/// What became of the last night, and the ones before it behind an arrow.
fn latest(outcomes: &[ScheduleOutcome]) -> AnyView {
    let Some((last, earlier)) = outcomes.split_first() else {
        return view! { <p class="muted small">"No night of it was due yet."</p> }.into_any();
    };
    let earlier: Vec<ScheduleOutcome> = earlier.to_vec();
    let count = earlier.len();
    let earlier = (count > 0).then(move || {
        let rows = earlier.iter().map(|one| view! { <li>{line(one)}</li> }).collect_any();
        view! {
            <details class="schedule__history">
                <summary class="small"><Icon name="right"/>{format!("{count} before")}</summary>
                <ul class="stack" data-gap="tight">{rows}</ul>
            </details>
        }
        .into_any()
    });
    view! { <div class="schedule__latest small">{line(last)} {earlier}</div> }.into_any()
}

fn line(outcome: &ScheduleOutcome) -> AnyView {
    let words = reason(outcome);
    let words =
        (!words.is_empty()).then(|| view! { <span class="muted">{words}</span> }.into_any());
    let night = outcome.night.as_ref().map(|id| {
        view! { <a class="link" href=night_href(id)>{format!("Night {}", id.short())}</a> }
            .into_any()
    });
    let look = Look::from(outcome.kind);
    view! {
        <span class="row" data-gap="tight">
            <When at_ms=outcome.due_ms/> <Status look/> {night} {words}
        </span>
    }
    .into_any()
}

fn actions(all: Schedules, item: ScheduleItem, name: &str) -> AnyView {
    let navigate = use_navigate();
    let id = item.id.clone();
    let run = move |_| {
        let (id, navigate) = (id.clone(), navigate.clone());
        let running = async move { api::run_schedule(&id).await };
        all.act("The night was not started.", running, move |begun| {
            navigate(&night_href(&begun.id), NavigateOptions::default());
        });
    };
    let (edited, leaving) = (item.clone(), item);
    let edit = move |_| all.form.set(Form::Of(Box::new(edited.clone())));
    let remove = move |_| all.ask_to_remove(&leaving);
    let busy = move || all.is_busy.get();
    let (edit_label, remove_label) =
        (format!("Edit the schedule of {name}"), format!("Delete the schedule of {name}"));
    view! {
        <div class="schedule__actions">
            <button class="button" data-size="sm" type="button" disabled=move || busy() on:click=handler(run)>
                <Icon name="play"/>"Run now"
            </button>
            <button class="icon-button" type="button" aria-label=edit_label.clone() title=edit_label on:click=handler(edit)>
                <Icon name="pencil"/>
            </button>
            <button
                class="icon-button" type="button" aria-label=remove_label.clone() title=remove_label
                disabled=move || busy() on:click=handler(remove)
            >
                <Icon name="x"/>
            </button>
        </div>
    }
    .into_any()
}
