//! One run: header, tabs and what they show. Loads the run, then each tab loads what it needs.

mod adopt;
mod adopt_state;
mod charts_data;
mod config;
mod curves;
mod edits_table;
mod event_words;
mod events;
mod header;
mod in_view;
mod now;
mod query;
mod receipts;
mod rejected;
mod rejected_table;
mod skill;
mod skill_text;
mod stands_out;
mod state;
mod step_outcome;
mod step_story;
mod step_words;
mod steps;
mod steps_rail;
mod tab;
mod trajectories;
mod trajectory_detail;
mod trajectory_filters;
mod versions;
mod words;

use crate::api;
use crate::components::states::{BoundaryError, Empty, SkeletonBlock, SkeletonRows};
use crate::components::tabs::{Tab, Tabs};
use crate::state::page::{self, Crumb};
use leptos::prelude::*;
use leptos_router::hooks::use_params_map;
use skillopt_domain::api::RunDetail;
use skillopt_domain::ids::RunId;
use state::RunState;
use tab::RunTab;

#[component]
pub(crate) fn RunPage() -> impl IntoView {
    let params = use_params_map();
    let id = Memo::new(move |_| params.read().get("id").and_then(|id| RunId::parse(&id).ok()));
    let tab = Memo::new(move |_| RunTab::parse(&params.read().get("tab").unwrap_or_default()));
    let name = RwSignal::new(None::<String>);
    page::set(move || crumbs(name.get(), id.get(), tab.get()));
    view! {
        {move || match id.get() {
            Some(id) => view! { <LoadedRun id tab name/> }.into_any(),
            None => view! { <NoSuchRun/> }.into_any(),
        }}
    }
    .into_any()
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
    let detail = LocalResource::new(move || {
        let id = id.clone();
        async move { api::run(&id).await }
    });
    let reload = Callback::new(move |()| detail.refetch());
    view! {
        <Suspense fallback=|| view! { <LoadingRun/> }>
            {move || Suspend::new(async move {
                match detail.await {
                    Ok(detail) => {
                        name.set(Some(detail.summary.name.clone()));
                        view! { <RunBody detail tab reload/> }.into_any()
                    }
                    Err(error) if error.is_not_found() => view! { <NoSuchRun/> }.into_any(),
                    Err(error) => view! {
                        <crate::components::states::ErrorCallout what="The run could not be loaded." error on_retry=reload/>
                    }
                    .into_any(),
                }
            })}
        </Suspense>
    }
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
    view! {
        <header::RunHeader run/>
        <Show when=move || tab.get() == Some(RunTab::Curves)><now::RunNow run/></Show>
        <RunTabs run tab/>
        {move || match tab.get() {
            Some(RunTab::Curves) => view! { <curves::CurvesTab run/> }.into_any(),
            Some(RunTab::Steps) => view! { <steps::StepsTab run/> }.into_any(),
            Some(RunTab::Skill) => view! { <skill::SkillTab run/> }.into_any(),
            Some(RunTab::Rejected) => view! { <rejected::RejectedTab run/> }.into_any(),
            Some(RunTab::Trajectories) => view! { <trajectories::TrajectoriesTab run/> }.into_any(),
            Some(RunTab::Config) => view! { <config::ConfigTab run/> }.into_any(),
            Some(RunTab::Events) => view! { <events::EventsTab run/> }.into_any(),
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
        Memo::new(move |_| run.view.with(|view| (view.n_steps, view.versions.len(), view.seq)));
    let tabs = Signal::derive(move || {
        let (n_steps, n_versions, seq) = counts.get();
        RunTab::ALL
            .into_iter()
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

/// What a tab shows while it loads and when it could not: both the same for all tabs.
#[component]
fn TabFrame(
    /// What could not be done, as a sentence.
    what: &'static str,
    on_retry: Callback<()>,
    children: ChildrenFn,
) -> impl IntoView {
    let children = StoredValue::new(children);
    view! {
        <Transition fallback=|| view! { <SkeletonRows/> }>
            <ErrorBoundary fallback=move |errors| view! { <BoundaryError what=what.to_owned() errors on_retry/> }>
                {move || children.with_value(|children| children())}
            </ErrorBoundary>
        </Transition>
    }
}
