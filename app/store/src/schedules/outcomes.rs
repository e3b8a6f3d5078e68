//! What became of nights that were due: the latest of each schedule are kept.

use crate::error::StoreFailure;
use crate::open::Store;
use crate::sql::{Column, Doing, count, int};
use skillopt_domain::ids::{NightId, ScheduleId};
use skillopt_domain::night::ScheduleOutcomeKind;
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;

/// Outcomes that are kept of a schedule: two months of nights.
const KEPT: u32 = 60;

/// What becomes of a night that is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutcomeRow {
    /// What.
    pub kind: ScheduleOutcomeKind,
    /// When it was due, in milliseconds since 1970-01-01 UTC.
    pub due_ms: u64,
    /// Now, in milliseconds since 1970-01-01 UTC.
    pub at_ms: u64,
    /// The night that began.
    pub night: Option<NightId>,
    /// Why, for people; may be empty.
    pub words: String,
}

/// Nights that were taken on, of which nothing was heard since.
#[derive(Clone, Copy, Debug)]
pub struct OldClaims<'a> {
    /// Those that were taken on before this, in milliseconds since 1970-01-01 UTC.
    pub before_ms: u64,
    /// Who begins scheduled nights.
    pub actor: &'a str,
    /// Why there is no night, for people.
    pub words: &'a str,
    /// Now, in milliseconds since 1970-01-01 UTC.
    pub at_ms: u64,
}

impl Store {
    /// Notes an outcome. One of a schedule that is gone is not kept.
    ///
    /// # Errors
    /// [`StoreFailure`] when the store cannot be written.
    pub async fn note_schedule(
        &self,
        id: &ScheduleId,
        outcome: &OutcomeRow,
    ) -> Result<(), StoreFailure> {
        let action = "note what became of a scheduled night";
        let mut tx = self.write(action).await?;
        insert(&mut tx, id, std::slice::from_ref(outcome)).await?;
        tx.commit().await.doing(action)
    }

    /// Completes the night that was taken on and was due at the same moment. `false` when there is none.
    ///
    /// # Errors
    /// [`StoreFailure`] when the store cannot be written.
    pub async fn settle_schedule(
        &self,
        id: &ScheduleId,
        outcome: &OutcomeRow,
    ) -> Result<bool, StoreFailure> {
        let action = "note what became of a scheduled night";
        let mut tx = self.write(action).await?;
        let done = sqlx::query(
            "UPDATE schedule_outcomes SET kind = ?, at_ms = ?, night = ?, words = ? \
             WHERE schedule = ? AND due_ms = ? AND kind = 'claimed'",
        )
        .bind(outcome.kind.as_str())
        .bind(int(outcome.at_ms))
        .bind(outcome.night.as_ref().map(NightId::as_str))
        .bind(outcome.words.as_str())
        .bind(id.as_str())
        .bind(int(outcome.due_ms))
        .execute(&mut *tx)
        .await
        .doing(action)?;
        tx.commit().await.doing(action)?;
        Ok(done.rows_affected() > 0)
    }

    /// Completes nights that were taken on by servers that ended, and answers how many: with the night that began after
    /// all, else as failed.
    ///
    /// # Errors
    /// [`StoreFailure`] when the store cannot be written.
    pub async fn settle_old_claims(&self, old: &OldClaims<'_>) -> Result<u64, StoreFailure> {
        let action = "note what became of nights that were taken on";
        let is_any: bool = sqlx::query_scalar(
            "SELECT EXISTS (SELECT 1 FROM schedule_outcomes WHERE kind = 'claimed' AND at_ms < ?)",
        )
        .bind(int(old.before_ms))
        .fetch_one(self.reader())
        .await
        .doing(action)?;
        if !is_any {
            return Ok(0);
        }
        let mut tx = self.write(action).await?;
        let rows = sqlx::query(
            "SELECT schedule_outcomes.id AS id, at_ms, project FROM schedule_outcomes \
             JOIN schedules ON schedules.id = schedule_outcomes.schedule \
             WHERE kind = 'claimed' AND at_ms < ? ORDER BY schedule_outcomes.id",
        )
        .bind(int(old.before_ms))
        .fetch_all(&mut *tx)
        .await
        .doing(action)?;
        let claims: Vec<Claim> = rows.iter().map(claim_of).collect::<Result<_, _>>()?;
        let mut n_settled = 0;
        for claim in &claims {
            n_settled += settle_claim(&mut tx, claim, old).await?;
        }
        tx.commit().await.doing(action)?;
        Ok(n_settled)
    }

