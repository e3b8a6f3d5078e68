//! The versions of a run's skill, as blame and the task matrix walk through them.

use crate::error::StoreFailure;
use crate::sql::{Column, Doing, hash, small};
use skillopt_domain::hash::Sha256Hex;
use sqlx::SqliteConnection;

/// A version: its number, the step that made it, its text.
pub(crate) struct Version {
    pub(crate) number: u32,
    pub(crate) step: u32,
    pub(crate) skill: Sha256Hex,
}

/// The versions up to `last`, in order; `u32::MAX` for all.
pub(crate) async fn read_versions(
    conn: &mut SqliteConnection,
    run_no: i64,
    last: u32,
) -> Result<Vec<Version>, StoreFailure> {
    let rows = sqlx::query(
        "SELECT version, step, skill FROM versions WHERE run_no = ? AND version <= ? ORDER BY version",
    )
    .bind(run_no)
    .bind(last)
    .fetch_all(conn)
    .await
    .doing("read versions")?;
    rows.iter()
        .map(|row| {
            Ok(Version {
                number: small(row.int("version")?),
                step: small(row.int("step")?),
                skill: hash(&row.text("skill")?)?,
            })
        })
        .collect()
}
