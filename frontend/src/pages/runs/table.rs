//! The table: draws the rows that can be seen, loads more when they run out, follows the stream and the keys.

use super::query::{ListQuery, Order, SortKey};
use super::rows::{ROW_PX, Row, Rows, Scroll, height_px};
use crate::api;
use crate::components::copy_button::Command;
use crate::components::icon::Icon;
use crate::components::numbers::{Delta, Score};
use crate::components::run_cells::{RunName, RunState, best_so_far, run_href, spend_words};
use crate::components::spark::Spark;
use crate::components::states::{Empty, ErrorCallout};
use crate::components::when::When;
use crate::fmt;
use crate::live::runs::use_runs_live;
use crate::state::keys::{KeyUse, on_single_key};
use leptos::either::Either;
use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos::{ev, html};
use leptos_router::NavigateOptions;
use leptos_router::hooks::use_navigate;
use skillopt_domain::api::{Page, RunSummary};
use skillopt_domain::score::MeanScore;

/// The head of a column.
#[derive(Clone, Copy)]
struct Column {
    label: &'static str,
    /// By what a click sorts.
    sort: Option<SortKey>,
    holds: Holds,
    /// On a phone only what decides is left.
    class: Option<&'static str>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    Words,
    Numbers,
}

const fn words(label: &'static str, sort: Option<SortKey>) -> Column {
    Column { label, sort, holds: Holds::Words, class: None }
}

const fn numbers(label: &'static str, sort: Option<SortKey>) -> Column {
    Column { label, sort, holds: Holds::Numbers, class: None }
}

const fn wide(mut column: Column) -> Column {
    column.class = Some("hide-narrow");
    column
}

const COLUMNS: [Column; 13] = [
    words("Run", Some(SortKey::Name)),
    words("Status", Some(SortKey::Status)),
    wide(numbers("Start", None)),
    numbers("Best", Some(SortKey::Best)),
    numbers("Change", None),
    numbers("n", None),
    words("Best so far", None),
    wide(numbers("Test", None)),
    numbers("Steps", Some(SortKey::Steps)),
    wide(numbers("Accepted", None)),
    wide(numbers("Rejected", None)),
    numbers("Spend", Some(SortKey::Cost)),
    numbers("Created", Some(SortKey::Created)),
];

#[component]
pub(super) fn RunTable(
    query: ListQuery,
    page: Page<RunSummary>,
    /// Told how many runs match.
    total: RwSignal<Option<u64>>,
    on_query: Callback<ListQuery>,
) -> impl IntoView {
    if page.items.is_empty() {
        total.set(Some(page.total));
        return Either::Left(view! { <NoRuns query=query on_query=on_query/> });
    }
    let rows = RwSignal::new(Rows::of(page));
    Effect::new(move || total.set(Some(rows.with(|rows| rows.total))));
    let live = use_runs_live();
    let followed = query.clone();
    live.on_run(move |run| rows.update(|rows| rows.put(run, &followed)));
    catch_up(query.clone(), rows, Signal::derive(move || live.back()));
    Either::Right(view! { <Window query=query rows=rows on_query=on_query/> })
}

/// After a break of the stream: what changed meanwhile comes into the rows where they stand, so that nobody loses
/// their place.
fn catch_up(query: ListQuery, rows: RwSignal<Rows>, back: Signal<u32>) {
    Effect::new(move |before: Option<u32>| {
        let now = back.get();
        if before.is_some_and(|before| before != now) {
            let query = query.clone();
            spawn_local(async move {
                // When this fails the badge tells it: the stream breaks as well.
                if let Ok(page) = api::runs(&query.first_page()).await {
                    let _ = rows.try_update(|rows| rows.catch_up(&page, &query));
                }
            });
        }
        now
    });
}

