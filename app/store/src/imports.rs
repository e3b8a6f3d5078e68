//! Runs that were read from a run folder: written in one transaction, brought up to date by the same call.
//! What a folder says is the importer's business; nothing is read from disk here.

use crate::audit::{self, AuditRow};
use crate::blobs::{self, Blob};
use crate::error::StoreFailure;
use crate::fold::{self, Appended, Before, NewEvent, RunHead};
use crate::live::Signal;
use crate::open::Store;
use crate::outcomes;
use crate::runs::{self, NewRun};
use crate::script::Script;
use crate::sql::{Column, Doing, count, from_json, int, to_json};
use skillopt_domain::api::TrajectoryMessage;
use skillopt_domain::event::EventKind;
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::ids::RunId;
use skillopt_domain::import::ImportOrigin;
use skillopt_domain::outcome::RolloutSet;
use skillopt_domain::spend::SpendByRole;
use sqlx::SqliteConnection;

/// Texts of one insert.
const CHUNK: usize = 256;

/// An event of an imported run.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedEvent {
    /// Its key, unique within the run.
    pub key: String,
    /// When, as well as the folder tells, in milliseconds since 1970-01-01 UTC.
    pub at_ms: u64,
    /// What.
    pub kind: EventKind,
}

/// A rollout set with what was said in each attempt.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedSet {
    /// The set.
    pub set: RolloutSet,
    /// One conversation an outcome, in the same order; empty where the folder has none.
    pub conversations: Vec<Vec<TrajectoryMessage>>,
}

/// A run as its folder tells it. The state of the run is the last event.
#[derive(Clone, Debug)]
pub struct ImportedRun {
    /// Id, name, config, folder and actor. It never has a lease.
    pub run: NewRun,
    /// Where it came from.
    pub origin: ImportOrigin,
    /// Skill texts.
    pub skills: Vec<String>,
    /// Attempts.
    pub sets: Vec<ImportedSet>,
    /// The journal; what is known is ignored.
    pub events: Vec<ImportedEvent>,
    /// What the run spent, as far as the folder tells.
    pub spend: SpendByRole,
    /// Working time in milliseconds; 0 when it is not known.
    pub active_ms: u64,
}

/// What an import changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Imported {
    /// The run was not there before.
    pub is_new: bool,
    /// Events that were not there before.
    pub n_new_events: u32,
}

impl Store {
    /// Writes a run that was read from a folder, or what its folder says more than at the last time. Nothing
    /// that was kept is changed.
    ///
    /// # Errors
    /// [`StoreFailure`] when the store cannot be written; nothing was written then.
    pub async fn import_run(&self, imported: &ImportedRun) -> Result<Imported, StoreFailure> {
        let action = "import a run";
        let mut tx = self.write(action).await?;
        let is_new = !exists(&mut tx, &imported.run.id).await?;
        if is_new {
            runs::insert(&mut tx, &imported.run).await?;
        }
        let head = RunHead::load(&mut tx, &imported.run.id).await?;
        insert_skills(&mut tx, head.no, &imported.skills).await?;
        for set in &imported.sets {
            insert_set(&mut tx, head.no, set).await?;
        }
        let mut n_new_events = 0;
        for event in &imported.events {
            let new = NewEvent { key: &event.key, kind: &event.kind, at_ms: event.at_ms };
            let (head, before) = Before::load(&mut tx, &imported.run.id, new).await?;
            if fold::append(&mut tx, (&head, &before), new, None).await? == Appended::New {
                n_new_events += 1;
            }
        }
        store_origin(&mut tx, head.no, &imported.origin).await?;
        store_totals(&mut tx, head.no, imported).await?;
        let row = AuditRow {
            at_ms: imported.origin.imported_at_ms,
            actor: imported.run.actor.clone(),
            action: "import_run".into(),
            subject: imported.run.id.to_string(),
            detail: imported.origin.folder.clone(),
        };
        audit::insert(&mut tx, &row).await?;
        tx.commit().await.doing(action)?;
        self.signal(Signal::Run(imported.run.id.clone()));
        Ok(Imported { is_new, n_new_events })
    }

    /// Where a run was imported from; `None` for a run that was made here, or that is not there.
    ///
    /// # Errors
    /// [`StoreFailure`] when the store cannot be read.
    pub async fn import_origin(&self, run: &RunId) -> Result<Option<ImportOrigin>, StoreFailure> {
        let mut conn = self.read("read a run's origin").await?;
        origin(&mut conn, run).await
    }
}

/// Where a run was imported from.
pub(crate) async fn origin(
    conn: &mut SqliteConnection,
    run: &RunId,
) -> Result<Option<ImportOrigin>, StoreFailure> {
    let row = sqlx::query(
        "SELECT imports.* FROM imports JOIN runs ON runs.no = imports.run_no WHERE runs.id = ?",
    )
    .bind(run.as_str())
    .fetch_optional(conn)
    .await
    .doing("read a run's origin")?;
    let Some(row) = row else { return Ok(None) };
    Ok(Some(ImportOrigin {
        folder: row.text("folder")?,
        system: row.text("system")?,
        imported_at_ms: count(row.int("imported_at_ms")?),
        why_not_resumable: row.text("why_not_resumable")?,
    }))
}

