//! Ways on from the list of nights: to a project's tasks and to its prompts.

use crate::components::dynamic::{dynamic, nothing};
use crate::components::icon::Icon;
use crate::components::night_cells::{inbox_href, tasks_href};
use crate::state::query::QueryValue;
use leptos::prelude::*;
use skillopt_domain::api::NightItem;
use skillopt_domain::night::NightStatus;

/// The tasks of the project that is shown, or of the first one.
#[component]
pub(super) fn ToTasks(
    projects: StoredValue<Vec<String>>,
    project: QueryValue<String>,
) -> impl IntoView {
    let shown = project.get_untracked().or_else(|| projects.with_value(|all| all.first().cloned()));
    shown.map(|project| {
        let title = format!("Find, edit and mute the tasks of {project}");
        view! { <a class="button" id="sleep-tasks" href=tasks_href(&project) title=title><Icon name="pencil"/>"Tasks"</a> }
            .into_any()
    })
}

/// From the row of a night to its prompts, while they wait.
#[component]
pub(super) fn ToPrompts<'a>(night: &'a NightItem) -> impl IntoView + use<> {
    let waits = night.status == NightStatus::Pending;
    let href = waits.then(|| inbox_href(&night.project, night.is_dry));
    dynamic(move || match href.clone() {
        Some(href) => view! { " " <a class="link" href=href>"answer prompts"</a> }.into_any(),
        None => nothing(),
    })
}
