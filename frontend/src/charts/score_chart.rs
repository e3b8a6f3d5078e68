//! The score chart: best and current as steps, candidates as marks, all that is known at each step on hover.

use super::export_menu::{ExportMenu, Exports};
use super::marks::{mark_key, slow_key};
use super::parts::{ReadoutAsked, ScoresAsked, run_curves_readout, run_curves_scores};
use super::pointer::{Ground, Pointer, brush_area, cross_line, hit_area};
use super::score::ScorePoint;
use super::score_layers::{ground_layer, layout, lines_layer, marks_layer};
use super::score_table::csv_table;
use super::width::measured;
use crate::components::dynamic::{dynamic, nothing, when};
use crate::components::handler::handler;
use crate::fmt;
use crate::state::memo::Memo;
use crate::state::signal::RwSignal;
use crate::text::number;
use leptos::prelude::*;
use leptos::{html, svg};
use skillopt_domain::epoch::EpochAction;
use skillopt_domain::verdict::Action;

/// What the chart is about, besides its points.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ScorePlan {
    /// `hard`, `soft` or `mixed`.
    pub(crate) metric: String,
    pub(crate) n: Option<u32>,
    pub(crate) total_steps: u32,
    pub(crate) steps_per_epoch: u32,
    /// The step that is under way.
    pub(crate) running: Option<u32>,
    /// Said over the steps to come, such as `about 44 min`.
    pub(crate) left: Option<String>,
    /// Name for files.
    pub(crate) name: String,
}

/// What the reader chose; it lives in the URL.
#[derive(Clone, Copy)]
pub(crate) struct ScoreChoices {
    pub(crate) pointer: Pointer,
    pub(crate) zoom: Memo<Option<(u32, u32)>>,
    pub(crate) smoothing: Memo<f64>,
    pub(crate) on_smoothing: Callback<f64>,
    pub(crate) on_open: Callback<u32>,
    /// Names of lines that are not drawn, between dots.
    pub(crate) hidden: Memo<String>,
    pub(crate) on_toggle: Callback<&'static str>,
}

/// The line of this name is not drawn.
pub(crate) fn is_hidden(hidden: &str, name: &str) -> bool {
    hidden.split('.').any(|one| one == name)
}

/// Shows a hidden line or hides a shown one.
pub(crate) fn toggled(hidden: &str, name: &str) -> String {
    let others = hidden.split('.').filter(|one| *one != name && !one.is_empty());
    let added = (!is_hidden(hidden, name)).then_some(name);
    others.chain(added).collect::<Vec<_>>().join(".")
}

#[component]
pub(crate) fn ScoreChart(
    points: Memo<Vec<ScorePoint>>,
    plan: Memo<ScorePlan>,
    choices: ScoreChoices,
    step_href: Callback<u32, String>,
) -> impl IntoView {
    let chart = NodeRef::<svg::Svg>::new();
    let as_table = RwSignal::new(false);
    let name = StoredValue::new(plan.with_untracked(|plan| format!("{}-score", plan.name)));
    let exports =
        Exports { name, chart, table: Memo::new(move || points.with(|points| csv_table(points))) };
    let note = move || plan.with(|plan| format!("{}, selection, {}", plan.metric, fmt::n(plan.n)));
    view! {
        <div class="panel__head">
            <h3 id="score-title">"Score"</h3>
            <span class="hide-narrow">{move || note()}</span>
            <div class="row hide-narrow" data-gap="wide"><Keys points choices/></div>
            <div class="section__end">
                <Smoothing choices/>
                <ExportMenu exports as_table/>
            </div>
        </div>
        <div class="panel__body only-narrow"><div class="row" data-gap="wide"><Keys points choices/></div></div>
        {when(
            move || as_table.get(),
            move || run_curves_scores::show(ScoresAsked { points, step_href }),
            move || view! { <Plot points plan choices chart/> }.into_any(),
        )}
    }
}

#[component]
fn Keys(points: Memo<Vec<ScorePoint>>, choices: ScoreChoices) -> impl IntoView {
    let has = move |is: fn(&ScorePoint) -> bool| points.with(|points| points.iter().any(is));
    let forced = |point: &ScorePoint| {
        let slow = point.slow.as_ref().map(|slow| slow.action);
        point.action == Some(Action::ForceAccept) || slow == Some(EpochAction::ForceAccept)
    };
    // Only marks that are drawn are explained: all of them fit beside the title.
    let undecided = |point: &ScorePoint| {
        let slow = point.slow.as_ref().map(|slow| slow.action);
        let by_step = !matches!(
            point.action,
            None | Some(Action::Accept | Action::AcceptNewBest | Action::Reject)
        );
        point.candidate.is_some() && by_step
            || matches!(slow, Some(EpochAction::ForceAccept | EpochAction::Inconclusive))
    };
    let line = move |name: &'static str,
                     label: &'static str,
                     series: &'static str,
                     dash: Option<&'static str>| {
        let is_shown = move || (!choices.hidden.with(|hidden| is_hidden(hidden, name))).to_string();
        view! {
            <button class="key" type="button" aria-pressed=move || is_shown() on:click=handler(move |_| choices.on_toggle.run(name))>
                <svg width="18" height="8" aria-hidden="true">
                    <path class="chart__line" data-series=series data-dash=dash d="M0 4h18"/>
                </svg>
                {label}
            </button>
        }
    };
    view! {
        {line("best", "best", "1", None)}
        {line("current", "current", "current", None)}
        {line("candidate", "candidate", "2", Some("2"))}
        <span class="key">{mark_key(Action::Accept)}"accepted"</span>
        <span class="key">{mark_key(Action::Reject)}"rejected"</span>
        {move || has(undecided).then(|| view! { <span class="key">{mark_key(Action::Inconclusive)}{if has(forced) { "not gated" } else { "not decided" }}</span> }.into_any())}
        {move || has(|point| point.slow.is_some()).then(|| view! { <span class="key">{slow_key(EpochAction::Accept)}"slow update"</span> }.into_any())}
    }
}

