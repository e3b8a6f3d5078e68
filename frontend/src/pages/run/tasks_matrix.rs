//! The matrix of the Tasks tab: a row a task, a column a measured skill. One listener for all cells; the open cell is
//! marked from outside, so that a page of a thousand cells stays light.

use super::query::QueryValue;
use super::task_words::{cell_look, cell_title, column_name, column_title};
use super::tasks::{COLUMNS, Choices, ROWS};
use crate::components::dynamic::CollectAny;
use crate::components::handler::handler;
use crate::components::icon::Icon;
use crate::fmt;
use crate::state::effect::effect;
use crate::state::keys::{KeyUse, on_single_key};
use crate::text::lower;
use leptos::prelude::*;
use skillopt_domain::api::{MatrixColumn, MatrixRow, TaskMatrix};
use skillopt_domain::outcome::RolloutPurpose;
use wasm_bindgen::JsCast;
use web_sys::Element;

/// The attempts that are looked at, in the URL: with the skill before, and with the chosen one.
#[derive(Clone, Copy)]
pub(super) struct Picked {
    pub(super) left: QueryValue<u64>,
    pub(super) right: QueryValue<u64>,
}

/// The cells that can be opened, row by row: place of the column, own trajectory and the one to compare with.
type Places = Vec<Vec<(u64, Option<u64>)>>;

pub(super) fn matrix(page: &TaskMatrix, choices: Choices, picked: Picked) -> AnyView {
    let is_train = choices.purpose() == RolloutPurpose::Train;
    let names: Vec<String> =
        page.columns.iter().map(|column| column_name(is_train, column)).collect();
    let heads =
        page.columns.iter().zip(&names).map(|(column, name)| head(column, name)).collect_any();
    let rows = page.rows.iter().map(|row| row_view(row, &names)).collect_any();
    move_with_keys(page, picked);
    mark_open(picked);
    let open = move |event: web_sys::MouseEvent| {
        let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
        let cell = target.and_then(|target| target.closest(".cell[data-id]").ok().flatten());
        let number = |cell: &Element, name: &str| cell.get_attribute(name)?.parse().ok();
        if let Some(cell) = cell {
            picked.left.set(number(&cell, "data-against"));
            picked.right.set(number(&cell, "data-id"));
        }
    };
    let n = page.columns.iter().map(|column| column.n).max().unwrap_or(0);
    view! {
        <div class="panel">
            <div class="matrix-box" tabindex="0" role="region" aria-label="Tasks by skill" on:click=handler(open)>
                <table class="matrix">
                    <thead><tr>
                        <th scope="col">"Task"<br/><span class="muted">{format!("passed of {n}")}</span></th>
                        <th scope="col" class="matrix__n" title="Skills that fixed or broke it, over all columns">"Changes"</th>
                        {heads}
                    </tr></thead>
                    <tbody>{rows}</tbody>
                </table>
            </div>
            {foot(page, choices)}
        </div>
        {legend()}
    }
    .into_any()
}

fn head(column: &MatrixColumn, name: &str) -> AnyView {
    view! {
        <th scope="col" title=column_title(column) aria-current=column.is_best.then_some("true")>
            {name.to_owned()}<br/><span class="muted">{column.n_passed}</span>
        </th>
    }
    .into_any()
}

fn row_view(row: &MatrixRow, names: &[String]) -> AnyView {
    let cells = row.cells.iter().zip(names).map(|(cell, name)| {
        let (word, sign) = cell_look(cell.state);
        let title = cell_title(&row.task, name, cell);
        if cell.id.is_none() {
            return view! { <td><span class="cell" data-cell=word title=title></span></td> }.into_any();
        }
        view! {
            <td><button class="cell" type="button" tabindex="-1" data-cell=word title=title.clone() aria-label=title
                data-id=cell.id.map(|id| id.to_string()) data-against=cell.against.map(|id| id.to_string())>{sign}</button></td>
        }
        .into_any()
    });
    let changes = row.n_fixed + row.n_broke;
    let about = format!("{} fixed, {} broke", row.n_fixed, row.n_broke);
    view! {
        <tr>
            <th scope="row" title=row.title.clone()>{row.task.clone()}<span class="matrix__title">{row.title.clone()}</span></th>
            <td class="matrix__n" title=about>{changes}</td>
            {cells.collect_any()}
        </tr>
    }
    .into_any()
}

