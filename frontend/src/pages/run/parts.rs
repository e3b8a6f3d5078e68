//! The tabs of a run, each with its code in a file of its own.

use super::adopt::{AdoptVersion, Adopting};
use super::config::ConfigTab;
use super::curves::CurvesTab;
use super::epochs::EpochsTab;
use super::events::EventsTab;
use super::fates::fates;
use super::now::RunNow;
use super::origin::{ForkNeeded, NeedsFork, Origin};
use super::rejected::RejectedTab;
use super::rerun::{RerunAsked, RerunDialog};
use super::skill::SkillTab;
use super::skill_blame::{BlameView, Blamed};
use super::state::RunState;
use super::steps::StepsTab;
use super::tab::RunTab;
use super::tasks::TasksTab;
use super::trajectories::TrajectoriesTab;
use crate::components::dynamic::nothing;
use crate::parts::part::part;
use leptos::prelude::*;

part!(run_curves, RunState, |run| view! { <CurvesTab run/> }.into_any());
part!(run_steps, RunState, |run| view! { <StepsTab run/> }.into_any());
part!(run_skill, RunState, |run| view! { <SkillTab run/> }.into_any());
part!(run_epochs, RunState, |run| view! { <EpochsTab run/> }.into_any());
part!(run_rejected, RunState, |run| view! { <RejectedTab run/> }.into_any());
part!(run_tasks, RunState, |run| view! { <TasksTab run/> }.into_any());
part!(run_trajectories, RunState, |run| view! { <TrajectoriesTab run/> }.into_any());
part!(run_config, RunState, |run| view! { <ConfigTab run/> }.into_any());
part!(run_events, RunState, |run| view! { <EventsTab run/> }.into_any());

// Above the tabs, with the curves only: its bill in `make size` is that of the whole tab.
part!(run_curves_now, RunState, |run| view! { <RunNow run/> }.into_any(), nothing);

// While the run goes on: nothing to see, the other parts show what it brings.
part!(
    run_live,
    RunState,
    |run| {
        run.follow();
        nothing()
    },
    nothing
);
part!(run_skill_adopt, Adopting, |asked| view! { <AdoptVersion asked/> }.into_any(), nothing);

part!(run_curves_fates, RunState, fates, nothing);
part!(run_skill_blame, Blamed, |of| view! { <BlameView of/> }.into_any());
part!(run_rerun, RerunAsked, |opened| view! { <RerunDialog opened/> }.into_any(), nothing);
part!(run_origin, RunState, |run| view! { <Origin run/> }.into_any(), nothing);
part!(
    run_needs_fork,
    ForkNeeded,
    |needed| {
        let differences = needed.differences.get_value();
        view! { <NeedsFork run=needed.run differences/> }.into_any()
    },
    nothing
);

/// The view of a tab.
pub(super) fn show(tab: RunTab, run: RunState) -> AnyView {
    match tab {
        RunTab::Curves => run_curves::show(run),
        RunTab::Steps => run_steps::show(run),
        RunTab::Skill => run_skill::show(run),
        RunTab::Epochs => run_epochs::show(run),
        RunTab::Rejected => run_rejected::show(run),
        RunTab::Tasks => run_tasks::show(run),
        RunTab::Trajectories => run_trajectories::show(run),
        RunTab::Config => run_config::show(run),
        RunTab::Events => run_events::show(run),
    }
}

/// Fetches the code of the tab that has this word in the address.
pub(crate) fn fetch_for(word: &str) {
    match RunTab::parse(word) {
        Some(RunTab::Curves) => {
            run_curves::fetch();
            run_curves_now::fetch();
        }
        Some(RunTab::Steps) => run_steps::fetch(),
        Some(RunTab::Skill) => run_skill::fetch(),
        Some(RunTab::Epochs) => run_epochs::fetch(),
        Some(RunTab::Rejected) => run_rejected::fetch(),
        Some(RunTab::Tasks) => run_tasks::fetch(),
        Some(RunTab::Trajectories) => run_trajectories::fetch(),
        Some(RunTab::Config) => run_config::fetch(),
        Some(RunTab::Events) => run_events::fetch(),
        None => {}
    }
}
