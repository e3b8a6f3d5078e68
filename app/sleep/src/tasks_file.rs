//! Tasks in a file that a person reviews: reading with everything checked before a call is made, and writing. The only
//! place where tasks meet the file system.

mod error;

pub use error::{TasksFileError, TasksFileProblem};

use crate::adopt::live_file::{self, Mode};
use crate::judge::{Judge, inspect};
use crate::split::{Fractions, SplitRule, assign_splits, overlaps};
use crate::task::{ReferenceKind, Split, TaskRecord};
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// What the `format` of a file says.
pub const FORMAT: &str = "skillopt_sleep.tasks.v1";

/// A file of tasks. The field names are those of the reference system.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TasksFile {
    /// [`FORMAT`].
    pub format: String,
    /// Absolute path of the project; empty when nothing tells.
    pub project: String,
    /// Where the transcripts came from.
    pub transcript_source: String,
    /// Sessions that were read.
    pub n_sessions: u32,
    /// The skill that the tasks are for; empty for the managed one.
    pub target_skill_path: String,
    /// A person looked at them.
    pub reviewed: bool,
    /// The tasks.
    pub tasks: Vec<TaskRecord>,
    /// Tasks that are kept and not used. They stand in a list of their own: the reference system reads `tasks` alone, so
    /// that it does not use them either.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub muted: Vec<TaskRecord>,
    /// Ids of tasks that are part of another one by now, each with that one's: a search does not bring them back while
    /// it is there.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub merged: BTreeMap<String, String>,
}

impl Default for TasksFile {
    fn default() -> Self {
        Self {
            format: FORMAT.into(),
            project: String::new(),
            transcript_source: String::new(),
            n_sessions: 0,
            target_skill_path: String::new(),
            reviewed: false,
            tasks: Vec::new(),
            muted: Vec::new(),
            merged: BTreeMap::new(),
        }
    }
}

/// How tasks without splits get them.
#[derive(Clone, Copy, Debug)]
pub struct SplitChoice {
    /// The seed.
    pub seed: i64,
    /// The shares.
    pub fractions: Fractions,
    /// The rule.
    pub rule: SplitRule,
}

/// A file that can be used.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadedTasks {
    /// What it holds, with splits.
    pub file: TasksFile,
    /// The file had no validation and no test task, so splits were assigned.
    pub splits_assigned: bool,
    /// What a person should look at.
    pub warnings: Vec<String>,
}

/// Reads a file.
///
/// # Errors
/// [`TasksFileError`] with the file, the task and the field.
pub fn read_tasks_file(path: &Path, choice: SplitChoice) -> Result<LoadedTasks, TasksFileError> {
    let error = |problem| TasksFileError { path: path.to_owned(), problem };
    let text =
        std::fs::read_to_string(path).map_err(|err| error(TasksFileProblem::Unreadable(err)))?;
    parse_tasks(&text, choice).map_err(error)
}

/// Reads the text of a file: an object, or a bare list of tasks, which nobody has reviewed.
///
/// # Errors
/// [`TasksFileProblem`] with the task and the field.
pub fn parse_tasks(text: &str, choice: SplitChoice) -> Result<LoadedTasks, TasksFileProblem> {
    let mut file = parse_draft(text)?;
    let mut warnings = check_judges(&file.tasks)?;
    let has_splits = file.tasks.iter().any(|task| task.split != Split::Train);
    let splits_assigned = file.tasks.len() >= 2 && !has_splits;
    if splits_assigned {
        assign_splits(&mut file.tasks, choice.seed, choice.fractions, choice.rule);
    }
    warnings.extend(overlaps(&file.tasks).iter().map(ToString::to_string));
    Ok(LoadedTasks { file, splits_assigned, warnings })
}

/// Reads the text of a file that is being worked on: its judges may be broken, and splits are left as they are.
///
/// # Errors
/// [`TasksFileProblem`] with the task and the field.
pub(crate) fn parse_draft(text: &str) -> Result<TasksFile, TasksFileProblem> {
    let text = text.trim_start_matches('\u{feff}');
    let file = match serde_json::from_str(text).map_err(TasksFileProblem::Syntax)? {
        Value::Array(tasks) => TasksFile { tasks: read_tasks(tasks)?, ..TasksFile::default() },
        Value::Object(fields) => read_object(fields)?,
        _ => return Err(TasksFileProblem::NoTasks),
    };
    check_ids(file.tasks.iter().chain(&file.muted))?;
    Ok(file)
}

/// The text of a file.
#[must_use]
pub fn print_tasks(file: &TasksFile) -> String {
    let text = serde_json::to_string_pretty(file).expect("texts, numbers and lists always print");
    text + "\n"
}

