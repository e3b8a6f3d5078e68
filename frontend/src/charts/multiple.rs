//! A small chart under the score: the same steps, the same cross-line, its own values.

use super::axes::{AxesPlan, axes};
use super::export_menu::{ExportMenu, Exports};
use super::parts::{NumbersAsked, run_curves_numbers};
use super::pointer::{Ground, Pointer, brush_area, cross_line, hit_area};
use super::series::{Shape, SmallPlot, small_frame};
use super::width::measured;
use crate::components::dynamic::{CollectAny, dynamic, when};
use crate::state::memo::Memo;
use crate::state::signal::RwSignal;
use leptos::prelude::*;
use leptos::{html, svg};

/// How values of a chart are written.
pub(crate) type Words = fn(f64) -> String;

/// What a small chart is called and how its values read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SmallPlan {
    pub(crate) title: &'static str,
    pub(crate) note: &'static str,
    /// Behind the labels of the y axis.
    pub(crate) unit: &'static str,
    pub(crate) words: Words,
    /// For files.
    pub(crate) file: &'static str,
}

#[component]
pub(crate) fn Multiple(
    plan: SmallPlan,
    plot: Memo<SmallPlot>,
    /// First and last step of the x axis.
    steps: Memo<(u32, u32)>,
    pointer: Pointer,
) -> impl IntoView {
    let chart = NodeRef::<svg::Svg>::new();
    let as_table = RwSignal::new(false);
    let table = Memo::new(move || plot.with(SmallPlot::table));
    let exports = Exports { name: StoredValue::new(plan.file.to_owned()), chart, table };
    // The step under the cross-line, else the newest one.
    let now = move || {
        plot.with(|plot| {
            let step = pointer.cross.get().or_else(|| plot.last_step())?;
            let values: Vec<f64> =
                (0..plot.series.len()).filter_map(|at| plot.value_at(at, step)).collect();
            // Stacked bars are parts of one number.
            if !values.is_empty() && plot.series.iter().all(|series| series.shape == Shape::Bars) {
                return Some((plan.words)(values.iter().sum()));
            }
            let words: Vec<String> = values.into_iter().map(plan.words).collect();
            Some(words.join(" / ")).filter(|words| !words.is_empty())
        })
    };
    view! {
        <figure class="multiple">
            <figcaption class="multiple__head">
                <h3>{plan.title}</h3>
                <span>{plan.note}<SeriesKeys plot/></span>
                <span class="multiple__now">{move || now().unwrap_or_else(|| crate::fmt::MISSING.to_owned())}</span>
                <span class="multiple__menu"><ExportMenu exports as_table/></span>
            </figcaption>
            {when(
                move || as_table.get(),
                move || run_curves_numbers::show(NumbersAsked { title: plan.title, table }),
                move || view! { <SmallChart plan plot steps pointer chart/> }.into_any(),
            )}
        </figure>
    }
}

#[component]
fn SeriesKeys(plot: Memo<SmallPlot>) -> impl IntoView {
    // Names do not change while values do.
    let names = Memo::new(move || {
        plot.with(|plot| {
            plot.series.iter().map(|s| (s.name, s.tone, s.dash, s.shape)).collect::<Vec<_>>()
        })
    });
    dynamic(move || {
        names
            .get()
            .into_iter()
            .filter(|_| names.with(|all| all.len() > 1))
            .map(|(name, tone, dash, shape)| {
                let sign = if matches!(shape, Shape::Bars | Shape::Stems) {
                    view! { <i class="swatch" data-series=tone></i> }.into_any()
                } else {
                    view! {
                        <svg width="14" height="8" aria-hidden="true">
                            <path class="chart__line" data-series=tone data-dash=dash d="M0 4h14"/>
                        </svg>
                    }
                    .into_any()
                };
                view! { <span class="key">{sign}{name}</span> }
            })
            .collect_any()
            .into_any()
    })
}

