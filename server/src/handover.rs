//! A copy of a run folder in which the Python trainer can go on: `skillopt runs export --format python`.
//!
//! Our own folders name themselves relatively and keep what a step found even while it is under way. The Python
//! system wants absolute paths, takes a score of exactly 0 for "unknown", does epochs again whose result files it does
//! not find, and mixes what an unfinished step measured with the next candidate. So the copy holds finished steps and
//! epochs only, each attempt in a folder of its own, and its `runtime_state.json` says where it stands. The run itself is never changed.

mod epochs;
mod predictions;

use crate::host::run_folder::predictions::FILE;
use serde_json::{Map, Value, json};
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

/// Stands for a score of exactly 0, which the Python system would take for "unknown" and measure again.
const TINY_SCORE: f64 = 1e-9;

/// Folders that are copied as they are.
const WHOLE: [&str; 3] = ["skills", "selection_eval_baseline", "test_eval_baseline"];

/// Files that are copied as they are.
const FILES: [&str; 3] = ["config.json", "best_skill.md", "lr_history.jsonl"];

/// What was written.
#[derive(Debug)]
pub(crate) struct Handover {
    /// Finished steps in the copy; the Python trainer begins with the one after.
    pub(crate) last_step: u32,
    /// What differs from the run's own folder, in sentences.
    pub(crate) notes: Vec<String>,
}

/// Why no copy was made. Nothing was written then.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HandoverError {
    /// The folder for the copy has something in it.
    #[error("{} is not empty; name a folder that is new", .0.display())]
    TargetTaken(PathBuf),
    /// The copy would lie in the run's own folder.
    #[error("{} lies in the folder of the run; name one outside", .0.display())]
    TargetInside(PathBuf),
    /// There is nothing to go on from.
    #[error("{} has no finished step: train with the config instead (--format yaml)", .0.display())]
    NoStep(PathBuf),
    /// A file of the run does not say what it must.
    #[error("{}: {reason}", path.display())]
    Unfit {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The file system refused.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the file system said.
        error: io::Error,
    },
}

/// Copies what the Python trainer resumes from. `target` is absolute, `config` the run's config as YAML for `--config`.
/// Blocks: call it outside of async code. The copy appears whole or not at all.
///
/// # Errors
/// [`HandoverError`], with nothing left behind.
pub(crate) fn write(source: &Path, target: &Path, config: &str) -> Result<Handover, HandoverError> {
    let source = source.canonicalize().map_err(|error| failed(source, error))?;
    refuse_target(&source, target)?;
    let rows = finished_rows(&source)?;
    let Some(last) = rows.last() else { return Err(HandoverError::NoStep(source)) };
    let last_step = step_of(last);
    let parent = target.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(parent).map_err(|error| failed(parent, error))?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(".skillopt-handover-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // Like any new folder: the process umask takes off what it must.
        builder.permissions(fs::Permissions::from_mode(0o777));
    }
    let draft = builder.tempdir_in(parent).map_err(|error| failed(parent, error))?;
    let mut notes = Vec::new();
    copy_finished(&source, draft.path(), last_step)?;
    epochs::write(&source, draft.path(), &rows, &mut notes)?;
    let state = state(last, &rows, &source, target, &mut notes);
    put(&draft.path().join("runtime_state.json"), &format!("{state:#}\n"))?;
    let rows: Vec<Value> = rows.into_iter().map(Value::Object).collect();
    put(&draft.path().join("history.json"), &format!("{:#}\n", Value::Array(rows)))?;
    put(&draft.path().join("config.yaml"), config)?;
    notes.push(format!(
        "its results of the test split and of the last look at the selection split are left out, so that they are \
         measured for the skill that training ends with; go on with `--config {}` and `env.out_root={}`",
        target.join("config.yaml").display(),
        target.display()
    ));
    // An empty folder may be there already.
    let _ = fs::remove_dir(target);
    fs::rename(draft.path(), target).map_err(|error| failed(target, error))?;
    // It has another name now: there is nothing to remove.
    drop(draft.keep());
    Ok(Handover { last_step, notes })
}

fn refuse_target(source: &Path, target: &Path) -> Result<(), HandoverError> {
    if resolved(target)?.starts_with(source) {
        return Err(HandoverError::TargetInside(target.to_owned()));
    }
    match fs::read_dir(target).map(|mut entries| entries.next().is_some()) {
        Ok(false) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Ok(true) => Err(HandoverError::TargetTaken(target.to_owned())),
        Err(error) => Err(failed(target, error)),
    }
}

/// The place that a path means, through links and `..`, though it need not be there yet.
fn resolved(path: &Path) -> Result<PathBuf, HandoverError> {
    let there = path.ancestors().find_map(|part| Some((part, part.canonicalize().ok()?)));
    let Some((part, real)) = there else { return Ok(path.to_owned()) };
    let rest = path.strip_prefix(part).unwrap_or(Path::new(""));
    if rest.components().any(|part| part == Component::ParentDir) {
        let error = io::Error::new(
            io::ErrorKind::InvalidInput,
            "leads back out of a folder that is not there",
        );
        return Err(failed(path, error));
    }
    Ok(real.join(rest))
}

