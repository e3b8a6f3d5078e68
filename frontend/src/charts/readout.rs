//! The box beside the cross-line: every series at that step, with n and the verdict.

use super::marks::{line_key, mark_key, slow_key};
use super::parts::ReadoutAsked;
use super::score::ScorePoint;
use super::score_layers::Layout;
use super::slow::SlowPoint;
use crate::components::status::Status;
use crate::fmt;
use leptos::prelude::*;
use skillopt_domain::noise::wilson;
use skillopt_domain::verdict::Action;

/// Width that the box may take, for placing it beside the line.
const WIDTH: f64 = 236.0;

/// Where the box stands: right of the line while there is room, else left of it.
pub(super) fn place(line: f64, chart_width: f64) -> f64 {
    let right = line + 14.0;
    if right + WIDTH <= chart_width { right } else { (line - 14.0 - WIDTH).max(0.0) }
}

/// The box at the step that is pointed at.
pub(super) fn readout_box(asked: ReadoutAsked) -> AnyView {
    let is_share = move || asked.plan.with(|plan| plan.metric == "hard");
    let box_view =
        move || asked.layout.with(|layout| box_at(layout, asked.pointer.cross.get()?, is_share()));
    view! { {move || box_view()} }.into_any()
}

fn box_at(layout: &Layout, step: u32, is_share: bool) -> Option<AnyView> {
    let point = layout.points.iter().find(|point| point.step == step)?;
    let left = place(layout.axes.x.at(f64::from(step)) + 12.0, layout.axes.frame.width + 12.0);
    let box_view = view! {
        <div class="readout" role="status" style:left=format!("{left}px") style:top="24px">{readout(point, is_share)}</div>
    };
    Some(box_view.into_any())
}

/// All there is to say about one point.
fn readout(point: &ScorePoint, is_share: bool) -> AnyView {
    let title = if point.step == 0 { "Start".to_owned() } else { format!("Step {}", point.step) };
    let status = point.action.map(|action| view! { <Status look=action/> }.into_any());
    let rows = match point.action {
        None => vec![row(None, "score", scored(point.candidate, point.n))],
        Some(action) => step_rows(point, action, is_share),
    };
    let slow = point.slow.as_ref().map(slow_rows);
    view! {
        <div class="readout__title"><span>{title}</span>{status}</div>
        <dl>{rows}</dl>
        {slow}
    }
    .into_any()
}

/// The slow update after the step.
fn slow_rows(slow: &SlowPoint) -> AnyView {
    let title = format!("Epoch {}", slow.epoch);
    let mut rows = Vec::new();
    if slow.candidate.is_some() {
        let key = slow_key(slow.action);
        rows.push(row(Some(key), "slow update", scored(slow.candidate, slow.n)));
    }
    let after = fmt::score(slow.current).into_any();
    rows.push(row(Some(line_key("current")), "current after", after));
    view! {
        <div class="readout__title"><span>{title}</span><Status look=slow.action/></div>
        <dl>{rows}</dl>
    }
    .into_any()
}

fn step_rows(point: &ScorePoint, action: Action, is_share: bool) -> Vec<AnyView> {
    let mut rows = vec![row(Some(mark_key(action)), "candidate", scored(point.candidate, point.n))];
    let interval =
        point.candidate.zip(point.n).filter(|_| is_share).and_then(|(score, n)| wilson(score, n));
    if let Some((low, high)) = interval {
        rows.push(row(None, "95 % interval", format!("{low:.2} to {high:.2}").into_any()));
    }
    rows.push(row(
        Some(line_key("current")),
        "current before",
        fmt::score(point.current_before).into_any(),
    ));
    rows.push(row(Some(line_key("1")), "best", fmt::score(point.best).into_any()));
    if point.candidate.is_some() {
        rows.push(row(None, "tasks", fmt::flips(point.fixed, point.broke).into_any()));
    }
    rows.push(row(None, "edit budget", point.budget.into_any()));
    rows
}

fn scored(score: Option<f64>, n: Option<u32>) -> AnyView {
    let base = n.map(|_| format!(" ({})", fmt::of_n(score, n)));
    view! { <b class="medium">{fmt::score(score)}</b>{base} }.into_any()
}

fn row(key: Option<AnyView>, name: &'static str, value: AnyView) -> AnyView {
    view! { <dt>{key}</dt><dt>{name}</dt><dd>{value}</dd> }.into_any()
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn the_box_never_covers_the_line_nor_leaves_the_chart() {
        assert!(place(100.0, 1000.0) > 100.0);
        let left = place(900.0, 1000.0);
        assert!(left + super::WIDTH < 900.0, "{left}");
        assert!(place(10.0, 320.0) >= 0.0);
    }
}
