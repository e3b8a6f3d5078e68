//! The table: draws the rows that can be seen, loads more when they run out, follows the stream and the keys.

use super::columns::{Head, N_COLUMNS};
use super::no_runs::NoRuns;
use super::query::ListQuery;
use super::row::RunRow;
use super::rows::{ROW_PX, Row, Rows, Scroll, height_px};
use super::selection::Selection;
use crate::api;
use crate::components::dynamic::{Item, each, when};
use crate::components::handler::handler;
use crate::components::run_cells::run_href;
use crate::components::states::ErrorCallout;
use crate::fmt;
use crate::live::runs::{RunsLive, use_runs_live};
use crate::state::effect::{effect, on_change};
use crate::state::keys::{KeyUse, on_single_key};
use crate::state::memo::Memo;
use crate::state::signal::RwSignal;
use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos::{ev, html};
use leptos_router::NavigateOptions;
use leptos_router::hooks::use_navigate;
use skillopt_domain::api::{Page, RunSummary};

#[component]
pub(super) fn RunTable(
    query: ListQuery,
    page: Page<RunSummary>,
    /// Told how many runs match.
    total: RwSignal<Option<u64>>,
    selection: Selection,
    on_query: Callback<ListQuery>,
) -> impl IntoView {
    let rows = RwSignal::new(Rows::of(page));
    effect(move || total.set(Some(rows.with(|rows| rows.total))));
    let live = use_runs_live();
    let followed = query.clone();
    live.on_run(move |run| rows.update(|rows| rows.put(run, &followed)));
    catch_up(query.clone(), rows, live);
    // The first run of all comes in by the stream, too.
    let is_empty = Memo::new(move || rows.with(|rows| rows.all.is_empty()));
    let empty = query.clone();
    when(
        move || is_empty.get(),
        move || view! { <NoRuns query=&empty on_query=on_query/> }.into_any(),
        move || {
            view! { <Window query=query.clone() rows=rows selection on_query=on_query/> }.into_any()
        },
    )
}

/// After a break of the stream: what changed meanwhile comes into the rows where they stand, so that nobody loses
/// their place.
fn catch_up(query: ListQuery, rows: RwSignal<Rows>, live: RunsLive) {
    on_change(
        move || live.back(),
        move |_| {
            let query = query.clone();
            spawn_local(async move {
                // When this fails the badge tells it: the stream breaks as well.
                if let Ok(page) = api::runs(&query.first_page()).await {
                    let _ = rows.try_update(|rows| rows.catch_up(&page, &query));
                }
            });
        },
    );
}

#[component]
fn Window(
    query: ListQuery,
    rows: RwSignal<Rows>,
    selection: Selection,
    on_query: Callback<ListQuery>,
) -> impl IntoView {
    let scroll = RwSignal::new(Scroll { top: 0.0, height: 900.0 });
    let window = Memo::new(move || rows.with(|rows| rows.window(scroll.get())));
    let more = load_more(query.clone(), rows, window);
    let cursor = RwSignal::new(None::<usize>);
    let frame = NodeRef::<html::Div>::new();
    move_by_keys(rows, cursor, selection, frame);
    let measure = move || {
        if let Some(frame) = frame.try_get_untracked().flatten() {
            scroll.set(Scroll {
                top: f64::from(frame.scroll_top()),
                height: f64::from(frame.client_height()),
            });
        }
    };
    effect(move || {
        if let Some(frame) = frame.get() {
            frame.set_scroll_top(0);
        }
        // The box has its height only after the layout.
        request_animation_frame(measure);
    });
    let resized = window_event_listener(ev::resize, move |_| measure());
    on_cleanup(move || resized.remove());
    let drawn = move || {
        let window = window.get();
        let first = window.start;
        rows.with(|rows| {
            let item = |(at, row): (usize, &Row)| {
                let (at, row) = (first + at, row.clone());
                Item::new(format!("{at} {} {}", row.run.id, row.change), move || {
                    view! { <RunRow at=at row=row cursor=cursor selection/> }.into_any()
                })
            };
            rows.all[window].iter().enumerate().map(item).collect()
        })
    };
    let below = move || rows.with(|rows| rows.all.len()) - window.get().end;
    view! {
        <div class="panel">
            <div
                class="virtual"
                tabindex="0"
                role="region"
                aria-label="Runs"
                node_ref=frame
                on:scroll=handler(move |_| measure())
            >
                <table class="table" aria-rowcount=move || rows.with(|rows| rows.total.to_string())>
                    <Head query=&query on_query=on_query/>
                    <tbody>
                        <Pad rows=Memo::new(move || window.get().start)/>
                        {each(drawn)}
                        <Pad rows=Memo::new(below)/>
                    </tbody>
                </table>
            </div>
            {move || more.failed.get().map(|error| view! {
                <ErrorCallout
                    what="The next rows could not be loaded."
                    error=error
                    on_retry=Callback::new(move |()| more.failed.set(None))
                />
            }
            .into_any())}
            <Foot rows=rows/>
        </div>
    }
}

