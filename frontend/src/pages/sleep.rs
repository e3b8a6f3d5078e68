//! Sleep: the form that starts a night, all nights of a project or of all, and what the last harvest read.

pub(in crate::pages) mod draft;
mod latest;
mod nights;
mod onward;
mod schedule;
mod schedule_form;
mod schedule_jobs;
mod schedule_row;
mod schedule_words;
mod start;

use crate::api;
use crate::components::copy_button::Command;
use crate::components::dynamic::{CollectAny, when};
use crate::components::handler::handler;
use crate::components::icon::Icon;
use crate::components::loaded::{Frame, loaded};
use crate::components::night_cells::folder;
use crate::components::states::{Empty, SkeletonBlock, SkeletonRows};
use crate::fmt;
use crate::live::nights::{NightPlan, follow};
use crate::state::load::Load;
use crate::state::memo::Memo;
use crate::state::page::{self, Crumb};
use crate::state::query::{QueryValue, query_value};
use crate::state::signal::RwSignal;
use draft::Draft;
use latest::LatestSources;
use leptos::prelude::*;
use nights::NightsTable;
use onward::ToTasks;
use schedule::ScheduleSection;
use skillopt_domain::api::{NightDecision, NightItem, SleepPage};
use skillopt_domain::night::NightStatus;
use start::StartForm;

#[component]
pub(crate) fn NightsPage() -> impl IntoView {
    page::set(|| vec![Crumb::here("Sleep")]);
    let project = query_value::<String>("project");
    let draft = Draft::new();
    let page = Load::new(move || {
        let project = project.get();
        async move { api::sleep(project.as_deref()).await }
    });
    let frame = Frame::new("The nights could not be loaded.")
        .loading(|| view! { <Loading/> }.into_any())
        .head(|| view! { <div class="page-head"><h1>"Sleep"</h1></div> }.into_any());
    loaded(page, frame, move |page: &SleepPage| {
        draft.propose(project.get_untracked().as_ref().or_else(|| page.projects.first()));
        view! { <Body page=page.clone() project draft/> }.into_any()
    })
}

#[component]
fn Loading() -> impl IntoView {
    view! {
        <div class="stack" data-gap="lg" aria-busy="true">
            <SkeletonBlock height="title"/>
            <SkeletonBlock height="panel"/>
            <SkeletonRows rows=5/>
        </div>
    }
}

/// Owns the rows while the page is shown; they are asked for again while a night runs.
#[component]
fn Body(page: SleepPage, project: QueryValue<String>, draft: Draft) -> impl IntoView {
    let projects = StoredValue::new(page.projects);
    let nights = RwSignal::new(page.nights);
    let asked = project.get_untracked();
    let shown = asked.clone();
    follow(NightPlan {
        is_running: Box::new(move || nights.try_with_untracked(|all| runs(all)).unwrap_or(false)),
        ask: Box::new(move || {
            let project = asked.clone();
            Box::pin(async move {
                api::sleep(project.as_deref()).await.map(|page| nights.set(page.nights))
            })
        }),
        on_night: Box::new(move |night| {
            if shown.as_ref().is_none_or(|project| *project == night.project) {
                nights.update(|all| put(all, night));
            }
        }),
    });
    let is_empty = Memo::new(move || nights.with(Vec::is_empty));
    let words = move || nights.with(|nights| head_words(nights));
    view! {
        <div class="page-head">
            <div class="page-head__main">
                <h1>"Sleep"</h1>
                <div class="page-head__meta"><span>{move || words()}</span></div>
            </div>
            <div class="page-head__actions"><ToTasks projects project/><ProjectPicker projects project/></div>
        </div>
        <p class="lede section__lede">
            "A night reads this machine's sessions with coding agents, finds tasks in them, and tries edits of your skill on those tasks. "
            "What passes the gate waits here for your review. No live file changes before you adopt."
        </p>
        <StartForm draft projects/>
        <ScheduleSection draft/>
        {when(move || is_empty.get(), || view! { <NoNights/> }.into_any(), move || view! {
            <NightsTable nights/>
            <LatestSources nights/>
        }.into_any())}
    }
}

