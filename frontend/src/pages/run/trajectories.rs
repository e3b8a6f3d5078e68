//! The Trajectories tab: a list with filters at the left, one trajectory at the right. All choices are in the URL.

use super::query::{QueryValue, query_value};
use super::state::RunState;
use super::tab::RunTab;
use super::trajectory_detail::TrajectoryDetail;
use crate::api::{self, ApiError, ApiResult};
use crate::components::icon::Icon;
use crate::components::states::{Empty, ErrorCallout, SkeletonRows};
use crate::components::status::Status;
use crate::fmt;
use crate::state::keys::{KeyUse, on_single_key};
use leptos::prelude::*;
use leptos::task::spawn_local;
use skillopt_domain::api::{TrajectoryPage, TrajectoryQuery, TrajectoryRow};
use skillopt_domain::outcome::{Outcome, OutcomeCounts, OutcomeKind, RolloutPurpose};

const PAGE: u32 = 100;

/// All trajectories of a task on the selection split: with the skill before and after.
pub(super) fn task_href(run: RunState, task: &str) -> String {
    let task = String::from(js_sys::encode_uri_component(task));
    format!("{}?purpose=selection&task={task}", run.href(RunTab::Trajectories))
}

/// The filters, each in the URL.
#[derive(Clone, Copy)]
struct Filters {
    outcome: QueryValue<String>,
    purpose: QueryValue<String>,
    step: QueryValue<u32>,
    task: QueryValue<String>,
    text: QueryValue<String>,
}

const PURPOSES: [RolloutPurpose; 3] =
    [RolloutPurpose::Train, RolloutPurpose::Selection, RolloutPurpose::Test];

impl Filters {
    fn new() -> Self {
        Self {
            outcome: query_value("outcome"),
            purpose: query_value("purpose"),
            step: query_value("step"),
            task: query_value("task"),
            text: query_value("q"),
        }
    }

    fn query(self) -> TrajectoryQuery {
        let purpose = self.purpose.get();
        TrajectoryQuery {
            outcome: self.outcome.get().and_then(|word| OutcomeKind::parse(&word)),
            purpose: PURPOSES.into_iter().find(|one| Some(one.as_str()) == purpose.as_deref()),
            step: self.step.get(),
            set: None,
            task: self.task.get(),
            q: self.text.get().filter(|text| !text.is_empty()),
            cursor: None,
            limit: Some(PAGE),
        }
    }

    fn clear(self) {
        self.outcome.set(None);
        self.purpose.set(None);
        self.step.set(None);
        self.task.set(None);
        self.text.set(None);
    }

    fn is_set(self) -> bool {
        let query = self.query();
        query != TrajectoryQuery { limit: Some(PAGE), ..TrajectoryQuery::default() }
    }
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
    let query = Memo::new(move |_| filters.query());
    let first = LocalResource::new(move || {
        let (id, query) = (run.id(), query.get());
        async move { api::trajectories(&id, &query).await }
    });
    let rows = Rows {
        rows: RwSignal::new(Vec::new()),
        next: RwSignal::new(None),
        failure: RwSignal::new(None),
        is_loading: RwSignal::new(false),
    };
    let counts = Memo::new(move |_| {
        first.get().and_then(Result::ok).map(|page| (page.counts, page.page.total))
    });
    Effect::new(move || {
        if let Some(Ok(page)) = first.get() {
            rows.rows.set(page.page.items);
            rows.next.set(page.page.next);
        }
    });
    let picked = query_value::<u64>("id");
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
            })}
        </div>
    }
}

