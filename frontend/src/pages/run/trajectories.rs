//! The Trajectories tab: a list with filters at the left, one trajectory at the right. All choices are in the URL.

use super::query::{QueryValue, query_value};
use super::state::RunState;
use super::tab::RunTab;
use super::task_words::{purpose_label, skill_name};
use super::trajectory_detail::TrajectoryDetail;
use super::trajectory_filters::{FilterBar, Filters};
use crate::api::{self, ApiError};
use crate::components::dynamic::{Item, dynamic, each};
use crate::components::handler::handler;
use crate::components::icon::Icon;
use crate::components::in_view::keep_in_view;
use crate::components::states::{Empty, ErrorCallout, SkeletonRows};
use crate::components::status::Status;
use crate::fmt;
use crate::state::effect::effect;
use crate::state::keys::{KeyUse, on_single_key};
use crate::state::load::Load;
use crate::state::memo::Memo;
use crate::state::signal::RwSignal;
use leptos::prelude::*;
use leptos::task::spawn_local;
use skillopt_domain::api::{TrajectoryPage, TrajectoryQuery, TrajectoryRow};
use skillopt_domain::outcome::{Outcome, OutcomeCounts};

/// All trajectories of a task on the selection split: with the skill before and after.
pub(super) fn task_href(run: RunState, task: &str) -> String {
    purpose_href(run, "selection", None, Some(task))
}

/// Trajectories of a purpose, of one step or one task where it is named.
pub(super) fn purpose_href(
    run: RunState,
    purpose: &str,
    step: Option<u32>,
    task: Option<&str>,
) -> String {
    let step = step.map_or_else(String::new, |step| format!("&step={step}"));
    let task = task.map_or_else(String::new, |task| {
        format!("&task={}", String::from(js_sys::encode_uri_component(task)))
    });
    format!("{}?purpose={purpose}{step}{task}", run.href(RunTab::Trajectories))
}

/// The rows that are loaded, page after page.
#[derive(Clone, Copy)]
struct Rows {
    rows: RwSignal<Vec<TrajectoryRow>>,
    next: RwSignal<Option<String>>,
    failure: RwSignal<Option<ApiError>>,
    is_loading: RwSignal<bool>,
}

#[component]
pub(super) fn TrajectoriesTab(run: RunState) -> impl IntoView {
    let filters = Filters::new();
    let query = Memo::new(move || filters.query());
    let first = Load::new(move || {
        let (id, query) = (run.id(), query.get());
        async move { api::trajectories(&id, &query).await }
    });
    let rows = Rows {
        rows: RwSignal::new(Vec::new()),
        next: RwSignal::new(None),
        failure: RwSignal::new(None),
        is_loading: RwSignal::new(false),
    };
    let counts = Memo::new(move || {
        first.get().and_then(Result::ok).map(|page| (page.counts, page.page.total))
    });
    effect(move || {
        if let Some(Ok(page)) = first.get() {
            rows.rows.set(page.page.items.clone());
            rows.next.set(page.page.next.clone());
        }
    });
    let picked = query_value::<u64>("id");
    keep_in_view(move || picked.get(), ".trajectories tr[data-cursor]");
    on_single_key(move |key| {
        let by = match key {
            "j" | "ArrowDown" => 1,
            "k" | "ArrowUp" => -1,
            _ => return KeyUse::Ignored,
        };
        let next = rows.rows.with_untracked(|rows| neighbour(rows, picked.get_untracked(), by));
        if next.is_some() {
            picked.set(next);
        }
        KeyUse::Used
    });
    view! {
        <Lede counts/>
        <FilterBar filters counts/>
        <Newer run first/>
        <div class=move || if picked.get().is_some() { "split trajectories" } else { "trajectories" } data-width="detail">
            <div>{move || list_view(run, first, rows, filters, picked, counts)}</div>
            {move || picked.get().map(|number| view! {
                <div class="split__side"><TrajectoryDetail run number rows=rows.rows picked/></div>
            }
            .into_any())}
        </div>
    }
}

