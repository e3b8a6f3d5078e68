//! Many experiments, one row each: what ran is not run again, and what failed is a row as well. Where rows lie, and how
//! models are put together, is the host's.

mod cell;
mod list;
mod row;
mod scorecard;
#[cfg(test)]
mod tests;

pub use list::n_experiments;
pub use row::{RowStatus, SweepRow, read_rows, write_rows};
pub use scorecard::scorecard;

use super::plan::{Cell, SweepKind, Who};
use super::{Bed, BenchFolder};
use crate::consolidate::{NightError, NightOptions};
use async_trait::async_trait;
use cell::run_cell;
use list::{cfg_key, experiments, identities};
use row::put;
use std::io;

/// What a sweep is about.
#[derive(Clone, Copy, Debug)]
pub struct SweepOrder<'a> {
    /// The experiments.
    pub cells: &'a [Cell],
    /// The benchmarks.
    pub folders: &'a [BenchFolder],
    /// How each night goes.
    pub night: &'a NightOptions,
    /// What else shapes answers, such as a temperature: other settings are other experiments.
    pub settings: &'a str,
}

/// What happens in a sweep.
#[derive(Clone, Copy, Debug)]
pub enum SweepStep<'a> {
    /// This row is there already.
    Known(&'a SweepRow),
    /// An experiment begins: its benchmark, kind and models.
    Begins(&'a str, SweepKind, &'a str),
    /// It came to its end, whichever.
    Ended(&'a SweepRow),
}

/// What a sweep needs from where it runs.
#[async_trait]
pub trait SweepHost: Send + Sync {
    /// Puts models together. Makes no call.
    ///
    /// # Errors
    /// Why they cannot be.
    async fn bed(&self, who: &Who) -> Result<Bed, String>;

    /// Which models these are, to the last setting that shapes their answers, the judge among them. Makes no call.
    async fn identity(&self, who: &Who) -> String;

    /// Keeps all rows in one step, those of before among them.
    ///
    /// # Errors
    /// What the operating system says.
    fn keep(&self, rows: &[SweepRow]) -> io::Result<()>;

    /// Hears how far it is.
    fn tell(&self, step: SweepStep<'_>);
}

/// Why a sweep ended early. The rows that it had by then are kept.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// Rows cannot be kept.
    #[error("the rows of the sweep cannot be kept: {0}")]
    Rows(#[from] io::Error),
    /// No further experiment can run.
    #[error("{error}")]
    Night {
        /// Why.
        error: NightError,
        /// The rows of the plan as far as there are any: that of the experiment that was stopped, those before it, and those
        /// behind it that an earlier sweep left.
        rows: Vec<SweepRow>,
    },
}

/// Runs what is missing of a plan and keeps each row when it is there. Rows that failed or were stopped before are tried
/// again. Gives back all rows of the plan.
///
/// # Errors
/// [`SweepError`]; an experiment that fails alone is a row.
pub async fn run_sweep(
    order: &SweepOrder<'_>,
    mut known: Vec<SweepRow>,
    host: &dyn SweepHost,
) -> Result<Vec<SweepRow>, SweepError> {
    let mut rows: Vec<SweepRow> = Vec::new();
    let mut end = None;
    for (cell, folder) in experiments(order) {
        let key = cfg_key((cell, &identities(cell, host).await), folder, order);
        if rows.iter().any(|row| row.cfg_key == key) {
            // A plan may say the same twice.
            continue;
        }
        let earlier = known.iter().find(|row| row.cfg_key == key);
        if end.is_some() {
            rows.extend(earlier.cloned());
            continue;
        }
        if let Some(row) = earlier.filter(|row| row.is_done()) {
            host.tell(SweepStep::Known(row));
            rows.push(row.clone());
            continue;
        }
        host.tell(SweepStep::Begins(&folder.name, cell.kind, &cell.models()));
        let left = run_cell(cell, folder, order.night, host).await;
        let row = SweepRow { cfg_key: key, ..left.row.with_earlier(earlier) };
        put(&mut known, row.clone());
        host.keep(&known)?;
        host.tell(SweepStep::Ended(&row));
        rows.push(row);
        end = left.end;
    }
    match end {
        Some(error) => Err(SweepError::Night { error, rows }),
        None => Ok(rows),
    }
}
