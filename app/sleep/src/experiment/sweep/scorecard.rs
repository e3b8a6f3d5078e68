//! The rows of a sweep for people. Pure.

use super::{RowStatus, SweepRow};
use crate::experiment::TestScore;
use crate::report::{dollars, escaped};
use std::fmt::Write as _;

const HEAD: &str = "\
| Benchmark | Kind | Models | Nights | Before | After | Change | Cost |
|---|---|---|---|---|---|---|---|
";

/// Rows as a Markdown table for people.
#[must_use]
pub fn scorecard(rows: &[SweepRow]) -> String {
    let mut text = HEAD.to_owned();
    for row in rows {
        let shown = |score: Option<TestScore>| {
            score.map_or("–".to_owned(), |score| format!("{:.4} (n {})", score.score, score.n))
        };
        let (name, models) = (escaped(&row.seed), escaped(&row.backend));
        let (kind, before, after) = (row.kind.as_str(), shown(row.before), shown(row.after));
        let (nights, change, cost) = (row.nights, change(row), cost(row));
        let _ = writeln!(
            text,
            "| {name} | {kind} | {models} | {nights} | {before} | {after} | {change} | {cost} |"
        );
    }
    text.extend(total(rows).map(|total| format!("\n{total}\n")));
    if rows.iter().any(|row| row.simulated) {
        text.push_str("\nRows of a simulation prove plumbing, nothing about models.\n");
    }
    text
}

fn change(row: &SweepRow) -> String {
    match (row.before.zip(row.after), row.status) {
        (Some((before, after)), _) => format!("{:+.4}", after.score - before.score),
        (None, RowStatus::Done) => "–".to_owned(),
        (None, RowStatus::Failed) => format!("failed: {}", escaped(&row.error)),
        (None, RowStatus::Stopped) => format!("stopped: {}", escaped(&row.error)),
    }
}

fn cost(row: &SweepRow) -> String {
    match row.cost_usd_micros {
        _ if row.asked_nobody() => "–".to_owned(),
        Some(micros) => dollars(micros),
        None => "unknown".to_owned(),
    }
}

/// What all rows cost; `None` when no real model was paid.
fn total(rows: &[SweepRow]) -> Option<String> {
    let paid: Vec<&SweepRow> = rows.iter().filter(|row| !row.asked_nobody()).collect();
    if paid.is_empty() {
        return None;
    }
    let calls: u64 = paid.iter().map(|row| row.calls).sum();
    let cost: Option<u64> = paid.iter().map(|row| row.cost_usd_micros).sum();
    let cost = cost.map_or("cost unknown (a price is missing)".to_owned(), dollars);
    Some(format!("All rows together: {calls} calls, {cost}."))
}
