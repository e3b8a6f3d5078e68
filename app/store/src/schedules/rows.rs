//! The schedules themselves: added, read, changed and removed, each with its row in the audit log.

use crate::audit::{self, AuditRow};
use crate::error::StoreFailure;
use crate::open::Store;
use crate::sql::{Column, Doing, count, int, small};
use skillopt_domain::ids::ScheduleId;
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;

/// When a schedule runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduleTime {
    /// 0 to 23.
    pub hour: u8,
    /// 0 to 59.
    pub minute: u8,
    /// The zone by its IANA name.
    pub zone: String,
}

/// What a person sets of a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduleTerms {
    /// All options of its nights as JSON text.
    pub options_json: String,
    /// When it runs.
    pub time: ScheduleTime,
    /// It runs.
    pub is_enabled: bool,
}

/// A schedule that is added.
#[derive(Clone, Debug)]
pub struct NewSchedule {
    /// Its id.
    pub id: ScheduleId,
    /// Absolute path of the project.
    pub project: String,
    /// What a person sets.
    pub terms: ScheduleTerms,
    /// The day that needs no night any more, as `2026-11-30`.
    pub served: String,
    /// Who adds it.
    pub actor: String,
    /// Now, in milliseconds since 1970-01-01 UTC.
    pub at_ms: u64,
}

/// A change by a person.
#[derive(Clone, Debug)]
pub struct ScheduleEdit {
    /// The schedule's revision as it was read.
    pub revision: u64,
    /// What a person sets.
    pub terms: ScheduleTerms,
    /// The day that needs no night any more; `None` leaves it as it is.
    pub served: Option<String>,
    /// Who changes it.
    pub actor: String,
    /// Now, in milliseconds since 1970-01-01 UTC.
    pub at_ms: u64,
}

/// A schedule as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduleRow {
    /// Its id.
    pub id: ScheduleId,
    /// Absolute path of the project.
    pub project: String,
    /// What a person sets.
    pub terms: ScheduleTerms,
    /// The day whose night is taken care of.
    pub served: String,
    /// Counts the changes by people.
    pub revision: u64,
    /// In milliseconds since 1970-01-01 UTC.
    pub created_at_ms: u64,
    /// Who added it.
    pub created_by: String,
    /// In milliseconds since 1970-01-01 UTC.
    pub changed_at_ms: u64,
    /// Who changed it last.
    pub changed_by: String,
}

/// The project has a schedule.
#[derive(Debug, thiserror::Error)]
pub enum AddScheduleError {
    /// It can be changed instead.
    #[error("the project has a schedule already; change that one, or delete it first")]
    Taken(ScheduleId),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreFailure),
}

impl Store {
    /// Adds a schedule.
    ///
    /// # Errors
    /// [`AddScheduleError::Taken`] when the project has one.
    pub async fn add_schedule(&self, new: &NewSchedule) -> Result<(), AddScheduleError> {
        let action = "add a schedule";
        let mut tx = self.write(action).await?;
        let taken: Option<String> =
            sqlx::query_scalar("SELECT id FROM schedules WHERE project = ?")
                .bind(new.project.as_str())
                .fetch_optional(&mut *tx)
                .await
                .doing(action)?;
        if let Some(id) = taken {
            return Err(AddScheduleError::Taken(parse(&id)?));
        }
        sqlx::query(
            "INSERT INTO schedules (id, project, options_json, hour, minute, zone, is_enabled, served, \
             created_at_ms, created_by, changed_at_ms, changed_by) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?9, ?10)",
        )
        .bind(new.id.as_str())
        .bind(new.project.as_str())
        .bind(new.terms.options_json.as_str())
        .bind(new.terms.time.hour)
        .bind(new.terms.time.minute)
        .bind(new.terms.time.zone.as_str())
        .bind(new.terms.is_enabled)
        .bind(new.served.as_str())
        .bind(int(new.at_ms))
        .bind(new.actor.as_str())
        .execute(&mut *tx)
        .await
        .doing(action)?;
        let detail = format!("{} {}", new.project, told(&new.terms.time));
        note(&mut tx, (new.at_ms, &new.actor), "add_schedule", &new.id, detail).await?;
        Ok(tx.commit().await.doing(action)?)
    }

