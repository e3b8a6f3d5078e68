//! Nights: one row each, a lease while it runs, and what lists and live views show of it.

mod review;

pub use review::{NightChanges, OpenNights, ReviewKept};

use crate::audit::{self, AuditRow};
use crate::error::StoreFailure;
use crate::open::Store;
use crate::sql::{Column, Doing, count, from_json, int, small, to_json};
use skillopt_domain::api::NightDecision;
use skillopt_domain::ids::NightId;
use skillopt_domain::night::{NightProgress, NightStatus, NightTransition};
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;

/// A night that begins.
#[derive(Clone, Debug)]
pub struct NewNight {
    /// Its id.
    pub id: NightId,
    /// Absolute path of the project.
    pub project: String,
    /// Nothing of it will be kept.
    pub is_dry: bool,
    /// No real model answers.
    pub is_simulated: bool,
    /// Who answers, for people.
    pub models: String,
    /// Who began it.
    pub actor: String,
    /// Now, in milliseconds since 1970-01-01 UTC.
    pub at_ms: u64,
    /// Names the process that works on it.
    pub owner: String,
    /// Time until its lease runs out, in milliseconds.
    pub ttl_ms: u64,
    /// The settings that it was begun with, as JSON text; decisions about it are made with the same.
    pub settings_json: String,
}

/// How a night ended.
#[derive(Clone, Debug)]
pub struct NightEnd {
    /// The way it ended.
    pub transition: NightTransition,
    /// Why, for people; may be empty.
    pub detail: String,
    /// The process that worked on it.
    pub owner: String,
    /// The project's own count.
    pub night: Option<u32>,
    /// Its folder.
    pub staging: Option<String>,
    /// What lists show of the report.
    pub scores: NightScores,
    /// The report as JSON text.
    pub report_json: Option<String>,
    /// The last counts.
    pub progress: NightProgress,
    /// Now, in milliseconds since 1970-01-01 UTC.
    pub at_ms: u64,
}

/// What lists show of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NightScores {
    /// Mean gate score before, 0 to 1; `None` when it was not measured.
    pub baseline: Option<f64>,
    /// Mean gate score after, 0 to 1; `None` when it was not measured.
    pub candidate: Option<f64>,
    /// The gate accepted.
    pub accepted: bool,
}

/// What a sign of life was answered with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NightCall {
    /// Go on.
    GoOn,
    /// A person asks for the end.
    End,
    /// The lease ran out, and the night was closed: another one may work on the project.
    Lost,
}

/// The large parts of a night.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NightDocuments {
    /// The harvest by source as JSON text.
    pub harvest_json: Option<String>,
    /// The report as JSON text.
    pub report_json: Option<String>,
}

/// A night as it is stored, without its large parts.
#[derive(Clone, Debug, PartialEq)]
pub struct NightRow {
    /// Its id.
    pub id: NightId,
    /// Absolute path of the project.
    pub project: String,
    /// The project's own count.
    pub night: Option<u32>,
    /// Nothing of it is kept.
    pub is_dry: bool,
    /// No real model answered.
    pub is_simulated: bool,
    /// Who answered.
    pub models: String,
    /// Who began it.
    pub actor: String,
    /// Its state.
    pub status: NightStatus,
    /// Why it ended so.
    pub detail: String,
    /// Its folder.
    pub staging: Option<String>,
    /// In milliseconds since 1970-01-01 UTC.
    pub started_at_ms: u64,
    /// In milliseconds since 1970-01-01 UTC.
    pub ended_at_ms: Option<u64>,
    /// How far it is, or was.
    pub progress: NightProgress,
    /// What lists show of the report.
    pub scores: NightScores,
    /// The settings that it was begun with, as JSON text; empty for the usual ones.
    pub settings_json: String,
    /// What is decided about it, as its folder said when it was looked into; `None` when nobody looked yet.
    pub decision: Option<NightDecision>,
    /// What lists show of its folder, as JSON text; empty when nobody looked yet.
    pub review_json: String,
    /// Rises with each change that is shown; what is kept of its folder is kept only while it is this.
    pub changed: u64,
}

