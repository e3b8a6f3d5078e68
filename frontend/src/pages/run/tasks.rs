//! The Tasks tab: every task with every measured skill, what each skill fixed and broke, and two attempts at one task
//! beside each other. What is looked at stands in the URL; the server cuts the page.

use super::query::{QueryValue, query_value};
use super::state::RunState;
use super::task_pair::PairPane;
use super::task_words::{ends_words, filter_label, order_label, purpose_label};
use super::tasks_matrix::{Picked, matrix};
use crate::api;
use crate::components::dynamic::{CollectAny, dynamic, nothing, when};
use crate::components::handler::handler;
use crate::components::icon::Icon;
use crate::components::loaded::{Frame, loaded};
use crate::components::states::Empty;
use crate::fmt;
use crate::state::load::Load;
use crate::state::memo::Memo;
use leptos::prelude::*;
use skillopt_domain::api::{MatrixQuery, TaskMatrix};
use skillopt_domain::matrix::{TaskFilter, TaskOrder};
use skillopt_domain::outcome::RolloutPurpose;

/// Tasks and columns of a page.
pub(super) const ROWS: u32 = 50;
pub(super) const COLUMNS: u32 = 20;

/// What is asked for, in the URL.
#[derive(Clone, Copy)]
pub(super) struct Choices {
    purpose: QueryValue<String>,
    kept: QueryValue<u32>,
    show: QueryValue<String>,
    sort: QueryValue<String>,
    text: QueryValue<String>,
    pub(super) row: QueryValue<u32>,
    pub(super) column: QueryValue<u32>,
}

impl Choices {
    fn new() -> Self {
        Self {
            purpose: query_value("split"),
            kept: query_value("kept"),
            show: query_value("show"),
            sort: query_value("sort"),
            text: query_value("q"),
            row: query_value("row"),
            column: query_value("col"),
        }
    }

    pub(super) fn purpose(self) -> RolloutPurpose {
        let word = self.purpose.get();
        let known = RolloutPurpose::ALL.into_iter();
        known
            .into_iter()
            .find(|one| Some(one.as_str()) == word.as_deref())
            .unwrap_or(RolloutPurpose::Selection)
    }

    fn show(self) -> TaskFilter {
        let word = self.show.get();
        let known = TaskFilter::ALL.into_iter().find(|one| Some(one.as_str()) == word.as_deref());
        known.unwrap_or_default()
    }

    fn sort(self) -> TaskOrder {
        let word = self.sort.get();
        ORDERS.into_iter().find(|one| Some(one.as_str()) == word.as_deref()).unwrap_or_default()
    }

    fn query(self) -> MatrixQuery {
        MatrixQuery {
            purpose: Some(self.purpose()),
            kept: self.kept.get().map(|kept| kept > 0),
            show: Some(self.show()),
            sort: Some(self.sort()),
            q: self.text.get().filter(|text| !text.is_empty()),
            row: self.row.get(),
            rows: Some(ROWS),
            column: self.column.get(),
            columns: Some(COLUMNS),
        }
    }

    /// Another choice of tasks starts on its first page.
    fn back_to_start(self) {
        self.row.set(None);
    }
}

const ORDERS: [TaskOrder; 3] = [TaskOrder::Changes, TaskOrder::LastChange, TaskOrder::Task];

#[component]
pub(super) fn TasksTab(run: RunState) -> impl IntoView {
    let choices = Choices::new();
    let picked = Picked { left: query_value("a"), right: query_value("b") };
    let n_steps = Memo::new(move || run.view.with(|view| view.n_steps));
    let page = Load::new(move || {
        // Each finished step may add a column.
        let _ = n_steps.get();
        let (id, query) = (run.id(), choices.query());
        async move { api::tasks(&id, &query).await }
    });
    let purposes = Memo::new(move || {
        page.get().and_then(Result::ok).map_or_else(Vec::new, |page| page.purposes.clone())
    });
    let counts = Memo::new(move || {
        page.get().and_then(Result::ok).map_or_else(Vec::new, |page| page.counts.clone())
    });
    view! {
        {when(move || purposes.with(|all| !all.is_empty()), move || filters(purposes, counts, choices), nothing)}
        {loaded(page, Frame::new("The tasks could not be loaded."), move |page: &TaskMatrix| {
            shown(run, page.clone(), choices, picked)
        })}
    }
}

