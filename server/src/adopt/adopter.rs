//! Adoption: who may, one write a file at a time, and what the store knows of it.
//! How bytes get to the disk is the business of `write`.

use super::error::AdoptError;
use super::path::{AdoptRoots, LivePath};
use super::write::{Watcher, Write, write_live};
use skillopt_domain::api::{AdoptRequest, Receipt};
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::ids::{AdoptionId, RunId};
use skillopt_engine::ports::Clock;
use skillopt_sleep::adopt::live_file;
use skillopt_store::{Adoption, AdoptionState, Begun, NewAdoption, Store};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use tokio_util::task::TaskTracker;

const MAX_KEY_LEN: usize = 200;

/// Adopts skill versions. Cheap to clone; all clones share the locks.
#[derive(Clone, Debug)]
pub struct Adopter {
    pub(super) store: Store,
    pub(super) roots: Arc<AdoptRoots>,
    pub(super) clock: Arc<dyn Clock>,
    locks: Arc<Mutex<HashMap<PathBuf, Weak<tokio::sync::Mutex<()>>>>>,
    tasks: TaskTracker,
}

impl Adopter {
    /// Adopts under `roots` only.
    #[must_use]
    pub fn new(store: Store, roots: AdoptRoots, clock: Arc<dyn Clock>) -> Self {
        let (locks, tasks) = (Arc::default(), TaskTracker::new());
        Self { store, roots: Arc::new(roots), clock, locks, tasks }
    }

    /// Waits for writes under way; none may be asked for any more.
    pub async fn close(&self) {
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// Folders under which skills may be adopted, for people.
    #[must_use]
    pub fn shown_roots(&self) -> Vec<String> {
        self.roots.shown()
    }

    /// The real place of a folder that may be read: the same roots as for writing.
    ///
    /// # Errors
    /// [`AdoptError::Path`] that says which rule it breaks; [`AdoptError::BadRequest`] when none is named.
    pub fn readable_folder(&self, typed: &str) -> Result<PathBuf, AdoptError> {
        if typed.trim().is_empty() {
            let text = "say which folder is meant: a path from the root, such as /home/me/project";
            return Err(AdoptError::BadRequest(text.to_owned()));
        }
        Ok(self.roots.resolve_folder(typed)?)
    }

    /// The real place of a skill that a night of the project is to improve.
    ///
    /// # Errors
    /// [`AdoptError::Path`] that says which rule it breaks.
    pub fn night_target(&self, project: &Path, typed: &str) -> Result<PathBuf, AdoptError> {
        Ok(self.roots.resolve_target(project, typed)?)
    }

    /// Of these folders those that may be written.
    #[must_use]
    pub fn writable(&self, folders: Vec<PathBuf>) -> Vec<PathBuf> {
        self.roots.within(folders)
    }

    /// Writes a version into the live file, if that is still what the person saw.
    ///
    /// # Errors
    /// [`AdoptError`]; the live file is as it was then.
    pub async fn adopt(&self, request: AdoptRequest, actor: &str) -> Result<Receipt, AdoptError> {
        let (adopter, actor) = (self.clone(), actor.to_owned());
        self.to_the_end(async move {
            adopter.adopt_watched(&request, &actor, Arc::new(|_| Ok(()))).await
        })
        .await
    }

    /// A write that began comes to its end, also when the one who asked has hung up. A panic counts as a crash, as in
    /// [`blocking`]: the store holds the intent, and the next start finds out what happened.
    pub(super) async fn to_the_end<T: Send + 'static>(
        &self,
        write: impl Future<Output = Result<T, AdoptError>> + Send + 'static,
    ) -> Result<T, AdoptError> {
        self.tasks.spawn(write).await.unwrap_or(Err(AdoptError::Interrupted))
    }

    pub(super) async fn adopt_watched(
        &self,
        request: &AdoptRequest,
        actor: &str,
        watcher: Watcher,
    ) -> Result<Receipt, AdoptError> {
        if request.idempotency_key.is_empty() || request.idempotency_key.len() > MAX_KEY_LEN {
            return Err(AdoptError::BadRequest(
                "the idempotency key needs 1 to 200 characters".to_owned(),
            ));
        }
        let text = self.version_text(&request.run, &request.skill).await?;
        let blockers = self.blockers(&request.run, &request.skill).await?;
        if !blockers.is_empty() {
            return Err(AdoptError::Refused(blockers.join("; ")));
        }
        let (roots, typed) = (self.roots.clone(), request.path.clone());
        let path = blocking(move || Ok(roots.resolve(&typed)?)).await?;
        let lock = self.lock_of(&path.real);
        let _held = lock.lock().await;
        let (adoption, write) = self.plan(request, actor, &path, text).await?;
        match self.store.begin_adoption(&adoption).await? {
            Begun::Repeated(known) => repeated(request, known),
            Begun::New => self.carry_out(write, watcher).await,
        }
    }

