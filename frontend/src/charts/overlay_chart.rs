//! The best score of several runs as one chart: keys, axis to choose, cross-line with all values, table and export.

use super::export_menu::{ExportMenu, Exports};
use super::overlay::{Over, Overlay, overlay_frame, place_words};
use super::pointer::{Ground, Pointer, brush_area, cross_line, hit_area};
use super::readout::place;
use super::scale::{Frame, Scale, step_ticks, tick_label};
use super::width::measured;
use crate::components::dynamic::{CollectAny, dynamic, when};
use crate::components::handler::handler;
use crate::fmt;
use crate::state::memo::Memo;
use crate::state::signal::RwSignal;
use leptos::prelude::*;
use leptos::{html, svg};

/// Places between two labels of the x axis, in pixels.
const LABEL_PX: f64 = 90.0;
/// Values that the read-out lists at most.
const MAX_VALUES: usize = 20;

#[component]
pub(crate) fn OverlayChart(
    overlay: Memo<Overlay>,
    over: Memo<Over>,
    on_over: Callback<Over>,
    /// Said beside the title, such as the metric.
    note: String,
) -> impl IntoView {
    let chart = NodeRef::<svg::Svg>::new();
    let as_table = RwSignal::new(false);
    let table = Memo::new(move || overlay.with(|overlay| overlay.table(over.get())));
    let exports = Exports { name: StoredValue::new("compare-best".to_owned()), chart, table };
    let zoom = RwSignal::new(None::<(u32, u32)>);
    let pointer = Pointer {
        cross: RwSignal::new(None),
        brush: RwSignal::new(None),
        on_zoom: Callback::new(move |range| zoom.set(range)),
    };
    let button = move |one: Over| {
        let choose = move |_| {
            zoom.set(None);
            pointer.cross.set(None);
            on_over.run(one);
        };
        view! {
            <button type="button" aria-pressed=move || (over.get() == one).to_string() on:click=handler(choose)>
                {fmt::capital(one.word())}
            </button>
        }
    };
    view! {
        <div class="panel__head">
            <h3 id="overlay-title">"Best score"</h3>
            <span>{note}</span>
            <div class="section__end">
                <div class="segmented" role="group" aria-label="X axis">{Over::ALL.map(button).into_iter().collect_any()}</div>
                <ExportMenu exports as_table/>
            </div>
        </div>
        <div class="panel__body"><Keys overlay over/></div>
        {when(
            move || as_table.get(),
            move || view! { <Numbers table/> }.into_any(),
            move || view! { <Plot overlay over zoom pointer chart/> }.into_any(),
        )}
    }
}

#[component]
fn Keys(overlay: Memo<Overlay>, over: Memo<Over>) -> impl IntoView {
    dynamic(move || {
        overlay.with(|overlay| {
            let keys = overlay.lines.iter().map(|line| {
                view! {
                    <span class="key">
                        {stroke_key(line.tone, line.dash)}
                        {line.name.clone()} " " {fmt::score(line.last().map(|(_, value)| value))}
                    </span>
                }
            });
            let left_out = (!overlay.left_out.is_empty()).then(|| {
                let what = match over.get() {
                    Over::Spend => "what they cost is not known",
                    Over::Tokens => "their tokens are not known",
                    Over::Calls => "their calls are not known",
                    Over::Steps => "they have no step yet",
                };
                view! { <p class="small muted">{format!("Not drawn, because {what}: {}.", overlay.left_out.join(", "))}</p> }.into_any()
            });
            view! { <div class="row" data-gap="wide">{keys.collect_any()}</div>{left_out} }.into_any()
        })
    })
}

/// The line of a run, in small.
pub(crate) fn stroke_key(tone: &'static str, dash: &'static str) -> AnyView {
    view! {
        <svg width="18" height="8" aria-hidden="true">
            <path class="chart__line" data-series=tone data-dash=dash d="M0 4h18"/>
        </svg>
    }
    .into_any()
}

