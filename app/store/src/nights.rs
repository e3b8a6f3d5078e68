//! Nights: one row each, a lease while it runs, and what lists and live views show of it.

use crate::audit::{self, AuditRow};
use crate::error::StoreFailure;
use crate::open::Store;
use crate::sql::{Column, Doing, count, from_json, int, small, to_json};
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
}

/// How a night ended.
#[derive(Clone, Debug)]
pub struct NightEnd {
    /// The way it ended.
    pub transition: NightTransition,
    /// Why, for people; may be empty.
    pub detail: String,
    /// The project's own count.
    pub night: Option<u32>,
    /// Its folder.
    pub staging: Option<String>,
    /// The report as JSON text.
    pub report_json: Option<String>,
    /// The last counts.
    pub progress: NightProgress,
    /// Now, in milliseconds since 1970-01-01 UTC.
    pub at_ms: u64,
}

/// A night as it is stored.
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
    /// The harvest by source as JSON text.
    pub harvest_json: Option<String>,
    /// The report as JSON text.
    pub report_json: Option<String>,
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
             progress_json, lease_owner, lease_until_ms) VALUES (?, ?, ?, ?, ?, ?, 'running', ?, ?, ?, ?)",
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

    /// A sign of life with the latest counts. Answers whether a person asks for the end.
    ///
    /// # Errors
    /// [`StoreFailure`] when the store cannot be written.
    pub async fn beat_night(
        &self,
        id: &NightId,
        progress: &NightProgress,
        until_ms: u64,
    ) -> Result<bool, StoreFailure> {
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
        // A night that is not ours any more has to end as well.
        Ok(asked.is_none_or(|asked| asked != 0))
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

    /// Ends a night. Nothing happens to one that is over.
    ///
    /// # Errors
    /// [`StoreFailure`] when the store cannot be written.
    pub async fn end_night(&self, id: &NightId, end: &NightEnd) -> Result<(), StoreFailure> {
        let action = "end a night";
        let Some(status) = NightStatus::Running.after(end.transition) else { return Ok(()) };
        let mut tx = self.write(action).await?;
        sqlx::query(
            "UPDATE nights SET status = ?, detail = ?, night = ?, staging = ?, report_json = ?, \
             progress_json = ?, ended_at_ms = ?, lease_owner = NULL, lease_until_ms = NULL \
             WHERE id = ? AND status = 'running'",
        )
        .bind(status.as_str())
        .bind(end.detail.as_str())
        .bind(end.night)
        .bind(end.staging.as_deref())
        .bind(end.report_json.as_deref())
        .bind(to_json(&end.progress)?)
        .bind(int(end.at_ms))
        .bind(id.as_str())
        .execute(&mut *tx)
        .await
        .doing(action)?;
        tx.commit().await.doing(action)
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
        let rows = sqlx::query(
            "SELECT * FROM nights WHERE (?1 IS NULL OR project = ?1) \
             ORDER BY started_at_ms DESC, id DESC LIMIT ?2",
        )
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
        let row = sqlx::query("SELECT * FROM nights WHERE id = ?")
            .bind(id.as_str())
            .fetch_optional(self.reader())
            .await
            .doing("read a night")?;
        row.as_ref().map(night_row).transpose()
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

async fn close_orphans(conn: &mut SqliteConnection, now_ms: u64) -> Result<(), StoreFailure> {
    sqlx::query(
        "UPDATE nights SET status = 'interrupted', detail = 'the process that worked on it is gone', \
         ended_at_ms = ?1, lease_owner = NULL, lease_until_ms = NULL \
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

fn night_row(row: &SqliteRow) -> Result<NightRow, StoreFailure> {
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
        harvest_json: row.text_or_null("harvest_json")?,
        report_json: row.text_or_null("report_json")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TTL_MS: u64 = 10;

    fn id(no: u8) -> NightId {
        NightId::parse(&format!("0190a0c2-7b1e-7c33-8f00-0123456789{no:02x}")).expect("an id")
    }

    fn new_night(no: u8, project: &str, at_ms: u64) -> NewNight {
        NewNight {
            id: id(no),
            project: project.into(),
            is_dry: false,
            is_simulated: true,
            models: "mock".into(),
            actor: "local".into(),
            at_ms,
            owner: "a".into(),
            ttl_ms: TTL_MS,
        }
    }

    fn end(transition: NightTransition) -> NightEnd {
        NightEnd {
            transition,
            detail: String::new(),
            night: Some(1),
            staging: Some("/p/.skillopt-sleep/staging/x".into()),
            report_json: Some("{}".into()),
            progress: NightProgress { done: 3, ..NightProgress::start() },
            at_ms: 9,
        }
    }

    #[tokio::test]
    async fn one_night_at_a_time_works_on_a_project() {
        let store = Store::in_memory().await.expect("a store");
        store.begin_night(&new_night(1, "/p", 1)).await.expect("begun");
        store.begin_night(&new_night(2, "/q", 1)).await.expect("another project");
        let second = store.begin_night(&new_night(3, "/p", 5)).await;
        assert!(matches!(second, Err(BeginNightError::Running(first)) if first == id(1)));
        store.end_night(&id(1), &end(NightTransition::Stage)).await.expect("ended");
        store.begin_night(&new_night(3, "/p", 6)).await.expect("the next one");
        let rows = store.nights(Some("/p"), 9).await.expect("read");
        let states: Vec<_> = rows.iter().map(|row| (row.id.clone(), row.status)).collect();
        assert_eq!(states, [(id(3), NightStatus::Running), (id(1), NightStatus::Staged)]);
        assert_eq!(rows[1].progress.done, 3);
        assert_eq!(store.night_projects().await.expect("read"), ["/p", "/q"]);
    }

    #[tokio::test]
    async fn a_night_whose_process_is_gone_is_interrupted_and_holds_up_nobody() {
        let store = Store::in_memory().await.expect("a store");
        store.begin_night(&new_night(1, "/p", 1)).await.expect("begun");
        store.beat_night(&id(1), &NightProgress::start(), 50).await.expect("alive");
        assert!(store.begin_night(&new_night(2, "/p", 40)).await.is_err(), "still alive");
        store.begin_night(&new_night(2, "/p", 60)).await.expect("begun");
        let first = store.night(&id(1)).await.expect("read").expect("there");
        assert_eq!((first.status, first.ended_at_ms), (NightStatus::Interrupted, Some(60)));
        assert!(
            store.beat_night(&id(1), &NightProgress::start(), 99).await.expect("told"),
            "a process that comes back is told to end"
        );
    }

    #[tokio::test]
    async fn a_night_is_told_that_a_person_asks_for_its_end_and_one_that_is_over_is_not() {
        let store = Store::in_memory().await.expect("a store");
        let audit = AuditRow {
            at_ms: 2,
            actor: "local".into(),
            action: "cancel_night".into(),
            subject: id(1).to_string(),
            detail: String::new(),
        };
        store.begin_night(&new_night(1, "/p", 1)).await.expect("begun");
        assert!(!store.beat_night(&id(1), &NightProgress::start(), 9).await.expect("told"));
        assert!(store.cancel_night(&id(1), &audit).await.expect("asked"));
        assert!(store.beat_night(&id(1), &NightProgress::start(), 9).await.expect("told"));
        store.end_night(&id(1), &end(NightTransition::Cancel)).await.expect("ended");
        assert!(!store.cancel_night(&id(1), &audit).await.expect("asked"));
        store.end_night(&id(1), &end(NightTransition::Fail)).await.expect("nothing");
        let row = store.night(&id(1)).await.expect("read").expect("there");
        assert_eq!(row.status, NightStatus::Cancelled);
    }
}