/// Writes a file, whole or not at all. It quotes a person's sessions, so only its owner may read it.
///
/// # Errors
/// [`TasksFileError`] when the folder or the file cannot be written.
pub fn write_tasks_file(path: &Path, file: &TasksFile) -> Result<(), TasksFileError> {
    live_file::replace(path, print_tasks(file).as_bytes(), Mode::Private).map_err(|err| {
        TasksFileError { path: path.to_owned(), problem: TasksFileProblem::Unwritable(err) }
    })
}

fn read_object(mut fields: Map<String, Value>) -> Result<TasksFile, TasksFileProblem> {
    let format = text(&mut fields, "format")?;
    if !format.is_empty() && format != FORMAT {
        return Err(TasksFileProblem::OtherFormat { found: format });
    }
    let Some(Value::Array(tasks)) = fields.remove("tasks") else {
        return Err(TasksFileProblem::NoTasks);
    };
    let muted = match fields.remove("muted") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(muted)) => read_tasks(muted)?,
        Some(_) => return Err(TasksFileProblem::NotAList("muted")),
    };
    Ok(TasksFile {
        muted,
        merged: texts_by_name(&mut fields, "merged")?,
        project: text(&mut fields, "project")?,
        transcript_source: text(&mut fields, "transcript_source")?,
        target_skill_path: text(&mut fields, "target_skill_path")?,
        n_sessions: fields
            .get("n_sessions")
            .and_then(Value::as_u64)
            .map_or(0, |n| u32::try_from(n).unwrap_or(u32::MAX)),
        // Only a plain `true` is a review: anything else would let a call be paid for unseen tasks.
        reviewed: fields.get("reviewed") == Some(&Value::Bool(true)),
        tasks: read_tasks(tasks)?,
        ..TasksFile::default()
    })
}

fn text(fields: &mut Map<String, Value>, field: &'static str) -> Result<String, TasksFileProblem> {
    match fields.remove(field) {
        None | Some(Value::Null) => Ok(String::new()),
        Some(Value::String(text)) => Ok(text),
        Some(_) => Err(TasksFileProblem::NotAText(field)),
    }
}

fn texts_by_name(
    fields: &mut Map<String, Value>,
    field: &'static str,
) -> Result<BTreeMap<String, String>, TasksFileProblem> {
    let named = match fields.remove(field) {
        None | Some(Value::Null) => return Ok(BTreeMap::new()),
        Some(Value::Object(named)) => named,
        Some(_) => return Err(TasksFileProblem::NotNamedTexts(field)),
    };
    let text = |(name, value)| match value {
        Value::String(text) => Ok((name, text)),
        _ => Err(TasksFileProblem::NotNamedTexts(field)),
    };
    named.into_iter().map(text).collect()
}

fn read_tasks(tasks: Vec<Value>) -> Result<Vec<TaskRecord>, TasksFileProblem> {
    let read = |(at, task): (usize, Value)| {
        let Value::Object(fields) = task else { return Err(TasksFileProblem::NotATask(at + 1)) };
        let id = fields.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
        TaskRecord::try_from(fields).map_err(|error| TasksFileProblem::Field {
            number: at + 1,
            id,
            error,
        })
    };
    tasks.into_iter().enumerate().map(read).collect()
}

fn check_ids<'a>(tasks: impl Iterator<Item = &'a TaskRecord>) -> Result<(), TasksFileProblem> {
    let mut seen = BTreeSet::new();
    for (at, task) in tasks.enumerate() {
        for (field, value) in [("id", &task.id), ("intent", &task.intent)] {
            if value.trim().is_empty() {
                return Err(TasksFileProblem::Blank { number: at + 1, id: task.id.clone(), field });
            }
        }
        if !seen.insert(&task.id) {
            return Err(TasksFileProblem::SameId(task.id.clone()));
        }
    }
    Ok(())
}

/// All judges that cannot be used, or what to look at in the others.
fn check_judges(tasks: &[TaskRecord]) -> Result<Vec<String>, TasksFileProblem> {
    let (mut errors, mut warnings) = (Vec::new(), Vec::new());
    for task in tasks {
        let about = |what: &str| format!("task `{}`: {what}", task.id);
        match Judge::of(task) {
            Err(error) => errors.push(error),
            Ok(Judge::Rule(_)) => {
                warnings.extend(
                    inspect(&task.judge).warnings.iter().map(|warning| about(&warning.to_string())),
                );
            }
            Ok(Judge::Exact { reference }) if reference.trim().is_empty() => {
                warnings.push(about("the reference is empty, so no reply can pass"));
            }
            Ok(_) if task.reference_kind == ReferenceKind::Answer => {
                warnings.push(about("it needs an evaluator of its own, which is not there"));
            }
            Ok(_) => {}
        }
    }
    if errors.is_empty() { Ok(warnings) } else { Err(TasksFileProblem::Judges(errors)) }
}

#[cfg(test)]
mod tests;
