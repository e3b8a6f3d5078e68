//! Who did what, and when. Rows are only ever added.

use crate::error::StoreFailure;
use crate::open::Store;
use crate::sql::{Column, Doing, count, int};
use sqlx::SqliteConnection;

/// One deed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditRow {
    /// When, in milliseconds since 1970-01-01 UTC.
    pub at_ms: u64,
    /// Who.
    pub actor: String,
    /// A stable word, such as `ask_cancel`.
    pub action: String,
    /// What it was done to: the id of a run or of an adoption.
    pub subject: String,
    /// More, for people; may be empty.
    pub detail: String,
}

impl Store {
    /// Adds a row.
    ///
    /// # Errors
    /// [`StoreFailure`] when the store cannot be written.
    pub async fn audit(&self, row: &AuditRow) -> Result<(), StoreFailure> {
        let action = "write the audit log";
        let mut tx = self.write(action).await?;
        insert(&mut tx, row).await?;
        tx.commit().await.doing(action)
    }

    /// The latest rows, newest first.
    ///
    /// # Errors
    /// [`StoreFailure`] when the store cannot be read.
    pub async fn audit_log(&self, limit: u32) -> Result<Vec<AuditRow>, StoreFailure> {
        let rows = sqlx::query("SELECT * FROM audit ORDER BY id DESC LIMIT ?")
            .bind(limit)
            .fetch_all(self.reader())
            .await
            .doing("read the audit log")?;
        rows.iter()
            .map(|row| {
                Ok(AuditRow {
                    at_ms: count(row.int("at_ms")?),
                    actor: row.text("actor")?,
                    action: row.text("action")?,
                    subject: row.text("subject")?,
                    detail: row.text("detail")?,
                })
            })
            .collect()
    }
}

pub(crate) async fn insert(
    conn: &mut SqliteConnection,
    row: &AuditRow,
) -> Result<(), StoreFailure> {
    sqlx::query("INSERT INTO audit (at_ms, actor, action, subject, detail) VALUES (?, ?, ?, ?, ?)")
        .bind(int(row.at_ms))
        .bind(row.actor.as_str())
        .bind(row.action.as_str())
        .bind(row.subject.as_str())
        .bind(row.detail.as_str())
        .execute(conn)
        .await
        .doing("write the audit log")
        .map(drop)
}
