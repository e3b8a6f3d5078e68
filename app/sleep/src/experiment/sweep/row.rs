//! A row of a sweep, and the lines that rows are kept as. Where they lie is the host's matter.

use crate::experiment::{SweepKind, TestScore};
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead};

/// One row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SweepRow {
    /// Everything that makes the row what it is, in words; the same words are the same experiment.
    pub cfg_key: String,
    /// What it is about.
    pub kind: SweepKind,
    /// The benchmark.
    pub seed: String,
    /// The model, or both.
    pub backend: String,
    /// It is a simulation.
    pub simulated: bool,
    /// Nights.
    pub nights: u32,
    /// Test score before.
    pub before: Option<TestScore>,
    /// Test score after.
    pub after: Option<TestScore>,
    /// Answered calls that were paid for.
    #[serde(default)]
    pub calls: u64,
    /// Tokens, where reported.
    #[serde(default)]
    pub tokens: u64,
    /// Calls whose tokens nobody reported.
    #[serde(default)]
    pub unmetered_calls: u64,
    /// Millionths of a dollar; `None` while any call has no known price.
    #[serde(default)]
    pub cost_usd_micros: Option<u64>,
    /// The final skill.
    #[serde(default)]
    pub skill: String,
    /// How it ended.
    #[serde(default)]
    pub status: RowStatus,
    /// Why there is no score; empty when the experiment came to its end.
    #[serde(default)]
    pub error: String,
}

/// How an experiment ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RowStatus {
    /// It came to its end.
    #[default]
    Done,
    /// It failed by itself.
    Failed,
    /// A cap, a person or the ledger ended the whole sweep in the middle of it.
    Stopped,
}

impl SweepRow {
    /// It came to its end.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.status == RowStatus::Done
    }

    /// With what an earlier try of the same experiment cost: what was paid for then is not paid for again.
    pub(super) fn with_earlier(self, earlier: Option<&Self>) -> Self {
        let Some(earlier) = earlier.filter(|row| !row.asked_nobody()) else { return self };
        let cost_usd_micros = match self.asked_nobody() {
            true => earlier.cost_usd_micros,
            false => self.cost_usd_micros.zip(earlier.cost_usd_micros).map(|(a, b)| a + b),
        };
        Self {
            calls: self.calls + earlier.calls,
            tokens: self.tokens + earlier.tokens,
            unmetered_calls: self.unmetered_calls + earlier.unmetered_calls,
            cost_usd_micros,
            ..self
        }
    }

    /// No real model was paid.
    pub(super) fn asked_nobody(&self) -> bool {
        let has_cost = self.cost_usd_micros.is_some_and(|micros| micros > 0);
        self.calls == 0 && self.tokens == 0 && self.unmetered_calls == 0 && !has_cost
    }
}

/// Rows of an earlier sweep; lines that are none are passed over, and of rows with the same key the last one counts.
///
/// # Errors
/// When the rows cannot be read at all.
pub fn read_rows(rows: impl BufRead) -> io::Result<Vec<SweepRow>> {
    let mut known: Vec<SweepRow> = Vec::new();
    for line in rows.split(b'\n') {
        let Ok(mut row) = serde_json::from_slice::<SweepRow>(&line?) else { continue };
        if row.is_done() && !row.error.is_empty() {
            // Rows of before that word have an error alone.
            row.status = RowStatus::Failed;
        }
        put(&mut known, row);
    }
    Ok(known)
}

/// Rows as the lines that [`read_rows`] reads.
#[must_use]
pub fn write_rows(rows: &[SweepRow]) -> String {
    let lines = rows.iter().filter_map(|row| serde_json::to_string(row).ok());
    lines.map(|line| format!("{line}\n")).collect()
}

/// Puts a row in the place of the one with its key, or at the end.
pub(super) fn put(rows: &mut Vec<SweepRow>, row: SweepRow) {
    match rows.iter_mut().find(|other| other.cfg_key == row.cfg_key) {
        Some(other) => *other = row,
        None => rows.push(row),
    }
}
