//! What lies under every plot: grid, axes and their labels, ends of epochs, and the steps that are still to come.

use super::scale::{Frame, Scale, step_ticks, tick_label};
use crate::components::dynamic::CollectAny;
use leptos::prelude::*;

/// What the axes show.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AxesPlan {
    pub(crate) frame: Frame,
    pub(crate) x: Scale,
    pub(crate) y: Scale,
    pub(crate) y_ticks: Vec<f64>,
    /// Whole steps of the x axis, both ends included.
    pub(crate) steps: (u32, u32),
    /// About how many labels fit under the plot.
    pub(crate) wanted_steps: u32,
    /// Written behind the number of each y label, such as ` %`.
    pub(crate) unit: &'static str,
}

/// Grid, y labels, x axis with its labels.
pub(crate) fn axes(plan: &AxesPlan) -> AnyView {
    let Frame { left, .. } = plan.frame;
    let (floor, end) = (plan.frame.floor(), plan.frame.end());
    let distance = plan.y_ticks.windows(2).next().map_or(1.0, |pair| pair[1] - pair[0]);
    let grid = plan.y_ticks.iter().enumerate().map(|(at, value)| {
        let y = plan.y.at(*value).floor() + 0.5;
        let class = if at == 0 { "chart__axis" } else { "chart__grid" };
        view! {
            <path class=class d=format!("M{left} {y}H{end}")/>
            <text x=left - 6.0 y=y + 3.5 text-anchor="end">{tick_label(*value, distance)}{plan.unit}</text>
        }
    });
    let labels =
        step_ticks(plan.steps.0, plan.steps.1, plan.wanted_steps).into_iter().map(|step| {
            let x = plan.x.at(f64::from(step));
            let tick = x.floor() + 0.5;
            view! {
                <path class="chart__axis" d=format!("M{tick} {floor}v4")/>
                <text x=x y=floor + 16.0 text-anchor="middle">{step}</text>
            }
        });
    view! { <g>{grid.collect_any()}{labels.collect_any()}</g> }.into_any()
}

/// The ends of epochs, where they lie within the plot.
pub(crate) fn epochs(plan: &AxesPlan, steps_per_epoch: u32) -> AnyView {
    let (from, to) = plan.steps;
    if steps_per_epoch == 0 || (to - from) / steps_per_epoch > 40 {
        return ().into_any();
    }
    let first = from / steps_per_epoch;
    let lines = (first..=to / steps_per_epoch)
        .map(|epoch| epoch * steps_per_epoch)
        .filter(|end| *end > from && *end < to);
    let lines = lines.map(|end| {
        let x = plan.x.at(f64::from(end) + 0.5).floor() + 0.5;
        view! { <path class="chart__epoch" d=format!("M{x} {}V{}", plan.frame.top, plan.frame.floor())/> }
    });
    view! { <g>{lines.collect_any()}</g> }.into_any()
}

/// The ground of the steps after `now`.
pub(crate) fn future(plan: &AxesPlan, now: u32) -> AnyView {
    let from = plan.x.at(f64::from(now)).max(plan.frame.left);
    let width = plan.frame.end() - from;
    if now >= plan.steps.1 || width < 1.0 {
        return ().into_any();
    }
    let height = plan.frame.floor() - plan.frame.top;
    view! { <rect class="chart__future" x=from y=plan.frame.top width=width height=height/> }
        .into_any()
}
