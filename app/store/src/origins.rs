//! Where runs came from that were made from other runs.

use crate::error::StoreFailure;
use crate::sql::{Column, Doing, from_json, hash, small, to_json};
use skillopt_domain::ids::RunId;
use skillopt_domain::origin::{OriginKind, RunOrigin};
use sqlx::SqliteConnection;

/// Keeps an origin with its run.
pub(crate) async fn insert(
    conn: &mut SqliteConnection,
    run_no: i64,
    origin: &RunOrigin,
) -> Result<(), StoreFailure> {
    sqlx::query(
        "INSERT INTO run_origins (run_no, kind, from_run, version, skill, differences_json) \
         VALUES (?, ?, ?, ?, ?, ?)",
    )
    .bind(run_no)
    .bind(origin.kind.as_str())
    .bind(origin.run.as_str())
    .bind(origin.version)
    .bind(origin.skill.as_ref().map(skillopt_domain::hash::Sha256Hex::as_str))
    .bind(to_json(&origin.differences)?)
    .execute(conn)
    .await
    .doing("keep where a run came from")
    .map(drop)
}

/// The run that a run was made from, by its name of today; `None` for a run of its own.
pub(crate) async fn read(
    conn: &mut SqliteConnection,
    run: &RunId,
) -> Result<Option<RunOrigin>, StoreFailure> {
    let row = sqlx::query(
        "SELECT run_origins.*, others.name AS from_name FROM run_origins \
         JOIN runs ON runs.no = run_origins.run_no \
         LEFT JOIN runs AS others ON others.id = run_origins.from_run WHERE runs.id = ?",
    )
    .bind(run.as_str())
    .fetch_optional(conn)
    .await
    .doing("read where a run came from")?;
    let Some(row) = row else { return Ok(None) };
    let from = row.text("from_run")?;
    let word = row.text("kind")?;
    let kind = OriginKind::parse(&word)
        .ok_or_else(|| StoreFailure::corrupt("a run's origin", format!("kind {word:?}")))?;
    Ok(Some(RunOrigin {
        kind,
        run: crate::runs::parse_id(&from)?,
        name: row.text_or_null("from_name")?.unwrap_or(from),
        version: row.int_or_null("version")?.map(small),
        skill: row.text_or_null("skill")?.as_deref().map(hash).transpose()?,
        differences: from_json("a run's origin", &row.text("differences_json")?)?,
    }))
}
