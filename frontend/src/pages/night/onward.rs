//! Ways on from a night: to its prompts, and to its tasks.

use super::state::NightState;
use crate::components::dynamic::{dynamic, nothing};
use crate::components::icon::Icon;
use crate::components::night_cells::{inbox_href, tasks_href};
use leptos::prelude::*;
use skillopt_domain::night::NightStatus;

/// To the prompts that the night waits for.
#[component]
pub(super) fn ToPrompts(night: NightState) -> impl IntoView {
    let waits = night.memo(|detail| {
        let waits = detail.night.status == NightStatus::Pending;
        waits.then(|| inbox_href(&detail.night.project, detail.night.is_dry))
    });
    dynamic(move || {
        match waits.get() {
        Some(href) => view! {
            <a class="button" data-variant="primary" id="night-prompts" href=href><Icon name="pencil"/>"Answer its prompts"</a>
        }
        .into_any(),
        None => nothing(),
    }
    })
}

/// To the tasks of the project, with those of this night at hand.
#[component]
pub(super) fn ToTasks(night: NightState) -> impl IntoView {
    let href = night
        .memo(|detail| format!("{}&night={}", tasks_href(&detail.night.project), detail.night.id));
    view! { <a class="link section__end" href=move || href.get()>"Edit, mute, merge tasks"</a> }
}
