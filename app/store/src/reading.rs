//! Reading one run: the fold put together again, its events, versions and rollout sets.

use crate::curves::short_step;
use crate::error::StoreFailure;
use crate::fold;
use crate::imports;
use crate::open::Store;
use crate::origins;
use crate::outcomes;
use crate::runs::{progress_of, summary_of};
use crate::sql::{Column, Doing, count, from_json, hash, int, small};
use skillopt_domain::api::{Caps, RunDetail, RunSummary};
use skillopt_domain::config::{Resolved, RunConfig, Value};
use skillopt_domain::event::{RunEvent, StepSummary};
use skillopt_domain::ids::RunId;
use skillopt_domain::outcome::RolloutSet;
use skillopt_domain::score::GateMetric;
use skillopt_domain::view::{RunView, SkillVersion};
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;
use std::collections::HashMap;

/// The latest steps of a view; older ones are read as curves or one by one.
const VIEW_STEPS: i64 = 500;
/// As many as the page of a run shows at once.
const DETAIL_STEPS: i64 = 100;

/// What the store holds in all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Runs.
    pub runs: u64,
    /// Recorded calls.
    pub calls: u64,
}

impl Store {
    /// The fold of a run's journal, live counts included, with the last 500 steps.
    ///
    /// # Errors
    /// [`StoreFailure::NotFound`], or the store cannot be read.
    pub async fn view(&self, run: &RunId) -> Result<RunView, StoreFailure> {
        let mut conn = self.read("read a run").await?;
        let row = run_row(&mut conn, run).await?;
        read_view(&mut conn, &row, VIEW_STEPS).await
    }

    /// Row, fold with the last 100 steps, and caps of a run, all of one moment.
    ///
    /// # Errors
    /// [`StoreFailure::NotFound`], or the store cannot be read.
    pub async fn run_detail(&self, run: &RunId) -> Result<RunDetail, StoreFailure> {
        let mut conn = self.read("read a run").await?;
        let row = run_row(&mut conn, run).await?;
        let summary: RunSummary = summary_of(&row)?;
        let view = read_view(&mut conn, &row, DETAIL_STEPS).await?;
        let config: String =
            sqlx::query_scalar("SELECT config_json FROM run_documents WHERE run_no = ?")
                .bind(row.int("no")?)
                .fetch_one(&mut *conn)
                .await
                .doing("read a run's config")?;
        let resolved: Resolved = from_json("a run's config", &config)?;
        let imported = imports::origin(&mut conn, run).await?;
        let origin = origins::read(&mut conn, run).await?;
        let config = RunConfig::from_resolved(&resolved).ok();
        // An imported config may lack keys that a run needs; what it says still counts.
        let gate_metric = match resolved.get("evaluation.gate_metric") {
            Value::Text(metric) => metric.clone(),
            _ => GateMetric::default().as_str().to_owned(),
        };
        Ok(RunDetail {
            summary,
            view,
            gate_metric,
            caps: config.as_ref().map(caps_of).unwrap_or_default(),
            imported,
            origin,
        })
    }

    /// Events with a higher number than `seq`, in order, at most `limit`.
    ///
    /// # Errors
    /// [`StoreFailure::NotFound`], or the store cannot be read.
    pub async fn events_after(
        &self,
        run: &RunId,
        seq: u64,
        limit: u32,
    ) -> Result<Vec<RunEvent>, StoreFailure> {
        let rows = sqlx::query(
            "SELECT seq, at_ms, key, kind_json FROM events \
             WHERE run_no = (SELECT no FROM runs WHERE id = ?) AND seq > ? ORDER BY seq LIMIT ?",
        )
        .bind(run.as_str())
        .bind(int(seq))
        .bind(limit)
        .fetch_all(self.reader())
        .await
        .doing("read events")?;
        if rows.is_empty() {
            // Nothing new, or no such run.
            self.max_seq(run).await?;
        }
        rows.iter().map(event_of).collect()
    }

    /// Number of the last event.
    ///
    /// # Errors
    /// [`StoreFailure::NotFound`], or the store cannot be read.
    pub async fn max_seq(&self, run: &RunId) -> Result<u64, StoreFailure> {
        let seq: Option<i64> = sqlx::query_scalar("SELECT seq FROM runs WHERE id = ?")
            .bind(run.as_str())
            .fetch_optional(self.reader())
            .await
            .doing("read a run")?;
        seq.map(count).ok_or_else(|| StoreFailure::no_run(run))
    }

    /// The initial skill and each accepted candidate.
    ///
    /// # Errors
    /// [`StoreFailure::NotFound`], or the store cannot be read.
    pub async fn versions(&self, run: &RunId) -> Result<Vec<SkillVersion>, StoreFailure> {
        let mut conn = self.read("read versions").await?;
        let run_no = run_no(&mut conn, run).await?;
        read_versions(&mut conn, run_no).await
    }

