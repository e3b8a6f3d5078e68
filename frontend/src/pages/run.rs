//! One run: header, tabs and what they show. Loads the run, then each tab loads what it needs.

mod adopt;
mod adopt_state;
mod charts_data;
mod config;
mod costs;
mod curves;
mod edits_table;
mod epoch_story;
mod epoch_words;
mod epochs;
mod event_words;
mod events;
mod fates;
mod header;
mod journal_event;
mod now;
mod origin;
mod outage_words;
pub(crate) mod parts;
mod prompts;
mod ranked_table;
mod receipts;
mod rejected;
mod rejected_table;
mod rerun;
mod skill;
mod skill_blame;
mod skill_text;
mod stands_out;
mod state;
mod step_outcome;
mod step_story;
mod step_update;
mod step_words;
mod steps;
mod steps_rail;
mod story_parts;
mod tab;
mod task_pair;
mod task_words;
mod tasks;
mod tasks_matrix;
mod trajectories;
mod trajectory_detail;
mod trajectory_filters;
mod update_words;
mod versions;
mod words;

use crate::api;
use crate::components::dynamic::{dynamic, nothing, when};
use crate::components::loaded::{Frame, loaded};
use crate::components::states::{Empty, SkeletonBlock, SkeletonRows};
use crate::components::tabs::{Tab, Tabs};
use crate::state::load::Load;
use crate::state::memo::Memo;
use crate::state::page::{self, Crumb};
use crate::state::query;
use crate::state::route::RunPath;
use crate::state::signal::RwSignal;
use leptos::prelude::*;
use skillopt_domain::api::RunDetail;
use skillopt_domain::ids::RunId;
use state::RunState;
use tab::RunTab;

#[component]
pub(crate) fn RunPage(path: Memo<RunPath>) -> impl IntoView {
    let id = Memo::new(move || path.with(|path| RunId::parse(&path.id).ok()));
    let tab = Memo::new(move || path.with(|path| RunTab::parse(&path.tab)));
    let name = RwSignal::new(None::<String>);
    page::set(move || crumbs(name.get(), id.get(), tab.get()));
    dynamic(move || match id.get() {
        Some(id) => view! { <LoadedRun id tab name/> }.into_any(),
        None => view! { <NoSuchRun/> }.into_any(),
    })
}

fn crumbs(name: Option<String>, id: Option<RunId>, tab: Option<RunTab>) -> Vec<Crumb> {
    let runs = Crumb::link("Runs", "/runs");
    let name = name.unwrap_or_else(|| "Run".to_owned());
    match (id, tab.filter(|tab| *tab != RunTab::Curves)) {
        (Some(id), Some(tab)) => {
            vec![runs, Crumb::link(name, format!("/runs/{id}")), Crumb::here(tab.label())]
        }
        _ => vec![runs, Crumb::here(name)],
    }
}

#[component]
fn NoSuchRun() -> impl IntoView {
    view! {
        <Empty title="No such run" text="The address names no run. It may have been mistyped.">
            <a class="button" href="/runs">"All runs"</a>
        </Empty>
    }
}

#[component]
fn LoadedRun(
    id: RunId,
    tab: Memo<Option<RunTab>>,
    name: RwSignal<Option<String>>,
) -> impl IntoView {
    let detail = Load::new(move || {
        let id = id.clone();
        async move { api::run(&id).await }
    });
    let reload = Callback::new(move |()| detail.again());
    let frame = Frame::new("The run could not be loaded.")
        .loading(|| view! { <LoadingRun/> }.into_any())
        .missing(|| view! { <NoSuchRun/> }.into_any());
    loaded(detail, frame, move |detail: &RunDetail| {
        name.set(Some(detail.summary.name.clone()));
        view! { <RunBody detail=detail.clone() tab reload/> }.into_any()
    })
}

#[component]
fn LoadingRun() -> impl IntoView {
    view! {
        <div class="stack" data-gap="lg" aria-busy="true">
            <SkeletonBlock height="title"/>
            <SkeletonBlock height="row"/>
            <SkeletonBlock height="chart"/>
            <SkeletonRows rows=4/>
        </div>
    }
}

#[component]
fn RunBody(detail: RunDetail, tab: Memo<Option<RunTab>>, reload: Callback<()>) -> impl IntoView {
    let run = RunState::new(detail, reload);
    let can_change = run.view.with_untracked(|view| !view.status.is_over());
    view! {
        {can_change.then(|| parts::run_live::show(run))}
        <header::RunHeader run/>
        {when(move || tab.get() == Some(RunTab::Curves), move || parts::run_curves_now::show(run), nothing)}
        <RunTabs run tab/>
        {move || match tab.get() {
            Some(tab) => parts::show(tab, run),
            None => view! { <NoSuchTab run/> }.into_any(),
        }}
    }
}

#[component]
fn NoSuchTab(run: RunState) -> impl IntoView {
    view! {
        <Empty title="No such tab" text="The run is there, but it has no tab of this name.">
            <a class="button" href=run.href(RunTab::Curves)>"Curves"</a>
        </Empty>
    }
}

#[component]
fn RunTabs(run: RunState, tab: Memo<Option<RunTab>>) -> impl IntoView {
    let counts =
        Memo::new(move || run.view.with(|view| (view.n_steps, view.versions.len(), view.seq)));
    let has_epochs = Memo::new(move || run.view.with(epoch_words::has_epochs));
    let tabs = Memo::new(move || {
        let (n_steps, n_versions, seq) = counts.get();
        RunTab::ALL
            .into_iter()
            // Most runs never look back: no tab that is always empty.
            .filter(|one| {
                *one != RunTab::Epochs || has_epochs.get() || tab.get() == Some(RunTab::Epochs)
            })
            .map(|one| Tab {
                label: one.label(),
                href: run.href(one),
                count: match one {
                    RunTab::Steps => Some(crate::fmt::count(u64::from(n_steps))),
                    RunTab::Skill if n_versions > 0 => Some(format!("v{}", n_versions - 1)),
                    RunTab::Events => Some(crate::fmt::count(seq)),
                    _ => None,
                },
                is_current: tab.get() == Some(one),
            })
            .collect::<Vec<_>>()
    });
    view! { <Tabs label="Run" tabs/> }
}