fn shown(run: RunState, page: TaskMatrix, choices: Choices, picked: Picked) -> AnyView {
    if page.purposes.is_empty() {
        let text = "They appear here as soon as the initial skill has been measured on the selection split.";
        return view! { <Empty title="No task was tried yet" text/> }.into_any();
    }
    let lede = page.ends.as_ref().map(|ends| {
        let (bold, rest) = ends_words(ends);
        view! { <p class="lede tasks__lede"><b>{bold}</b>" "<span>{rest}</span></p> }.into_any()
    });
    let is_empty = page.rows.is_empty();
    let page = StoredValue::new(page);
    let table = if is_empty {
        no_match(choices)
    } else {
        page.with_value(|page| matrix(page, choices, picked))
    };
    view! {
        {lede}
        <div class="split tasks-split" data-open=move || picked.right.get().map(|_| "")>
            <div>{table}</div>
            {dynamic(move || match picked.right.get() {
                Some(right) => view! { <PairPane run page picked right/> }.into_any(),
                None => nothing(),
            })}
        </div>
    }
    .into_any()
}

fn no_match(choices: Choices) -> AnyView {
    let clear = move |_| {
        choices.show.set(None);
        choices.text.set(None);
        choices.kept.set(None);
        choices.back_to_start();
    };
    view! {
        <Empty title="No task matches" text="Take a filter away to see more.">
            <button class="button" type="button" on:click=handler(clear)>"Clear filters"</button>
        </Empty>
    }
    .into_any()
}

fn filters(
    purposes: Memo<Vec<RolloutPurpose>>,
    counts: Memo<Vec<u32>>,
    choices: Choices,
) -> AnyView {
    let filter = move |(at, filter): (usize, TaskFilter)| {
        let word = Some(filter.as_str().to_owned()).filter(|_| filter != TaskFilter::All);
        let pick = move |_| {
            choices.show.set(word.clone());
            choices.back_to_start();
        };
        let is_on = move || (choices.show() == filter).to_string();
        let count = move || counts.with(|counts| counts.get(at).map(|n| fmt::count(u64::from(*n))));
        view! {
            <button type="button" aria-pressed=move || is_on() on:click=handler(pick)>
                {filter_label(filter)}" "<span class="segmented__n">{move || count()}</span>
            </button>
        }
    };
    let order = move |order: TaskOrder| {
        let word = Some(order.as_str().to_owned()).filter(|_| order != TaskOrder::default());
        let pick = move |_| {
            choices.sort.set(word.clone());
            choices.back_to_start();
        };
        let is_on = move || (choices.sort() == order).to_string();
        view! {
            <button type="button" aria-pressed=move || is_on() on:click=handler(pick)>{order_label(order)}</button>
        }
    };
    let option = move |purpose: RolloutPurpose| {
        let is_chosen = move || purpose == choices.purpose();
        view! { <option value=purpose.as_str() prop:selected=move || is_chosen()>{purpose_label(purpose)}</option> }
    };
    let choose = move |event| {
        choices.purpose.set(Some(event_target_value(&event)).filter(|word| word != "selection"));
        choices.column.set(None);
        choices.back_to_start();
    };
    let typed = move |event| {
        choices.text.set(Some(event_target_value(&event)).filter(|text| !text.is_empty()));
        choices.back_to_start();
    };
    let keep = move |event| {
        choices.kept.set(event_target_checked(&event).then_some(1));
        choices.column.set(None);
    };
    view! {
        <div class="filters" data-flush>
            <label class="input" data-size="search">
                <Icon name="search"/>
                <input type="search" placeholder="Task or its text" aria-label="Filter tasks"
                    prop:value=move || choices.text.get().unwrap_or_default() on:change=handler(typed)/>
            </label>
            <div class="segmented" role="group" aria-label="Show">{TaskFilter::ALL.into_iter().enumerate().map(filter).collect_any()}</div>
            <div class="input tasks__split">
                <select aria-label="Split" on:change=handler(choose)>{move || purposes.get().into_iter().map(option).collect_any()}</select>
                <Icon name="down"/>
            </div>
            <label class="choice small" title="Only skills that were kept, no rejected candidates">
                <input class="check" type="checkbox" prop:checked=move || choices.kept.get().is_some() on:change=handler(keep)/>
                <span>"kept only"</span>
            </label>
            <div class="section__end hide-narrow">
                <div class="segmented" role="group" aria-label="Sort by">{ORDERS.into_iter().map(order).collect_any()}</div>
            </div>
        </div>
    }
    .into_any()
}
