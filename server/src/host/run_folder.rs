//! The Python-compatible run folder on disk. Every file appears whole or not at all; every path is relative
//! and made of safe names.

use super::HostError;
use async_trait::async_trait;
use serde::Serialize;
use serde_json::{Map, Value};
use skillopt_domain::file_name::safe_file_name;
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::outcome::Outcome;
use skillopt_engine::ports::{RolloutRecord, RunFolder, Speaker, StoreError};
use std::collections::HashMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::Write;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

const LOCK_FILE: &str = ".skillopt.lock";

/// A run folder that this process holds.
#[derive(Debug)]
pub struct DiskRunFolder {
    root: PathBuf,
    texts: Arc<Mutex<SharedTexts>>,
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
        Ok(Self { root: root.to_owned(), texts: Arc::default(), _lock: lock })
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
        let texts = Arc::clone(&self.texts);
        blocking(move || {
            let mut texts = texts.lock().unwrap_or_else(PoisonError::into_inner);
            write_rollouts_now(&dir, &rollouts, &mut texts)
        })
        .await
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

fn write_rollouts_now(
    dir: &Path,
    rollouts: &[RolloutRecord],
    texts: &mut SharedTexts,
) -> Result<(), StoreError> {
    let mut lines = String::new();
    for record in rollouts {
        lines.push_str(&Value::Object(result_row(record)).to_string());
        lines.push('\n');
        let folder = dir.join("predictions").join(safe_file_name(record.outcome.task.as_str()));
        std::fs::create_dir_all(&folder).map_err(|err| failed(&folder, &err))?;
        // Bulk files need no rename: a rollout set that was cut short is written again as a whole.
        let path = folder.join("conversation.json");
        std::fs::write(&path, conversation(record)?).map_err(|err| failed(&path, &err))?;
        texts.write(folder.join("target_user_prompt.txt"), said_by(record, Speaker::User))?;
        texts.write(folder.join("target_system_prompt.txt"), said_by(record, Speaker::System))?;
    }
    let path = dir.join("results.jsonl");
    write_now(&path, lines.as_bytes()).map_err(|err| failed(&path, &err))
}

/// Texts that many tasks and sets share: a set's skill, and a task's question in every set. One file under many names
/// costs a fraction of many files.
#[derive(Debug, Default)]
struct SharedTexts {
    // Invariant: each file holds the text of its hash; a file that is replaced is forgotten first.
    files: HashMap<Sha256Hex, PathBuf>,
}

impl SharedTexts {
    /// Writes a text: another name of the file that has it already, or a file where there is none or the file system
    /// has no links.
    fn write(&mut self, path: PathBuf, text: &str) -> Result<(), StoreError> {
        // What stands there may be shared by other tasks: it is replaced, not changed.
        if std::fs::remove_file(&path).is_ok() {
            self.files.retain(|_, known| *known != path);
        }
        let hash = Sha256Hex::of(text);
        let known = self.files.get(&hash);
        if known.is_some_and(|known| std::fs::hard_link(known, &path).is_ok()) {
            return Ok(());
        }
        std::fs::write(&path, text).map_err(|err| failed(&path, &err))?;
        self.files.insert(hash, path);
        Ok(())
    }
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
#[serde(untagged)]
enum Line<'a> {
    Said {
        role: Speaker,
        content: &'a str,
    },
    /// What an agent did, as the Python system tells of tools.
    Did {
        #[serde(rename = "type")]
        kind: &'static str,
        cmd: String,
        obs: &'a str,
    },
}

fn conversation(record: &RolloutRecord) -> Result<String, StoreError> {
    let note = match record.evaluation_note.as_str() {
        "" => String::new(),
        note => format!("[EVALUATION RESULT] {note}"),
    };
    let said = |role, content| Line::Said { role, content };
    let asked = record.messages.iter().map(|message| said(message.role, message.content.as_str()));
    let did = record.steps.iter().map(|step| Line::Did {
        kind: "tool_call",
        cmd: format!("{}: {}", step.kind, step.text),
        obs: &step.result,
    });
    let ends = [(Speaker::Assistant, record.reply.as_str()), (Speaker::System, note.as_str())];
    let ends = ends.into_iter().filter(|(_, content)| !content.is_empty());
    let lines: Vec<Line<'_>> =
        asked.chain(did).chain(ends.map(|(role, content)| said(role, content))).collect();
    let text = serde_json::to_string_pretty(&lines);
    text.map(|text| text + "\n").map_err(|err| StoreError { message: err.to_string() })
}

fn said_by(record: &RolloutRecord, speaker: Speaker) -> &str {
    let found = record.messages.iter().find(|message| message.role == speaker);
    found.map_or("", |message| message.content.as_str())
}

#[cfg(test)]
mod tests;
