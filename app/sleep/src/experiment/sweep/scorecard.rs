//! The rows of a sweep for people. Pure.

use super::SweepRow;
use crate::experiment::TestScore;
use crate::report::escaped;
use std::fmt::Write as _;

/// Rows as a Markdown table for people.
#[must_use]
pub fn scorecard(rows: &[SweepRow]) -> String {
    let mut text =
        "| Benchmark | Kind | Models | Nights | Before | After | Change |\n|---|---|---|---|---|---|---|\n"
            .to_owned();
    for row in rows {
        let shown = |score: Option<TestScore>| {
            score.map_or("–".to_owned(), |score| format!("{:.4} (n {})", score.score, score.n))
        };
        let change = match row.before.zip(row.after) {
            Some((before, after)) => format!("{:+.4}", after.score - before.score),
            None if row.is_done() => "–".to_owned(),
            None => format!("failed: {}", escaped(&row.error)),
        };
        let (name, models) = (escaped(&row.seed), escaped(&row.backend));
        let (kind, before, after) = (row.kind.as_str(), shown(row.before), shown(row.after));
        let nights = row.nights;
        let _ = writeln!(
            text,
            "| {name} | {kind} | {models} | {nights} | {before} | {after} | {change} |"
        );
    }
    if rows.iter().any(|row| row.simulated) {
        text.push_str("\nRows of a simulation prove plumbing, nothing about models.\n");
    }
    text
}