/// Scales and ticks of the plot.
#[derive(Clone, Debug, PartialEq)]
struct Layout {
    frame: Frame,
    x: Scale,
    y: Scale,
    y_ticks: Vec<f64>,
    shown: (u32, u32),
}

#[component]
fn Plot(
    overlay: Memo<Overlay>,
    over: Memo<Over>,
    zoom: RwSignal<Option<(u32, u32)>>,
    pointer: Pointer,
    chart: NodeRef<svg::Svg>,
) -> impl IntoView {
    let holder = NodeRef::<html::Div>::new();
    let width = measured(holder, 960.0);
    let layout = Memo::new(move || {
        let frame = overlay_frame((width.get() - 24.0).max(240.0));
        let (end, y_ticks) = overlay.with(|overlay| (overlay.end(), overlay.y_ticks()));
        let shown = zoom.get().unwrap_or((0, end));
        let y = frame.y((y_ticks[0], y_ticks.last().copied().unwrap_or(1.0)));
        let x = frame.x((f64::from(shown.0), f64::from(shown.1)));
        Layout { frame, x, y, y_ticks, shown }
    });
    let ground = Memo::new(move || {
        layout.with(|layout| {
            let (from, to) = layout.shown;
            let places = overlay.with(Overlay::places);
            let steps = places.into_iter().filter(|place| (from..=to).contains(place)).collect();
            Ground { frame: layout.frame, x: layout.x, steps }
        })
    });
    let on_key = move |event: web_sys::KeyboardEvent| {
        if ground.with_untracked(|ground| pointer.on_key(&event.key(), ground)) {
            event.prevent_default();
        }
    };
    let view_box =
        move || layout.with(|layout| format!("0 0 {} {}", layout.frame.width, layout.frame.height));
    view! {
        <div
            class="chart-box" node_ref=holder tabindex="0" role="group" on:keydown=handler(on_key)
            aria-label="Best score of each run. Arrow keys read the values, drag zooms, a double click shows all."
        >
            <svg class="chart" viewBox=move || view_box() role="img" aria-label=move || overlay.with(summary) node_ref=chart>
                {move || layout.with(|layout| axes(layout, over.get()))}
                {move || layout.with(|layout| overlay.with(|overlay| lines(overlay, layout)))}
                {cross_line(pointer, ground)}
                {brush_area(pointer, ground)}
                {hit_area(pointer, ground)}
            </svg>
            {move || zoom.get().map(|_| view! {
                <p class="row small muted"><button class="link" type="button" on:click=handler(move |_| zoom.set(None))>"Show all"</button></p>
            }
            .into_any())}
            {move || {
                let at = pointer.cross.get()?;
                Some(layout.with(|layout| overlay.with(|overlay| readout_box(overlay, layout, over.get(), at))))
            }}
        </div>
    }
}

fn axes(layout: &Layout, over: Over) -> AnyView {
    let Frame { left, .. } = layout.frame;
    let (floor, end) = (layout.frame.floor(), layout.frame.end());
    let distance = layout.y_ticks.windows(2).next().map_or(1.0, |pair| pair[1] - pair[0]);
    let grid = layout.y_ticks.iter().enumerate().map(|(at, value)| {
        let y = layout.y.at(*value).floor() + 0.5;
        let class = if at == 0 { "chart__axis" } else { "chart__grid" };
        view! {
            <path class=class d=format!("M{left} {y}H{end}")/>
            <text x=left - 6.0 y=y + 3.5 text-anchor="end">{tick_label(*value, distance)}</text>
        }
    });
    let wanted = super::scale::to_count((end - left) / LABEL_PX).max(2);
    let labels = step_ticks(layout.shown.0, layout.shown.1, wanted).into_iter().map(|at| {
        let x = layout.x.at(f64::from(at));
        let tick = x.floor() + 0.5;
        view! {
            <path class="chart__axis" d=format!("M{tick} {floor}v4")/>
            <text x=x y=floor + 16.0 text-anchor="middle">{place_words(over, at)}</text>
        }
    });
    let unit = match over {
        Over::Steps => "step",
        Over::Calls => "calls of the steps, recorded ones included",
        Over::Tokens => "tokens of the steps",
        Over::Spend => "spent in the steps",
    };
    view! {
        <g>
            {grid.collect_any()}{labels.collect_any()}
            <text x=end y=floor + 30.0 text-anchor="end">{unit}</text>
        </g>
    }
    .into_any()
}