#[component]
fn Smoothing(choices: ScoreChoices) -> impl IntoView {
    let words = move || format!("{:.2}", choices.smoothing.get());
    view! {
        <label class="row small second hide-narrow" data-nowrap>
            "Smoothing"
            <input
                class="range" type="range" min="0" max="0.95" step="0.05" aria-label="Smoothing"
                prop:value=move || choices.smoothing.get().to_string()
                on:input=handler(move |event| {
                    if let Some(weight) = number(&event_target_value(&event)) {
                        choices.on_smoothing.run(weight);
                    }
                })
            />
            {move || words()}
        </label>
    }
}

#[component]
fn Plot(
    points: Memo<Vec<ScorePoint>>,
    plan: Memo<ScorePlan>,
    choices: ScoreChoices,
    chart: NodeRef<svg::Svg>,
) -> impl IntoView {
    let holder = NodeRef::<html::Div>::new();
    let width = measured(holder, 960.0);
    let pointer = choices.pointer;
    let layout = Memo::new(move || {
        let total = plan.with(|plan| plan.total_steps);
        points.with(|points| {
            layout(points, total, choices.zoom.get(), (width.get() - 24.0).max(240.0))
        })
    });
    let ground = Memo::new(move || {
        layout.with(|layout| Ground {
            frame: layout.axes.frame,
            x: layout.axes.x,
            steps: layout.points.iter().map(|point| point.step).collect(),
        })
    });
    let on_key = move |event: web_sys::KeyboardEvent| {
        let key = event.key();
        let cross = pointer.cross.get_untracked().filter(|step| *step > 0);
        if let (true, Some(step)) = (key == "Enter", cross) {
            choices.on_open.run(step);
        } else if ground.with_untracked(|ground| pointer.on_key(&key, ground)) {
            event.prevent_default();
        }
    };
    let view_box = move || {
        layout
            .with(|layout| format!("0 0 {} {}", layout.axes.frame.width, layout.axes.frame.height))
    };
    view! {
        <div
            class="chart-box" node_ref=holder tabindex="0" role="group" on:keydown=handler(on_key)
            aria-label="Score by step. Arrow keys read the values, Enter opens the step, drag zooms, a double click shows all."
        >
            <svg class="chart" viewBox=move || view_box() role="img" aria-label=move || points.with(|points| summary(points)) node_ref=chart>
                {move || layout.with(|layout| plan.with(|plan| ground_layer(layout, plan)))}
                {move || layout.with(|layout| lines_layer(layout, choices.smoothing.get(), &choices.hidden.get()))}
                {cross_line(pointer, ground)}
                {move || layout.with(|layout| plan.with(|plan| marks_layer(layout, plan.running)))}
                {brush_area(pointer, ground)}
                {hit_area(pointer, ground)}
            </svg>
            <ZoomReset choices/>
            {when(move || pointer.cross.get().is_some(), move || run_curves_readout::show(ReadoutAsked { layout, plan, pointer }), nothing)}
        </div>
    }
}

#[component]
fn ZoomReset(choices: ScoreChoices) -> impl IntoView {
    dynamic(move || {
        choices.zoom.get().map(|(from, to)| {
            let words = format!("Steps {from} to {to}");
            view! {
                <p class="row small muted">
                    {words}
                    <button class="link" type="button" on:click=handler(move |_| choices.pointer.on_zoom.run(None))>"Show all"</button>
                </p>
            }
        })
        .into_any()
    })
}

/// The chart in one sentence.
fn summary(points: &[ScorePoint]) -> String {
    let start = points.first().filter(|point| point.step == 0).and_then(|point| point.candidate);
    let last = points.last();
    match (start, last.and_then(ScorePoint::best_after), last) {
        (Some(start), Some(best), Some(last)) => format!(
            "Score by step. Best is {best:.3} after step {}, the start was {start:.3}.",
            last.step
        ),
        _ => "Score by step. Nothing was measured yet.".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_hidden_and_shown_again() {
        let hidden = toggled(&toggled("", "best"), "current");
        assert_eq!(hidden, "best.current");
        assert!(is_hidden(&hidden, "best") && !is_hidden(&hidden, "candidate"));
        assert_eq!(toggled(&toggled(&hidden, "best"), "current"), "");
    }
}
