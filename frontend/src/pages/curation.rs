//! Curated tasks: found without a model, looked through, and used by a night. The table at the left, the chosen task at
//! the right; whoever changes what another one changed meanwhile is told so.

mod bulk;
mod checks;
mod detail;
mod groups;
mod head;
mod run;
mod state;
mod table;
mod trial;
mod words;

use crate::api;
use crate::components::dynamic::{CollectAny, dynamic, nothing, when};
use crate::components::handler::handler;
use crate::components::icon::Icon;
use crate::components::loaded::{Frame, loaded};
use crate::components::states::{Empty, ErrorCallout, SkeletonBlock, SkeletonRows};
use crate::state::load::Load;
use crate::state::memo::Memo;
use crate::state::page::{self, Crumb};
use crate::state::query::query_value;
use bulk::Bulk;
use detail::Detail;
use head::Head;
use leptos::prelude::*;
use run::RunBar;
use skillopt_domain::api::{CuratedTasks, ProblemCode};
use state::Desk;
use table::Table;

#[component]
pub(crate) fn TasksPage() -> impl IntoView {
    page::set(|| vec![Crumb::link("Sleep", "/sleep"), Crumb::here("Tasks")]);
    let project = query_value::<String>("project");
    let chosen = query_value::<String>("task");
    let night = query_value::<String>("night");
    let is_named = Memo::new(move || project.get().is_some_and(|project| !project.is_empty()));
    let shown = move || {
        let tasks = Load::new(move || {
            let project = project.get().unwrap_or_default();
            async move { api::curated_tasks(&project).await }
        });
        let frame = Frame::new("The tasks could not be loaded.")
            .loading(|| view! { <Loading/> }.into_any())
            .head(|| view! { <div class="page-head"><h1>"Tasks"</h1></div> }.into_any());
        loaded(tasks, frame, move |tasks: &CuratedTasks| {
            let desk = Desk::new(tasks.clone(), chosen, night);
            view! { <Body desk/> }.into_any()
        })
    };
    when(move || is_named.get(), shown, no_project)
}

fn no_project() -> AnyView {
    view! {
        <div class="page-head"><h1>"Tasks"</h1></div>
        <Empty title="Which project?" text="Tasks are those of one project. Choose it on the page of nights.">
            <a class="button" href="/sleep">"Sleep"</a>
        </Empty>
    }
    .into_any()
}

#[component]
fn Loading() -> impl IntoView {
    view! {
        <div class="stack" data-gap="lg" aria-busy="true">
            <SkeletonBlock height="title"/>
            <SkeletonRows rows=8/>
        </div>
    }
}

#[component]
fn Body(desk: Desk) -> impl IntoView {
    let is_empty = desk.memo(|tasks| tasks.tasks.is_empty());
    view! {
        <Head desk/>
        <Failure desk/>
        <Told desk/>
        {when(move || is_empty.get(), move || view! { <NoTasks desk/> }.into_any(), move || view! {
            <Warnings desk/>
            <Bulk desk/>
            <div class="split curation-split"><div class="stack" data-gap="md"><Table desk/><RunBar desk/></div><Detail desk/></div>
        }.into_any())}
    }
}

/// Why a change was not made, with the way on.
#[component]
fn Failure(desk: Desk) -> impl IntoView {
    dynamic(move || {
        let Some((what, error)) = desk.failure.get() else { return nothing() };
        let is_theirs = error.problem.code == ProblemCode::Conflict
            && error.problem.detail.contains("meanwhile");
        let load = move |_| desk.load_again();
        view! {
            <div class="stack run-detail">
                <ErrorCallout what error/>
                {is_theirs.then(|| view! {
                    <div class="row"><button class="button" type="button" on:click=handler(load)><Icon name="refresh"/>"Load theirs"</button></div>
                }
                .into_any())}
            </div>
        }
        .into_any()
    })
}

/// What the last change did, and the way back; what a search found.
#[component]
fn Told(desk: Desk) -> impl IntoView {
    let can_undo = desk.memo(|tasks| tasks.can_undo.clone());
    dynamic(move || {
        let (words, notes) = (can_undo.get(), desk.notes.get());
        let undo =
            move |_| desk.change("That was not undone.", skillopt_domain::api::TaskChange::Undo);
        let notes =
            notes.into_iter().map(|note| view! { <p class="muted" role="status">{note}</p> });
        let bar = (!words.is_empty()).then(|| {
            view! {
                <div class="undo" role="status">
                    <Icon name="history"/>
                    <span>{words}</span>
                    <button class="button" data-size="sm" type="button" id="tasks-undo" disabled=move || desk.is_sending.get() on:click=handler(undo)>
                        "Undo"
                    </button>
                </div>
            }
            .into_any()
        });
        view! { {notes.collect_any()} {bar} }.into_any()
    })
}

/// What speaks against the tasks as a whole.
#[component]
fn Warnings(desk: Desk) -> impl IntoView {
    let warnings = desk.memo(|tasks| tasks.warnings.clone());
    dynamic(move || {
        let warnings = warnings.get();
        if warnings.is_empty() {
            return nothing();
        }
        let items = warnings.into_iter().map(|words| view! { <li>{words}"."</li> }).collect_any();
        view! {
            <div class="callout" data-status="warning">
                <Icon name="warning"/>
                <div><span class="callout__title">"Look at this before a night."</span><ul class="curation-warnings">{items}</ul></div>
            </div>
        }
        .into_any()
    })
}

#[component]
fn NoTasks(desk: Desk) -> impl IntoView {
    let find = move |_| desk.find(None);
    view! {
        <Empty
            title="No tasks yet"
            text="Find the tasks in this project's sessions by rules alone: no model is called, nothing leaves this machine. Then edit them, mute what should not count, and start a night with the rest."
        >
            <button class="button" data-variant="primary" type="button" disabled=move || desk.is_sending.get() on:click=handler(find)>
                <Icon name="search"/>"Find tasks"
            </button>
        </Empty>
    }
}
