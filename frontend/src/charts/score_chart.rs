//! The score chart: best and current as steps, candidates as marks, all that is known at each step on hover.

use super::axes::{AxesPlan, axes, epochs, future};
use super::export_menu::{ExportMenu, Exports};
use super::labels::spread;
use super::path::{cross, diamond, line, smooth, steps as step_path, triangle};
use super::pointer::{Ground, Pointer, brush_area, cross_line, hit_area};
use super::readout::{line_key, mark_key, place, readout};
use super::scale::Frame;
use super::score::{ScorePoint, pixels, score_ticks, within};
use super::score_table::{csv_table, score_table};
use super::width::measured;
use crate::fmt;
use leptos::prelude::*;
use leptos::{html, svg};
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
    pub(crate) zoom: Signal<Option<(u32, u32)>>,
    pub(crate) smoothing: Signal<f64>,
    pub(crate) on_smoothing: Callback<f64>,
    pub(crate) on_open: Callback<u32>,
}

#[component]
pub(crate) fn ScoreChart(
    #[prop(into)] points: Signal<Vec<ScorePoint>>,
    #[prop(into)] plan: Signal<ScorePlan>,
    choices: ScoreChoices,
    step_href: Callback<u32, String>,
) -> impl IntoView {
    let chart = NodeRef::<svg::Svg>::new();
    let as_table = RwSignal::new(false);
    let name = StoredValue::new(plan.with_untracked(|plan| format!("{}-score", plan.name)));
    let exports = Exports {
        name,
        chart,
        table: Signal::derive(move || points.with(|points| csv_table(points))),
    };
    let note =
        move || plan.with(|plan| format!("{}, selection split, {}", plan.metric, fmt::n(plan.n)));
    view! {
        <div class="panel__head">
            <h3 id="score-title">"Score"</h3>
            <span class="hide-narrow">{note}</span>
            <div class="row hide-narrow" data-gap="wide"><Keys/></div>
            <div class="section__end">
                <Smoothing choices/>
                <ExportMenu exports as_table/>
            </div>
        </div>
        <div class="panel__body only-narrow"><div class="row" data-gap="wide"><Keys/></div></div>
        <Show
            when=move || as_table.get()
            fallback=move || view! { <Plot points plan choices chart/> }
        >
            {move || points.with(|points| score_table(points, &|step| step_href.run(step)))}
        </Show>
    }
}

#[component]
fn Keys() -> impl IntoView {
    view! {
        <span class="key">{line_key("1")}"best"</span>
        <span class="key">{line_key("current")}"current"</span>
        <span class="key">
            <svg width="18" height="8" aria-hidden="true">
                <path class="chart__line" data-series="2" data-dash="2" d="M0 4h18"/>
            </svg>
            "candidate, smoothed"
        </span>
        <span class="key">{mark_key(Action::Accept)}"accepted"</span>
        <span class="key">{mark_key(Action::Reject)}"rejected"</span>
        <span class="key">{mark_key(Action::Inconclusive)}"not decided"</span>
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
                on:input=move |event| {
                    if let Ok(weight) = event_target_value(&event).parse() {
                        choices.on_smoothing.run(weight);
                    }
                }
            />
            {words}
        </label>
    }
}

/// Everything that the drawing needs, worked out once a change.
#[derive(Clone, Debug, PartialEq)]
struct Layout {
    points: Vec<ScorePoint>,
    axes: AxesPlan,
    is_narrow: bool,
    is_zoomed: bool,
}

fn layout(points: &[ScorePoint], total: u32, zoom: Option<(u32, u32)>, width: f64) -> Layout {
    let is_narrow = width < 560.0;
    let frame = if is_narrow {
        Frame { width, height: 260.0, left: 34.0, right: 12.0, top: 14.0, bottom: 34.0 }
    } else {
        Frame { width, height: 276.0, left: 44.0, right: 112.0, top: 14.0, bottom: 34.0 }
    };
    let shown = within(points, zoom);
    let last = points.last().map_or(0, |point| point.step);
    let steps = zoom.unwrap_or((0, total.max(last).max(1)));
    let y_ticks = score_ticks(&shown, 4);
    let y = frame.y((y_ticks[0], y_ticks.last().copied().unwrap_or(1.0)));
    let x = frame.x((f64::from(steps.0), f64::from(steps.1)));
    let wanted_steps = if is_narrow { 4 } else { 8 };
    let axes = AxesPlan { frame, x, y, y_ticks, steps, wanted_steps, unit: "" };
    Layout { points: shown, axes, is_narrow, is_zoomed: zoom.is_some() }
}

