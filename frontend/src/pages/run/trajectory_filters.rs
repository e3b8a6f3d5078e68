//! The filters of the trajectory list: what is asked for, and the bar that sets it. All of it is in the URL.

use super::query::{QueryValue, query_value};
use crate::components::handler::handler;
use crate::components::icon::Icon;
use crate::fmt;
use crate::state::memo::Memo;
use leptos::prelude::*;
use skillopt_domain::api::TrajectoryQuery;
use skillopt_domain::outcome::{OutcomeCounts, OutcomeFilter, RolloutPurpose};

/// Rows of a page.
const PAGE: u32 = 100;

/// The filters, each in the URL.
#[derive(Clone, Copy)]
pub(super) struct Filters {
    pub(super) outcome: QueryValue<String>,
    pub(super) purpose: QueryValue<String>,
    pub(super) step: QueryValue<u32>,
    pub(super) task: QueryValue<String>,
    pub(super) text: QueryValue<String>,
}

impl Filters {
    pub(super) fn new() -> Self {
        Self {
            outcome: query_value("outcome"),
            purpose: query_value("purpose"),
            step: query_value("step"),
            task: query_value("task"),
            text: query_value("q"),
        }
    }

    pub(super) fn query(self) -> TrajectoryQuery {
        let purpose = self.purpose.get();
        TrajectoryQuery {
            outcome: self.outcome.get().and_then(|word| OutcomeFilter::parse(&word)),
            purpose: RolloutPurpose::ALL
                .into_iter()
                .find(|one| Some(one.as_str()) == purpose.as_deref()),
            step: self.step.get(),
            set: None,
            task: self.task.get(),
            q: self.text.get().filter(|text| !text.is_empty()),
            cursor: None,
            limit: Some(PAGE),
        }
    }

    pub(super) fn clear(self) {
        self.outcome.set(None);
        self.purpose.set(None);
        self.step.set(None);
        self.task.set(None);
        self.text.set(None);
    }

    pub(super) fn is_set(self) -> bool {
        let query = self.query();
        query != TrajectoryQuery { limit: Some(PAGE), ..TrajectoryQuery::default() }
    }
}

#[component]
pub(super) fn FilterBar(
    filters: Filters,
    counts: Memo<Option<(OutcomeCounts, u64)>>,
) -> impl IntoView {
    let choice = move |outcome: Option<OutcomeFilter>, label: &'static str| {
        let word = outcome.map(|outcome| outcome.as_str().to_owned());
        let (is_word, set_word) = (word.clone(), word);
        let count = move || counts.get().map(|(counts, _)| count_of(&counts, outcome));
        view! {
            <button type="button" aria-pressed=move || (filters.outcome.get() == is_word).to_string()
                on:click=handler(move |_| filters.outcome.set(set_word.clone()))>
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
                    prop:value=move || filters.text.get().unwrap_or_default() on:change=handler(typed)/>
            </label>
            <div class="segmented" role="group" aria-label="Outcome">
                {choice(None, "All")}
                {choice(Some(OutcomeFilter::Passed), "Passed")}
                {choice(Some(OutcomeFilter::Failed), "Failed")}
                {choice(Some(OutcomeFilter::Refused), "Refused")}
                {choice(Some(OutcomeFilter::Error), "Errors")}
            </div>
            <PurposeSelect filters/>
            <StepField filters/>
            {move || filters.task.get().map(|task| chip("task", task, move || filters.task.set(None)).into_any())}
        </div>
    }
}

fn count_of(counts: &OutcomeCounts, outcome: Option<OutcomeFilter>) -> u32 {
    match outcome {
        None => counts.total(),
        Some(OutcomeFilter::Passed) => counts.passed,
        Some(OutcomeFilter::Failed) => counts.failed,
        Some(OutcomeFilter::Refused) => counts.refused,
        Some(OutcomeFilter::InfraError | OutcomeFilter::JudgeError | OutcomeFilter::Error) => {
            counts.errors
        }
    }
}

fn chip(name: &'static str, value: String, remove: impl Fn() + 'static) -> impl IntoView {
    view! {
        <span class="chip">
            {name}" "<span class="chip__op">"is"</span>" "<b class="medium">{value}</b>
            <button type="button" aria-label=format!("Remove filter {name}") on:click=handler(move |_| remove())><Icon name="x"/></button>
        </span>
    }
}

#[component]
fn StepField(filters: Filters) -> impl IntoView {
    let typed = move |event| filters.step.set(event_target_value(&event).trim().parse().ok());
    view! {
        <div class="input trajectories__step">
            <span>"step"</span>
            <input
                inputmode="numeric" aria-label="Step" placeholder="all"
                prop:value=move || filters.step.get().map(|step| step.to_string()).unwrap_or_default() on:change=handler(typed)
            />
        </div>
    }
}

#[component]
fn PurposeSelect(filters: Filters) -> impl IntoView {
    let option = move |word: &'static str, label: &'static str| {
        let is_chosen = move || filters.purpose.get().unwrap_or_default() == word;
        view! { <option value=word prop:selected=move || is_chosen()>{label}</option> }
    };
    let choose = move |event| {
        filters.purpose.set(Some(event_target_value(&event)).filter(|word| !word.is_empty()));
    };
    view! {
        <div class="input" data-size="search">
            <select aria-label="Split" on:change=handler(choose)>
                {option("", "All splits")}{option("train", "Train")}{option("longitudinal", "Between epochs")}{option("selection", "Selection")}{option("test", "Test")}
            </select>
            <Icon name="down"/>
        </div>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_both_kinds_are_counted_together() {
        let counts = OutcomeCounts { passed: 3, failed: 2, refused: 1, errors: 4 };
        assert_eq!(count_of(&counts, None), 10);
        assert_eq!(count_of(&counts, Some(OutcomeFilter::Error)), 4);
    }
}
