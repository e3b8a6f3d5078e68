//! Everything about one step.

use crate::error::StoreFailure;
use crate::fold;
use crate::open::Store;
use crate::reading::{event_of, run_no};
use crate::sql::{Doing, from_json};
use skillopt_domain::api::StepDetail;
use skillopt_domain::event::StepSummary;
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::ids::RunId;
use sqlx::SqliteConnection;

impl Store {
    /// The events of a step and the skill that it started from.
    ///
    /// # Errors
    /// [`StoreFailure::NotFound`] for an unknown run or step, or the store cannot be read.
    pub async fn step_detail(&self, run: &RunId, step: u32) -> Result<StepDetail, StoreFailure> {
        let mut conn = self.read("read a step").await?;
        let run_no = run_no(&mut conn, run).await?;
        let rows = sqlx::query(
            "SELECT seq, at_ms, key, kind_json FROM events WHERE run_no = ? AND step = ? ORDER BY seq",
        )
        .bind(run_no)
        .bind(step)
        .fetch_all(&mut *conn)
        .await
        .doing("read a step")?;
        if rows.is_empty() {
            return Err(StoreFailure::NotFound { what: "step", id: step.to_string() });
        }
        let before = skill_before(&mut conn, run_no, step).await?;
        let (before, before_version) = before.unzip();
        Ok(StepDetail {
            events: rows.iter().map(event_of).collect::<Result<_, _>>()?,
            before,
            before_version,
        })
    }
}

async fn skill_before(
    conn: &mut SqliteConnection,
    run_no: i64,
    step: u32,
) -> Result<Option<(Sha256Hex, u32)>, StoreFailure> {
    let earlier: Option<String> = sqlx::query_scalar(
        "SELECT summary_json FROM steps WHERE run_no = ? AND step < ? ORDER BY step DESC LIMIT 1",
    )
    .bind(run_no)
    .bind(step)
    .fetch_optional(&mut *conn)
    .await
    .doing("read the step before")?;
    let view = fold::stored_view(conn, run_no).await?;
    let Some(text) = earlier else {
        return Ok(view.plan.map(|plan| (plan.initial_skill, 0)));
    };
    let earlier: StepSummary = from_json("a step", &text)?;
    // Between the two, an epoch may have ended with guidance that stayed.
    let kept = view
        .slow_updates
        .into_iter()
        .find(|update| update.step == earlier.step && update.action.is_accepted());
    let guided = kept.and_then(|update| Some((update.candidate?, update.version)));
    Ok(Some(guided.unwrap_or((earlier.skill, earlier.version))))
}
