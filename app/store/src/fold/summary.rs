//! The row of the run table, renewed from the fold.

use crate::error::StoreFailure;
use crate::runs::search_text;
use crate::script::Script;
use crate::sql::{Doing, from_json, to_json};
use skillopt_domain::api::RunSummary;
use skillopt_domain::curve::keep_extremes;
use skillopt_domain::event::{EventKind, RunEvent};
use skillopt_domain::view::RunView;
use sqlx::SqliteConnection;

const SPARK_POINTS: usize = 40;
/// Up to here each step draws the spark line anew; later only every so many steps do.
const SPARK_EVERY_STEP_UNTIL: u32 = 2000;

pub(super) async fn store(
    conn: &mut SqliteConnection,
    script: &mut Script,
    (run_no, summary_json): (i64, &str),
    view: &RunView,
    event: &RunEvent,
) -> Result<(), StoreFailure> {
    let mut summary: RunSummary = from_json("a run's row", summary_json)?;
    renew(&mut summary, view);
    if let EventKind::StepFinished(step) = &event.kind
        && is_spark_due(view.n_steps)
    {
        summary.spark = spark(conn, run_no, step.best_score).await?;
    }
    // A new phase starts with no counts; a run that is over has none.
    let drops_progress = view.status.is_over() || matches!(event.kind, EventKind::PhaseStarted(_));
    write(script, run_no, (view, &summary), drops_progress)
}

/// As [`store`], after many events whose steps are in their table.
pub(super) async fn store_whole(
    conn: &mut SqliteConnection,
    script: &mut Script,
    run_no: i64,
    view: &RunView,
) -> Result<(), StoreFailure> {
    let text: String = sqlx::query_scalar("SELECT summary_json FROM runs WHERE no = ?")
        .bind(run_no)
        .fetch_one(&mut *conn)
        .await
        .doing("read a run")?;
    let mut summary: RunSummary = from_json("a run's row", &text)?;
    renew(&mut summary, view);
    summary.spark = line(&best_scores(conn, run_no).await?);
    write(script, run_no, (view, &summary), true)
}

fn write(
    script: &mut Script,
    run_no: i64,
    (view, summary): (&RunView, &RunSummary),
    drops_progress: bool,
) -> Result<(), StoreFailure> {
    script
        .statement(
            "UPDATE runs SET status = ?, best_score = ?, n_steps = ?, search = ?, summary_json = ?, \
             progress_json = CASE WHEN ? THEN NULL ELSE progress_json END, \
             command = CASE WHEN ? THEN NULL ELSE command END WHERE no = ?",
        )
        .bind(view.status.as_str())
        .bind(summary.best_score)
        .bind(view.n_steps)
        .bind(search_text(summary))
        .bind(to_json(summary)?)
        .bind(drops_progress)
        .bind(view.status.is_over())
        .bind(run_no);
    Ok(())
}

fn renew(summary: &mut RunSummary, view: &RunView) {
    summary.status = view.status;
    summary.detail.clone_from(&view.detail);
    summary.phase = view.phase;
    summary.started_at_ms = view.started_at_ms;
    summary.ended_at_ms = view.ended_at_ms;
    summary.n_steps = view.n_steps;
    summary.n_accepted = view.n_accepted;
    summary.n_rejected = view.n_rejected;
    summary.baseline_score = view.baseline.as_ref().and_then(|measured| measured.gate_score);
    summary.best_score = view.best.as_ref().and_then(|best| best.score);
    summary.n_selection = view.best.as_ref().and_then(|best| best.n);
    summary.test_initial = view.test_initial.as_ref().and_then(|measured| measured.score);
    summary.test_best = view.test_best.as_ref().and_then(|measured| measured.score);
    if let Some(plan) = &view.plan {
        summary.benchmark.clone_from(&plan.benchmark);
        summary.target_model.clone_from(&plan.target_model);
        summary.optimizer_model.clone_from(&plan.optimizer_model);
        summary.target_simulated = plan.target_simulated;
        summary.optimizer_simulated = plan.optimizer_simulated;
        summary.total_steps = Some(plan.total_steps);
    }
}

fn is_spark_due(n_steps: u32) -> bool {
    n_steps <= SPARK_EVERY_STEP_UNTIL || n_steps.is_multiple_of(n_steps / 1000)
}

/// The best scores of the steps before, and of the one that has just ended.
async fn spark(
    conn: &mut SqliteConnection,
    run_no: i64,
    last: Option<f64>,
) -> Result<Vec<f64>, StoreFailure> {
    let mut best = best_scores(conn, run_no).await?;
    best.push(last);
    Ok(line(&best))
}

async fn best_scores(
    conn: &mut SqliteConnection,
    run_no: i64,
) -> Result<Vec<Option<f64>>, StoreFailure> {
    sqlx::query_scalar("SELECT best_score FROM steps WHERE run_no = ? ORDER BY step")
        .bind(run_no)
        .fetch_all(conn)
        .await
        .doing("read best scores")
}

fn line(best: &[Option<f64>]) -> Vec<f64> {
    keep_extremes(best, SPARK_POINTS).into_iter().filter_map(|at| best[at]).collect()
}
