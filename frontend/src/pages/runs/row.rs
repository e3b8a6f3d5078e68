//! One row of the table.

use super::rows::Row;
use super::selection::Selection;
use crate::components::handler::handler;
use crate::components::numbers::{Delta, Score};
use crate::components::run_cells::{RunName, RunState, best_so_far, spend_words};
use crate::components::spark::Spark;
use crate::components::when::When;
use crate::fmt;
use crate::state::signal::RwSignal;
use leptos::prelude::*;
use skillopt_domain::score::MeanScore;

#[component]
pub(super) fn RunRow(
    at: usize,
    row: Row,
    cursor: RwSignal<Option<usize>>,
    selection: Selection,
) -> impl IntoView {
    let run = row.run;
    let curve = best_so_far(&run);
    let is_cursor = move || (cursor.get() == Some(at)).then_some("");
    let id = StoredValue::new(run.id.to_string());
    let is_selected = move || id.with_value(|id| selection.has(id));
    let selected = move || is_selected().then_some("true");
    let label = format!("Select {}", run.name);
    let steps = match run.total_steps {
        Some(total) => format!("{} of {total}", run.n_steps),
        None => run.n_steps.to_string(),
    };
    view! {
        <tr data-cursor=move || is_cursor() aria-rowindex=(at + 1).to_string() aria-selected=move || selected()>
            <td>
                <input
                    class="check" type="checkbox" aria-label=label prop:checked=move || is_selected()
                    on:change=handler(move |_| id.with_value(|id| selection.toggle(id)))
                />
            </td>
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
