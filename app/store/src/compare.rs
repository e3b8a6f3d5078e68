//! What a comparison of runs needs of each: its standing, its config, a short curve, and results task by task.

use crate::error::StoreFailure;
use crate::fold;
use crate::imports;
use crate::open::Store;
use crate::runs::summary_of;
use crate::sql::{Column, Doing, count, from_json, small};
use futures::TryStreamExt;
use skillopt_domain::api::RunSummary;
use skillopt_domain::compare::{CompareCurve, TaskMark};
use skillopt_domain::config::Resolved;
use skillopt_domain::curve::keep_extremes;
use skillopt_domain::event::RunPlan;
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::ids::RunId;
use skillopt_domain::outcome::RolloutPurpose;
use skillopt_domain::score::{Score, TaskScore};
use skillopt_domain::view::BestSkill;
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;
use std::collections::BTreeSet;

/// Points of a curve, for each of its two lines.
const POINTS: usize = 240;

/// One run of a comparison.
#[derive(Clone, Debug)]
pub struct ComparedParts {
    /// The row of the run table.
    pub summary: RunSummary,
    /// Its config.
    pub config: Resolved,
    /// Its plan, once data and skill were read.
    pub plan: Option<RunPlan>,
    /// The best skill so far.
    pub best: Option<BestSkill>,
    /// Size of the best skill in tokens, estimated.
    pub best_tokens: Option<u32>,
    /// It was read from a run folder.
    pub is_imported: bool,
    /// Working time in milliseconds.
    pub active_ms: u64,
    /// Scores over steps.
    pub curve: CompareCurve,
}

/// One step of a curve with what was spent up to its end.
struct Point {
    step: u32,
    best: Option<f64>,
    current: Option<f64>,
    calls: u64,
    tokens: u64,
    cost_usd_micros: Option<u64>,
}

const STEPS: &str = "SELECT step, best_score, current_score, tokens, \
     coalesce(summary_json ->> '$.spend.target.calls', 0) \
     + coalesce(summary_json ->> '$.spend.target.cached', 0) \
     + coalesce(summary_json ->> '$.spend.optimizer.calls', 0) \
     + coalesce(summary_json ->> '$.spend.optimizer.cached', 0) AS calls, \
     coalesce(summary_json ->> '$.spend.target.cost_usd_micros', 0) \
     + coalesce(summary_json ->> '$.spend.optimizer.cost_usd_micros', 0) AS cost, \
     coalesce(summary_json ->> '$.spend.target.unpriced_calls', 0) \
     + coalesce(summary_json ->> '$.spend.optimizer.unpriced_calls', 0) AS unpriced \
     FROM steps WHERE run_no = ? ORDER BY step";

impl Store {
    /// A run as a comparison needs it, all of one moment.
    ///
    /// # Errors
    /// [`StoreFailure::NotFound`], or the store cannot be read.
    pub async fn compared_parts(&self, run: &RunId) -> Result<ComparedParts, StoreFailure> {
        let mut conn = self.read("read a run").await?;
        let row = sqlx::query(
            "SELECT runs.no, summary_json, spend_json, progress_json, active_ms, config_json FROM runs \
             JOIN run_documents ON run_documents.run_no = runs.no WHERE id = ?",
        )
        .bind(run.as_str())
        .fetch_optional(&mut *conn)
        .await
        .doing("read a run")?
        .ok_or_else(|| StoreFailure::no_run(run))?;
        let run_no = row.int("no")?;
        let summary = summary_of(&row)?;
        let view = fold::stored_view(&mut conn, run_no).await?;
        let curve = curve(&mut conn, run_no, summary.baseline_score).await?;
        Ok(ComparedParts {
            config: from_json("a run's config", &row.text("config_json")?)?,
            best_tokens: tokens_of(&mut conn, run_no, view.best.as_ref()).await?,
            is_imported: imports::origin(&mut conn, run).await?.is_some(),
            active_ms: count(row.int("active_ms")?),
            plan: view.plan,
            best: view.best,
            summary,
            curve,
        })
    }

