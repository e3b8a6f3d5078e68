//! Curves of long runs: numbers are scanned, and only the steps that are shown are read.

mod blocks;

use crate::error::StoreFailure;
use crate::open::Store;
use crate::reading::run_no;
use crate::sql::{Doing, from_json, small, to_json};
use futures::TryStreamExt;
use skillopt_domain::api::{CurveQuery, Curves};
use skillopt_domain::curve::keep_extremes;
use skillopt_domain::event::StepSummary;
use skillopt_domain::ids::RunId;
use sqlx::{Row, SqliteConnection};
use std::collections::BTreeSet;

const DEFAULT_POINTS: u32 = 2000;
const MAX_POINTS: u32 = 5000;
/// Ranges of more steps are read block by block.
const LONG: u32 = 50_000;

/// Numbers of which no extreme may be lost; all are in the index `steps_curve`.
const SERIES: usize = 8;
const SCAN: &str = "SELECT step, candidate_score, current_score, best_score, rollout_hard, rollout_soft, \
     CAST(skill_tokens AS REAL), CAST(tokens AS REAL), error_share \
     FROM steps WHERE run_no = ? AND step BETWEEN ? AND ? ORDER BY step";

impl Store {
    /// The steps of a range, thinned to the asked number so that every series keeps its lowest and
    /// highest points.
    ///
    /// # Errors
    /// [`StoreFailure::NotFound`], or the store cannot be read.
    pub async fn curves(&self, run: &RunId, query: &CurveQuery) -> Result<Curves, StoreFailure> {
        let mut conn = self.read("read curves").await?;
        let run_no = run_no(&mut conn, run).await?;
        let Some(range) = present_range(&mut conn, run_no, query).await? else {
            return Ok(Curves::default());
        };
        let max_points = query.max_points.unwrap_or(DEFAULT_POINTS).clamp(4, MAX_POINTS);
        if range.len() <= max_points {
            let steps = all_steps(&mut conn, run_no, range).await?;
            let n_steps = u64::try_from(steps.len()).unwrap_or(u64::MAX);
            return Ok(Curves { steps, n_steps });
        }
        let (points, new_blocks) = if range.len() <= LONG {
            (Points::of(scan(&mut conn, run_no, range).await?), Vec::new())
        } else {
            blocks::read(&mut conn, run_no, range).await?
        };
        let max_points = usize::try_from(max_points).unwrap_or(usize::MAX);
        let steps = picked_steps(&mut conn, run_no, &points.picks(range, max_points)).await?;
        drop(conn);
        if !new_blocks.is_empty() {
            blocks::keep(self, run_no, &new_blocks).await?;
        }
        Ok(Curves { steps, n_steps: points.n_steps })
    }
}

/// Steps from the first to the last, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct StepRange {
    first: u32,
    last: u32,
}

impl StepRange {
    fn len(self) -> u32 {
        (self.last - self.first).saturating_add(1)
    }
}

/// The numbers of one step.
#[derive(Clone, Copy, Debug)]
struct Scanned {
    step: u32,
    values: [Option<f64>; SERIES],
}

/// The points of each series that may be shown, with their steps.
#[derive(Debug, Default)]
struct Points {
    n_steps: u64,
    series: [Vec<(u32, Option<f64>)>; SERIES],
}

impl Points {
    fn of(rows: Vec<Scanned>) -> Self {
        let mut points = Self::default();
        points.extend(rows);
        points
    }

    fn extend(&mut self, rows: Vec<Scanned>) {
        for row in rows {
            self.n_steps += 1;
            for (series, value) in self.series.iter_mut().zip(row.values) {
                series.push((row.step, value));
            }
        }
    }

    /// The steps to show: the extremes of each series, first and last step.
    fn picks(&self, range: StepRange, max_points: usize) -> BTreeSet<u32> {
        let mut picks = BTreeSet::from([range.first, range.last]);
        // `keep_extremes` gives four points at least, which is too many for a tiny chart: then the series
        // that come first win.
        let share = (max_points.saturating_sub(2) / SERIES).max(4);
        for series in &self.series {
            let values: Vec<Option<f64>> = series.iter().map(|(_, value)| *value).collect();
            for at in keep_extremes(&values, share) {
                if picks.len() < max_points {
                    picks.insert(series[at].0);
                }
            }
        }
        picks
    }
}

/// The part of the asked range that has steps.
async fn present_range(
    conn: &mut SqliteConnection,
    run_no: i64,
    query: &CurveQuery,
) -> Result<Option<StepRange>, StoreFailure> {
    let (from, to) = (query.from.unwrap_or(0), query.to.unwrap_or(u32::MAX));
    // Two look-ups in the index; asked together, SQLite would walk the whole range.
    let ends: (Option<i64>, Option<i64>) = sqlx::query_as(
        "SELECT (SELECT min(step) FROM steps WHERE run_no = ?1 AND step BETWEEN ?2 AND ?3), \
         (SELECT max(step) FROM steps WHERE run_no = ?1 AND step BETWEEN ?2 AND ?3)",
    )
    .bind(run_no)
    .bind(from)
    .bind(to)
    .fetch_one(conn)
    .await
    .doing("read curves")?;
    let (Some(first), Some(last)) = ends else { return Ok(None) };
    Ok(Some(StepRange { first: small(first), last: small(last) }))
}

async fn scan(
    conn: &mut SqliteConnection,
    run_no: i64,
    range: StepRange,
) -> Result<Vec<Scanned>, StoreFailure> {
    let action = "read curves";
    let mut scanned = Vec::new();
    let mut rows = sqlx::query(SCAN).bind(run_no).bind(range.first).bind(range.last).fetch(conn);
    while let Some(row) = rows.try_next().await.doing(action)? {
        let mut values = [None; SERIES];
        for (at, value) in values.iter_mut().enumerate() {
            *value = row.try_get(at + 1).doing(action)?;
        }
        scanned.push(Scanned { step: row.try_get(0).doing(action)?, values });
    }
    Ok(scanned)
}

async fn all_steps(
    conn: &mut SqliteConnection,
    run_no: i64,
    range: StepRange,
) -> Result<Vec<StepSummary>, StoreFailure> {
    let rows: Vec<String> = sqlx::query_scalar(
        "SELECT summary_json FROM steps WHERE run_no = ? AND step BETWEEN ? AND ? ORDER BY step",
    )
    .bind(run_no)
    .bind(range.first)
    .bind(range.last)
    .fetch_all(conn)
    .await
    .doing("read steps")?;
    rows.iter().map(|text| short_step(text)).collect()
}

async fn picked_steps(
    conn: &mut SqliteConnection,
    run_no: i64,
    picks: &BTreeSet<u32>,
) -> Result<Vec<StepSummary>, StoreFailure> {
    let rows: Vec<String> = sqlx::query_scalar(
        "SELECT summary_json FROM steps WHERE run_no = ? \
         AND step IN (SELECT value FROM json_each(?)) ORDER BY step",
    )
    .bind(run_no)
    .bind(to_json(picks)?)
    .fetch_all(conn)
    .await
    .doing("read steps")?;
    rows.iter().map(|text| short_step(text)).collect()
}

/// A step for lists and charts: without its stages, which would be most of it.
pub(crate) fn short_step(text: &str) -> Result<StepSummary, StoreFailure> {
    Ok(StepSummary { stages: Vec::new(), ..from_json("a step", text)? })
}
