//! The Rejected edits tab: what did not make it, why, and whether it keeps coming back.

use super::query::{QueryValue, query_value};
use super::rejected_table::RejectedTable;
use super::state::RunState;
use crate::api;
use crate::components::dynamic::{nothing, when};
use crate::components::handler::handler;
use crate::components::icon::Icon;
use crate::components::loaded::{Frame, loaded};
use crate::components::states::Empty;
use crate::fmt;
use crate::state::load::Load;
use crate::state::memo::Memo;
use leptos::prelude::*;
use skillopt_domain::api::{RejectedPage, RejectedQuery, RejectedWhy};

/// Rows of a page.
const PAGE: u32 = 100;

/// The filters, each in the URL.
#[derive(Clone, Copy)]
pub(super) struct Filters {
    why: QueryValue<String>,
    text: QueryValue<String>,
    again: QueryValue<u32>,
}

impl Filters {
    fn why(self) -> Option<RejectedWhy> {
        let word = self.why.get();
        RejectedWhy::ALL.into_iter().find(|why| Some(why.as_str()) == word.as_deref())
    }

    fn query(self) -> RejectedQuery {
        RejectedQuery {
            why: self.why(),
            q: self.text.get().filter(|text| !text.is_empty()),
            again: self.again.get().map(|_| true),
            cursor: None,
            limit: Some(PAGE),
        }
    }

    fn is_set(self) -> bool {
        self.query() != RejectedQuery { limit: Some(PAGE), ..RejectedQuery::default() }
    }

    fn clear(self) {
        self.why.set(None);
        self.text.set(None);
        self.again.set(None);
    }
}

#[component]
pub(super) fn RejectedTab(run: RunState) -> impl IntoView {
    let filters =
        Filters { why: query_value("why"), text: query_value("q"), again: query_value("again") };
    let n_steps = Memo::new(move || run.view.with(|view| view.n_steps));
    let first = Load::new(move || {
        // Each finished step may add some.
        let _ = n_steps.get();
        let (id, query) = (run.id(), filters.query());
        async move { api::rejected(&id, &query).await }
    });
    let counts = Memo::new(move || {
        first.get().and_then(Result::ok).map(|page| (page.n_gate, page.n_not_applied))
    });
    let is_there =
        move || filters.is_set() || counts.get().is_some_and(|(gate, other)| gate + other > 0);
    view! {
        {when(is_there, move || filter_bar(filters, counts), nothing)}
        {loaded(first, Frame::new("The rejected edits could not be loaded."), move |page: &RejectedPage| {
            if page.page.items.is_empty() {
                return nothing_there(filters);
            }
            view! { <RejectedTable run page=page.page.clone() query=StoredValue::new(filters.query())/> }.into_any()
        })}
    }
}

fn nothing_there(filters: Filters) -> AnyView {
    if filters.is_set() {
        return view! {
            <Empty title="No edit matches" text="Take a filter away to see more.">
                <button class="button" type="button" on:click=handler(move |_| filters.clear())>"Clear filters"</button>
            </Empty>
        }
        .into_any();
    }
    let text = "Edits that lose at the gate or cannot be applied are kept here, and shown to the optimizer as what not to try again.";
    view! { <Empty title="No rejected edits" text/> }.into_any()
}

fn filter_bar(filters: Filters, counts: Memo<Option<(u64, u64)>>) -> AnyView {
    let choice = move |wanted: Option<RejectedWhy>, label: &'static str| {
        let is_on = move || (filters.why() == wanted).to_string();
        let count = move || {
            let (gate, other) = counts.get()?;
            Some(fmt::count(match wanted {
                None => gate + other,
                Some(RejectedWhy::Gate) => gate,
                Some(RejectedWhy::NotApplied) => other,
            }))
        };
        let pick = move |_| filters.why.set(wanted.map(|why| why.as_str().to_owned()));
        view! {
            <button type="button" aria-pressed=move || is_on() on:click=handler(pick)>
                {label}" "<span class="segmented__n">{move || count()}</span>
            </button>
        }
    };
    let typed = move |event| {
        filters.text.set(Some(event_target_value(&event)).filter(|text| !text.is_empty()));
    };
    view! {
        <div class="filters" data-flush>
            <label class="input" data-size="search">
                <Icon name="search"/>
                <input type="search" placeholder="Text of an edit" aria-label="Filter edits"
                    prop:value=move || filters.text.get().unwrap_or_default() on:change=handler(typed)/>
            </label>
            <div class="segmented" role="group" aria-label="Reason">
                {choice(None, "All")}{choice(Some(RejectedWhy::Gate), "Lost at the gate")}{choice(Some(RejectedWhy::NotApplied), "Not applied")}
            </div>
            <label class="choice small">
                <input class="check" type="checkbox" prop:checked=move || filters.again.get().is_some()
                    on:change=handler(move |event| filters.again.set(event_target_checked(&event).then_some(1)))/>
                <span>"proposed again"</span>
            </label>
        </div>
    }
    .into_any()
}