#[component]
fn Window(query: ListQuery, rows: RwSignal<Rows>, on_query: Callback<ListQuery>) -> impl IntoView {
    let scroll = RwSignal::new(Scroll { top: 0.0, height: 900.0 });
    let window = Memo::new(move |_| rows.with(|rows| rows.window(scroll.get())));
    let more = load_more(query.clone(), rows, window);
    let cursor = RwSignal::new(None::<usize>);
    let frame = NodeRef::<html::Div>::new();
    move_by_keys(rows, cursor, frame);
    let measure = move || {
        if let Some(frame) = frame.try_get_untracked().flatten() {
            scroll.set(Scroll {
                top: f64::from(frame.scroll_top()),
                height: f64::from(frame.client_height()),
            });
        }
    };
    Effect::new(move || {
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
            rows.all[window]
                .iter()
                .cloned()
                .enumerate()
                .map(|(at, row)| (first + at, row))
                .collect::<Vec<_>>()
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
                on:scroll=move |_| measure()
            >
                <table class="table" aria-rowcount=move || rows.with(|rows| rows.total.to_string())>
                    <Head query=query on_query=on_query/>
                    <tbody>
                        <Pad rows=Signal::derive(move || window.get().start)/>
                        <For
                            each=drawn
                            key=|(at, row)| (*at, row.run.id.clone(), row.change)
                            children=move |(at, row)| view! { <RunRow at=at row=row cursor=cursor/> }
                        />
                        <Pad rows=Signal::derive(below)/>
                    </tbody>
                </table>
            </div>
            {move || more.failed.get().map(|error| view! {
                <ErrorCallout
                    what="The next rows could not be loaded."
                    error=error
                    on_retry=Callback::new(move |()| more.failed.set(None))
                />
            })}
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
    Effect::new(move || {
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
                    let _ = failed.try_set(Some(error));
                }
            }
        });
    });
    More { failed }
}

