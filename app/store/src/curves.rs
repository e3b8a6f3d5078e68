//! Curves of long runs: the numbers of all steps are scanned, only the steps that are shown are read.

use crate::error::StoreFailure;
use crate::open::Store;
use crate::reading::run_no;
use crate::sql::{Doing, from_json};
use futures::TryStreamExt;
use skillopt_domain::api::{CurveQuery, Curves};
use skillopt_domain::curve::keep_extremes;
use skillopt_domain::event::StepSummary;
use skillopt_domain::ids::RunId;
use sqlx::{Row, SqliteConnection};
use std::collections::BTreeSet;

const DEFAULT_POINTS: u32 = 2000;
const MAX_POINTS: u32 = 5000;

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
        let (from, to) = (query.from.unwrap_or(0), query.to.unwrap_or(u32::MAX));
        let max_points = query.max_points.unwrap_or(DEFAULT_POINTS).clamp(4, MAX_POINTS);
        let n_steps: i64 = sqlx::query_scalar(
            "SELECT count(*) FROM steps WHERE run_no = ? AND step BETWEEN ? AND ?",
        )
        .bind(run_no)
        .bind(from)
        .bind(to)
        .fetch_one(&mut *conn)
        .await
        .doing("count steps")?;
        let n_steps = crate::sql::count(n_steps);
        let steps = if n_steps <= u64::from(max_points) {
            all_steps(&mut conn, run_no, from, to).await?
        } else {
            let scanned = scan(&mut conn, run_no, from, to).await?;
            let max_points = usize::try_from(max_points).unwrap_or(usize::MAX);
            picked_steps(&mut conn, run_no, &scanned.picks(max_points)).await?
        };
        Ok(Curves { steps, n_steps })
    }
}

/// The numbers of a range of steps, one column a series.
#[derive(Default)]
struct Scanned {
    steps: Vec<u32>,
    series: [Vec<Option<f64>>; SERIES],
}

impl Scanned {
    /// The steps to show: the extremes of each series, first and last step.
    fn picks(&self, max_points: usize) -> BTreeSet<u32> {
        let ends = [self.steps.first(), self.steps.last()].into_iter().flatten().copied();
        let mut picks: BTreeSet<u32> = ends.collect();
        // `keep_extremes` gives four points at least, which is too many for a tiny chart: then series
        // that come first win.
        let share = (max_points.saturating_sub(2) / SERIES).max(4);
        for series in &self.series {
            for at in keep_extremes(series, share) {
                if picks.len() < max_points {
                    picks.insert(self.steps[at]);
                }
            }
        }
        picks
    }
}

async fn scan(
    conn: &mut SqliteConnection,
    run_no: i64,
    from: u32,
    to: u32,
) -> Result<Scanned, StoreFailure> {
    let action = "read curves";
    let mut scanned = Scanned::default();
    let mut rows = sqlx::query(SCAN).bind(run_no).bind(from).bind(to).fetch(conn);
    while let Some(row) = rows.try_next().await.doing(action)? {
        scanned.steps.push(row.try_get(0).doing(action)?);
        for (at, series) in scanned.series.iter_mut().enumerate() {
            series.push(row.try_get(at + 1).doing(action)?);
        }
    }
    Ok(scanned)
}

async fn all_steps(
    conn: &mut SqliteConnection,
    run_no: i64,
    from: u32,
    to: u32,
) -> Result<Vec<StepSummary>, StoreFailure> {
    let rows: Vec<String> = sqlx::query_scalar(
        "SELECT summary_json FROM steps WHERE run_no = ? AND step BETWEEN ? AND ? ORDER BY step",
    )
    .bind(run_no)
    .bind(from)
    .bind(to)
    .fetch_all(conn)
    .await
    .doing("read steps")?;
    rows.iter().map(|text| from_json("a step", text)).collect()
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
    .bind(crate::sql::to_json(picks)?)
    .fetch_all(conn)
    .await
    .doing("read steps")?;
    rows.iter().map(|text| from_json("a step", text)).collect()
}