fn legend() -> AnyView {
    const SIGNS: [(&str, &str, &str); 7] = [
        ("pass", "", "passed"),
        ("fail", "", "failed"),
        ("fixed", "▲", "fixed"),
        ("broke", "▼", "broke"),
        ("refused", "–", "refused"),
        ("error", "!", "error"),
        ("none", "", "not tried"),
    ];
    let sign = |(word, sign, label): (&'static str, &'static str, &'static str)| {
        view! { <span><span class="cell" data-cell=word>{sign}</span>{label}</span> }
    };
    view! {
        <div class="legend matrix__legend">
            {SIGNS.into_iter().map(sign).collect_any()}
            <span class="hide-narrow"><kbd>"h"</kbd><kbd>"j"</kbd><kbd>"k"</kbd><kbd>"l"</kbd>"move"</span>
        </div>
    }
    .into_any()
}

/// What is shown of what there is, and the ways to the rest.
fn foot(page: &TaskMatrix, choices: Choices) -> AnyView {
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let (rows, columns) = (count(page.rows.len()), count(page.columns.len()));
    let first_column = page.columns.first().map_or(0, |column| column.place);
    let tasks = span_words("Tasks", page.first_row, rows, page.n_rows);
    let what = if choices.purpose() == RolloutPurpose::Train { "Batches" } else { "Skills" };
    let skills = span_words(what, first_column, columns, page.n_columns);
    let (row, column, first_row) = (choices.row, choices.column, page.first_row);
    view! {
        <div class="panel__foot">
            <span class="row" data-gap="tight">
                {tasks}
                {step_button("up", "Tasks before", page.first_row > 0, move || row.set(Some(first_row.saturating_sub(ROWS)).filter(|at| *at > 0)))}
                {step_button("down", "More tasks", page.first_row + rows < page.n_rows, move || row.set(Some(first_row + ROWS)))}
            </span>
            <span class="row" data-gap="tight">
                {skills}
                {step_button("left", "Columns before", first_column > 0, move || column.set(Some(first_column.saturating_sub(COLUMNS))))}
                {step_button("right", "Columns after", first_column + columns < page.n_columns, move || column.set(Some(first_column + COLUMNS)))}
            </span>
        </div>
    }
    .into_any()
}

/// `Tasks 1 to 50 of 1 000`; only the count when all are shown.
fn span_words(what: &str, first: u32, shown: u32, all: u32) -> String {
    let count = |n: u32| fmt::count(u64::from(n));
    if shown == all {
        return format!("{} {}", count(all), lower(what));
    }
    format!("{what} {} to {} of {}", count(first + 1), count(first + shown), count(all))
}

fn step_button(
    icon: &'static str,
    label: &'static str,
    is_there: bool,
    go: impl Fn() + 'static,
) -> AnyView {
    // The sprite has one arrow to the right; the other way is the same arrow turned round.
    let turned = (icon == "left").then_some("");
    let icon = if icon == "left" { "right" } else { icon };
    is_there
        .then(|| {
            view! {
                <button class="icon-button" type="button" aria-label=label title=label data-turned=turned on:click=handler(move |_| go())>
                    <Icon name=icon/>
                </button>
            }
            .into_any()
        })
        .into_any()
}

fn places(page: &TaskMatrix) -> Places {
    let cells = |row: &MatrixRow| {
        row.cells.iter().map(|cell| (cell.id.unwrap_or_default(), cell.against)).collect()
    };
    page.rows.iter().map(cells).collect()
}

