//! The Python-compatible run folder on disk. Every file appears whole or not at all; every path is relative
//! and made of safe names.

use super::HostError;
use async_trait::async_trait;
use serde::Serialize;
use serde_json::{Map, Value};
use skillopt_domain::file_name::safe_file_name;
use skillopt_domain::outcome::Outcome;
use skillopt_engine::ports::{RolloutRecord, RunFolder, Speaker, StoreError};
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
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(error("another process writes to it".into()));
            }
            // File systems without locks: the lease of the run still keeps two engines apart.
            Err(TryLockError::Error(err)) => tracing::warn!("cannot lock the run folder: {err}"),
        }
        Ok(Self { root: root.to_owned(), _lock: lock })
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
    let mut lines = String::new();
    let mut last_system: Option<(&str, PathBuf)> = None;
    for record in rollouts {
        lines.push_str(&Value::Object(result_row(record)).to_string());
        lines.push('\n');
        let folder = dir.join("predictions").join(safe_file_name(record.outcome.task.as_str()));
        std::fs::create_dir_all(&folder).map_err(|err| failed(&folder, &err))?;
        // Bulk files need no rename: a rollout set that was cut short is written again as a whole.
        let write = |name: &str, text: &str| {
            let path = folder.join(name);
            std::fs::write(&path, text).map_err(|err| failed(&path, &err))
        };
        write("conversation.json", &conversation(record)?)?;
        write("target_user_prompt.txt", said_by(record, Speaker::User))?;
        let (system, path) =
            (said_by(record, Speaker::System), folder.join("target_system_prompt.txt"));
        let same = last_system.as_ref().filter(|(text, _)| *text == system);
        write_or_link(&path, system, same.map(|(_, path)| path.as_path()))?;
        last_system = Some((system, path));
    }
    let path = dir.join("results.jsonl");
    write_now(&path, lines.as_bytes()).map_err(|err| failed(&path, &err))
}

/// The tasks of a set share the skill: one file under many names costs less than many files. A copy where the
/// file system has no links.
fn write_or_link(path: &Path, text: &str, same: Option<&Path>) -> Result<(), StoreError> {
    // What an earlier attempt wrote may be shared by other tasks: it is replaced, not changed.
    let _ = std::fs::remove_file(path);
    if same.is_some_and(|same| std::fs::hard_link(same, path).is_ok()) {
        return Ok(());
    }
    std::fs::write(path, text).map_err(|err| failed(path, &err))
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

/// A line of `conversation.json`.
#[derive(Serialize)]
struct Line<'a> {
    role: Speaker,
    content: &'a str,
}

fn conversation(record: &RolloutRecord) -> Result<String, StoreError> {
    let note = match record.evaluation_note.as_str() {
        "" => String::new(),
        note => format!("[EVALUATION RESULT] {note}"),
    };
    let said = record.messages.iter().map(|message| (message.role, message.content.as_str()));
    let lines: Vec<Line<'_>> = said
        .chain([(Speaker::Assistant, record.reply.as_str()), (Speaker::System, note.as_str())])
        .enumerate()
        .filter(|(at, (_, content))| *at < record.messages.len() || !content.is_empty())
        .map(|(_, (role, content))| Line { role, content })
        .collect();
    let text = serde_json::to_string_pretty(&lines);
    text.map(|text| text + "\n").map_err(|err| StoreError { message: err.to_string() })
}

fn said_by(record: &RolloutRecord, speaker: Speaker) -> &str {
    let found = record.messages.iter().find(|message| message.role == speaker);
    found.map_or("", |message| message.content.as_str())
}

#[cfg(test)]
mod tests;