    /// What became of the latest nights of a schedule, newest first.
    ///
    /// # Errors
    /// [`StoreFailure`] when the store cannot be read.
    pub async fn schedule_outcomes(
        &self,
        id: &ScheduleId,
        limit: u32,
    ) -> Result<Vec<OutcomeRow>, StoreFailure> {
        let rows = sqlx::query(
            "SELECT * FROM schedule_outcomes WHERE schedule = ? ORDER BY id DESC LIMIT ?",
        )
        .bind(id.as_str())
        .bind(limit)
        .fetch_all(self.reader())
        .await
        .doing("read what became of scheduled nights")?;
        rows.iter().map(outcome_row).collect()
    }
}

/// Adds outcomes, oldest first, and drops those that are too old.
pub(super) async fn insert(
    conn: &mut SqliteConnection,
    id: &ScheduleId,
    outcomes: &[OutcomeRow],
) -> Result<(), StoreFailure> {
    let action = "note what became of a scheduled night";
    let kept = usize::try_from(KEPT).unwrap_or(usize::MAX);
    for outcome in &outcomes[outcomes.len().saturating_sub(kept)..] {
        sqlx::query(
            "INSERT INTO schedule_outcomes (schedule, kind, due_ms, at_ms, night, words) \
             SELECT ?1, ?2, ?3, ?4, ?5, ?6 WHERE EXISTS (SELECT 1 FROM schedules WHERE id = ?1)",
        )
        .bind(id.as_str())
        .bind(outcome.kind.as_str())
        .bind(int(outcome.due_ms))
        .bind(int(outcome.at_ms))
        .bind(outcome.night.as_ref().map(NightId::as_str))
        .bind(outcome.words.as_str())
        .execute(&mut *conn)
        .await
        .doing(action)?;
    }
    sqlx::query(
        "DELETE FROM schedule_outcomes WHERE schedule = ?1 AND id NOT IN \
         (SELECT id FROM schedule_outcomes WHERE schedule = ?1 ORDER BY id DESC LIMIT ?2)",
    )
    .bind(id.as_str())
    .bind(KEPT)
    .execute(conn)
    .await
    .doing(action)
    .map(drop)
}

/// A night that was taken on.
struct Claim {
    id: i64,
    at_ms: i64,
    project: String,
}

fn claim_of(row: &SqliteRow) -> Result<Claim, StoreFailure> {
    Ok(Claim { id: row.int("id")?, at_ms: row.int("at_ms")?, project: row.text("project")? })
}

/// The first night that no other outcome tells of is that of the claim.
async fn settle_claim(
    conn: &mut SqliteConnection,
    claim: &Claim,
    old: &OldClaims<'_>,
) -> Result<u64, StoreFailure> {
    let action = "note what became of a night that was taken on";
    let night: Option<String> = sqlx::query_scalar(
        "SELECT id FROM nights WHERE project = ? AND actor = ? AND started_at_ms >= ? \
         AND NOT EXISTS (SELECT 1 FROM schedule_outcomes WHERE schedule_outcomes.night = nights.id) \
         ORDER BY started_at_ms, id LIMIT 1",
    )
    .bind(claim.project.as_str())
    .bind(old.actor)
    .bind(claim.at_ms)
    .fetch_optional(&mut *conn)
    .await
    .doing(action)?;
    let (kind, words) = match &night {
        Some(_) => (ScheduleOutcomeKind::Begun, ""),
        None => (ScheduleOutcomeKind::Failed, old.words),
    };
    let done = sqlx::query(
        "UPDATE schedule_outcomes SET kind = ?, at_ms = ?, night = ?, words = ? WHERE id = ?",
    )
    .bind(kind.as_str())
    .bind(int(old.at_ms))
    .bind(night)
    .bind(words)
    .bind(claim.id)
    .execute(conn)
    .await
    .doing(action)?;
    Ok(done.rows_affected())
}

fn outcome_row(row: &SqliteRow) -> Result<OutcomeRow, StoreFailure> {
    let corrupt = |what: String| StoreFailure::corrupt("an outcome of a schedule", what);
    let word = row.text("kind")?;
    let night = row.text_or_null("night")?.map(|id| NightId::parse(&id)).transpose();
    Ok(OutcomeRow {
        kind: ScheduleOutcomeKind::parse(&word)
            .ok_or_else(|| corrupt(format!("the kind {word:?}")))?,
        due_ms: count(row.int("due_ms")?),
        at_ms: count(row.int("at_ms")?),
        night: night.map_err(|err| corrupt(err.to_string()))?,
        words: row.text("words")?,
    })
}
