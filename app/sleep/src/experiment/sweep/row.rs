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
    /// Why there is no score; empty when the experiment came to its end.
    #[serde(default)]
    pub error: String,
}

impl SweepRow {
    /// It came to its end.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.error.is_empty()
    }
}

/// Rows of an earlier sweep; lines that are none are passed over, and of rows with the same key the last one counts.
///
/// # Errors
/// When the rows cannot be read at all.
pub fn read_rows(rows: impl BufRead) -> io::Result<Vec<SweepRow>> {
    let mut known: Vec<SweepRow> = Vec::new();
    for line in rows.split(b'\n') {
        let Ok(row) = serde_json::from_slice::<SweepRow>(&line?) else { continue };
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