/// Another night works on the project.
#[derive(Debug, thiserror::Error)]
pub enum BeginNightError {
    /// It has to end first.
    #[error("night {0} works on this project; wait for its end or cancel it")]
    Running(NightId),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreFailure),
}

/// A query of all columns but the large parts.
macro_rules! select_nights {
    ($rest:literal) => {
        concat!(
            "SELECT id, project, night, is_dry, is_simulated, models, actor, status, detail, staging, started_at_ms, \
             ended_at_ms, progress_json, baseline_score, candidate_score, is_accepted, settings_json, decision, \
             review_json, changed FROM nights ",
            $rest
        )
    };
}
pub(crate) use select_nights;

impl Store {
    /// Begins a night. A night of the project whose process is gone is closed first.
    ///
    /// # Errors
    /// [`BeginNightError::Running`] while another one works on the project.
    pub async fn begin_night(&self, new: &NewNight) -> Result<(), BeginNightError> {
        let action = "begin a night";
        let mut tx = self.write(action).await?;
        close_orphans(&mut tx, new.at_ms).await?;
        let running: Option<String> =
            sqlx::query_scalar("SELECT id FROM nights WHERE project = ? AND status = 'running'")
                .bind(new.project.as_str())
                .fetch_optional(&mut *tx)
                .await
                .doing(action)?;
        if let Some(id) = running {
            return Err(BeginNightError::Running(parse(&id)?));
        }
        sqlx::query(
            "INSERT INTO nights (id, project, is_dry, is_simulated, models, actor, status, started_at_ms, \
             progress_json, lease_owner, lease_until_ms, settings_json) \
             VALUES (?, ?, ?, ?, ?, ?, 'running', ?, ?, ?, ?, ?)",
        )
        .bind(new.id.as_str())
        .bind(new.project.as_str())
        .bind(new.is_dry)
        .bind(new.is_simulated)
        .bind(new.models.as_str())
        .bind(new.actor.as_str())
        .bind(int(new.at_ms))
        .bind(to_json(&NightProgress::start())?)
        .bind(new.owner.as_str())
        .bind(int(new.at_ms + new.ttl_ms))
        .bind(new.settings_json.as_str())
        .execute(&mut *tx)
        .await
        .doing(action)?;
        let row = AuditRow {
            at_ms: new.at_ms,
            actor: new.actor.clone(),
            action: "begin_night".into(),
            subject: new.id.to_string(),
            detail: new.project.clone(),
        };
        audit::insert(&mut tx, &row).await?;
        Ok(tx.commit().await.doing(action)?)
    }

    /// A sign of life with the latest counts.
    ///
    /// # Errors
    /// [`StoreFailure`] when the store cannot be written.
    pub async fn beat_night(
        &self,
        id: &NightId,
        progress: &NightProgress,
        until_ms: u64,
    ) -> Result<NightCall, StoreFailure> {
        let action = "store how far a night is";
        let mut tx = self.write(action).await?;
        sqlx::query(
            "UPDATE nights SET progress_json = ?, lease_until_ms = ? WHERE id = ? AND status = 'running'",
        )
        .bind(to_json(progress)?)
        .bind(int(until_ms))
        .bind(id.as_str())
        .execute(&mut *tx)
        .await
        .doing(action)?;
        let asked: Option<i64> = sqlx::query_scalar(
            "SELECT is_cancel_asked FROM nights WHERE id = ? AND status = 'running'",
        )
        .bind(id.as_str())
        .fetch_optional(&mut *tx)
        .await
        .doing(action)?;
        tx.commit().await.doing(action)?;
        Ok(match asked {
            None => NightCall::Lost,
            Some(0) => NightCall::GoOn,
            Some(_) => NightCall::End,
        })
    }