    /// All rollout sets of a run with their outcomes, in the order in which they were kept.
    ///
    /// # Errors
    /// [`StoreFailure::NotFound`], or the store cannot be read.
    pub async fn rollout_sets(&self, run: &RunId) -> Result<Vec<RolloutSet>, StoreFailure> {
        let mut conn = self.read("read rollouts").await?;
        let run_no = run_no(&mut conn, run).await?;
        let rows = sqlx::query("SELECT * FROM rollout_sets WHERE run_no = ? ORDER BY id")
            .bind(run_no)
            .fetch_all(&mut *conn)
            .await
            .doing("read rollout sets")?;
        let mut places = HashMap::new();
        let mut sets = Vec::with_capacity(rows.len());
        for row in &rows {
            places.insert(row.int("id")?, sets.len());
            sets.push(outcomes::rollout_set(row)?);
        }
        let rows = sqlx::query("SELECT * FROM outcomes WHERE run_no = ? ORDER BY id")
            .bind(run_no)
            .fetch_all(&mut *conn)
            .await
            .doing("read outcomes")?;
        for row in &rows {
            if let Some(place) = places.get(&row.int("set_id")?) {
                sets[*place].outcomes.push(outcomes::task_outcome(row)?);
            }
        }
        Ok(sets)
    }

    /// What the store holds in all.
    ///
    /// # Errors
    /// [`StoreFailure`] when the store cannot be read.
    pub async fn counts(&self) -> Result<Counts, StoreFailure> {
        let (runs, calls): (i64, i64) =
            sqlx::query_as("SELECT (SELECT count(*) FROM runs), (SELECT count(*) FROM calls)")
                .fetch_one(self.reader())
                .await
                .doing("count")?;
        Ok(Counts { runs: count(runs), calls: count(calls) })
    }
}

/// The number by which other tables know a run.
pub(crate) async fn run_no(conn: &mut SqliteConnection, run: &RunId) -> Result<i64, StoreFailure> {
    let no: Option<i64> = sqlx::query_scalar("SELECT no FROM runs WHERE id = ?")
        .bind(run.as_str())
        .fetch_optional(conn)
        .await
        .doing("look for a run")?;
    no.ok_or_else(|| StoreFailure::no_run(run))
}

/// Reads the columns `seq`, `at_ms`, `key` and `kind_json`.
pub(crate) fn event_of(row: &SqliteRow) -> Result<RunEvent, StoreFailure> {
    Ok(RunEvent {
        seq: count(row.int("seq")?),
        at_ms: count(row.int("at_ms")?),
        key: row.text("key")?,
        kind: from_json("an event", &row.text("kind_json")?)?,
    })
}

async fn run_row(conn: &mut SqliteConnection, run: &RunId) -> Result<SqliteRow, StoreFailure> {
    let row = sqlx::query(
        "SELECT no, seq, summary_json, spend_json, progress_json FROM runs WHERE id = ?",
    )
    .bind(run.as_str())
    .fetch_optional(conn)
    .await
    .doing("read a run")?;
    row.ok_or_else(|| StoreFailure::no_run(run))
}

async fn read_view(
    conn: &mut SqliteConnection,
    row: &SqliteRow,
    n_steps: i64,
) -> Result<RunView, StoreFailure> {
    let run_no = row.int("no")?;
    let mut view = fold::stored_view(conn, run_no).await?;
    view.seq = count(row.int("seq")?);
    view.versions = read_versions(conn, run_no).await?;
    view.steps = last_steps(conn, run_no, n_steps).await?;
    view.spend = from_json("a run's spend", &row.text("spend_json")?)?;
    let spend = view.spend;
    if let Some(progress) = progress_of(row)? {
        view.apply_progress(progress);
        // The totals may be newer than the counts.
        view.spend = spend;
    }
    Ok(view)
}

async fn read_versions(
    conn: &mut SqliteConnection,
    run_no: i64,
) -> Result<Vec<SkillVersion>, StoreFailure> {
    let rows = sqlx::query("SELECT * FROM versions WHERE run_no = ? ORDER BY version")
        .bind(run_no)
        .fetch_all(conn)
        .await
        .doing("read versions")?;
    rows.iter()
        .map(|row| {
            Ok(SkillVersion {
                version: small(row.int("version")?),
                step: small(row.int("step")?),
                skill: hash(&row.text("skill")?)?,
                score: row.real_or_null("score")?,
                n: row.int_or_null("n")?.map(small),
                tokens: small(row.int("tokens")?),
            })
        })
        .collect()
}

async fn last_steps(
    conn: &mut SqliteConnection,
    run_no: i64,
    limit: i64,
) -> Result<Vec<StepSummary>, StoreFailure> {
    let rows: Vec<String> = sqlx::query_scalar(
        "SELECT summary_json FROM steps WHERE run_no = ? ORDER BY step DESC LIMIT ?",
    )
    .bind(run_no)
    .bind(limit)
    .fetch_all(conn)
    .await
    .doing("read steps")?;
    rows.iter().rev().map(|text| short_step(text)).collect()
}

fn caps_of(config: &RunConfig) -> Caps {
    Caps {
        max_calls: config.limits.max_calls,
        max_tokens: config.limits.max_tokens,
        max_cost_usd_micros: config.limits.max_cost_usd_micros,
        max_ms: config.limits.max_ms,
    }
}