/// A list that one reads does not move by itself: new trajectories are announced, and come when asked for.
#[component]
fn Newer(run: RunState, first: Load<TrajectoryPage>) -> impl IntoView {
    let n_steps = Memo::new(move || run.view.with(|view| view.n_steps));
    let seen = RwSignal::new(n_steps.get_untracked());
    let load = move |_| {
        seen.set(n_steps.get_untracked());
        first.again();
    };
    dynamic(move || {
        let new = n_steps.get().saturating_sub(seen.get());
        (new > 0).then(|| {
            let words = format!("{} finished since", fmt::plural(u64::from(new), "step has", "steps have"));
            view! {
                <p class="row small second">
                    {words}
                    <button class="button" data-size="sm" type="button" on:click=handler(load)><Icon name="refresh"/>"Load them"</button>
                </p>
            }
        })
        .into_any()
    })
}

/// The row `by` places away; the first one when none is chosen.
fn neighbour(rows: &[TrajectoryRow], now: Option<u64>, by: i64) -> Option<u64> {
    let at = now.and_then(|now| rows.iter().position(|row| row.id == now));
    let next = match at {
        None => 0,
        Some(at) => usize::try_from(i64::try_from(at).ok()? + by).ok()?,
    };
    rows.get(next).map(|row| row.id)
}

#[component]
fn Lede(counts: Memo<Option<(OutcomeCounts, u64)>>) -> impl IntoView {
    dynamic(move || {
        counts.get().filter(|(counts, _)| counts.total() > 0).map(|(counts, _)| {
            let unscored = counts.refused + counts.errors;
            let all = fmt::plural(u64::from(counts.total()), "trajectory", "trajectories");
            view! {
                <p class="lede">
                    <b>{format!("{all}: {} passed, {} failed, {unscored} not scored.", counts.passed, counts.failed)}</b>
                    " "
                    <span>{format!("{} ended in errors, which are never scored.", fmt::percent(counts.errors, counts.total()))}</span>
                </p>
            }
        })
        .into_any()
    })
}

fn list_view(
    run: RunState,
    first: Load<TrajectoryPage>,
    rows: Rows,
    filters: Filters,
    picked: QueryValue<u64>,
    counts: Memo<Option<(OutcomeCounts, u64)>>,
) -> AnyView {
    match first.get() {
        None => view! { <div class="panel"><SkeletonRows rows=14/></div> }.into_any(),
        Some(Err(error)) => view! {
            <ErrorCallout what="The trajectories could not be loaded." error on_retry=Callback::new(move |()| first.again())/>
        }
        .into_any(),
        Some(Ok(page)) if page.page.items.is_empty() => nothing(filters).into_any(),
        Some(Ok(_)) => view! { <List run rows query=Memo::new(move || filters.query()) picked counts/> }.into_any(),
    }
}

fn nothing(filters: Filters) -> impl IntoView {
    if filters.is_set() {
        view! {
            <Empty title="No trajectory matches" text="Take a filter away to see more.">
                <button class="button" type="button" on:click=handler(move |_| filters.clear())>"Clear filters"</button>
            </Empty>
        }
        .into_any()
    } else {
        view! { <Empty title="No trajectories yet" text="They appear here as soon as the first tasks have been tried."/> }.into_any()
    }
}