/// Takes a night that changed in; a new one stands first.
fn put(nights: &mut Vec<NightItem>, night: &NightItem) {
    match nights.iter_mut().find(|known| known.id == night.id) {
        Some(known) => known.clone_from(night),
        None => nights.insert(0, night.clone()),
    }
}

fn runs(nights: &[NightItem]) -> bool {
    nights.iter().any(|night| night.status == NightStatus::Running)
}

fn head_words(nights: &[NightItem]) -> String {
    let count = |wanted: fn(&NightItem) -> bool| {
        u64::try_from(nights.iter().filter(|night| wanted(night)).count()).unwrap_or_default()
    };
    let all = u64::try_from(nights.len()).unwrap_or_default();
    let mut parts = vec![fmt::plural(all, "night", "nights")];
    let running = count(|night| night.status == NightStatus::Running);
    if running > 0 {
        parts.push(format!("{} running", fmt::count(running)));
    }
    let waiting = count(|night| night.decision == NightDecision::Waiting);
    if waiting > 0 {
        parts.push(format!("{} waiting for review", fmt::count(waiting)));
    }
    parts.join(", ")
}

/// Which project's nights are shown. The address holds it.
#[component]
fn ProjectPicker(projects: StoredValue<Vec<String>>, project: QueryValue<String>) -> impl IntoView {
    let now = project.get_untracked().unwrap_or_default();
    let mut all = projects.get_value();
    if !now.is_empty() && !all.contains(&now) {
        all.insert(0, now.clone());
    }
    let option = |path: String| {
        let words = format!("{} ({path})", folder(&path));
        let is_chosen = path == now;
        view! { <option value=path selected=is_chosen>{words}</option> }
    };
    let options = all.into_iter().map(option).collect_any();
    let choose = move |event| {
        project.set(Some(event_target_value(&event)).filter(|path| !path.is_empty()));
    };
    view! {
        <label class="input sleep-project">
            <span class="visually-hidden">"Project"</span>
            <select on:change=handler(choose)>
                <option value="">"All projects"</option>
                {options}
            </select>
            <Icon name="down"/>
        </label>
    }
}

#[component]
fn NoNights() -> impl IntoView {
    view! {
        <Empty
            title="No night yet"
            text="Start with a dry run: it reads your sessions, finds tasks and measures them, and keeps nothing. Press “Dry run” above, or type this in a terminal."
        >
            <Command text="skillopt sleep dry-run --project DIR"/>
        </Empty>
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::components::night_cells::tests::night;

    #[test]
    fn the_head_counts_what_runs_and_what_waits() {
        assert_eq!(head_words(&[]), "0 nights");
        let waiting = NightItem { decision: NightDecision::Waiting, ..night(NightStatus::Staged) };
        let all = [night(NightStatus::Running), waiting, night(NightStatus::Empty)];
        assert_eq!(head_words(&all), "3 nights, 1 running, 1 waiting for review");
        assert!(runs(&all) && !runs(&all[1..]));
    }

    #[test]
    fn a_night_that_changed_keeps_its_place_and_a_new_one_stands_first() {
        let mut all = vec![night(NightStatus::Running)];
        put(&mut all, &night(NightStatus::Staged));
        assert_eq!((all.len(), all[0].status), (1, NightStatus::Staged));
        let id = skillopt_domain::ids::NightId::parse("0190a0c2-7b1e-7c33-8f00-00000000000b");
        let other = NightItem { id: id.expect("is an id"), ..night(NightStatus::Running) };
        put(&mut all, &other);
        assert_eq!((all.len(), all[0].status), (2, NightStatus::Running));
    }
}
