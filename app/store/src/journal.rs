//! The journal of one run, as the engine writes it. Every write checks that the run is still ours.

use crate::blobs::{self, Blob};
use crate::error::{LeaseError, StoreFailure};
use crate::fold::{self, Appended, Before, NewEvent};
use crate::lease::{Beat, owned};
use crate::lifecycle::Command;
use crate::live::Signal;
use crate::open::Store;
use crate::outcomes;
use crate::reading::run_no;
use crate::sql::{Doing, from_json};
use async_trait::async_trait;
use skillopt_domain::event::{EventKind, Progress};
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::ids::RunId;
use skillopt_domain::outcome::RolloutSet;
use skillopt_domain::spend::SpendByRole;
use skillopt_engine::ports::{Clock, Journal, StoreError};
use std::sync::{Arc, Mutex, PoisonError};

/// The journal of a run that this process works on.
#[derive(Debug)]
pub struct RunJournal {
    store: Store,
    run: RunId,
    owner: String,
    clock: Arc<dyn Clock>,
    /// The last live counts; the next heartbeat writes them.
    live: Mutex<Live>,
}

#[derive(Debug, Default)]
struct Live {
    unwritten: Option<Progress>,
    spend: Option<SpendByRole>,
}

impl RunJournal {
    /// Opens the journal of a run whose lease `owner` holds.
    ///
    /// # Errors
    /// [`LeaseError::Lost`] when it does not.
    pub async fn open(
        store: &Store,
        run: &RunId,
        owner: &str,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, LeaseError> {
        let mut conn = store.read("open a journal").await?;
        owned(&mut conn, run, owner).await?;
        Ok(Self {
            store: store.clone(),
            run: run.clone(),
            owner: owner.to_owned(),
            clock,
            live: Mutex::default(),
        })
    }

    /// Renews the lease and writes the last live counts. Returns what a person asked for, once.
    ///
    /// # Errors
    /// [`LeaseError::Lost`] when the lease was taken away.
    pub async fn heartbeat(
        &self,
        ttl_ms: u64,
        active_ms: Option<u64>,
    ) -> Result<Option<Command>, LeaseError> {
        let progress = self.live().unwritten.take();
        let beat =
            Beat { owner: &self.owner, now_ms: self.clock.now_ms(), ttl_ms, active_ms, progress };
        self.store.heartbeat(&self.run, &beat).await
    }

    fn live(&self) -> std::sync::MutexGuard<'_, Live> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn append_event(&self, key: &str, kind: &EventKind) -> Result<(), LeaseError> {
        let action = "append an event";
        let mut tx = self.store.write(action).await?;
        let event = NewEvent { key, kind, at_ms: self.clock.now_ms() };
        let (head, before) = Before::load(&mut tx, &self.run, event).await?;
        if !head.is_owned_by(&self.owner) {
            return Err(LeaseError::Lost { run: self.run.clone() });
        }
        let spend = self.live().spend;
        let appended = fold::append(&mut tx, (&head, &before), event, spend.as_ref()).await?;
        if appended == Appended::New {
            tx.commit().await.doing(action)?;
            self.store.signal(Signal::Run(self.run.clone()));
        }
        Ok(())
    }

    async fn event(&self, key: &str) -> Result<Option<EventKind>, StoreFailure> {
        let text: Option<String> = sqlx::query_scalar(
            "SELECT kind_json FROM events WHERE run_no = (SELECT no FROM runs WHERE id = ?) AND key = ?",
        )
        .bind(self.run.as_str())
        .bind(key)
        .fetch_optional(self.store.reader())
        .await
        .doing("look for an event")?;
        text.map(|text| from_json("an event", &text)).transpose()
    }

    async fn has_outcomes(&self, key: &str) -> Result<bool, StoreFailure> {
        sqlx::query_scalar(
            "SELECT EXISTS (SELECT 1 FROM rollout_sets JOIN runs ON runs.no = rollout_sets.run_no \
             WHERE runs.id = ? AND rollout_sets.key = ?)",
        )
        .bind(self.run.as_str())
        .bind(key)
        .fetch_one(self.store.reader())
        .await
        .doing("look for outcomes")
    }