fn lines(overlay: &Overlay, layout: &Layout) -> AnyView {
    let all = overlay.lines.iter().map(|line| {
        let end = line.last().filter(|(at, _)| (layout.shown.0..=layout.shown.1).contains(at));
        let dot = end.map(|(at, value)| {
            let (x, y) = (layout.x.at(f64::from(at)), layout.y.at(value));
            view! { <circle class="chart__dot" data-series=line.tone cx=x cy=y r="3"/> }.into_any()
        });
        view! { <path class="chart__line" data-series=line.tone data-dash=line.dash d=line.path(&layout.x, &layout.y)/>{dot} }
    });
    // What a zoom leaves outside is cut off; the dots at the ends are not.
    let (left, width) = (layout.frame.left - 4.0, layout.frame.end() - layout.frame.left + 8.0);
    let height = layout.frame.height;
    view! {
        <svg x=left y="0" width=width height=height viewBox=format!("{left} 0 {width} {height}")>
            {all.collect_any()}
        </svg>
    }
    .into_any()
}

fn readout_box(overlay: &Overlay, layout: &Layout, over: Over, at: u32) -> AnyView {
    let left = place(layout.x.at(f64::from(at)) + 12.0, layout.frame.width + 12.0);
    let title = match over {
        Over::Steps if at == 0 => "Start".to_owned(),
        Over::Steps => format!("Step {at}"),
        Over::Calls | Over::Tokens | Over::Spend => {
            format!("{} {}", place_words(over, at), over.word())
        }
    };
    let rows = overlay.lines.iter().take(MAX_VALUES).map(|line| {
        view! {
            <dt>{stroke_key(line.tone, line.dash)}</dt>
            <dt>{line.name.clone()}</dt>
            <dd>{fmt::score(line.at(at))}</dd>
        }
    });
    view! {
        <div class="readout" role="status" style:left=format!("{left}px") style:top="24px">
            <div class="readout__title"><span>{title}</span></div>
            <dl>{rows.collect_any()}</dl>
        </div>
    }
    .into_any()
}

#[component]
fn Numbers(table: Memo<super::csv::Table>) -> impl IntoView {
    view! {
        <div class="chart-table" tabindex="0" role="region" aria-label="Best score as a table">
            <table class="table">
                {move || table.with(|table| {
                    let head = table.head.iter().map(|name| view! { <th scope="col" data-num>{name.clone()}</th> }).collect_any();
                    let rows = table.rows.iter().take(500).map(|cells| {
                        let cells = cells.iter().map(|cell| view! { <td data-num>{cell.clone()}</td> }).collect_any();
                        view! { <tr>{cells}</tr> }
                    });
                    view! { <thead><tr>{head}</tr></thead><tbody>{rows.collect_any()}</tbody> }.into_any()
                })}
            </table>
        </div>
    }
}

/// The chart in one sentence.
fn summary(overlay: &Overlay) -> String {
    let ends = overlay
        .lines
        .iter()
        .filter_map(|line| line.last().map(|(_, value)| format!("{} {value:.3}", line.name)));
    let ends: Vec<String> = ends.collect();
    if ends.is_empty() {
        return "Best score of each run. Nothing was measured yet.".to_owned();
    }
    format!("Best score of each run, at its end: {}.", ends.join(", "))
}
