//! The box beside the cross-line: every series at that step, with n and the verdict.

use super::path::{cross, diamond, triangle};
use super::score::ScorePoint;
use super::slow::SlowPoint;
use crate::components::status::Status;
use crate::fmt;
use leptos::prelude::*;
use skillopt_domain::epoch::EpochAction;
use skillopt_domain::noise::wilson;
use skillopt_domain::verdict::Action;

/// Width that the box may take, for placing it beside the line.
const WIDTH: f64 = 236.0;

/// Where the box stands: right of the line while there is room, else left of it.
pub(crate) fn place(line: f64, chart_width: f64) -> f64 {
    let right = line + 14.0;
    if right + WIDTH <= chart_width { right } else { (line - 14.0 - WIDTH).max(0.0) }
}

/// All there is to say about one point.
pub(crate) fn readout(point: &ScorePoint, is_share: bool) -> AnyView {
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

/// The mark of a verdict, small enough for a line of text.
pub(crate) fn mark_key(action: Action) -> AnyView {
    match action {
        Action::Accept | Action::AcceptNewBest => view! {
            <svg width="12" height="12" aria-hidden="true"><path class="mark-accept" d=triangle(6.0, 6.0, 4.5)/></svg>
        }
        .into_any(),
        Action::Reject => view! {
            <svg width="12" height="12" aria-hidden="true"><path class="mark-reject" d=cross(6.0, 6.0, 3.2)/></svg>
        }
        .into_any(),
        Action::ForceAccept
        | Action::Inconclusive
        | Action::SkipNoPatches
        | Action::SkipNoChange
        | Action::SkipNoRewrite => view! {
            <svg width="12" height="12" aria-hidden="true"><path class="mark-forced" d=diamond(6.0, 6.0, 4.5)/></svg>
        }
        .into_any(),
    }
}

/// The class of a slow update's diamond.
pub(crate) fn slow_class(action: EpochAction) -> &'static str {
    match action {
        EpochAction::AcceptNewBest | EpochAction::Accept => "mark-accept",
        EpochAction::ForceAccept | EpochAction::Inconclusive => "mark-forced",
        EpochAction::Reject
        | EpochAction::NoContent
        | EpochAction::NoChange
        | EpochAction::WriteMetaSkill => "mark-dropped",
    }
}

/// The mark of a slow update.
pub(crate) fn slow_key(action: EpochAction) -> AnyView {
    view! { <svg width="12" height="12" aria-hidden="true"><path class=slow_class(action) d=diamond(6.0, 6.0, 5.0)/></svg> }
        .into_any()
}

/// A piece of a line.
pub(crate) fn line_key(series: &'static str) -> AnyView {
    view! { <svg width="14" height="8" aria-hidden="true"><path class="chart__line" data-series=series d="M0 4h14"/></svg> }
        .into_any()
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