    async fn insert_outcomes(&self, set: &RolloutSet) -> Result<(), LeaseError> {
        let action = "keep outcomes";
        let mut tx = self.store.write(action).await?;
        let head = owned(&mut tx, &self.run, &self.owner).await?;
        outcomes::insert(&mut tx, head.no, set).await?;
        Ok(tx.commit().await.doing(action)?)
    }

    async fn insert_text(&self, text: &str) -> Result<(), LeaseError> {
        let action = "keep a text";
        let blob = Blob::pack(Sha256Hex::of(text), text);
        let mut tx = self.store.write(action).await?;
        owned(&mut tx, &self.run, &self.owner).await?;
        blobs::insert(&mut tx, &[&blob]).await.doing(action)?;
        Ok(tx.commit().await.doing(action)?)
    }

    async fn insert_skill(&self, text: &str) -> Result<(), LeaseError> {
        let action = "keep a skill";
        let blob = Blob::pack(Sha256Hex::of(text), text);
        let mut tx = self.store.write(action).await?;
        let head = owned(&mut tx, &self.run, &self.owner).await?;
        blobs::insert(&mut tx, &[&blob]).await.doing(action)?;
        sqlx::query("INSERT INTO run_skills (run_no, skill) VALUES (?, ?) ON CONFLICT DO NOTHING")
            .bind(head.no)
            .bind(blob.hash.as_str())
            .execute(&mut *tx)
            .await
            .doing(action)?;
        Ok(tx.commit().await.doing(action)?)
    }
}

#[async_trait]
impl Journal for RunJournal {
    async fn append(&self, key: &str, kind: EventKind) -> Result<(), StoreError> {
        Ok(self.append_event(key, &kind).await?)
    }

    async fn find(&self, key: &str) -> Result<Option<EventKind>, StoreError> {
        Ok(self.event(key).await?)
    }

    async fn find_outcomes(&self, key: &str) -> Result<Option<RolloutSet>, StoreError> {
        // Most sets that are looked for are not there: nothing but one read says so.
        if !self.has_outcomes(key).await? {
            return Ok(None);
        }
        let mut conn = self.store.read("read outcomes").await?;
        let run_no = run_no(&mut conn, &self.run).await?;
        Ok(outcomes::read_set(&mut conn, run_no, key).await?)
    }

    async fn keep_outcomes(&self, set: &RolloutSet) -> Result<(), StoreError> {
        Ok(self.insert_outcomes(set).await?)
    }

    async fn keep_skill(&self, text: &str) -> Result<(), StoreError> {
        Ok(self.insert_skill(text).await?)
    }

    async fn keep_text(&self, text: &str) -> Result<(), StoreError> {
        Ok(self.insert_text(text).await?)
    }

    fn progress(&self, progress: Progress) {
        let mut live = self.live();
        live.spend = Some(progress.spend);
        live.unwritten = Some(progress.clone());
        drop(live);
        self.store.signal(Signal::Progress { run: self.run.clone(), progress: Box::new(progress) });
    }
}

impl Store {
    /// The exact text of a skill.
    ///
    /// # Errors
    /// [`StoreFailure`] when the store cannot be read.
    pub async fn skill_text(&self, sha: &Sha256Hex) -> Result<Option<String>, StoreFailure> {
        let mut conn = self.read("read a skill").await?;
        blobs::read(&mut conn, sha.as_str()).await
    }

    /// The run kept this skill. Texts of calls share the same shelf and must not be served as skills.
    ///
    /// # Errors
    /// [`StoreFailure`] when the store cannot be read.
    pub async fn skill_belongs_to_run(
        &self,
        run: &RunId,
        sha: &Sha256Hex,
    ) -> Result<bool, StoreFailure> {
        sqlx::query_scalar(
            "SELECT EXISTS (SELECT 1 FROM run_skills JOIN runs ON runs.no = run_skills.run_no \
             WHERE runs.id = ? AND run_skills.skill = ?)",
        )
        .bind(run.as_str())
        .bind(sha.as_str())
        .fetch_one(self.reader())
        .await
        .doing("look for a skill")
    }
}