/// What was said in an attempt that was imported; empty for none.
pub(crate) async fn conversation(
    conn: &mut SqliteConnection,
    outcome: i64,
) -> Result<Vec<TrajectoryMessage>, StoreFailure> {
    let text: Option<String> =
        sqlx::query_scalar("SELECT messages FROM conversations WHERE outcome = ?")
            .bind(outcome)
            .fetch_optional(&mut *conn)
            .await
            .doing("read a conversation")?;
    let Some(text) = text else { return Ok(Vec::new()) };
    let said: Vec<(String, String)> = from_json("a conversation", &text)?;
    let mut messages = Vec::with_capacity(said.len());
    for (role, hash) in said {
        let content = blobs::read(conn, &hash)
            .await?
            .ok_or_else(|| StoreFailure::corrupt("a conversation", format!("no text {hash}")))?;
        messages.push(TrajectoryMessage { role, content });
    }
    Ok(messages)
}

async fn exists(conn: &mut SqliteConnection, run: &RunId) -> Result<bool, StoreFailure> {
    sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM runs WHERE id = ?)")
        .bind(run.as_str())
        .fetch_one(conn)
        .await
        .doing("look for a run")
}

async fn insert_skills(
    conn: &mut SqliteConnection,
    run_no: i64,
    skills: &[String],
) -> Result<(), StoreFailure> {
    let action = "keep a skill";
    for text in skills {
        let blob = Blob::pack(Sha256Hex::of(text), text);
        blobs::insert(conn, &[&blob]).await.doing(action)?;
        sqlx::query("INSERT INTO run_skills (run_no, skill) VALUES (?, ?) ON CONFLICT DO NOTHING")
            .bind(run_no)
            .bind(blob.hash.as_str())
            .execute(&mut *conn)
            .await
            .doing(action)?;
    }
    Ok(())
}

/// Keeps a set once, by its key, with its conversations.
async fn insert_set(
    conn: &mut SqliteConnection,
    run_no: i64,
    imported: &ImportedSet,
) -> Result<(), StoreFailure> {
    let known: bool = sqlx::query_scalar(
        "SELECT EXISTS (SELECT 1 FROM rollout_sets WHERE run_no = ? AND key = ?)",
    )
    .bind(run_no)
    .bind(imported.set.key.as_str())
    .fetch_one(&mut *conn)
    .await
    .doing("look for a rollout set")?;
    if known {
        return Ok(());
    }
    outcomes::insert(conn, run_no, &imported.set).await?;
    let ids: Vec<i64> = sqlx::query_scalar(
        "SELECT outcomes.id FROM outcomes JOIN rollout_sets ON rollout_sets.id = outcomes.set_id \
         WHERE rollout_sets.run_no = ? AND rollout_sets.key = ? ORDER BY outcomes.id",
    )
    .bind(run_no)
    .bind(imported.set.key.as_str())
    .fetch_all(&mut *conn)
    .await
    .doing("read outcomes")?;
    let said = || ids.iter().zip(&imported.conversations).filter(|(_, said)| !said.is_empty());
    let texts: Vec<Blob> = said()
        .flat_map(|(_, said)| said)
        .map(|message| Blob::pack(Sha256Hex::of(&message.content), &message.content))
        .collect();
    for chunk in texts.chunks(CHUNK) {
        blobs::insert(conn, &chunk.iter().collect::<Vec<_>>()).await.doing("keep what was said")?;
    }
    for (id, said) in said() {
        let rows: Vec<(&str, Sha256Hex)> = said
            .iter()
            .map(|message| (message.role.as_str(), Sha256Hex::of(&message.content)))
            .collect();
        sqlx::query("INSERT INTO conversations (outcome, messages) VALUES (?, ?)")
            .bind(id)
            .bind(to_json(&rows)?)
            .execute(&mut *conn)
            .await
            .doing("keep a conversation")?;
    }
    Ok(())
}

async fn store_origin(
    conn: &mut SqliteConnection,
    run_no: i64,
    origin: &ImportOrigin,
) -> Result<(), StoreFailure> {
    sqlx::query(
        "INSERT INTO imports (run_no, folder, system, imported_at_ms, why_not_resumable) \
         VALUES (?, ?, ?, ?, ?) ON CONFLICT (run_no) DO UPDATE SET folder = excluded.folder, \
         system = excluded.system, imported_at_ms = excluded.imported_at_ms, \
         why_not_resumable = excluded.why_not_resumable",
    )
    .bind(run_no)
    .bind(origin.folder.as_str())
    .bind(origin.system.as_str())
    .bind(int(origin.imported_at_ms))
    .bind(origin.why_not_resumable.as_str())
    .execute(conn)
    .await
    .doing("store a run's origin")
    .map(drop)
}

async fn store_totals(
    conn: &mut SqliteConnection,
    run_no: i64,
    imported: &ImportedRun,
) -> Result<(), StoreFailure> {
    let mut script = Script::default();
    fold::store_spend(&mut script, run_no, &imported.spend)?;
    script
        .statement(
            "UPDATE runs SET active_ms = ?, lease_owner = NULL, lease_until_ms = NULL WHERE no = ?",
        )
        .bind(int(imported.active_ms))
        .bind(run_no);
    script.run(conn, "store a run's totals").await
}