/// A list that one reads does not move by itself: new trajectories are announced, and come when asked for.
#[component]
fn Newer(run: RunState, first: LocalResource<ApiResult<TrajectoryPage>>) -> impl IntoView {
    let n_steps = Memo::new(move |_| run.view.with(|view| view.n_steps));
    let seen = RwSignal::new(n_steps.get_untracked());
    let load = move |_| {
        seen.set(n_steps.get_untracked());
        first.refetch();
    };
    move || {
        let new = n_steps.get().saturating_sub(seen.get());
        (new > 0).then(|| {
            let words = format!("{} finished since", fmt::plural(u64::from(new), "step has", "steps have"));
            view! {
                <p class="row small second">
                    {words}
                    <button class="button" data-size="sm" type="button" on:click=load><Icon name="refresh"/>"Load them"</button>
                </p>
            }
        })
    }
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
    move || {
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
    }
}

#[component]
fn FilterBar(filters: Filters, counts: Memo<Option<(OutcomeCounts, u64)>>) -> impl IntoView {
    let choice = move |outcome: Option<OutcomeKind>, label: &'static str| {
        let word = outcome.map(|outcome| outcome.as_str().to_owned());
        let (is_word, set_word) = (word.clone(), word);
        let count = move || {
            counts
                .get()
                .map(|(counts, _)| count_of(&counts, outcome))
                .filter(|_| outcome != Some(OutcomeKind::JudgeError))
        };
        view! {
            <button type="button" aria-pressed=move || (filters.outcome.get() == is_word).to_string()
                on:click=move |_| filters.outcome.set(set_word.clone())>
                {label}" "<span class="segmented__n">{move || count().map(|n| fmt::count(u64::from(n)))}</span>
            </button>
        }
    };
    let typed = move |event| {
        filters.text.set(Some(event_target_value(&event)).filter(|text| !text.is_empty()));
    };
    view! {
        <div class="filters">
            <label class="input" data-size="search">
                <Icon name="search"/>
                <input type="search" placeholder="Task, title or answer" aria-label="Search trajectories"
                    prop:value=move || filters.text.get().unwrap_or_default() on:change=typed/>
            </label>
            <div class="segmented" role="group" aria-label="Outcome">
                {choice(None, "All")}
                {choice(Some(OutcomeKind::Passed), "Passed")}
                {choice(Some(OutcomeKind::Failed), "Failed")}
                {choice(Some(OutcomeKind::Refused), "Refused")}
                {choice(Some(OutcomeKind::InfraError), "Errors")}
            </div>
            <PurposeSelect filters/>
            {move || filters.step.get().map(|step| chip("step", step.to_string(), move || filters.step.set(None)))}
            {move || filters.task.get().map(|task| chip("task", task, move || filters.task.set(None)))}
        </div>
    }
}

fn count_of(counts: &OutcomeCounts, outcome: Option<OutcomeKind>) -> u32 {
    match outcome {
        None => counts.total(),
        Some(OutcomeKind::Passed) => counts.passed,
        Some(OutcomeKind::Failed) => counts.failed,
        Some(OutcomeKind::Refused) => counts.refused,
        Some(OutcomeKind::InfraError | OutcomeKind::JudgeError) => counts.errors,
    }
}

fn chip(name: &'static str, value: String, remove: impl Fn() + 'static) -> impl IntoView {
    view! {
        <span class="chip">
            {name}" "<span class="chip__op">"is"</span>" "<b class="medium">{value}</b>
            <button type="button" aria-label=format!("Remove filter {name}") on:click=move |_| remove()><Icon name="x"/></button>
        </span>
    }
}

#[component]
fn PurposeSelect(filters: Filters) -> impl IntoView {
    let option = move |word: &'static str, label: &'static str| {
        let is_chosen = move || filters.purpose.get().unwrap_or_default() == word;
        view! { <option value=word prop:selected=is_chosen>{label}</option> }
    };
    let choose = move |event| {
        filters.purpose.set(Some(event_target_value(&event)).filter(|word| !word.is_empty()));
    };
    view! {
        <div class="input" data-size="search">
            <select aria-label="Split" on:change=choose>
                {option("", "All splits")}{option("train", "Train")}{option("selection", "Selection")}{option("test", "Test")}
            </select>
            <Icon name="down"/>
        </div>
    }
}