    async fn plan(
        &self,
        request: &AdoptRequest,
        actor: &str,
        path: &LivePath,
        text: String,
    ) -> Result<(NewAdoption, Write), AdoptError> {
        let id = new_id()?;
        let (real, expected) = (path.real.clone(), request.expected_live.clone());
        let backup = blocking(move || {
            let backup = expected.map(|sha| live_file::backup_path(&real, &sha)).transpose();
            backup.map_err(|reason| AdoptError::Io {
                action: "name the backup of",
                path: real,
                reason,
            })
        });
        let backup = backup.await?;
        let adoption = NewAdoption {
            id: id.clone(),
            run: request.run.clone(),
            skill: request.skill.clone(),
            path: path.given.clone(),
            real_path: path.real.display().to_string(),
            before: request.expected_live.clone(),
            backup: backup.as_ref().map(|backup| backup.display().to_string()),
            actor: actor.to_owned(),
            at_ms: self.clock.now_ms(),
            idempotency_key: request.idempotency_key.clone(),
        };
        let write = Write {
            id,
            path: path.real.clone(),
            expected: request.expected_live.clone(),
            bytes: text.into_bytes(),
            backup,
        };
        Ok((adoption, write))
    }

    /// The intent is in the store; from here on every end is told to the store, unless the process dies.
    async fn carry_out(&self, write: Write, watcher: Watcher) -> Result<Receipt, AdoptError> {
        let id = write.id.clone();
        match blocking(move || write_live(&write, &watcher)).await {
            Ok(()) => Ok(self.store.finish_adoption(&id).await?),
            // As after a crash: the next start finds out what happened.
            Err(AdoptError::Interrupted) => Err(AdoptError::Interrupted),
            Err(err) => {
                self.store.fail_adoption(&id, &err.to_string()).await?;
                Err(err)
            }
        }
    }

    /// Why this version may not be adopted; empty when it may.
    pub(super) async fn blockers(
        &self,
        run: &RunId,
        skill: &Sha256Hex,
    ) -> Result<Vec<String>, AdoptError> {
        let view = self.store.view(run).await?;
        let mut blockers = Vec::new();
        let Some(version) = view.versions.iter().find(|version| version.skill == *skill) else {
            blockers.push("only versions that the gate accepted can be adopted".to_owned());
            return Ok(blockers);
        };
        if view.plan.as_ref().is_none_or(|plan| plan.n_selection == 0) {
            blockers.push(
                "unverified: the run has no selection split that could prove the version"
                    .to_owned(),
            );
        } else if version.score.is_none() {
            blockers.push("unverified: the version has no score on the selection split".to_owned());
        }
        Ok(blockers)
    }

    pub(super) async fn version_text(
        &self,
        run: &RunId,
        skill: &Sha256Hex,
    ) -> Result<String, AdoptError> {
        let missing = || AdoptError::NotFound(format!("the run has no skill version {skill}"));
        if !self.store.skill_belongs_to_run(run, skill).await? {
            return Err(missing());
        }
        self.store.skill_text(skill).await?.ok_or_else(missing)
    }

    /// The lock of one file. Locks that nobody holds are forgotten.
    pub(super) fn lock_of(&self, path: &Path) -> Arc<tokio::sync::Mutex<()>> {
        let mut locks = self.locks.lock().unwrap_or_else(PoisonError::into_inner);
        locks.retain(|_, lock| lock.strong_count() > 0);
        if let Some(lock) = locks.get(path).and_then(Weak::upgrade) {
            return lock;
        }
        let lock = Arc::default();
        locks.insert(path.to_owned(), Arc::downgrade(&lock));
        lock
    }
}

fn new_id() -> Result<AdoptionId, AdoptError> {
    let id = AdoptionId::parse(&uuid::Uuid::now_v7().to_string());
    id.map_err(|err| AdoptError::BadRequest(err.to_string()))
}

/// The same key again: the same receipt, if it is about the same write.
fn repeated(request: &AdoptRequest, known: Adoption) -> Result<Receipt, AdoptError> {
    let receipt = known.receipt;
    let is_same = receipt.run == request.run
        && receipt.after == request.skill
        && receipt.path == request.path
        && receipt.before == request.expected_live;
    match known.state {
        _ if !is_same => {
            Err(AdoptError::Refused("the idempotency key was used for another adoption".to_owned()))
        }
        AdoptionState::Done | AdoptionState::Reverted => Ok(receipt),
        AdoptionState::Intended => {
            Err(AdoptError::Refused("this adoption is under way; ask again in a moment".to_owned()))
        }
        AdoptionState::Failed => Err(AdoptError::Refused(format!(
            "this adoption failed before ({}); look at the difference and adopt anew",
            known.error.unwrap_or_default()
        ))),
    }
}

/// File work off the async threads. A panic there counts as a crash.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, AdoptError> + Send + 'static,
) -> Result<T, AdoptError> {
    tokio::task::spawn_blocking(work).await.unwrap_or(Err(AdoptError::Interrupted))
}
