//! Outcomes as rows. A score of zero is a number; no score is NULL.

use crate::blobs::chunks;
use crate::error::StoreFailure;
use crate::ledger::word;
use crate::sql::{Column, Doing, from_json, hash, small, to_json};
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::ids::TaskId;
use skillopt_domain::outcome::{Outcome, RolloutPurpose, RolloutSet, TaskOutcome};
use skillopt_domain::score::{Score, TaskScore};
use sqlx::sqlite::SqliteRow;
use sqlx::{QueryBuilder, Sqlite, SqliteConnection};

/// Rows of one statement, a power of two.
const CHUNK: usize = 64;

const INSERT: &str = "INSERT INTO outcomes (run_no, set_id, purpose, step, task, title, task_type, kind, hard, \
     soft, predicted, truncated, reason, code, call, cached) ";

/// Keeps a set once, by its key.
pub(crate) async fn insert(
    conn: &mut SqliteConnection,
    run_no: i64,
    set: &RolloutSet,
) -> Result<(), StoreFailure> {
    let Some(set_id) = insert_set(conn, run_no, set).await? else { return Ok(()) };
    for chunk in chunks(&set.outcomes, CHUNK) {
        let mut insert = QueryBuilder::<Sqlite>::new(INSERT);
        insert.push_values(chunk, |mut row, outcome| {
            let columns = Columns::of(&outcome.outcome);
            row.push_bind(run_no)
                .push_bind(set_id)
                .push_bind(set.purpose.as_str())
                .push_bind(set.step)
                .push_bind(outcome.task.as_str())
                .push_bind(outcome.title.as_str())
                .push_bind(outcome.task_type.as_str())
                .push_bind(outcome.outcome.kind().as_str())
                .push_bind(columns.score.map(|score| score.hard.get()))
                .push_bind(columns.score.map(|score| score.soft.get()))
                .push_bind(columns.predicted)
                .push_bind(columns.truncated)
                .push_bind(columns.reason)
                .push_bind(columns.code)
                .push_bind(outcome.call.as_ref().map(Sha256Hex::as_str))
                .push_bind(outcome.cached);
        });
        insert.build().execute(&mut *conn).await.doing("keep outcomes")?;
    }
    Ok(())
}

/// A kept set by its key.
pub(crate) async fn read_set(
    conn: &mut SqliteConnection,
    run_no: i64,
    key: &str,
) -> Result<Option<RolloutSet>, StoreFailure> {
    let row = sqlx::query("SELECT * FROM rollout_sets WHERE run_no = ? AND key = ?")
        .bind(run_no)
        .bind(key)
        .fetch_optional(&mut *conn)
        .await
        .doing("read a rollout set")?;
    let Some(row) = row else { return Ok(None) };
    let outcomes = sqlx::query("SELECT * FROM outcomes WHERE set_id = ? ORDER BY id")
        .bind(row.int("id")?)
        .fetch_all(conn)
        .await
        .doing("read outcomes")?;
    let outcomes = outcomes.iter().map(task_outcome).collect::<Result<_, _>>()?;
    Ok(Some(RolloutSet { outcomes, ..rollout_set(&row)? }))
}

/// An outcome from its row.
pub(crate) fn task_outcome(row: &SqliteRow) -> Result<TaskOutcome, StoreFailure> {
    Ok(TaskOutcome {
        task: TaskId(row.text("task")?),
        title: row.text("title")?,
        task_type: row.text("task_type")?,
        outcome: outcome(row)?,
        call: row.text_or_null("call")?.as_deref().map(hash).transpose()?,
        cached: row.int("cached")? != 0,
    })
}

/// A set without its outcomes.
pub(crate) fn rollout_set(row: &SqliteRow) -> Result<RolloutSet, StoreFailure> {
    Ok(RolloutSet {
        key: row.text("key")?,
        purpose: purpose(row)?,
        step: small(row.int("step")?),
        skill: hash(&row.text("skill")?)?,
        sample: from_json("a rollout set's sample", &row.text("sample_json")?)?,
        outcomes: Vec::new(),
    })
}

pub(crate) fn purpose(row: &SqliteRow) -> Result<RolloutPurpose, StoreFailure> {
    word("a rollout's purpose", row.text("purpose")?)
}

async fn insert_set(
    conn: &mut SqliteConnection,
    run_no: i64,
    set: &RolloutSet,
) -> Result<Option<i64>, StoreFailure> {
    let inserted = sqlx::query(
        "INSERT INTO rollout_sets (run_no, key, purpose, step, skill, sample_json) \
         VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
    )
    .bind(run_no)
    .bind(set.key.as_str())
    .bind(set.purpose.as_str())
    .bind(set.step)
    .bind(set.skill.as_str())
    .bind(to_json(&set.sample)?)
    .execute(conn)
    .await
    .doing("keep a rollout set")?;
    Ok((inserted.rows_affected() == 1).then(|| inserted.last_insert_rowid()))
}

#[derive(Default)]
struct Columns<'a> {
    score: Option<TaskScore>,
    predicted: Option<&'a str>,
    truncated: bool,
    reason: &'a str,
    code: Option<&'a str>,
}

impl<'a> Columns<'a> {
    fn of(outcome: &'a Outcome) -> Self {
        match outcome {
            Outcome::Scored { score, predicted, fail_reason, truncated } => Self {
                score: Some(*score),
                predicted: Some(predicted),
                truncated: *truncated,
                reason: fail_reason,
                code: None,
            },
            Outcome::Refused { reason } => Self { reason, ..Self::default() },
            Outcome::InfraError { code, message } => {
                Self { reason: message, code: Some(code), ..Self::default() }
            }
            Outcome::JudgeError { message } => Self { reason: message, ..Self::default() },
        }
    }
}

fn outcome(row: &SqliteRow) -> Result<Outcome, StoreFailure> {
    let reason = row.text("reason")?;
    Ok(match row.text("kind")?.as_str() {
        "passed" | "failed" => Outcome::Scored {
            score: TaskScore { hard: score(row, "hard")?, soft: score(row, "soft")? },
            predicted: row.text_or_null("predicted")?.unwrap_or_default(),
            fail_reason: reason,
            truncated: row.int("truncated")? != 0,
        },
        "refused" => Outcome::Refused { reason },
        "infra_error" => Outcome::InfraError {
            code: row.text_or_null("code")?.unwrap_or_default(),
            message: reason,
        },
        "judge_error" => Outcome::JudgeError { message: reason },
        other => return Err(StoreFailure::corrupt("an outcome", format!("kind {other:?}"))),
    })
}

fn score(row: &SqliteRow, column: &'static str) -> Result<Score, StoreFailure> {
    let value = row.real_or_null(column)?;
    let value = value.ok_or_else(|| StoreFailure::corrupt("an outcome", "a score is missing"))?;
    Score::try_new(value).map_err(|err| StoreFailure::corrupt("an outcome", err))
}