    /// What a skill reached on a split, task by task; empty when it was not measured there. Tasks without a score
    /// are left out. When it was measured more than once the first time counts.
    ///
    /// # Errors
    /// [`StoreFailure`] when the store cannot be read.
    pub async fn task_marks(
        &self,
        run: &RunId,
        purpose: RolloutPurpose,
        skill: &Sha256Hex,
    ) -> Result<Vec<TaskMark>, StoreFailure> {
        let rows = sqlx::query(
            "SELECT task, title, hard, soft FROM outcomes WHERE hard IS NOT NULL AND set_id = \
             (SELECT min(rollout_sets.id) FROM rollout_sets JOIN runs ON runs.no = rollout_sets.run_no \
             WHERE runs.id = ? AND purpose = ? AND skill = ?) ORDER BY outcomes.id",
        )
        .bind(run.as_str())
        .bind(purpose.as_str())
        .bind(skill.as_str())
        .fetch_all(self.reader())
        .await
        .doing("read results")?;
        rows.iter().map(mark).collect()
    }
}

fn mark(row: &SqliteRow) -> Result<TaskMark, StoreFailure> {
    let score = |column| {
        let value = row.real_or_null(column)?.unwrap_or_default();
        Score::try_new(value).map_err(|err| StoreFailure::corrupt("an outcome", err))
    };
    Ok(TaskMark {
        task: row.text("task")?,
        title: row.text("title")?,
        score: TaskScore { hard: score("hard")?, soft: score("soft")? },
    })
}

async fn tokens_of(
    conn: &mut SqliteConnection,
    run_no: i64,
    best: Option<&BestSkill>,
) -> Result<Option<u32>, StoreFailure> {
    let Some(best) = best else { return Ok(None) };
    let tokens: Option<i64> =
        sqlx::query_scalar("SELECT tokens FROM versions WHERE run_no = ? AND version = ?")
            .bind(run_no)
            .bind(best.version)
            .fetch_optional(conn)
            .await
            .doing("read versions")?;
    Ok(tokens.map(small))
}

async fn curve(
    conn: &mut SqliteConnection,
    run_no: i64,
    baseline: Option<f64>,
) -> Result<CompareCurve, StoreFailure> {
    let action = "read curves";
    let (mut calls, mut tokens, mut cost) = (0, 0, Some(0));
    let first =
        Point { step: 0, best: baseline, current: baseline, calls, tokens, cost_usd_micros: cost };
    let mut points = vec![first];
    let mut rows = sqlx::query(STEPS).bind(run_no).fetch(conn);
    while let Some(row) = rows.try_next().await.doing(action)? {
        calls += count(row.int("calls")?);
        tokens += count(row.int("tokens")?);
        let priced = (row.int("unpriced")? == 0).then_some(count(row.int("cost")?));
        cost = cost.zip(priced).map(|(sum, cost)| sum + cost);
        points.push(Point {
            step: small(row.int("step")?),
            best: row.real_or_null("best_score")?,
            current: row.real_or_null("current_score")?,
            calls,
            tokens,
            cost_usd_micros: cost,
        });
    }
    Ok(thinned(&points))
}

/// The extremes of both lines, and the ends.
fn thinned(points: &[Point]) -> CompareCurve {
    let picks = |value: fn(&Point) -> Option<f64>| {
        keep_extremes(&points.iter().map(value).collect::<Vec<_>>(), POINTS)
    };
    let mut kept: BTreeSet<usize> =
        picks(|point| point.best).into_iter().chain(picks(|point| point.current)).collect();
    kept.extend([0, points.len().saturating_sub(1)]);
    let mut curve = CompareCurve::default();
    for point in kept.into_iter().filter_map(|at| points.get(at)) {
        curve.steps.push(point.step);
        curve.best.push(point.best);
        curve.current.push(point.current);
        curve.calls.push(point.calls);
        curve.tokens.push(point.tokens);
        curve.cost_usd_micros.push(point.cost_usd_micros);
    }
    curve
}