#[component]
fn SmallChart(
    plan: SmallPlan,
    plot: Memo<SmallPlot>,
    steps: Memo<(u32, u32)>,
    pointer: Pointer,
    chart: NodeRef<svg::Svg>,
) -> impl IntoView {
    let holder = NodeRef::<html::Div>::new();
    let width = measured(holder, 280.0);
    let layout = Memo::new(move || {
        let frame = small_frame(width.get().max(160.0));
        let shown = steps.get();
        let y_ticks = plot.with(|plot| plot.within(Some(shown)).ticks(2));
        let y = frame.y((y_ticks[0], y_ticks.last().copied().unwrap_or(1.0)));
        let x = frame.x((f64::from(shown.0), f64::from(shown.1)));
        AxesPlan { frame, x, y, y_ticks, steps: shown, wanted_steps: 4, unit: plan.unit }
    });
    let ground = Memo::new(move || {
        layout.with(|layout| Ground {
            frame: layout.frame,
            x: layout.x,
            steps: plot.with(|plot| plot.within(Some(layout.steps)).steps),
        })
    });
    let view_box =
        move || layout.with(|layout| format!("0 0 {} {}", layout.frame.width, layout.frame.height));
    view! {
        <div node_ref=holder>
            <svg class="chart" viewBox=move || view_box() role="img" aria-label=format!("{} by step", plan.title) node_ref=chart>
                {move || layout.with(axes)}
                {move || layout.with(|layout| plot.with(|plot| series_layer(&plot.within(Some(layout.steps)), layout)))}
                {cross_line(pointer, ground)}
                {move || layout.with(|layout| plot.with(|plot| dots_layer(plot, layout, pointer.cross.get()?)))}
                {brush_area(pointer, ground)}
                {hit_area(pointer, ground)}
            </svg>
        </div>
    }
}

fn series_layer(plot: &SmallPlot, layout: &AxesPlan) -> AnyView {
    let paths = plot.series.iter().enumerate().map(|(at, series)| {
        let is_solid = matches!(series.shape, Shape::Bars | Shape::Stems);
        let class = if is_solid { "chart__bar" } else { "chart__line" };
        view! { <path class=class data-series=series.tone data-dash=series.dash d=plot.path(at, &layout.x, &layout.y)/> }
    });
    let limit = plot.limit.as_ref().map(|limit| {
        let y = layout.y.at(limit.value);
        let end = layout.frame.end();
        view! {
            <path class="chart__limit" d=format!("M{} {y}H{end}", layout.frame.left)/>
            <text x=end y=y - 5.0 text-anchor="end">{limit.name.clone()}</text>
        }
    });
    view! { <g>{paths.collect_any()}{limit}</g> }.into_any()
}

/// A dot where the cross-line meets each line.
fn dots_layer(plot: &SmallPlot, layout: &AxesPlan, step: u32) -> Option<AnyView> {
    if !(layout.steps.0..=layout.steps.1).contains(&step) {
        return None;
    }
    let dots = plot.series.iter().enumerate().filter_map(|(at, series)| {
        let value = plot
            .value_at(at, step)
            .filter(|_| matches!(series.shape, Shape::Line | Shape::Steps))?;
        let (x, y) = (layout.x.at(f64::from(step)), layout.y.at(value));
        Some(view! { <circle class="chart__dot" data-series=series.tone cx=x cy=y r="3"/> })
    });
    Some(view! { <g>{dots.collect_any()}</g> }.into_any())
}

#[component]
pub(super) fn Numbers(title: &'static str, table: Memo<super::csv::Table>) -> impl IntoView {
    view! {
        <div class="chart-table" tabindex="0" role="region" aria-label=format!("{title} as a table")>
            <table class="table">
                {move || table.with(|table| {
                    let head = table.head.iter().map(|name| view! { <th scope="col" data-num>{name.clone()}</th> }).collect_any();
                    let rows = table.rows.iter().rev().take(500).map(|cells| {
                        let cells = cells.iter().map(|cell| view! { <td data-num>{cell.clone()}</td> }).collect_any();
                        view! { <tr>{cells}</tr> }
                    });
                    view! { <thead><tr>{head}</tr></thead><tbody>{rows.collect_any()}</tbody> }.into_any()
                })}
            </table>
        </div>
    }
}

/// First and last step to draw.
pub(crate) fn shown_steps(zoom: Option<(u32, u32)>, total: u32, last: u32) -> (u32, u32) {
    zoom.unwrap_or((0, total.max(last).max(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_axis_runs_to_the_planned_end_unless_zoomed() {
        assert_eq!(shown_steps(None, 24, 3), (0, 24));
        assert_eq!(shown_steps(Some((3, 9)), 24, 12), (3, 9));
    }
}
