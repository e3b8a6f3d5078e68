//! The Python-compatible run folder on disk. Every file appears whole or not at all; every path is relative
//! and made of safe names. What was said in a rollout set is one file (`predictions.rs`), not a folder an attempt.

pub(crate) mod predictions;

use super::HostError;
use async_trait::async_trait;
use serde_json::{Map, Value};
use skillopt_domain::outcome::Outcome;
use skillopt_engine::ports::{RolloutRecord, RunFolder, StoreError};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::Write;
use std::path::{Component, Path, PathBuf};

const LOCK_FILE: &str = ".skillopt.lock";

/// A run folder that this process holds.
#[derive(Debug)]
pub struct DiskRunFolder {
    root: PathBuf,
    /// Unlocked when it is dropped.
    _lock: File,
    is_locked: bool,
}

impl DiskRunFolder {
    /// Opens a folder and locks it against a second process. Blocks: call it outside of async code.
    ///
    /// # Errors
    /// [`HostError::Folder`] when it cannot be made, or another process holds it.
    pub fn open(root: &Path) -> Result<Self, HostError> {
        let error =
            |message: String| HostError::Folder { path: root.display().to_string(), message };
        std::fs::create_dir_all(root).map_err(|err| error(err.to_string()))?;
        let path = root.join(LOCK_FILE);
        let lock = OpenOptions::new().write(true).create(true).truncate(false).open(path);
        let lock = lock.map_err(|err| error(err.to_string()))?;
        let is_locked = match lock.try_lock() {
            Ok(()) => true,
            Err(TryLockError::WouldBlock) => {
                return Err(error("another process writes to it".into()));
            }
            // File systems without locks: the lease of the run still keeps two engines apart.
            Err(TryLockError::Error(err)) => {
                tracing::warn!("cannot lock the run folder: {err}");
                false
            }
        };
        Ok(Self { root: root.to_owned(), _lock: lock, is_locked })
    }

    /// That nobody else holds it is certain: the file system has locks.
    pub(super) fn is_locked(&self) -> bool {
        self.is_locked
    }

    fn path(&self, relative: &str) -> Result<PathBuf, StoreError> {
        if relative == "." {
            return Ok(self.root.clone());
        }
        let is_plain = |part| matches!(part, Component::Normal(_));
        let path = Path::new(relative);
        if relative.is_empty() || relative.contains('\\') || !path.components().all(is_plain) {
            return Err(StoreError {
                message: format!("`{relative}` is no path within a run folder"),
            });
        }
        Ok(self.root.join(path))
    }
}

#[async_trait]
impl RunFolder for DiskRunFolder {
    async fn write(&self, path: &str, text: String) -> Result<(), StoreError> {
        let path = self.path(path)?;
        blocking(move || write_now(&path, text.as_bytes()).map_err(|err| failed(&path, &err))).await
    }

    async fn write_rollouts(
        &self,
        dir: &str,
        rollouts: Vec<RolloutRecord>,
    ) -> Result<(), StoreError> {
        let dir = self.path(dir)?;
        blocking(move || write_rollouts_now(&dir, &rollouts)).await
    }
}

async fn blocking(
    work: impl FnOnce() -> Result<(), StoreError> + Send + 'static,
) -> Result<(), StoreError> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|err| StoreError { message: format!("writing the run folder: {err}") })?
}

fn failed(path: &Path, err: &std::io::Error) -> StoreError {
    StoreError { message: format!("cannot write {}: {err}", path.display()) }
}

/// Writes a file whole: into a neighbour that then takes its name. Not synced: the folder can be made
/// again from the store.
pub(in crate::host) fn write_now(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(".skillopt-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // Like any new file: the process umask takes off what it must.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let mut temporary = builder.tempfile_in(folder)?;
    temporary.write_all(bytes)?;
    temporary.persist(path).map_err(|err| err.error)?;
    Ok(())
}

fn write_rollouts_now(dir: &Path, rollouts: &[RolloutRecord]) -> Result<(), StoreError> {
    let (mut rows, mut said) = (String::new(), String::new());
    for record in rollouts {
        rows.push_str(&Value::Object(result_row(record)).to_string());
        rows.push('\n');
        said.push_str(
            &predictions::line(record).map_err(|err| StoreError { message: err.to_string() })?,
        );
        said.push('\n');
    }
    for (name, text) in [(predictions::FILE, said), ("results.jsonl", rows)] {
        let path = dir.join(name);
        write_now(&path, text.as_bytes()).map_err(|err| failed(&path, &err))?;
    }
    Ok(())
}

/// A row of `results.jsonl`. An attempt without a score has none: an error is never a zero.
fn result_row(record: &RolloutRecord) -> Map<String, Value> {
    let task = &record.outcome;
    let (predicted, fail_reason) = match &task.outcome {
        Outcome::Scored { predicted, fail_reason, .. } => (predicted.clone(), fail_reason.clone()),
        Outcome::Refused { reason } => (String::new(), format!("refused: {reason}")),
        Outcome::InfraError { code, message } => (String::new(), format!("{code}: {message}")),
        Outcome::JudgeError { message } => (String::new(), format!("judge: {message}")),
    };
    let mut row = Map::new();
    row.insert("id".into(), task.task.as_str().into());
    if let Some(score) = task.outcome.score() {
        row.insert("hard".into(), score.hard.get().into());
        row.insert("soft".into(), score.soft.get().into());
    }
    row.insert("outcome".into(), task.outcome.kind().as_str().into());
    row.insert("n_turns".into(), u32::from(!record.reply.is_empty()).into());
    row.insert("fail_reason".into(), fail_reason.into());
    row.insert("task_type".into(), task.task_type.clone().into());
    row.insert("task_description".into(), task.title.clone().into());
    row.insert("predicted_answer".into(), predicted.into());
    row.insert("question".into(), task.title.clone().into());
    row.insert("response".into(), record.reply.clone().into());
    row.insert("agent_ok".into(), (!task.outcome.is_error()).into());
    row.insert("phase".into(), phase_word(&task.outcome).into());
    row
}

fn phase_word(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Scored { .. } => "done",
        Outcome::Refused { .. } => "refused",
        Outcome::InfraError { code, .. } if code == "timeout" => "timeout",
        Outcome::InfraError { .. } | Outcome::JudgeError { .. } => "error",
    }
}

#[cfg(test)]
mod tests;