    /// Keeps what the harvest of a night found, as JSON text.
    ///
    /// # Errors
    /// [`StoreFailure`] when the store cannot be written.
    pub async fn keep_harvest(&self, id: &NightId, json: &str) -> Result<(), StoreFailure> {
        let action = "store a harvest";
        let mut tx = self.write(action).await?;
        sqlx::query("UPDATE nights SET harvest_json = ? WHERE id = ?")
            .bind(json)
            .bind(id.as_str())
            .execute(&mut *tx)
            .await
            .doing(action)?;
        tx.commit().await.doing(action)
    }

    /// Ends a night, and answers whether it did: nothing happens to one that is over. A night that was closed because
    /// its process seemed gone is completed by that very process.
    ///
    /// # Errors
    /// [`StoreFailure`] when the store cannot be written.
    pub async fn end_night(&self, id: &NightId, end: &NightEnd) -> Result<bool, StoreFailure> {
        let action = "end a night";
        let Some(status) = NightStatus::Running.after(end.transition) else { return Ok(false) };
        let mut tx = self.write(action).await?;
        let done = sqlx::query(
            "UPDATE nights SET status = ?, detail = ?, night = ?, staging = ?, report_json = ?, \
             baseline_score = ?, candidate_score = ?, is_accepted = ?, progress_json = ?, ended_at_ms = ?, \
             lease_owner = NULL, lease_until_ms = NULL \
             WHERE id = ? AND lease_owner = ? AND status IN ('running', 'interrupted')",
        )
        .bind(status.as_str())
        .bind(end.detail.as_str())
        .bind(end.night)
        .bind(end.staging.as_deref())
        .bind(end.report_json.as_deref())
        .bind(end.scores.baseline)
        .bind(end.scores.candidate)
        .bind(end.scores.accepted)
        .bind(to_json(&end.progress)?)
        .bind(int(end.at_ms))
        .bind(id.as_str())
        .bind(end.owner.as_str())
        .execute(&mut *tx)
        .await
        .doing(action)?;
        tx.commit().await.doing(action)?;
        Ok(done.rows_affected() > 0)
    }

    /// Asks a running night to end. `false` when it is over.
    ///
    /// # Errors
    /// [`StoreFailure`] when the store cannot be written.
    pub async fn cancel_night(&self, id: &NightId, audit: &AuditRow) -> Result<bool, StoreFailure> {
        let action = "cancel a night";
        let mut tx = self.write(action).await?;
        let done = sqlx::query(
            "UPDATE nights SET is_cancel_asked = 1 WHERE id = ? AND status = 'running'",
        )
        .bind(id.as_str())
        .execute(&mut *tx)
        .await
        .doing(action)?;
        if done.rows_affected() == 0 {
            return Ok(false);
        }
        audit::insert(&mut tx, audit).await?;
        tx.commit().await.doing(action)?;
        Ok(true)
    }

    /// Closes nights whose process is gone.
    ///
    /// # Errors
    /// [`StoreFailure`] when the store cannot be written.
    pub async fn reap_nights(&self, now_ms: u64) -> Result<(), StoreFailure> {
        let action = "close nights whose process is gone";
        let is_any: bool = sqlx::query_scalar(
            "SELECT EXISTS (SELECT 1 FROM nights WHERE status = 'running' \
             AND (lease_until_ms IS NULL OR lease_until_ms < ?))",
        )
        .bind(int(now_ms))
        .fetch_one(self.reader())
        .await
        .doing(action)?;
        if !is_any {
            return Ok(());
        }
        let mut tx = self.write(action).await?;
        close_orphans(&mut tx, now_ms).await?;
        tx.commit().await.doing(action)
    }

    /// The latest nights, newest first; those of one project when it is given.
    ///
    /// # Errors
    /// [`StoreFailure`] when the store cannot be read.
    pub async fn nights(
        &self,
        project: Option<&str>,
        limit: u32,
    ) -> Result<Vec<NightRow>, StoreFailure> {
        let rows = sqlx::query(select_nights!(
            "WHERE (?1 IS NULL OR project = ?1) ORDER BY started_at_ms DESC, id DESC LIMIT ?2"
        ))
        .bind(project)
        .bind(limit)
        .fetch_all(self.reader())
        .await
        .doing("read the nights")?;
        rows.iter().map(night_row).collect()
    }

