//! Runs that were read from a run folder: texts and attempts first, in short transactions, then the journal in
//! one; brought up to date by the same call.
//! What a folder says is the importer's business; nothing is read from disk here.

use crate::audit::{self, AuditRow};
use crate::blobs::{self, Blob};
use crate::error::StoreFailure;
use crate::fold::{self, NewEvent, RunHead};
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
use std::collections::HashSet;

/// Texts of one transaction.
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
    /// that was kept is changed. Other writers get their turn in between.
    ///
    /// # Errors
    /// [`StoreFailure`] when the store cannot be written. Texts, attempts and the bare run with its origin may be
    /// there then, but no new event; the same call again completes them.
    pub async fn import_run(&self, imported: &ImportedRun) -> Result<Imported, StoreFailure> {
        let action = "import a run";
        let run_no = self.open_import(imported).await?;
        self.keep_texts(&texts_of(imported)).await?;
        for set in &imported.sets {
            let mut tx = self.write(action).await?;
            insert_set(&mut tx, run_no, set).await?;
            tx.commit().await.doing(action)?;
        }
        let mut tx = self.write(action).await?;
        // Nothing was told of it yet, though an import that broke off may have left its row.
        let is_new = RunHead::load(&mut tx, &imported.run.id).await?.seq == 0;
        insert_skills(&mut tx, run_no, &imported.skills).await?;
        let events: Vec<NewEvent<'_>> = imported
            .events
            .iter()
            .map(|event| NewEvent { key: &event.key, kind: &event.kind, at_ms: event.at_ms })
            .collect();
        let n_new_events = fold::append_all(&mut tx, &imported.run.id, &events).await?;
        store_origin(&mut tx, run_no, &imported.origin).await?;
        store_totals(&mut tx, run_no, imported).await?;
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

    /// The number of the run, which is made with its origin when it is not there, so that nothing takes it for a
    /// run that could be driven.
    async fn open_import(&self, imported: &ImportedRun) -> Result<i64, StoreFailure> {
        let action = "import a run";
        let mut tx = self.write(action).await?;
        let is_known = exists(&mut tx, &imported.run.id).await?;
        if !is_known {
            runs::insert(&mut tx, &imported.run).await?;
        }
        let head = RunHead::load(&mut tx, &imported.run.id).await?;
        if !is_known {
            store_origin(&mut tx, head.no, &imported.origin).await?;
        }
        tx.commit().await.doing(action)?;
        Ok(head.no)
    }

    /// Keeps texts by their hashes. They are packed outside of transactions, a few at a time.
    async fn keep_texts(&self, texts: &[&str]) -> Result<(), StoreFailure> {
        let action = "keep what was said";
        for texts in texts.chunks(CHUNK) {
            let blobs = packed(texts);
            let mut tx = self.write(action).await?;
            blobs::insert(&mut tx, &blobs.iter().collect::<Vec<_>>()).await.doing(action)?;
            tx.commit().await.doing(action)?;
            // Packing takes time; others want the thread, too.
            tokio::task::yield_now().await;
        }
        Ok(())
    }

    /// How many of these keys, each counted once, the journal of a run does not have yet; all of them when there is no such run.
    ///
    /// # Errors
    /// [`StoreFailure`] when the store cannot be read.
    pub async fn n_unknown_events(&self, run: &RunId, keys: &[&str]) -> Result<u32, StoreFailure> {
        let mut conn = self.read("read a run's journal").await?;
        let known = fold::known_keys(&mut conn, run).await?;
        let unknown: HashSet<&str> =
            keys.iter().copied().filter(|key| !known.contains(*key)).collect();
        Ok(u32::try_from(unknown.len()).unwrap_or(u32::MAX))
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

/// What was said, and the skills.
fn texts_of(imported: &ImportedRun) -> Vec<&str> {
    let said = imported.sets.iter().flat_map(|set| set.conversations.iter().flatten());
    let skills = imported.skills.iter().map(String::as_str);
    said.map(|message| message.content.as_str()).chain(skills).collect()
}

fn packed(texts: &[&str]) -> Vec<Blob> {
    texts.iter().map(|text| Blob::pack(Sha256Hex::of(text), text)).collect()
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
        findings: from_json("what an import found", &row.text("findings_json")?)?,
        n_findings_more: count(row.int("n_findings_more")?),
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

/// Says which skills belong to the run; their texts are there.
async fn insert_skills(
    conn: &mut SqliteConnection,
    run_no: i64,
    skills: &[String],
) -> Result<(), StoreFailure> {
    for text in skills {
        sqlx::query("INSERT INTO run_skills (run_no, skill) VALUES (?, ?) ON CONFLICT DO NOTHING")
            .bind(run_no)
            .bind(Sha256Hex::of(text).as_str())
            .execute(&mut *conn)
            .await
            .doing("keep a skill")?;
    }
    Ok(())
}

/// Keeps a set once, by its key, with its conversations, whose texts are there.
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
        "INSERT INTO imports (run_no, folder, system, imported_at_ms, why_not_resumable, findings_json, \
         n_findings_more) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (run_no) DO UPDATE SET \
         folder = excluded.folder, system = excluded.system, imported_at_ms = excluded.imported_at_ms, \
         why_not_resumable = excluded.why_not_resumable, findings_json = excluded.findings_json, \
         n_findings_more = excluded.n_findings_more",
    )
    .bind(run_no)
    .bind(origin.folder.as_str())
    .bind(origin.system.as_str())
    .bind(int(origin.imported_at_ms))
    .bind(origin.why_not_resumable.as_str())
    .bind(to_json(&origin.findings)?)
    .bind(int(origin.n_findings_more))
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

#[cfg(test)]
mod tests {
    use super::*;
    use skillopt_domain::config::Resolved;
    use skillopt_domain::run::RunStatus;

    fn imported() -> ImportedRun {
        let id = RunId::parse("01890000-0000-7000-8000-000000000007").expect("an id");
        let kind = EventKind::Status { status: RunStatus::Interrupted, detail: None };
        ImportedRun {
            run: NewRun {
                id,
                name: "one".into(),
                config: Resolved::default(),
                out_root: "out/7".into(),
                actor: "tester".into(),
                fresh: None,
                created_at_ms: 1000,
                lease: None,
            },
            origin: ImportOrigin {
                folder: "out/7".into(),
                system: "Python SkillOpt 0.2".into(),
                imported_at_ms: 2000,
                why_not_resumable: "no ledger".into(),
                findings: Vec::new(),
                n_findings_more: 0,
            },
            skills: (0..600).map(|at| format!("skill {at}")).collect(),
            sets: Vec::new(),
            events: vec![ImportedEvent { key: "import/end".into(), at_ms: 1500, kind }],
            spend: SpendByRole::default(),
            active_ms: 0,
        }
    }

    async fn execute(store: &Store, sql: &'static str) {
        let mut tx = store.write("test").await.expect("a turn");
        sqlx::query(sql).execute(&mut *tx).await.expect("done");
        tx.commit().await.expect("kept");
    }

    #[tokio::test]
    async fn texts_are_kept_before_the_journal_and_an_import_that_broke_off_is_completed() {
        let (store, run) = (Store::in_memory().await.expect("a store"), imported());
        execute(
            &store,
            "CREATE TRIGGER broken BEFORE INSERT ON events BEGIN SELECT RAISE(ABORT, 'no'); END",
        )
        .await;
        store.import_run(&run).await.expect_err("broke off");
        let last = Sha256Hex::of("skill 599");
        assert_eq!(store.skill_text(&last).await.expect("read").as_deref(), Some("skill 599"));
        assert_eq!(store.import_origin(&run.run.id).await.expect("read"), Some(run.origin.clone()));
        assert_eq!(store.max_seq(&run.run.id).await.expect("read"), 0);
        execute(&store, "DROP TRIGGER broken").await;
        let done = store.import_run(&run).await.expect("completed");
        assert_eq!(done, Imported { is_new: true, n_new_events: 1 });
        assert!(store.skill_belongs_to_run(&run.run.id, &last).await.expect("read"));
    }
}