#[component]
fn Plot(
    points: Signal<Vec<ScorePoint>>,
    plan: Signal<ScorePlan>,
    choices: ScoreChoices,
    chart: NodeRef<svg::Svg>,
) -> impl IntoView {
    let holder = NodeRef::<html::Div>::new();
    let width = measured(holder, 960.0);
    let pointer = choices.pointer;
    let layout = Memo::new(move |_| {
        let total = plan.with(|plan| plan.total_steps);
        points.with(|points| {
            layout(points, total, choices.zoom.get(), (width.get() - 24.0).max(240.0))
        })
    });
    let ground = Signal::derive(move || {
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
            class="chart-box" node_ref=holder tabindex="0" role="group" on:keydown=on_key
            aria-label="Score by step. Arrow keys read the values, Enter opens the step, drag zooms, a double click shows all."
        >
            <svg class="chart" viewBox=view_box role="img" aria-label=move || points.with(|points| summary(points)) node_ref=chart>
                {move || layout.with(|layout| plan.with(|plan| ground_layer(layout, plan)))}
                {move || layout.with(|layout| lines_layer(layout, choices.smoothing.get()))}
                {cross_line(pointer, ground)}
                {move || layout.with(|layout| plan.with(|plan| marks_layer(layout, plan.running)))}
                {brush_area(pointer, ground)}
                {hit_area(pointer, ground)}
            </svg>
            <ZoomReset choices/>
            {move || layout.with(|layout| readout_box(layout, pointer.cross.get()?, plan.with(|plan| plan.metric == "hard")))}
        </div>
    }
}

#[component]
fn ZoomReset(choices: ScoreChoices) -> impl IntoView {
    move || {
        choices.zoom.get().map(|(from, to)| {
            let words = format!("Steps {from} to {to}");
            view! {
                <p class="row small muted">
                    {words}
                    <button class="link" type="button" on:click=move |_| choices.pointer.on_zoom.run(None)>"Show all"</button>
                </p>
            }
        })
    }
}

fn readout_box(layout: &Layout, step: u32, is_share: bool) -> Option<AnyView> {
    let point = layout.points.iter().find(|point| point.step == step)?;
    let left = place(layout.axes.x.at(f64::from(step)) + 12.0, layout.axes.frame.width + 12.0);
    let box_view = view! {
        <div class="readout" role="status" style:left=format!("{left}px") style:top="24px">{readout(point, is_share)}</div>
    };
    Some(box_view.into_any())
}

/// The chart in one sentence.
fn summary(points: &[ScorePoint]) -> String {
    let start = points.first().filter(|point| point.step == 0).and_then(|point| point.candidate);
    let last = points.last();
    match (start, last.and_then(|point| point.best), last) {
        (Some(start), Some(best), Some(last)) => format!(
            "Score by step. Best is {best:.3} after step {}, the start was {start:.3}.",
            last.step
        ),
        _ => "Score by step. Nothing was measured yet.".to_owned(),
    }
}

fn ground_layer(layout: &Layout, plan: &ScorePlan) -> AnyView {
    let axes_plan = &layout.axes;
    let frame = axes_plan.frame;
    let now = layout.points.last().map_or(0, |point| point.step);
    let words = future_words(layout, plan, now);
    let has_epochs = plan.steps_per_epoch > 0 && plan.steps_per_epoch < plan.total_steps;
    let name =
        if has_epochs && !layout.is_narrow { "step (dotted: end of an epoch)" } else { "step" };
    let still_to_come = (!layout.is_zoomed).then(|| future(axes_plan, now));
    view! {
        <g>
            {still_to_come}
            {axes(axes_plan)}
            <text x=frame.end() y=frame.floor() + 30.0 text-anchor="end">{name}</text>
            {epochs(axes_plan, plan.steps_per_epoch)}
            {words}
        </g>
    }
    .into_any()
}

/// What is still to come, written where no line runs.
fn future_words(layout: &Layout, plan: &ScorePlan, now: u32) -> Option<AnyView> {
    let (frame, x, y) = (layout.axes.frame, &layout.axes.x, &layout.axes.y);
    let left_steps = plan.total_steps.saturating_sub(now);
    let from = x.at(f64::from(now));
    let room = frame.end() - from;
    let left =
        plan.left.as_ref().filter(|_| room > 190.0 && !layout.is_zoomed && left_steps > 0)?;
    let last = layout.points.last();
    let lines = [last.and_then(|point| point.best), last.and_then(|point| point.current)];
    let is_free = |at: &f64| lines.iter().flatten().all(|score| (y.at(*score) - at).abs() > 14.0);
    let at =
        [frame.top + 16.0, frame.top + 44.0, frame.floor() - 40.0].into_iter().find(is_free)?;
    let steps = fmt::plural(u64::from(left_steps), "step left", "steps left");
    let text = view! {
        <text x=from + room / 2.0 y=at text-anchor="middle">{format!("{steps}, {left}")}</text>
    };
    Some(text.into_any())
}

fn lines_layer(layout: &Layout, smoothing: f64) -> AnyView {
    let scales = (&layout.axes.x, &layout.axes.y);
    let points = &layout.points;
    let raw: Vec<Option<f64>> = points.iter().map(|point| point.candidate).collect();
    let smoothed = smooth(&raw, smoothing);
    let on_screen = |values: &[Option<f64>]| {
        // A step without a candidate is no gap in the line: nothing was measured, so nothing is missing.
        let pairs = points
            .iter()
            .zip(values)
            .filter_map(|(point, value)| value.map(|value| (point.step, value)));
        let pixels: Vec<_> = pairs
            .map(|(step, value)| Some((scales.0.at(f64::from(step)), scales.1.at(value))))
            .collect();
        line(&pixels)
    };
    let until = points.last().map(|point| scales.0.at(f64::from(point.step)));
    view! {
        <g>
            <path class="chart__line" data-series="2" data-ghost d=on_screen(&raw)/>
            <path class="chart__line" data-series="2" data-dash="2" d=on_screen(&smoothed)/>
            <path class="chart__line" data-series="current" d=step_path(&pixels(points, scales, |p| p.current), until)/>
            <path class="chart__line" data-series="1" data-thick d=step_path(&pixels(points, scales, |p| p.best), until)/>
        </g>
    }
    .into_any()
}

fn marks_layer(layout: &Layout, running: Option<u32>) -> AnyView {
    let r = if layout.is_narrow { 4.5 } else { 5.5 };
    let (x, y) = (&layout.axes.x, &layout.axes.y);
    let (mut accepted, mut rejected, mut undecided) = (String::new(), String::new(), String::new());
    for point in &layout.points {
        let Some((action, score)) = point.action.zip(point.candidate) else { continue };
        let (px, py) = (x.at(f64::from(point.step)), y.at(score));
        match action {
            Action::Accept | Action::AcceptNewBest => accepted.push_str(&triangle(px, py, r)),
            Action::Reject => {
                rejected.push_str(&cross(px, py, if layout.is_narrow { 2.8 } else { 3.6 }));
            }
            Action::Inconclusive | Action::SkipNoPatches | Action::SkipNoChange => {
                undecided.push_str(&diamond(px, py, r));
            }
        }
    }
    let start =
        layout.points.first().filter(|point| point.step == 0).and_then(|point| point.candidate);
    let start_dot = start.map(|score| {
        view! { <circle class="chart__dot" data-series="current" cx=x.at(0.0) cy=y.at(score) r="3.5"/> }
    });
    let live = running.zip(layout.points.last()).and_then(|(step, last)| {
        let is_inside = (layout.axes.steps.0..=layout.axes.steps.1).contains(&step);
        let height = last.current.filter(|_| is_inside)?;
        Some(view! { <circle class="mark-live" cx=x.at(f64::from(step)) cy=y.at(height) r="4.5"/> })
    });
    view! {
        <g>
            <path class="mark-accept" d=accepted/>
            <path class="mark-reject-halo" d=rejected.clone()/>
            <path class="mark-reject" d=rejected/>
            <path class="mark-forced" d=undecided/>
            {start_dot}
            {live}
            {end_labels(layout, start)}
        </g>
    }
    .into_any()
}

/// Names at the end of the lines, on a wide chart.
fn end_labels(layout: &Layout, start: Option<f64>) -> Option<AnyView> {
    let last = layout.points.last().filter(|_| !layout.is_narrow)?;
    let (frame, y) = (layout.axes.frame, &layout.axes.y);
    let current =
        last.current.filter(|current| last.best.is_some_and(|best| (best - current).abs() > 1e-9));
    let labels = [("best", "1", last.best), ("current", "current", current), ("start", "", start)];
    let labels: Vec<_> =
        labels.into_iter().filter_map(|(name, tone, score)| Some((name, tone, score?))).collect();
    let heights: Vec<f64> = labels.iter().map(|(_, _, score)| y.at(*score)).collect();
    let placed = spread(&heights, 15.0, (frame.top, frame.floor()));
    let x = frame.end() + 10.0;
    let from = layout.axes.x.at(f64::from(last.step));
    let labels = labels.into_iter().zip(heights).zip(placed).map(|(((name, tone, score), height), at)| {
        let class = if name == "best" { "chart__strong" } else { "chart__label" };
        let tone = (!tone.is_empty()).then_some(tone);
        let height = height.floor() + 0.5;
        let left = if name == "start" { frame.left } else { from };
        view! {
            <path class="chart__epoch" d=format!("M{left} {height}H{}", frame.end() + 4.0)/>
            <text class=class data-series=tone x=x y=at + 4.0>{format!("{name} {score:.3}")}</text>
        }
    });
    Some(view! { <g>{labels.collect_view()}</g> }.into_any())
}
