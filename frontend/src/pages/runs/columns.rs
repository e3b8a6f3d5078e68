//! The columns of the table: heads that sort, and the shape of the table while it loads.

use super::query::{ListQuery, Order, SortKey};
use crate::components::dynamic::CollectAny;
use crate::components::handler::handler;
use crate::components::icon::Icon;
use leptos::prelude::*;

/// The head of a column.
#[derive(Clone, Copy)]
pub(super) struct Column {
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
pub(super) fn Head<'a>(
    query: &'a ListQuery,
    on_query: Callback<ListQuery>,
) -> impl IntoView + use<> {
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
                    Some(next) => view! {
                        <button class="table__sort" type="button" on:click=handler(move |_| on_query.run(next.clone()))>
                            {label}
                            <Icon name=icon/>
                        </button>
                    }
                    .into_any(),
                    None => label.into_any(),
                }}
            </th>
        }
    };
    view! { <thead><tr>{select_head()}{COLUMNS.map(cell).into_iter().collect_any()}</tr></thead> }
}

/// Columns of the table, the one with the marks included.
pub(super) const N_COLUMNS: usize = COLUMNS.len() + 1;

fn select_head() -> impl IntoView {
    view! { <th scope="col" data-col="check"><span class="visually-hidden">"Select"</span></th> }
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
    let row = |_| view! { <tr><td></td>{COLUMNS.map(cell).into_iter().collect_any()}</tr> };
    let head = |Column { label, holds, class, .. }: Column| {
        view! { <th scope="col" class=class data-num=(holds == Holds::Numbers).then_some("")>{label}</th> }
    };
    view! {
        <div class="panel" aria-busy="true">
            <div class="virtual">
                <table class="table">
                    <thead><tr>{select_head()}{COLUMNS.map(head).into_iter().collect_any()}</tr></thead>
                    <tbody>{(0..ROWS).map(row).collect_any()}</tbody>
                </table>
            </div>
        </div>
        <span class="visually-hidden" role="status">"Loading runs"</span>
    }
}
