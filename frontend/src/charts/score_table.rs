//! The score chart's numbers: as a table on the page and as rows of a CSV file.

use super::csv::{Table, number};
use super::score::ScorePoint;
use super::slow::SlowPoint;
use crate::components::dynamic::CollectAny;
use crate::components::numbers::Score;
use crate::components::status::Status;
use crate::fmt;
use leptos::prelude::*;

/// Rows drawn at once; the newest ones, because a long run is looked at from its end.
const WINDOW: usize = 500;

/// For a file: all digits, stable words.
pub(crate) fn csv_table(points: &[ScorePoint]) -> Table {
    let head = [
        "step",
        "action",
        "candidate",
        "current",
        "best",
        "n",
        "fixed",
        "broke",
        "edit_budget",
        "slow_update",
        "slow_candidate",
        "slow_current",
    ];
    let row = |point: &ScorePoint| {
        vec![
            point.step.to_string(),
            point.action.map_or("start", |action| action.as_str()).to_owned(),
            number(point.candidate),
            number(point.current),
            number(point.best),
            point.n.map_or_else(String::new, |n| n.to_string()),
            of_count(point.fixed),
            of_count(point.broke),
            point.budget.to_string(),
            point.slow.as_ref().map_or("", |slow| slow.action.as_str()).to_owned(),
            number(point.slow.as_ref().and_then(|slow| slow.candidate)),
            number(point.slow.as_ref().and_then(|slow| slow.current)),
        ]
    };
    Table { head: head.map(str::to_owned).into(), rows: points.iter().map(row).collect() }
}

fn of_count(count: Option<u32>) -> String {
    count.map_or_else(String::new, |count| count.to_string())
}

/// For the page, newest first.
pub(crate) fn score_table(points: &[ScorePoint], step_href: &dyn Fn(u32) -> String) -> AnyView {
    let hidden = points.len().saturating_sub(WINDOW);
    let rows = points.iter().rev().take(WINDOW).map(|point| row(point, step_href)).collect_any();
    let note = (hidden > 0).then(|| {
        view! { <p class="small muted">{format!("{hidden} older steps are in the CSV file.")}</p> }.into_any()
    });
    view! {
        <div class="chart-table" tabindex="0" role="region" aria-label="Score as a table">
            <table class="table">
                <thead><tr>
                    <th scope="col">"Step"</th><th scope="col">"Verdict"</th><th scope="col" data-num>"Candidate"</th>
                    <th scope="col" data-num>"n"</th><th scope="col" data-num>"Current"</th><th scope="col" data-num>"Best"</th>
                    <th scope="col" data-num>"Fixed"</th><th scope="col" data-num>"Broke"</th>
                </tr></thead>
                <tbody>{rows}</tbody>
            </table>
            {note}
        </div>
    }
    .into_any()
}

/// A slow update has a row of its own, above the step after which it came.
fn slow_row(slow: &SlowPoint) -> AnyView {
    let n = slow.n.map_or_else(|| fmt::MISSING.to_owned(), |n| n.to_string());
    view! {
        <tr>
            <td>{format!("epoch {}", slow.epoch)}</td>
            <td><Status look=slow.action/></td>
            <td data-num><Score value=slow.candidate/></td>
            <td data-num>{n}</td>
            <td data-num><Score value=slow.current/></td>
            <td data-num><Score value=slow.best/></td>
            <td data-num>{fmt::MISSING}</td>
            <td data-num>{fmt::MISSING}</td>
        </tr>
    }
    .into_any()
}

fn row(point: &ScorePoint, step_href: &dyn Fn(u32) -> String) -> AnyView {
    let name = if point.step == 0 {
        "start".into_any()
    } else {
        view! { <a class="table__main" href=step_href(point.step)>{point.step}</a> }.into_any()
    };
    let counts = point.candidate.filter(|_| point.step > 0).map(|_| (point.fixed, point.broke));
    let n = point.n.map_or_else(|| fmt::MISSING.to_owned(), |n| n.to_string());
    let shown =
        |value: Option<u32>| value.map_or_else(|| fmt::MISSING.to_owned(), |v| v.to_string());
    view! {
        {point.slow.as_ref().map(slow_row)}
        <tr>
            <td>{name}</td>
            <td>{point.action.map(|action| view! { <Status look=action/> }.into_any())}</td>
            <td data-num><Score value=point.candidate/></td>
            <td data-num>{n}</td>
            <td data-num><Score value=point.current/></td>
            <td data-num><Score value=point.best/></td>
            <td data-num>{shown(counts.and_then(|(fixed, _)| fixed))}</td>
            <td data-num>{shown(counts.and_then(|(_, broke)| broke))}</td>
        </tr>
    }
    .into_any()
}