/// The rows of finished steps, from the first one on without a gap. `history.json` lags behind in long runs: what it
/// lacks stands in the folders of the steps. Fields without a value are left out, as Python leaves them out.
fn finished_rows(source: &Path) -> Result<Vec<Map<String, Value>>, HandoverError> {
    let path = source.join("history.json");
    let told: Vec<Value> = match read_json(&path)? {
        Some(Value::Array(rows)) => rows,
        Some(_) => return Err(unfit(&path, "is no list of steps")),
        None => Vec::new(),
    };
    let mut rows = Vec::new();
    loop {
        let record = source.join(step_dir(rows.len() + 1)).join("step_record.json");
        let row = match told.get(rows.len()) {
            Some(row) => Some(row.clone()),
            None => read_json(&record)?,
        };
        let Some(row) = row else { return Ok(rows) };
        let Value::Object(mut row) = row else { return Err(unfit(&record, "is no step")) };
        row.retain(|_, value| !value.is_null());
        if usize::try_from(step_of(&row)) != Ok(rows.len() + 1) {
            return Err(unfit(
                &path,
                &format!("step {} does not stand in its place", rows.len() + 1),
            ));
        }
        rows.push(row);
    }
}

fn copy_finished(source: &Path, draft: &Path, last_step: u32) -> Result<(), HandoverError> {
    for name in FILES {
        if source.join(name).is_file() {
            copy(&source.join(name), &draft.join(name))?;
        }
    }
    for name in WHOLE {
        copy_folder(&source.join(name), &draft.join(name))?;
    }
    for step in 1..=usize::try_from(last_step).unwrap_or(usize::MAX) {
        copy_folder(&source.join(step_dir(step)), &draft.join(step_dir(step)))?;
    }
    Ok(())
}

/// `runtime_state.json`: the words of the Python system, with the paths that its files will have.
fn state(
    last: &Map<String, Value>,
    rows: &[Map<String, Value>],
    source: &Path,
    target: &Path,
    notes: &mut Vec<String>,
) -> Value {
    let told = read_json(&source.join("runtime_state.json")).ok().flatten();
    let told = told.filter(|told| told["last_completed_step"] == json!(step_of(last)));
    // What an epoch's end changed stands in the state only; without it the row is the newest.
    let newest = |key: &str| {
        let of_state = told.as_ref().map(|told| told[key].clone()).filter(|value| !value.is_null());
        of_state.or_else(|| last.get(key).cloned()).unwrap_or_default()
    };
    let mut score = |key: &str| {
        let known = newest(key).as_f64();
        if known.is_none_or(|known| known == 0.0) {
            let word = if known.is_some() { "0" } else { "not known" };
            notes.push(format!(
                "`{key}` is {word}; it is written as {TINY_SCORE:e}, because the Python system measures the initial skill again for 0"
            ));
        }
        known.filter(|known| *known != 0.0).unwrap_or(TINY_SCORE)
    };
    let (current_score, best_score) = (score("current_score"), score("best_score"));
    let last_step = step_of(last);
    let origin = |key: &str, step: u64| match newest(key) {
        Value::Null if step == 0 => json!("initial"),
        Value::Null => json!(format!("step_{step:04}")),
        known => known,
    };
    let best_step = newest("best_step").as_u64().unwrap_or_default();
    json!({
        "last_completed_step": last_step,
        "current_skill_path": target.join(format!("skills/skill_v{last_step:04}.md")),
        "current_score": current_score,
        "current_origin": origin("current_origin", u64::try_from(rows.len()).unwrap_or_default()),
        "best_skill_path": target.join("best_skill.md"),
        "best_score": best_score,
        "best_step": best_step,
        "best_origin": origin("best_origin", best_step),
    })
}

fn step_dir(step: usize) -> String {
    format!("steps/step_{step:04}")
}

fn step_of(row: &Map<String, Value>) -> u32 {
    number(row, "step")
}

fn number(row: &Map<String, Value>, key: &str) -> u32 {
    row.get(key)
        .and_then(Value::as_u64)
        .and_then(|number| u32::try_from(number).ok())
        .unwrap_or_default()
}

/// A JSON file; `None` when there is none.
fn read_json(path: &Path) -> Result<Option<Value>, HandoverError> {
    match fs::read_to_string(path) {
        Ok(text) => serde_json::from_str(&text)
            .map(Some)
            .map_err(|error| unfit(path, &format!("is no JSON: {error}"))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(path, error)),
    }
}

/// A folder with everything in it, attempts as the Python system has them, links left out; nothing when there is none.
fn copy_folder(source: &Path, target: &Path) -> Result<(), HandoverError> {
    let entries = match fs::read_dir(source) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(source, error)),
    };
    for entry in entries {
        let entry = entry.map_err(|error| failed(source, error))?;
        let kind = entry.file_type().map_err(|error| failed(&entry.path(), error))?;
        let to = target.join(entry.file_name());
        if kind.is_dir() {
            copy_folder(&entry.path(), &to)?;
        } else if kind.is_file() && entry.file_name() == FILE {
            predictions::write(&entry.path(), &target.join("predictions"))?;
        } else if kind.is_file() {
            copy(&entry.path(), &to)?;
        }
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Result<(), HandoverError> {
    make_folder_of(to)?;
    fs::copy(from, to).map(drop).map_err(|error| failed(from, error))
}

fn put(path: &Path, text: &str) -> Result<(), HandoverError> {
    make_folder_of(path)?;
    fs::write(path, text).map_err(|error| failed(path, error))
}

fn make_folder_of(path: &Path) -> Result<(), HandoverError> {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder).map_err(|error| failed(folder, error))
}

fn unfit(path: &Path, reason: &str) -> HandoverError {
    HandoverError::Unfit { path: path.to_owned(), reason: reason.to_owned() }
}

fn failed(path: &Path, error: io::Error) -> HandoverError {
    HandoverError::Io { path: path.to_owned(), error }
}

#[cfg(test)]
mod tests;
