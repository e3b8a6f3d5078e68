//! What happens right now: the six stages with live counts, progress with time left, spend against its cap.

use super::state::{RunState, running_step};
use super::words::{
    left, left_title, phase_words, spend_bar, stage_result, stage_so_far, unpriced_words,
};
use crate::components::dynamic::{CollectAny, dynamic};
use crate::components::icon::Icon;
use crate::components::look::stage_look;
use crate::components::stages::StageState;
use crate::fmt;
use crate::state::memo::Memo;
use leptos::prelude::*;
use skillopt_domain::run::{Phase, Stage};

#[component]
pub(super) fn RunNow(run: RunState) -> impl IntoView {
    let step = Memo::new(move || run.view.with(running_step));
    view! {
        <div class="run-now">
            {move || step.get().map(|step| view! { <Pipeline run step/> }.into_any())}
            <div class="run-now__bars">
                <StepsDone run/>
                <SpendSoFar run/>
            </div>
        </div>
    }
}

#[component]
fn Pipeline(run: RunState, step: u32) -> impl IntoView {
    let stages = Stage::ALL.map(|stage| view! { <StageCell run step stage/> }.into_any());
    view! {
        <div class="pipeline" role="group" aria-label=format!("Stages of step {step}")>
            {stages.into_iter().collect_any()}
        </div>
    }
}

#[component]
fn StageCell(run: RunState, step: u32, stage: Stage) -> impl IntoView {
    let state = Memo::new(move || run.view.with(|view| StageState::of(stage, view.phase)));
    let count = Memo::new(move || match state.get() {
        StageState::Done => run.step_events.with(|events| stage_result(stage, events)),
        StageState::Running => Some(run.view.with(|view| stage_so_far(view.progress.as_ref()))),
        StageState::Waiting => None,
    });
    let done = move || {
        run.view.with(|view| {
            let progress = view.progress.as_ref().filter(|_| state.get() == StageState::Running);
            progress.map_or_else(
                || "0%".to_owned(),
                |progress| fmt::share(progress.done, progress.total),
            )
        })
    };
    let icon = move || match state.get() {
        StageState::Done => view! { <Icon name="check"/> }.into_any(),
        StageState::Running => view! { <Icon name="running"/> }.into_any(),
        StageState::Waiting => view! { <Icon name="queued"/> }.into_any(),
    };
    let words = move || match (count.get(), state.get()) {
        (Some(count), _) => view! { <b>{count.bold}</b>" "{count.rest} }.into_any(),
        (None, StageState::Done) => "done".into_any(),
        (None, _) => "waiting".into_any(),
    };
    let current = move || (state.get() == StageState::Running).then_some("step");
    view! {
        <a class="stage" href=run.step_href(step) data-status=move || state.get().as_str() aria-current=move || current() style:--done=move || done()>
            <span class="stage__name">{move || icon()}{stage_look(stage).0}</span>
            <span class="stage__count">{move || words()}</span>
            <i class="stage__fill"></i>
        </a>
    }
}

#[component]
fn StepsDone(run: RunState) -> impl IntoView {
    let done = Memo::new(move || {
        run.view.with(|view| (view.n_steps, view.plan.as_ref().map(|plan| plan.total_steps)))
    });
    let side = Memo::new(move || {
        run.view.with(|view| match view.phase.filter(|_| view.status.is_live()) {
            Some(phase) if !matches!(phase, Phase::Step { .. }) => {
                let so_far = stage_so_far(view.progress.as_ref());
                Some(format!("{} {} {}", phase_words(phase), so_far.bold, so_far.rest))
            }
            _ => left(view),
        })
    });
    let title = Memo::new(move || run.view.with(left_title));
    let width = move || {
        let (done, total) = done.get();
        total.map_or_else(|| "0%".to_owned(), |total| fmt::share(done, total))
    };
    let words = move || {
        let (done, total) = done.get();
        let of = total.map_or_else(String::new, |total| format!(" of {total}"));
        view! { <span><b>{done}</b>{of}" steps done"</span> }.into_any()
    };
    let value = move || width().trim_end_matches('%').to_owned();
    view! {
        <div class="progress">
            <div class="progress__text">{move || words()}<span title=move || title.get()>{move || side.get()}</span></div>
            <div
                class="progress__bar" role="progressbar" aria-label="Steps done"
                aria-valuenow=move || value() aria-valuemin="0" aria-valuemax="100"
            >
                <i style:width=move || width()></i>
            </div>
        </div>
    }
}

#[component]
fn SpendSoFar(run: RunState) -> impl IntoView {
    let bar = Memo::new(move || {
        run.view.with(|view| {
            let total =
                view.plan.as_ref().map(|plan| plan.total_steps).filter(|_| view.status.is_live());
            spend_bar(&view.spend, &run.caps, view.n_steps, total)
        })
    });
    let facts = Memo::new(move || {
        run.view.with(|view| {
            let all = view.spend.total();
            let reused = (all.cached > 0).then(|| format!("{} reused", fmt::count(all.cached)));
            let tokens = (all.tokens() > 0).then(|| format!("{} tokens", fmt::short(all.tokens())));
            [unpriced_words(&view.spend), tokens, reused]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join(", ")
        })
    });
    dynamic(move || {
        let bar = bar.get();
        let width =
            |share: u64| format!("{}%", crate::charts::scale::count_f64(share.min(10_000)) / 100.0);
        let end = bar.end.clone();
        let tick = end.as_ref().map(|(share, _)| {
            view! { <i class="meter__tick" style:left=width(*share)></i> }.into_any()
        });
        let label =
            format!("Spend: target {}, optimizer {} {}", bar.target, bar.optimizer, bar.cap);
        let side = match end {
            Some((share, words)) => {
                format!("{} {words}", if share > 10_000 { "would end at" } else { "ends near" })
            }
            None => facts.get(),
        };
        view! {
            <div class="progress" title=move || facts.get()>
                <div class="progress__text">
                    <span>
                        <b>{bar.spent}</b>" "{bar.cap}
                        <span class="hide-narrow">
                            " · "<span class="key"><i class="swatch" data-series="1"></i>"target "{bar.target}</span>
                            " "<span class="key"><i class="swatch" data-series="2"></i>"optimizer "{bar.optimizer}</span>
                        </span>
                    </span>
                    <span>{side}</span>
                </div>
                <div class="meter">
                    <div class="progress__bar" role="img" aria-label=label>
                        <i data-series="1" style:width=width(bar.shares.0)></i>
                        <i data-series="2" style:width=width(bar.shares.1)></i>
                    </div>
                    {tick}
                </div>
            </div>
        }
        .into_any()
    })
}