#[component]
fn List(
    run: RunState,
    rows: Rows,
    query: Memo<TrajectoryQuery>,
    picked: QueryValue<u64>,
    counts: Memo<Option<(OutcomeCounts, u64)>>,
) -> impl IntoView {
    let more = move |_| load_more(run, rows, query.get_untracked());
    let total = move || counts.get().map_or(0, |(_, total)| total);
    let shown = move || u64::try_from(rows.rows.with(Vec::len)).unwrap_or(0);
    view! {
        <div class="panel">
            <div class="scroll-x" tabindex="0" role="region" aria-label="Trajectories">
                <table class="table">
                    <thead><tr>
                        <th scope="col">"Task"</th>
                        <th scope="col">"Outcome"</th>
                        <th scope="col" class="hide-narrow">"Skill"</th>
                        <th scope="col" class="hide-narrow">"Split"</th>
                        <th scope="col" data-num class="hide-narrow">"Step"</th>
                        <th scope="col" class="hide-narrow">"Ledger"</th>
                    </tr></thead>
                    <tbody>
                        {each(move || rows.rows.with(|rows| rows.iter().map(|row| row_item(run, row, picked)).collect()))}
                    </tbody>
                </table>
            </div>
            {move || rows.failure.get().map(|error| view! { <ErrorCallout what="More could not be loaded." error/> }.into_any())}
            <div class="panel__foot">
                <span>{move || format!("{} of {}", fmt::count(shown()), fmt::count(total()))}</span>
                <span class="hide-narrow"><kbd>"j"</kbd>" "<kbd>"k"</kbd>" move"</span>
                {move || rows.next.get().map(|_| view! {
                    <span class="end">
                        <button class="link" type="button" disabled=move || rows.is_loading.get() on:click=handler(more)>"Load more"</button>
                    </span>
                }
                .into_any())}
            </div>
        </div>
    }
}

fn load_more(run: RunState, rows: Rows, query: TrajectoryQuery) {
    let query = TrajectoryQuery { cursor: rows.next.get_untracked(), ..query };
    rows.is_loading.set(true);
    rows.failure.set(None);
    spawn_local(async move {
        match api::trajectories(&run.id(), &query).await {
            Ok(page) => {
                let _ = rows.rows.try_update(|rows| rows.extend(page.page.items));
                rows.next.set(page.page.next);
            }
            Err(error) => rows.failure.set(Some(error)),
        }
        rows.is_loading.set(false);
    });
}

fn row_item(run: RunState, row: &TrajectoryRow, picked: QueryValue<u64>) -> Item {
    let row = row.clone();
    Item::new(row.id.to_string(), move || list_row(run, &row, picked).into_any())
}

fn list_row(run: RunState, row: &TrajectoryRow, picked: QueryValue<u64>) -> impl IntoView + use<> {
    let id = row.id;
    let is_picked = move || picked.get() == Some(id);
    let is_truncated = matches!(row.outcome.outcome, Outcome::Scored { truncated: true, .. });
    let ledger = if row.outcome.cached {
        view! { <span class="status"><Icon name="history"/>"reused"</span> }.into_any()
    } else if row.outcome.call.is_some() {
        "called".into_any()
    } else {
        view! { <span class="table__dim">{fmt::MISSING}</span> }.into_any()
    };
    let version = run.version_of(&row.skill);
    let skill = skill_name(version, row.step);
    let skill_title = version.map_or_else(
        || format!("candidate of step {}, not kept", row.step),
        |version| format!("version {version} of the skill"),
    );
    let title = row.outcome.title.clone();
    let hover = title.clone();
    let step = if row.step == 0 { fmt::MISSING.to_owned() } else { row.step.to_string() };
    view! {
        <tr aria-selected=move || is_picked().to_string() data-cursor=move || is_picked().then_some("")>
            <td>
                <button class="traj" type="button" title=hover on:click=handler(move |_| picked.set(Some(id)))>
                    <span class="mono muted">{row.outcome.task.to_string()}</span>
                    <span class="truncate">{title}</span>
                </button>
            </td>
            <td>
                <Status look=row.outcome.outcome.kind()/>
                {is_truncated.then(|| view! { " "<span class="badge" data-tone="warn">"truncated"</span> }.into_any())}
            </td>
            <td class="second hide-narrow" title=skill_title>{skill}</td>
            <td class="second hide-narrow">{purpose_label(row.purpose)}</td>
            <td data-num class="second hide-narrow">{step}</td>
            <td class="second hide-narrow">{ledger}</td>
        </tr>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_rows_there_is_no_neighbour() {
        assert_eq!(neighbour(&[], None, 1), None);
    }
}