    /// Changes a schedule. `false` when it is gone or was changed since it was read; nothing is written then.
    ///
    /// # Errors
    /// [`StoreFailure`] when the store cannot be written.
    pub async fn change_schedule(
        &self,
        id: &ScheduleId,
        edit: &ScheduleEdit,
    ) -> Result<bool, StoreFailure> {
        let action = "change a schedule";
        let mut tx = self.write(action).await?;
        let done = sqlx::query(
            "UPDATE schedules SET options_json = ?, hour = ?, minute = ?, zone = ?, is_enabled = ?, \
             served = coalesce(?, served), revision = revision + 1, changed_at_ms = ?, changed_by = ? \
             WHERE id = ? AND revision = ?",
        )
        .bind(edit.terms.options_json.as_str())
        .bind(edit.terms.time.hour)
        .bind(edit.terms.time.minute)
        .bind(edit.terms.time.zone.as_str())
        .bind(edit.terms.is_enabled)
        .bind(edit.served.as_deref())
        .bind(int(edit.at_ms))
        .bind(edit.actor.as_str())
        .bind(id.as_str())
        .bind(int(edit.revision))
        .execute(&mut *tx)
        .await
        .doing(action)?;
        if done.rows_affected() == 0 {
            return Ok(false);
        }
        let state = if edit.terms.is_enabled { "on" } else { "off" };
        let detail = format!("{}, {state}", told(&edit.terms.time));
        note(&mut tx, (edit.at_ms, &edit.actor), "change_schedule", id, detail).await?;
        tx.commit().await.doing(action)?;
        Ok(true)
    }

    /// Removes a schedule with what became of its nights; the nights stay. `false` when it is gone.
    ///
    /// # Errors
    /// [`StoreFailure`] when the store cannot be written.
    pub async fn remove_schedule(
        &self,
        id: &ScheduleId,
        actor: &str,
        at_ms: u64,
    ) -> Result<bool, StoreFailure> {
        let action = "remove a schedule";
        let mut tx = self.write(action).await?;
        let project: Option<String> =
            sqlx::query_scalar("DELETE FROM schedules WHERE id = ? RETURNING project")
                .bind(id.as_str())
                .fetch_optional(&mut *tx)
                .await
                .doing(action)?;
        let Some(project) = project else { return Ok(false) };
        note(&mut tx, (at_ms, actor), "remove_schedule", id, project).await?;
        tx.commit().await.doing(action)?;
        Ok(true)
    }

    /// All schedules, by project.
    ///
    /// # Errors
    /// [`StoreFailure`] when the store cannot be read.
    pub async fn schedules(&self) -> Result<Vec<ScheduleRow>, StoreFailure> {
        let rows = sqlx::query("SELECT * FROM schedules ORDER BY project")
            .fetch_all(self.reader())
            .await
            .doing("read the schedules")?;
        rows.iter().map(schedule_row).collect()
    }

    /// One schedule.
    ///
    /// # Errors
    /// [`StoreFailure`] when the store cannot be read.
    pub async fn schedule(&self, id: &ScheduleId) -> Result<Option<ScheduleRow>, StoreFailure> {
        let row = sqlx::query("SELECT * FROM schedules WHERE id = ?")
            .bind(id.as_str())
            .fetch_optional(self.reader())
            .await
            .doing("read a schedule")?;
        row.as_ref().map(schedule_row).transpose()
    }
}

fn told(time: &ScheduleTime) -> String {
    format!("at {:02}:{:02} {}", time.hour, time.minute, time.zone)
}

async fn note(
    conn: &mut SqliteConnection,
    (at_ms, actor): (u64, &str),
    action: &str,
    id: &ScheduleId,
    detail: String,
) -> Result<(), StoreFailure> {
    let row = AuditRow {
        at_ms,
        actor: actor.to_owned(),
        action: action.to_owned(),
        subject: id.to_string(),
        detail,
    };
    audit::insert(conn, &row).await
}

fn parse(id: &str) -> Result<ScheduleId, StoreFailure> {
    ScheduleId::parse(id).map_err(|err| StoreFailure::corrupt("a schedule", err))
}

fn schedule_row(row: &SqliteRow) -> Result<ScheduleRow, StoreFailure> {
    // The table holds both below 60.
    let part = |value: i64| u8::try_from(small(value)).unwrap_or_default();
    Ok(ScheduleRow {
        id: parse(&row.text("id")?)?,
        project: row.text("project")?,
        terms: ScheduleTerms {
            options_json: row.text("options_json")?,
            time: ScheduleTime {
                hour: part(row.int("hour")?),
                minute: part(row.int("minute")?),
                zone: row.text("zone")?,
            },
            is_enabled: row.int("is_enabled")? != 0,
        },
        served: row.text("served")?,
        revision: count(row.int("revision")?),
        created_at_ms: count(row.int("created_at_ms")?),
        created_by: row.text("created_by")?,
        changed_at_ms: count(row.int("changed_at_ms")?),
        changed_by: row.text("changed_by")?,
    })
}
