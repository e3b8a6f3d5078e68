//! Preview and adoption.

use super::live_file::{self, LiveFile};
use super::path::{AdoptRoots, LivePath, PathError};
use skillopt_domain::api::{AdoptPreview, AdoptPreviewRequest, AdoptRequest, Receipt};
use skillopt_domain::diff::diff;
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::ids::{AdoptionId, RunId};
use skillopt_engine::ports::Clock;
use skillopt_store::{
    Adoption, AdoptionError, AdoptionState, Begun, NewAdoption, Store, StoreFailure,
};
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use tokio_util::task::TaskTracker;

const MAX_KEY_LEN: usize = 200;

/// Why nothing was adopted or reverted. The texts are shown as they are.
#[derive(Debug, thiserror::Error)]
pub enum AdoptError {
    /// The path breaks a rule.
    #[error(transparent)]
    Path(#[from] PathError),
    /// No such run, version or adoption.
    #[error("{0}")]
    NotFound(String),
    /// The request makes no sense.
    #[error("{0}")]
    BadRequest(String),
    /// The live file is not what was shown; nothing was written.
    #[error("{path} is not what was shown: it is now {}; nothing was written, look at the new difference",
        shown(.live.as_ref()))]
    FileChanged {
        /// The file.
        path: PathBuf,
        /// What it is now.
        live: Option<Sha256Hex>,
    },
    /// The version may not be adopted, or not now.
    #[error("{0}")]
    Refused(String),
    /// The file system refused; the live file is as it was.
    #[error("cannot {action} {path}: {reason}; the live file is as it was")]
    Io {
        /// What was tried.
        action: &'static str,
        /// Where.
        path: PathBuf,
        /// The words of the operating system.
        reason: io::Error,
    },
    /// The store failed.
    #[error("the store failed")]
    Store(#[from] StoreFailure),
    /// A task of ours died.
    #[error("the write was interrupted")]
    Interrupted,
}

fn shown(live: Option<&Sha256Hex>) -> String {
    live.map_or_else(|| "gone".to_owned(), |sha| format!("sha256 {sha}"))
}

impl From<AdoptionError> for AdoptError {
    fn from(err: AdoptionError) -> Self {
        match err {
            AdoptionError::Store(failure) => Self::Store(failure),
            other => Self::Refused(other.to_string()),
        }
    }
}

/// The moments of a write at which a crash leaves different traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WritePoint {
    /// The intent is in the store, nothing else happened.
    Intended,
    /// The backup is on the disk.
    BackedUp,
    /// The new bytes are on the disk under their waiting name.
    Staged,
    /// The new bytes are the live file; the store does not know it.
    InPlace,
}

/// Called at each point; only tests stop there.
pub(crate) type Watcher = Arc<dyn Fn(WritePoint) -> io::Result<()> + Send + Sync>;

/// Adopts skill versions. Cheap to clone; all clones share the locks.
#[derive(Clone, Debug)]
pub struct Adopter {
    pub(super) store: Store,
    pub(super) roots: Arc<AdoptRoots>,
    pub(super) clock: Arc<dyn Clock>,
    locks: Arc<Mutex<HashMap<PathBuf, Weak<tokio::sync::Mutex<()>>>>>,
    tasks: TaskTracker,
}

/// Everything that one write needs, decided before the first byte.
#[derive(Clone, Debug)]
pub(super) struct Write {
    pub(super) id: AdoptionId,
    pub(super) path: PathBuf,
    pub(super) expected: Option<Sha256Hex>,
    pub(super) bytes: Vec<u8>,
    pub(super) backup: Option<PathBuf>,
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

