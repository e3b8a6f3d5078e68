//! Jobs of ours in the system's schedulers: shown, with the command that takes each away, and what to be warned of.

use crate::components::copy_button::CopyButton;
use crate::components::dynamic::{CollectAny, nothing};
use crate::components::icon::Icon;
use leptos::prelude::*;
use skillopt_domain::api::SystemJob;

#[component]
pub(super) fn SystemJobs(jobs: Vec<SystemJob>, warnings: Vec<String>) -> impl IntoView {
    let warnings = warnings.into_iter().map(|words| {
        view! { <p class="text-warn small"><Icon name="warning"/>{words}</p> }
    });
    let warnings = warnings.collect_any();
    if jobs.is_empty() {
        return view! { {warnings} }.into_any();
    }
    let rows = jobs.into_iter().map(row).collect_any();
    view! {
        <div class="schedule-jobs">
            <h3>"In the scheduler of this system"</h3>
            <p class="muted small">"They run without this server too. A terminal takes them away:"</p>
            <ul class="stack" data-gap="md">{rows}</ul>
        </div>
        {warnings}
    }
    .into_any()
}

fn row(job: SystemJob) -> AnyView {
    let of = if job.project.is_empty() { job.name.clone() } else { job.project };
    let at = match job.at.as_str() {
        "" => nothing(),
        at => view! { <span>{format!("every day at {at}, ")}</span> }.into_any(),
    };
    view! {
        <li>
            <p title=job.name>
                <span class="medium">{of}</span> ": " {at} <span class="second">{format!("by {}", job.scheduler)}</span>
            </p>
            <div class="command">
                <code>{job.remove.clone()}</code>
                <span class="end"><CopyButton text=job.remove what="command"/></span>
            </div>
        </li>
    }
    .into_any()
}