fn move_with_keys(page: &TaskMatrix, picked: Picked) {
    let places = places(page);
    on_single_key(move |key| {
        let by = match key {
            "j" | "ArrowDown" => (1, 0),
            "k" | "ArrowUp" => (-1, 0),
            "l" | "ArrowRight" => (0, 1),
            "h" | "ArrowLeft" => (0, -1),
            "Escape" if picked.right.get_untracked().is_some() => {
                picked.right.set(None);
                picked.left.set(None);
                return KeyUse::Used;
            }
            _ => return KeyUse::Ignored,
        };
        if let Some((id, against)) = neighbour(&places, picked.right.get_untracked(), by) {
            picked.left.set(against);
            picked.right.set(Some(id));
        }
        KeyUse::Used
    });
}

/// The cell that lies next in a direction and can be opened; the first one of the page when none is open.
fn neighbour(places: &Places, now: Option<u64>, by: (isize, isize)) -> Option<(u64, Option<u64>)> {
    let find = |row: usize| places[row].iter().position(|(id, _)| now == Some(*id));
    let at = (0..places.len()).find_map(|row| Some((row, find(row)?)));
    let Some((mut row, mut column)) = at else {
        return places.iter().flatten().copied().find(|(id, _)| *id > 0);
    };
    loop {
        (row, column) = (row.checked_add_signed(by.0)?, column.checked_add_signed(by.1)?);
        let place = *places.get(row)?.get(column)?;
        if place.0 > 0 {
            return Some(place);
        }
    }
}

/// Marks the open cell and its row, and brings them into view.
fn mark_open(picked: Picked) {
    effect(move || {
        let open = picked.right.get();
        request_animation_frame(move || {
            let all = |css: &str| document().query_selector_all(css).ok();
            for (css, name) in [
                (".cell[aria-current]", "aria-current"),
                (".matrix tr[data-cursor]", "data-cursor"),
            ] {
                let Some(marked) = all(css) else { continue };
                for at in 0..marked.length() {
                    if let Some(element) =
                        marked.item(at).and_then(|node| node.dyn_into::<Element>().ok())
                    {
                        let _ = element.remove_attribute(name);
                    }
                }
            }
            let css = format!(".cell[data-id=\"{}\"]", open.unwrap_or_default());
            if let Some(cell) = document().query_selector(&css).ok().flatten() {
                let _ = cell.set_attribute("aria-current", "true");
                if let Some(row) = cell.closest("tr").ok().flatten() {
                    let _ = row.set_attribute("data-cursor", "");
                }
                let options = web_sys::ScrollIntoViewOptions::new();
                options.set_block(web_sys::ScrollLogicalPosition::Nearest);
                options.set_inline(web_sys::ScrollLogicalPosition::Nearest);
                cell.scroll_into_view_with_scroll_into_view_options(&options);
            }
        });
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_move_over_cells_that_were_not_tried() {
        let places = vec![
            vec![(1, None), (0, None), (2, Some(1))],
            vec![(0, None), (3, None), (4, Some(3))],
        ];
        assert_eq!(neighbour(&places, None, (1, 0)), Some((1, None)));
        assert_eq!(neighbour(&places, Some(1), (0, 1)), Some((2, Some(1))));
        assert_eq!(neighbour(&places, Some(2), (1, 0)), Some((4, Some(3))));
        assert_eq!(neighbour(&places, Some(1), (1, 0)), None);
        assert_eq!(neighbour(&places, Some(1), (-1, 0)), None);
    }

    #[test]
    fn a_page_says_what_it_shows() {
        assert_eq!(span_words("Tasks", 50, 50, 1000), "Tasks 51 to 100 of 1\u{202f}000");
        assert_eq!(span_words("Tasks", 0, 40, 40), "40 tasks");
    }
}
