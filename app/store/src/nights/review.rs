//! What is decided about nights, as lists need it; which of them changed; and runs that wait for an adoption.

use super::{NightRow, night_row, select_nights};
use crate::error::StoreFailure;
use crate::open::Store;
use crate::runs::summary_of;
use crate::sql::{Column, Doing, count, int, to_json};
use skillopt_domain::api::{NightDecision, RunSummary};
use skillopt_domain::ids::NightId;

/// Of so many finished runs, the newest, it is looked whether they wait for an adoption.
const RUNS_LOOKED_AT: u32 = 200;

/// Which nights of those that wait.
#[derive(Clone, Debug)]
pub struct OpenNights<'a> {
    /// Only nights that began before this one: when it began, and its id.
    pub before: Option<(u64, NightId)>,
    /// Only nights of these projects.
    pub projects: &'a [String],
    /// At most so many.
    pub limit: u32,
}

/// Nights that changed, in any process.
#[derive(Clone, Debug, PartialEq)]
pub struct NightChanges {
    /// The nights, the latest change last.
    pub rows: Vec<NightRow>,
    /// Ask with this the next time.
    pub token: u64,
}

/// What became of what the folder of a night says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReviewKept {
    /// It is kept, and it is news.
    News,
    /// It was kept already.
    Known,
    /// The night was changed since it was read, or it is gone: nothing is written.
    Overtaken,
}

impl Store {
    /// Keeps what the folder of a night says, if the night is still what was read before the folder was.
    ///
    /// # Errors
    /// [`StoreFailure`] when the store cannot be written.
    pub async fn keep_review(
        &self,
        read: &NightRow,
        decision: NightDecision,
        review_json: &str,
    ) -> Result<ReviewKept, StoreFailure> {
        let action = "store what is decided about a night";
        let word = to_json(&decision)?;
        let word = word.trim_matches('"');
        let is_known: bool = sqlx::query_scalar(
            "SELECT EXISTS (SELECT 1 FROM nights WHERE id = ? AND decision = ? AND review_json = ?)",
        )
        .bind(read.id.as_str())
        .bind(word)
        .bind(review_json)
        .fetch_one(self.reader())
        .await
        .doing(action)?;
        if is_known {
            return Ok(ReviewKept::Known);
        }
        let mut tx = self.write(action).await?;
        let done = sqlx::query(
            "UPDATE nights SET decision = ?, review_json = ? WHERE id = ? AND changed = ?",
        )
        .bind(word)
        .bind(review_json)
        .bind(read.id.as_str())
        .bind(int(read.changed))
        .execute(&mut *tx)
        .await
        .doing(action)?;
        tx.commit().await.doing(action)?;
        Ok(match done.rows_affected() {
            0 => ReviewKept::Overtaken,
            _ => ReviewKept::News,
        })
    }

    /// Projects with nights that wait for a decision, or whose folder nobody looked into.
    ///
    /// # Errors
    /// [`StoreFailure`] when the store cannot be read.
    pub async fn projects_to_review(&self) -> Result<Vec<String>, StoreFailure> {
        sqlx::query_scalar(
            "SELECT DISTINCT project FROM nights \
             WHERE decision IN ('waiting', 'stale') OR (decision IS NULL AND staging IS NOT NULL)",
        )
        .fetch_all(self.reader())
        .await
        .doing("read the projects of nights that wait")
    }

    /// Nights that wait for a decision, newest first; also those that nobody can decide about as they are.
    ///
    /// # Errors
    /// [`StoreFailure`] when the store cannot be read.
    pub async fn open_nights(
        &self,
        wanted: &OpenNights<'_>,
    ) -> Result<Vec<NightRow>, StoreFailure> {
        let (at_ms, id) = wanted.before.clone().unzip();
        let rows = sqlx::query(select_nights!(
            "WHERE decision IN ('waiting', 'stale') \
             AND (?1 IS NULL OR started_at_ms < ?1 OR (started_at_ms = ?1 AND id < ?2)) \
             AND project IN (SELECT value FROM json_each(?3)) \
             ORDER BY started_at_ms DESC, id DESC LIMIT ?4"
        ))
        .bind(at_ms.map(int))
        .bind(id.as_ref().map(NightId::as_str))
        .bind(to_json(&wanted.projects)?)
        .bind(wanted.limit)
        .fetch_all(self.reader())
        .await
        .doing("read the nights that wait")?;
        rows.iter().map(night_row).collect()
    }

    /// Nights of these projects with a folder that nobody looked into, newest first.
    ///
    /// # Errors
    /// [`StoreFailure`] when the store cannot be read.
    pub async fn unseen_nights(
        &self,
        projects: &[String],
        limit: u32,
    ) -> Result<Vec<NightRow>, StoreFailure> {
        let rows = sqlx::query(select_nights!(
            "WHERE decision IS NULL AND staging IS NOT NULL AND project IN (SELECT value FROM json_each(?)) \
             ORDER BY started_at_ms DESC, id DESC LIMIT ?"
        ))
        .bind(to_json(&projects)?)
        .bind(limit)
        .fetch_all(self.reader())
        .await
        .doing("read the nights that nobody looked at")?;
        rows.iter().map(night_row).collect()
    }