    /// One night.
    ///
    /// # Errors
    /// [`StoreFailure`] when the store cannot be read.
    pub async fn night(&self, id: &NightId) -> Result<Option<NightRow>, StoreFailure> {
        let row = sqlx::query(select_nights!("WHERE id = ?"))
            .bind(id.as_str())
            .fetch_optional(self.reader())
            .await
            .doing("read a night")?;
        row.as_ref().map(night_row).transpose()
    }

    /// The large parts of a night; none of them for one that is not there.
    ///
    /// # Errors
    /// [`StoreFailure`] when the store cannot be read.
    pub async fn night_documents(&self, id: &NightId) -> Result<NightDocuments, StoreFailure> {
        let action = "read what a night found";
        let row = sqlx::query("SELECT harvest_json, report_json FROM nights WHERE id = ?")
            .bind(id.as_str())
            .fetch_optional(self.reader())
            .await
            .doing(action)?;
        let Some(row) = row else { return Ok(NightDocuments::default()) };
        Ok(NightDocuments {
            harvest_json: row.text_or_null("harvest_json")?,
            report_json: row.text_or_null("report_json")?,
        })
    }

    /// Projects with nights, the latest first.
    ///
    /// # Errors
    /// [`StoreFailure`] when the store cannot be read.
    pub async fn night_projects(&self) -> Result<Vec<String>, StoreFailure> {
        sqlx::query_scalar(
            "SELECT project FROM nights GROUP BY project ORDER BY max(started_at_ms) DESC",
        )
        .fetch_all(self.reader())
        .await
        .doing("read the projects of nights")
    }
}

/// The stored words are those of the API.
fn decision_of(word: &str) -> Result<NightDecision, StoreFailure> {
    from_json("the decision about a night", &format!("\"{word}\""))
}

async fn close_orphans(conn: &mut SqliteConnection, now_ms: u64) -> Result<(), StoreFailure> {
    sqlx::query(
        "UPDATE nights SET status = 'interrupted', detail = 'the process that worked on it is gone', \
         ended_at_ms = ?1, lease_until_ms = NULL \
         WHERE status = 'running' AND (lease_until_ms IS NULL OR lease_until_ms < ?1)",
    )
    .bind(int(now_ms))
    .execute(conn)
    .await
    .doing("close nights whose process is gone")
    .map(|_| ())
}

fn parse(id: &str) -> Result<NightId, StoreFailure> {
    NightId::parse(id).map_err(|err| StoreFailure::corrupt("a night", err))
}

pub(crate) fn night_row(row: &SqliteRow) -> Result<NightRow, StoreFailure> {
    let status = row.text("status")?;
    Ok(NightRow {
        id: parse(&row.text("id")?)?,
        project: row.text("project")?,
        night: row.int_or_null("night")?.map(small),
        is_dry: row.int("is_dry")? != 0,
        is_simulated: row.int("is_simulated")? != 0,
        models: row.text("models")?,
        actor: row.text("actor")?,
        status: NightStatus::parse(&status)
            .ok_or_else(|| StoreFailure::corrupt("a night", format!("state {status:?}")))?,
        detail: row.text("detail")?,
        staging: row.text_or_null("staging")?,
        started_at_ms: count(row.int("started_at_ms")?),
        ended_at_ms: row.int_or_null("ended_at_ms")?.map(count),
        progress: from_json("how far a night is", &row.text("progress_json")?)?,
        scores: NightScores {
            baseline: row.real_or_null("baseline_score")?,
            candidate: row.real_or_null("candidate_score")?,
            accepted: row.int("is_accepted")? != 0,
        },
        settings_json: row.text("settings_json")?,
        decision: row.text_or_null("decision")?.as_deref().map(decision_of).transpose()?,
        review_json: row.text("review_json")?,
        changed: count(row.int("changed")?),
    })
}

#[cfg(test)]
mod tests;