    /// What an adoption would write. Changes nothing.
    ///
    /// # Errors
    /// [`AdoptError`] for a path or version that can never be adopted.
    pub async fn preview(&self, request: &AdoptPreviewRequest) -> Result<AdoptPreview, AdoptError> {
        let text = self.version_text(&request.run, &request.skill).await?;
        let blockers = self.blockers(&request.run, &request.skill).await?;
        let roots = self.roots.clone();
        let (typed, skill) = (request.path.clone(), request.skill.clone());
        blocking(move || preview_of(&roots, &typed, &skill, &text, blockers)).await
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

    /// A write that began comes to its end, also when the one who asked has hung up.
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
            return Err(AdoptError::BadRequest("the idempotency key needs 1 to 200 characters".to_owned()));
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
            backup.map_err(|reason| AdoptError::Io { action: "name the backup of", path: real, reason })
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
    async fn blockers(&self, run: &RunId, skill: &Sha256Hex) -> Result<Vec<String>, AdoptError> {
        let view = self.store.view(run).await?;
        let mut blockers = Vec::new();
        let Some(version) = view.versions.iter().find(|version| version.skill == *skill) else {
            blockers.push("only versions that the gate accepted can be adopted".to_owned());
            return Ok(blockers);
        };
        if view.plan.as_ref().is_none_or(|plan| plan.n_selection == 0) {
            blockers.push("unverified: the run has no selection split that could prove the version".to_owned());
        } else if version.score.is_none() {
            blockers.push("unverified: the version has no score on the selection split".to_owned());
        }
        Ok(blockers)
    }

    pub(super) async fn version_text(&self, run: &RunId, skill: &Sha256Hex) -> Result<String, AdoptError> {
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

fn preview_of(
    roots: &AdoptRoots,
    typed: &str,
    skill: &Sha256Hex,
    text: &str,
    blockers: Vec<String>,
) -> Result<AdoptPreview, AdoptError> {
    let path = roots.resolve(typed)?;
    let live = read_live(&path.real)?;
    let io_error = |reason| AdoptError::Io { action: "look for backups of", path: path.real.clone(), reason };
    let backup = live.as_ref().map(|live| live_file::backup_path(&path.real, &live.sha));
    let backup = backup.transpose().map_err(io_error)?;
    let before = live.as_ref().map(|live| String::from_utf8_lossy(&live.bytes));
    Ok(AdoptPreview {
        real_path: path.real.display().to_string(),
        is_symlink: path.is_symlink,
        is_same: live.as_ref().is_some_and(|live| live.sha == *skill),
        diff: diff(before.as_deref().unwrap_or_default(), text),
        mode: live.as_ref().and_then(LiveFile::mode),
        backup: backup.map(|backup| backup.display().to_string()),
        live: live.map(|live| live.sha),
        blockers,
    })
}

pub(super) fn read_live(path: &Path) -> Result<Option<LiveFile>, AdoptError> {
    LiveFile::read(path).map_err(|reason| AdoptError::Io { action: "read", path: path.to_owned(), reason })
}

/// Compare and swap: the file is read, backed up, and replaced only if it still has the expected bytes right
/// before the rename. What was staged is removed on failure.
pub(super) fn write_live(write: &Write, watcher: &Watcher) -> Result<(), AdoptError> {
    let staged = live_file::staged_path(&write.path, write.id.as_str());
    let done = write_steps(write, &staged, watcher);
    if done.is_err() && !matches!(done, Err(AdoptError::Interrupted)) {
        // Best effort: a leftover is hidden, harmless and removed by the next recovery.
        let _ = live_file::discard(&staged);
    }
    done
}

fn write_steps(write: &Write, staged: &Path, watcher: &Watcher) -> Result<(), AdoptError> {
    let failed = |action| {
        let path = write.path.clone();
        move |reason| AdoptError::Io { action, path, reason }
    };
    let reached = |point| watcher(point).map_err(|_| AdoptError::Interrupted);
    let live = read_live(&write.path)?;
    expect(write, live.as_ref().map(|live| &live.sha))?;
    reached(WritePoint::Intended)?;
    if let (Some(live), Some(backup)) = (&live, &write.backup) {
        live_file::write_backup(live, backup).map_err(failed("back up"))?;
    }
    reached(WritePoint::BackedUp)?;
    live_file::stage_like(staged, &write.bytes, live.as_ref()).map_err(failed("write beside"))?;
    reached(WritePoint::Staged)?;
    expect(write, live_file::sha_of(&write.path).map_err(failed("read"))?.as_ref())?;
    live_file::put_in_place(staged, &write.path).map_err(failed("replace"))?;
    reached(WritePoint::InPlace)
}

fn expect(write: &Write, live: Option<&Sha256Hex>) -> Result<(), AdoptError> {
    if live == write.expected.as_ref() {
        Ok(())
    } else {
        Err(AdoptError::FileChanged { path: write.path.clone(), live: live.cloned() })
    }
}

/// File work off the async threads. A panic there counts as a crash.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, AdoptError> + Send + 'static,
) -> Result<T, AdoptError> {
    tokio::task::spawn_blocking(work).await.unwrap_or(Err(AdoptError::Interrupted))
}