/// Loading of further pages.
#[derive(Clone, Copy)]
struct More {
    /// The page could not be loaded; clearing this tries again.
    failed: RwSignal<Option<api::ApiError>>,
}

fn load_more(query: ListQuery, rows: RwSignal<Rows>, window: Memo<std::ops::Range<usize>>) -> More {
    let failed = RwSignal::new(None);
    let asked = StoredValue::new(None::<String>);
    effect(move || {
        let wanted = window.with(|window| rows.with(|rows| rows.wanted_page(window)));
        let Some(cursor) = wanted.filter(|_| failed.with(Option::is_none)) else { return };
        if asked.get_value().as_ref() == Some(&cursor) {
            return;
        }
        asked.set_value(Some(cursor.clone()));
        let page = query.page_after(cursor);
        spawn_local(async move {
            match api::runs(&page).await {
                // The page is gone when its signals are.
                Ok(page) => drop(rows.try_update(|rows| rows.append(page))),
                Err(error) => {
                    asked.try_set_value(None);
                    failed.set(Some(error));
                }
            }
        });
    });
    More { failed }
}

fn move_by_keys(
    rows: RwSignal<Rows>,
    cursor: RwSignal<Option<usize>>,
    selection: Selection,
    frame: NodeRef<html::Div>,
) {
    let navigate = use_navigate();
    on_single_key(move |key| {
        let last = rows.with_untracked(|rows| rows.all.len()).saturating_sub(1);
        let at = cursor.get_untracked();
        match (key, at) {
            ("j", at) => cursor.set(Some(at.map_or(0, |at| (at + 1).min(last)))),
            ("k", at) => cursor.set(Some(at.map_or(0, |at| at.saturating_sub(1)))),
            ("x", Some(at)) => {
                let id =
                    rows.with_untracked(|rows| rows.all.get(at).map(|row| row.run.id.to_string()));
                if let Some(id) = id {
                    selection.toggle(&id);
                }
                return KeyUse::Used;
            }
            ("Enter", Some(at)) => {
                let href =
                    rows.with_untracked(|rows| rows.all.get(at).map(|row| run_href(&row.run)));
                if let Some(href) = href {
                    navigate(&href, NavigateOptions::default());
                }
                return KeyUse::Used;
            }
            _ => return KeyUse::Ignored,
        }
        if let (Some(frame), Some(at)) = (frame.get_untracked(), cursor.get_untracked()) {
            keep_in_view(&frame, at);
        }
        KeyUse::Used
    });
}

/// Scrolls just so far that the row can be seen below the head.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "pixels of a scroll box"
)]
fn keep_in_view(frame: &web_sys::HtmlElement, at: usize) {
    let row = (at as f64 * ROW_PX) as i32;
    let (top, height, px) = (frame.scroll_top(), frame.client_height(), ROW_PX as i32);
    if row < top {
        frame.set_scroll_top(row);
    } else if row + 3 * px > top + height {
        frame.set_scroll_top(row + 3 * px - height);
    }
}

/// Keeps the height of rows that are not drawn.
#[component]
fn Pad(rows: Memo<usize>) -> impl IntoView {
    view! {
        <tr class="virtual__pad" aria-hidden="true" hidden=move || rows.get() == 0>
            <td colspan=N_COLUMNS.to_string() style:height=move || height_px(rows.get())></td>
        </tr>
    }
}

#[component]
fn Foot(rows: RwSignal<Rows>) -> impl IntoView {
    let words = move || {
        rows.with(|rows| {
            let loaded = u64::try_from(rows.all.len()).unwrap_or_default();
            format!(
                "{} of {}",
                fmt::count(loaded),
                fmt::plural(rows.total.max(loaded), "run", "runs")
            )
        })
    };
    view! {
        <div class="panel__foot">
            <span>{move || words()}</span>
            <span class="hide-narrow">
                <kbd>"j"</kbd> " " <kbd>"k"</kbd> " move, " <kbd>"x"</kbd> " select, " <kbd>"Enter"</kbd> " open, " <kbd>"/"</kbd> " filter"
            </span>
            <span class="end hide-narrow">"Missing is “—”, never 0"</span>
        </div>
    }
}
