//! The drawn layers of the score chart: ground, lines, marks and the names at their ends.

use super::axes::{AxesPlan, axes, epochs, future};
use super::labels::spread;
use super::marks::slow_class;
use super::path::{cross, diamond, line, smooth, steps as step_path, triangle};
use super::scale::Frame;
use super::score::{ScorePoint, pixels, score_ticks, within};
use super::score_chart::{ScorePlan, is_hidden};
use crate::components::dynamic::CollectAny;
use crate::fmt;
use leptos::prelude::*;
use skillopt_domain::verdict::Action;

/// Everything that the drawing needs, worked out once a change.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Layout {
    pub(super) points: Vec<ScorePoint>,
    pub(super) axes: AxesPlan,
    pub(super) is_narrow: bool,
    pub(super) is_zoomed: bool,
}

pub(super) fn layout(
    points: &[ScorePoint],
    total: u32,
    zoom: Option<(u32, u32)>,
    width: f64,
) -> Layout {
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

pub(super) fn ground_layer(layout: &Layout, plan: &ScorePlan) -> AnyView {
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
    let lines = [last.and_then(ScorePoint::best_after), last.and_then(ScorePoint::current_after)];
    let is_free = |at: &f64| lines.iter().flatten().all(|score| (y.at(*score) - at).abs() > 14.0);
    let at =
        [frame.top + 16.0, frame.top + 44.0, frame.floor() - 40.0].into_iter().find(is_free)?;
    let steps = fmt::plural(u64::from(left_steps), "step left", "steps left");
    let text = view! {
        <text x=from + room / 2.0 y=at text-anchor="middle">{format!("{steps}, {left}")}</text>
    };
    Some(text.into_any())
}

pub(super) fn lines_layer(layout: &Layout, smoothing: f64, hidden: &str) -> AnyView {
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
    let until = points.last().map(|point| match &point.slow {
        Some(slow) => slow.x(scales.0, &layout.axes.frame),
        None => scales.0.at(f64::from(point.step)),
    });
    let held = (scales.0, scales.1, &layout.axes.frame);
    let is_shown = |name: &str| !is_hidden(hidden, name);
    let candidate = is_shown("candidate").then(|| {
        view! {
            <path class="chart__line" data-series="2" data-ghost d=on_screen(&raw)/>
            <path class="chart__line" data-series="2" data-dash="2" d=on_screen(&smoothed)/>
        }
        .into_any()
    });
    let current = is_shown("current").then(|| view! {
        <path class="chart__line" data-series="current" d=step_path(&pixels(points, held, |p| p.current, ScorePoint::current_after), until)/>
    }.into_any());
    let best = is_shown("best").then(|| view! {
        <path class="chart__line" data-series="1" data-thick d=step_path(&pixels(points, held, |p| p.best, ScorePoint::best_after), until)/>
    }.into_any());
    view! { <g>{candidate}{current}{best}</g> }.into_any()
}

pub(super) fn marks_layer(layout: &Layout, running: Option<u32>) -> AnyView {
    let r = if layout.is_narrow { 4.5 } else { 5.5 };
    let (x, y) = (&layout.axes.x, &layout.axes.y);
    let (mut accepted, mut rejected, mut undecided) = (String::new(), String::new(), String::new());
    for point in &layout.points {
        let Some((action, score)) = point.action.zip(point.candidate) else { continue };
        let (px, py) = (x.at(f64::from(point.step)), y.at(score));
        match action {
            Action::Accept | Action::AcceptNewBest => {
                accepted.push_str(&triangle(px, py, r));
            }
            Action::Reject => {
                rejected.push_str(&cross(px, py, if layout.is_narrow { 2.8 } else { 3.6 }));
            }
            Action::ForceAccept
            | Action::Inconclusive
            | Action::SkipNoPatches
            | Action::SkipNoChange
            | Action::SkipNoRewrite => {
                undecided.push_str(&diamond(px, py, r));
            }
        }
    }
    let start =
        layout.points.first().filter(|point| point.step == 0).and_then(|point| point.candidate);
    let start_dot = start.map(|score| {
        view! { <circle class="chart__dot" data-series="current" cx=x.at(0.0) cy=y.at(score) r="3.5"/> }.into_any()
    });
    let live = running.zip(layout.points.last()).and_then(|(step, last)| {
        let is_inside = (layout.axes.steps.0..=layout.axes.steps.1).contains(&step);
        let height = last.current_after().filter(|_| is_inside)?;
        Some(view! { <circle class="mark-live" cx=x.at(f64::from(step)) cy=y.at(height) r="4.5"/> })
    });
    view! {
        <g>
            {slow_marks(layout)}
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

/// Diamonds at the ends of epochs: kept ones are filled. They lie below the marks of steps, which are smaller.
fn slow_marks(layout: &Layout) -> AnyView {
    let r = if layout.is_narrow { 5.5 } else { 7.0 };
    let (mut kept, mut forced, mut dropped) = (String::new(), String::new(), String::new());
    for slow in layout.points.iter().filter_map(|point| point.slow.as_ref()) {
        let Some(score) = slow.candidate else { continue };
        let x = slow.x(&layout.axes.x, &layout.axes.frame);
        let mark = diamond(x, layout.axes.y.at(score), r);
        match slow_class(slow.action) {
            "mark-accept" => kept.push_str(&mark),
            "mark-forced" => forced.push_str(&mark),
            _ => dropped.push_str(&mark),
        }
    }
    let marks = [("mark-accept", kept), ("mark-forced", forced), ("mark-dropped", dropped)];
    let paths = marks.into_iter().filter(|(_, path)| !path.is_empty());
    let paths = paths.map(|(class, path)| view! { <path class=class data-mark="slow" d=path/> });
    paths.collect_any().into_any()
}

/// Names at the end of the lines, on a wide chart.
fn end_labels(layout: &Layout, start: Option<f64>) -> Option<AnyView> {
    let last = layout.points.last().filter(|_| !layout.is_narrow)?;
    let (frame, y) = (layout.axes.frame, &layout.axes.y);
    let current = last
        .current_after()
        .filter(|current| last.best_after().is_some_and(|best| (best - current).abs() > 1e-9));
    let labels =
        [("best", "1", last.best_after()), ("current", "current", current), ("start", "", start)];
    let labels: Vec<_> =
        labels.into_iter().filter_map(|(name, tone, score)| Some((name, tone, score?))).collect();
    let heights: Vec<f64> = labels.iter().map(|(_, _, score)| y.at(*score)).collect();
    let placed = spread(&heights, 15.0, (frame.top, frame.floor()));
    let x = frame.end() + 13.0;
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
    Some(view! { <g>{labels.collect_any()}</g> }.into_any())
}