fn move_by_keys(rows: RwSignal<Rows>, cursor: RwSignal<Option<usize>>, frame: NodeRef<html::Div>) {
    let navigate = use_navigate();
    on_single_key(move |key| {
        let last = rows.with_untracked(|rows| rows.all.len()).saturating_sub(1);
        let at = cursor.get_untracked();
        match (key, at) {
            ("j", at) => cursor.set(Some(at.map_or(0, |at| (at + 1).min(last)))),
            ("k", at) => cursor.set(Some(at.map_or(0, |at| at.saturating_sub(1)))),
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

#[component]
fn Head(query: ListQuery, on_query: Callback<ListQuery>) -> impl IntoView {
    let cell = |Column { label, sort: key, holds, class }: Column| {
        let sorted = key.filter(|key| *key == query.sort).map(|_| query.order);
        let icon = match sorted.map(Order::as_aria) {
            Some("ascending") => "sortu",
            Some(_) => "sortd",
            None => "sort",
        };
        let next = key.map(|key| query.sorted_by(key));
        view! {
            <th
                scope="col"
                class=class
                data-num=(holds == Holds::Numbers).then_some("")
                aria-sort=sorted.map(Order::as_aria)
            >
                {match next {
                    Some(next) => Either::Left(view! {
                        <button class="table__sort" type="button" on:click=move |_| on_query.run(next.clone())>
                            {label}
                            <Icon name=icon/>
                        </button>
                    }),
                    None => Either::Right(label),
                }}
            </th>
        }
    };
    view! { <thead><tr>{COLUMNS.map(cell).into_iter().collect_view()}</tr></thead> }
}

/// Keeps the height of rows that are not drawn.
#[component]
fn Pad(rows: Signal<usize>) -> impl IntoView {
    view! {
        <tr class="virtual__pad" aria-hidden="true" hidden=move || rows.get() == 0>
            <td colspan=COLUMNS.len().to_string() style:height=move || height_px(rows.get())></td>
        </tr>
    }
}

#[component]
fn RunRow(at: usize, row: Row, cursor: RwSignal<Option<usize>>) -> impl IntoView {
    let run = row.run;
    let curve = best_so_far(&run);
    let is_cursor = move || (cursor.get() == Some(at)).then_some("");
    let steps = match run.total_steps {
        Some(total) => format!("{} of {total}", run.n_steps),
        None => run.n_steps.to_string(),
    };
    view! {
        <tr data-cursor=is_cursor aria-rowindex=(at + 1).to_string()>
            <td><RunName run=&run/></td>
            <td><RunState run=&run/></td>
            <td data-num class="hide-narrow"><Score value=run.baseline_score/></td>
            <td data-num class="medium"><Score value=run.best_score/></td>
            <td data-num><Delta before=run.baseline_score after=run.best_score/></td>
            <td data-num class="second">{run.n_selection.map_or(fmt::MISSING.to_owned(), |n| fmt::count(n.into()))}</td>
            <td><Spark values=&curve/></td>
            <td data-num class="second hide-narrow" title=test_title(run.test_best)>{test_words(run.test_initial, run.test_best)}</td>
            <td data-num class="second">{steps}</td>
            <td data-num class="second hide-narrow">{run.n_accepted}</td>
            <td data-num class="second hide-narrow">{run.n_rejected}</td>
            <td data-num>{spend_words(&run)}</td>
            <td data-num class="table__dim"><When at_ms=run.created_at_ms/></td>
        </tr>
    }
}

fn test_words(initial: Option<MeanScore>, best: Option<MeanScore>) -> String {
    match (initial, best) {
        (_, None) => fmt::MISSING.to_owned(),
        (None, Some(best)) => fmt::score(Some(best.hard)),
        (Some(initial), Some(best)) => {
            format!("{} → {}", fmt::score(Some(initial.hard)), fmt::score(Some(best.hard)))
        }
    }
}

fn test_title(best: Option<MeanScore>) -> Option<String> {
    best.map(|best| {
        format!("Test split, hard score, initial to best skill, {}", fmt::n(Some(best.n)))
    })
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
            <span>{words}</span>
            <span class="hide-narrow">
                <kbd>"j"</kbd> " " <kbd>"k"</kbd> " move, " <kbd>"Enter"</kbd> " open, " <kbd>"/"</kbd> " filter"
            </span>
            <span class="end hide-narrow">"Missing is “—”, never 0"</span>
        </div>
    }
}

#[component]
fn NoRuns(query: ListQuery, on_query: Callback<ListQuery>) -> impl IntoView {
    if query.is_filtered() {
        let all = ListQuery { status: None, text: String::new(), ..query };
        return Either::Left(view! {
            <Empty title="No run fits" text="Nothing has this state, name, model or benchmark.">
                <button class="button" type="button" on:click=move |_| on_query.run(all.clone())>
                    <Icon name="x"/>
                    "Clear the filters"
                </button>
            </Empty>
        });
    }
    Either::Right(view! {
        <Empty title="No runs yet" text="Runs that you start here or with the command line appear in this table at once.">
            <a class="button" data-variant="primary" href="/"><Icon name="play"/>"Try the sample run"</a>
            <Command text="skillopt train --config configs/searchqa/sample.yaml"/>
        </Empty>
    })
}

/// The head of the real table over rows of the same height, so that nothing jumps.
#[component]
pub(super) fn TableSkeleton() -> impl IntoView {
    const ROWS: usize = 18;
    let cell = |Column { holds, class, .. }: Column| {
        let (width, align) = match holds {
            Holds::Numbers => ("xs", Some("end")),
            Holds::Words => ("sm", None),
        };
        view! { <td class=class><span class="skeleton" data-width=width data-align=align></span></td> }
    };
    let row = |_| view! { <tr>{COLUMNS.map(cell).into_iter().collect_view()}</tr> };
    let head = |Column { label, holds, class, .. }: Column| {
        view! { <th scope="col" class=class data-num=(holds == Holds::Numbers).then_some("")>{label}</th> }
    };
    view! {
        <div class="panel" aria-busy="true">
            <div class="virtual">
                <table class="table">
                    <thead><tr>{COLUMNS.map(head).into_iter().collect_view()}</tr></thead>
                    <tbody>{(0..ROWS).map(row).collect_view()}</tbody>
                </table>
            </div>
        </div>
        <span class="visually-hidden" role="status">"Loading runs"</span>
    }
}