    /// Nights with this folder.
    ///
    /// # Errors
    /// [`StoreFailure`] when the store cannot be read.
    pub async fn nights_of_folder(&self, staging: &str) -> Result<Vec<NightRow>, StoreFailure> {
        let rows = sqlx::query(select_nights!("WHERE staging = ?"))
            .bind(staging)
            .fetch_all(self.reader())
            .await
            .doing("read the night of a folder")?;
        rows.iter().map(night_row).collect()
    }

    /// Nights that run, newest first.
    ///
    /// # Errors
    /// [`StoreFailure`] when the store cannot be read.
    pub async fn running_nights(&self) -> Result<Vec<NightRow>, StoreFailure> {
        let rows = sqlx::query(select_nights!(
            "WHERE status = 'running' ORDER BY started_at_ms DESC, id DESC"
        ))
        .fetch_all(self.reader())
        .await
        .doing("read the nights that run")?;
        rows.iter().map(night_row).collect()
    }

    /// Nights whose prompts wait for answers, newest first: of a project the latest one, unless a night behind it asks
    /// too, works, or came to its end. A dry run ends no waiting of a night that is kept.
    ///
    /// # Errors
    /// [`StoreFailure`] when the store cannot be read.
    pub async fn nights_that_ask(&self) -> Result<Vec<NightRow>, StoreFailure> {
        let rows = sqlx::query(select_nights!(
            "WHERE status = 'pending' AND NOT EXISTS (SELECT 1 FROM nights AS later \
             WHERE later.project = nights.project AND later.started_at_ms > nights.started_at_ms \
             AND (later.status IN ('pending', 'running', 'staged', 'empty') \
             OR (later.status = 'rehearsed' AND nights.is_dry))) \
             ORDER BY started_at_ms DESC, id DESC"
        ))
        .fetch_all(self.reader())
        .await
        .doing("read the nights that ask")?;
        rows.iter().map(night_row).collect()
    }

    /// The newest night that is over.
    ///
    /// # Errors
    /// [`StoreFailure`] when the store cannot be read.
    pub async fn last_night(&self) -> Result<Option<NightRow>, StoreFailure> {
        let row = sqlx::query(select_nights!(
            "WHERE status <> 'running' ORDER BY started_at_ms DESC, id DESC LIMIT 1"
        ))
        .fetch_optional(self.reader())
        .await
        .doing("read the last night")?;
        row.as_ref().map(night_row).transpose()
    }

    /// Nights that changed after `token`, by this or any other process. With `u64::MAX`: none, but the token of now.
    ///
    /// # Errors
    /// [`StoreFailure`] when the store cannot be read.
    pub async fn changed_nights_since(&self, token: u64) -> Result<NightChanges, StoreFailure> {
        let action = "read changed nights";
        if token == u64::MAX {
            let last: i64 = sqlx::query_scalar("SELECT coalesce(max(changed), 0) FROM nights")
                .fetch_one(self.reader())
                .await
                .doing(action)?;
            return Ok(NightChanges { rows: Vec::new(), token: count(last) });
        }
        let rows = sqlx::query(select_nights!("WHERE changed > ? ORDER BY changed LIMIT 200"))
            .bind(int(token))
            .fetch_all(self.reader())
            .await
            .doing(action)?;
        let token = match rows.last() {
            Some(last) => count(last.int("changed")?),
            None => token,
        };
        let rows = rows.iter().map(night_row).collect::<Result<_, _>>()?;
        Ok(NightChanges { rows, token })
    }

    /// Of the newest finished runs those whose best skill beats the one that they began with and of which nothing is
    /// adopted, newest first.
    ///
    /// # Errors
    /// [`StoreFailure`] when the store cannot be read.
    pub async fn runs_to_adopt(&self, limit: u32) -> Result<Vec<RunSummary>, StoreFailure> {
        let rows = sqlx::query(
            "SELECT summary_json, spend_json, progress_json FROM \
             (SELECT id, best_score, created_at_ms, no, summary_json, spend_json, progress_json FROM runs \
              WHERE status = 'done' ORDER BY created_at_ms DESC, no DESC LIMIT ?1) AS newest \
             WHERE best_score > json_extract(summary_json, '$.baseline_score') \
             AND NOT EXISTS (SELECT 1 FROM adoptions WHERE adoptions.run = newest.id AND adoptions.state = 'done') \
             ORDER BY created_at_ms DESC, no DESC LIMIT ?2",
        )
        .bind(RUNS_LOOKED_AT)
        .bind(limit)
        .fetch_all(self.reader())
        .await
        .doing("read the runs that wait")?;
        rows.iter().map(summary_of).collect()
    }
}
