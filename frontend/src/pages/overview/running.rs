//! Runs that go on now: best score so far, its curve, the stage, spend.

use crate::components::dynamic::{CollectAny, nothing, when};
use crate::components::look::{Look, stage_look};
use crate::components::numbers::Stat;
use crate::components::run_cells::{
    best_so_far, is_simulated, run_href, spend_words, status_words,
};
use crate::components::spark::{LineBox, step_line};
use crate::components::stages::StageBars;
use crate::components::status::{SimulatedBadge, Status, StatusForm};
use crate::fmt;
use crate::state::memo::Memo;
use crate::time;
use leptos::prelude::*;
use skillopt_domain::api::RunSummary;
use skillopt_domain::run::{Phase, RunStatus};

#[component]
pub(super) fn RunningNow(runs: Memo<Vec<RunSummary>>) -> impl IntoView {
    let list = move || runs.get().into_iter().map(|run| view! { <Running run=run/> }).collect_any();
    let section = move || {
        view! {
            <section aria-labelledby="now-title" data-first>
                <div class="section__head"><h2 id="now-title">"Running now"</h2></div>
                <div class="panel">{move || list()}</div>
            </section>
        }
        .into_any()
    };
    when(move || runs.with(|runs| !runs.is_empty()), section, nothing)
}

#[component]
fn Running(run: RunSummary) -> impl IntoView {
    let simulated = is_simulated(&run).then(|| view! { <SimulatedBadge/> }.into_any());
    view! {
        <article class="now">
            <div class="now__head">
                <a class="now__name" href=run_href(&run)>{run.name.clone()}</a>
                <Status look=Look::from(run.status) form=StatusForm::Pill text=status_words(&run)/>
                {simulated}
                <span class="end muted">{time_left(&run)}</span>
            </div>
            <div class="now__grid">
                <Stat label="Best, selection" note=best_note(&run)>
                    {fmt::score(run.best_score)}
                    {fmt::delta(run.baseline_score, run.best_score).map(|delta| view! {
                        " " <span class="delta stat__unit" data-sign=delta.sign>{delta.text}</span>
                    }.into_any())}
                </Stat>
                <div class="now__spark"><Curve run=&run/></div>
                <div class="stack">
                    <StageBars phase=run.phase done="100%"/>
                    <div class="progress__text">
                        <span><b>{phase_words(&run)}</b></span>
                        <span><b>{spend_words(&run)}</b>" spent"</span>
                    </div>
                </div>
            </div>
        </article>
    }
}

fn best_note(run: &RunSummary) -> String {
    match run.best_score {
        Some(_) => fmt::of_n(run.best_score, run.n_selection),
        None => "not measured yet".to_owned(),
    }
}

fn phase_words(run: &RunSummary) -> String {
    match run.phase {
        Some(Phase::Step { stage, .. }) => stage_look(stage).0.to_owned(),
        Some(Phase::Preflight) => "Test calls".to_owned(),
        Some(Phase::Baseline) => "Measuring the initial skill".to_owned(),
        Some(Phase::SlowUpdate { .. }) => "Comparing two epochs".to_owned(),
        Some(Phase::MetaSkill { .. }) => "Renewing the optimizer's memory".to_owned(),
        Some(Phase::FinalTest) => "Measuring on the test split".to_owned(),
        None => fmt::capital(Look::from(run.status).word),
    }
}

/// From the steps done so far; nothing before the first, and nothing while a run stands still.
fn time_left(run: &RunSummary) -> Option<String> {
    if run.status != RunStatus::Running {
        return None;
    }
    let elapsed = time::now_ms().saturating_sub(run.started_at_ms?);
    let left = fmt::time_left(elapsed, run.n_steps, run.total_steps?)?;
    Some(format!("about {} left", fmt::duration(left)))
}

/// The best score so far, drawn up to where the run is: the rest of the width is still to come.
#[component]
fn Curve<'a>(run: &'a RunSummary) -> impl IntoView + use<> {
    const WIDTH: f64 = 300.0;
    const HEIGHT: f64 = 56.0;
    let values = best_so_far(run);
    let total = run.total_steps.filter(|total| *total > 0);
    let share = total.map_or(1.0, |total| (f64::from(run.n_steps) / f64::from(total)).min(1.0));
    let area =
        LineBox { left: 1.0, right: 1.0 + (WIDTH - 2.0) * share, top: 4.0, bottom: HEIGHT - 6.0 };
    let line = step_line(&values, area).filter(|_| values.len() > 1);
    view! {
        <svg
            class="chart"
            viewBox=format!("0 0 {WIDTH} {HEIGHT}")
            preserveAspectRatio="none"
            style:height=format!("{HEIGHT}px")
            aria-hidden="true"
        >
            <path class="chart__grid" d=format!("M0 {}H{WIDTH}", HEIGHT - 0.5) vector-effect="non-scaling-stroke"/>
            {line.map(|line| view! {
                <path class="chart__line" data-series="1" d=line.path vector-effect="non-scaling-stroke"/>
            }.into_any())}
        </svg>
    }
}