fn list_view(
    run: RunState,
    first: LocalResource<ApiResult<TrajectoryPage>>,
    rows: Rows,
    filters: Filters,
    picked: QueryValue<u64>,
    counts: Memo<Option<(OutcomeCounts, u64)>>,
) -> AnyView {
    match first.get() {
        None => view! { <div class="panel"><SkeletonRows rows=14/></div> }.into_any(),
        Some(Err(error)) => view! {
            <ErrorCallout what="The trajectories could not be loaded." error on_retry=Callback::new(move |()| first.refetch())/>
        }
        .into_any(),
        Some(Ok(page)) if page.page.items.is_empty() => nothing(filters).into_any(),
        Some(Ok(_)) => view! { <List run rows query=Signal::derive(move || filters.query()) picked counts/> }.into_any(),
    }
}

fn nothing(filters: Filters) -> impl IntoView {
    if filters.is_set() {
        view! {
            <Empty title="No trajectory matches" text="Take a filter away to see more.">
                <button class="button" type="button" on:click=move |_| filters.clear()>"Clear filters"</button>
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
    query: Signal<TrajectoryQuery>,
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
                        <th scope="col" class="hide-narrow">"Split"</th>
                        <th scope="col" data-num class="hide-narrow">"Step"</th>
                        <th scope="col" class="hide-narrow">"Ledger"</th>
                    </tr></thead>
                    <tbody>
                        <For each=move || rows.rows.get() key=|row| row.id let:row>{list_row(&row, picked)}</For>
                    </tbody>
                </table>
            </div>
            {move || rows.failure.get().map(|error| view! { <ErrorCallout what="More could not be loaded." error/> })}
            <div class="panel__foot">
                <span>{move || format!("{} of {}", fmt::count(shown()), fmt::count(total()))}</span>
                <span class="hide-narrow"><kbd>"j"</kbd>" "<kbd>"k"</kbd>" move"</span>
                {move || rows.next.get().map(|_| view! {
                    <span class="end">
                        <button class="link" type="button" disabled=move || rows.is_loading.get() on:click=more>"Load more"</button>
                    </span>
                })}
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
                let _ = rows.next.try_set(page.page.next);
            }
            Err(error) => _ = rows.failure.try_set(Some(error)),
        }
        let _ = rows.is_loading.try_set(false);
    });
}

fn list_row(row: &TrajectoryRow, picked: QueryValue<u64>) -> impl IntoView + use<> {
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
    let title = row.outcome.title.clone();
    let hover = title.clone();
    let step = if row.step == 0 { fmt::MISSING.to_owned() } else { row.step.to_string() };
    view! {
        <tr aria-selected=move || is_picked().to_string() data-cursor=move || is_picked().then_some("")>
            <td>
                <button class="traj" type="button" title=hover on:click=move |_| picked.set(Some(id))>
                    <span class="mono muted">{row.outcome.task.to_string()}</span>
                    <span class="truncate">{title}</span>
                </button>
            </td>
            <td>
                <Status look=row.outcome.outcome.kind()/>
                {is_truncated.then(|| view! { " "<span class="badge" data-tone="warn">"truncated"</span> })}
            </td>
            <td class="second hide-narrow">{row.purpose.as_str()}</td>
            <td data-num class="second hide-narrow">{step}</td>
            <td class="second hide-narrow">{ledger}</td>
        </tr>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_both_kinds_are_counted_together() {
        let counts = OutcomeCounts { passed: 3, failed: 2, refused: 1, errors: 4 };
        assert_eq!(count_of(&counts, None), 10);
        assert_eq!(count_of(&counts, Some(OutcomeKind::InfraError)), 4);
    }

    #[test]
    fn without_rows_there_is_no_neighbour() {
        assert_eq!(neighbour(&[], None, 1), None);
    }
}
