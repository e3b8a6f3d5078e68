//! What a person does to tasks. A change is whole or not at all, and never leaves what belongs together on two sides.

use super::CurateError;
use super::look::look_at;
use crate::judge::char_bound;
use crate::mine::join;
use crate::split::{Overlap, overlaps};
use crate::task::{Check, ReferenceKind, Split, TaskRecord};
use crate::tasks_file::TasksFile;
use serde_json::{Map, Value, json};

/// What is done.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// Other texts.
    Edit {
        /// The task.
        id: String,
        /// Its texts.
        texts: Texts,
    },
    /// Kept, and used no more.
    Mute(Vec<String>),
    /// Used again.
    Unmute(Vec<String>),
    /// They go.
    Delete(Vec<String>),
    /// One task with the sessions and tags of all.
    Merge {
        /// Two or more.
        ids: Vec<String>,
        /// The one whose texts stay.
        keep: String,
    },
    /// Another split.
    Move {
        /// The tasks.
        ids: Vec<String>,
        /// Where they go.
        split: Split,
    },
    /// A person looked at all of them, or takes that back.
    Review(bool),
}

/// What can be edited of a task.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Texts {
    /// What is asked.
    pub intent: String,
    /// What was said around it.
    pub context: String,
    /// How an answer is scored.
    pub kind: ReferenceKind,
    /// The exact answer, or the rubric.
    pub reference: String,
    /// Operation and argument of each check.
    pub checks: Vec<(String, String)>,
}

impl Texts {
    /// The texts of a task.
    #[must_use]
    pub fn of(task: &TaskRecord) -> Self {
        let kind = match super::look::is_rule(task) {
            true => ReferenceKind::Rule,
            false => task.reference_kind,
        };
        Self {
            intent: task.intent.clone(),
            context: task.context_excerpt.clone(),
            kind,
            reference: task.reference.clone(),
            checks: task.checks().iter().map(|check| (check.op.clone(), shown(check))).collect(),
        }
    }

    /// Puts the texts into a task. A check that did not change keeps its argument as it was.
    pub fn put_into(&self, task: &mut TaskRecord) {
        let known = task.checks();
        task.intent.clone_from(&self.intent);
        task.context_excerpt.clone_from(&self.context);
        task.reference.clone_from(&self.reference);
        task.reference_kind = self.kind;
        if self.kind != ReferenceKind::Rule {
            task.judge = Value::Null;
            return;
        }
        let arg_of = |op: &str, text: &str| {
            let same = known.iter().find(|check| check.op == op && shown(check) == text);
            same.map_or_else(|| read_arg(op, text), |check| check.arg.clone())
        };
        let checks: Vec<Value> = self
            .checks
            .iter()
            .map(|(op, text)| json!({"op": op, "arg": arg_of(op, text)}))
            .collect();
        let mut judge = task.judge.as_object().cloned().unwrap_or_else(Map::new);
        judge.insert("kind".to_owned(), json!("rule"));
        judge.insert("checks".to_owned(), json!(checks));
        task.judge = Value::Object(judge);
    }
}

/// The argument as a person types it.
fn shown(check: &Check) -> String {
    match &check.arg {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn read_arg(op: &str, text: &str) -> Value {
    match op {
        "max_chars" | "min_chars" => {
            let typed = json!(text);
            char_bound(&typed).map_or(typed, |bound| json!(bound))
        }
        "no_refusal" if text.is_empty() => Value::Null,
        _ => json!(text),
    }
}

/// Does it, and says so in a few words.
///
/// # Errors
/// [`CurateError`]; the file may be half changed then and must not be kept.
pub fn change(file: &mut TasksFile, change: &Change) -> Result<String, CurateError> {
    let before = overlaps(&file.tasks);
    let words = match change {
        Change::Edit { id, texts } => edit(file, id, texts)?,
        Change::Mute(ids) => {
            let (used, muted) = (&mut file.tasks, &mut file.muted);
            format!("Muted {}", carry(used, muted, ids)?)
        }
        Change::Unmute(ids) => {
            let (used, muted) = (&mut file.tasks, &mut file.muted);
            format!("Used {} again", carry(muted, used, ids)?)
        }
        Change::Delete(ids) => {
            let taken = take_all(file, ids)?;
            format!("Deleted {}", named(&taken))
        }
        Change::Merge { ids, keep } => merge(file, ids, keep)?,
        Change::Move { ids, split } => relocate(file, ids, *split)?,
        Change::Review(reviewed) => {
            file.reviewed = *reviewed;
            let word = if *reviewed { "Marked all as reviewed" } else { "Took the review back" };
            word.to_owned()
        }
    };
    let straddling: Vec<Overlap> =
        overlaps(&file.tasks).into_iter().filter(|one| !before.contains(one)).collect();
    if straddling.is_empty() { Ok(words) } else { Err(CurateError::Straddles(straddling)) }
}

fn edit(file: &mut TasksFile, id: &str, texts: &Texts) -> Result<String, CurateError> {
    let mut all = file.tasks.iter_mut().chain(&mut file.muted);
    let task = all.find(|task| task.id == id).ok_or_else(|| CurateError::Unknown(id.to_owned()))?;
    texts.put_into(task);
    *task = task.redacted();
    let errors: Vec<_> = look_at(task).into_iter().filter(|finding| finding.is_error).collect();
    if errors.is_empty() {
        Ok(format!("Changed {}", named(std::slice::from_ref(task))))
    } else {
        Err(CurateError::Broken(errors))
    }
}

fn carry(
    from: &mut Vec<TaskRecord>,
    to: &mut Vec<TaskRecord>,
    ids: &[String],
) -> Result<String, CurateError> {
    let taken = take(from, ids);
    check_found(&taken, ids)?;
    let words = named(&taken);
    to.extend(taken);
    Ok(words)
}

fn take(from: &mut Vec<TaskRecord>, ids: &[String]) -> Vec<TaskRecord> {
    from.extract_if(.., |task| ids.contains(&task.id)).collect()
}

fn take_all(file: &mut TasksFile, ids: &[String]) -> Result<Vec<TaskRecord>, CurateError> {
    let mut taken = take(&mut file.tasks, ids);
    taken.extend(take(&mut file.muted, ids));
    check_found(&taken, ids)?;
    Ok(taken)
}

fn check_found(taken: &[TaskRecord], ids: &[String]) -> Result<(), CurateError> {
    if ids.is_empty() {
        return Err(CurateError::TooFew("one task"));
    }
    let missing = ids.iter().find(|id| !taken.iter().any(|task| task.id == **id));
    missing.map_or(Ok(()), |id| Err(CurateError::Unknown(id.clone())))
}

fn merge(file: &mut TasksFile, ids: &[String], keep: &str) -> Result<String, CurateError> {
    let others: Vec<String> = ids.iter().filter(|id| *id != keep).cloned().collect();
    if others.is_empty() || !ids.iter().any(|id| id == keep) {
        return Err(CurateError::TooFew("two tasks, and one of them to keep"));
    }
    let taken = take_all(file, &others)?;
    let mut all = file.tasks.iter_mut().chain(&mut file.muted);
    let kept = all.find(|task| task.id == keep);
    let kept = kept.ok_or_else(|| CurateError::Unknown(keep.to_owned()))?;
    let words = format!("Merged {} into {}", named(&taken), named(std::slice::from_ref(kept)));
    for other in taken {
        let hint = other.skill_hint.trim();
        if !hint.is_empty() && hint != kept.skill_hint.trim() {
            kept.skill_hint.clear();
        }
        for into in file.merged.values_mut().filter(|into| **into == other.id) {
            keep.clone_into(into);
        }
        file.merged.insert(other.id.clone(), keep.to_owned());
        join(kept, other);
    }
    Ok(words)
}

fn relocate(file: &mut TasksFile, ids: &[String], split: Split) -> Result<String, CurateError> {
    let mut moved = Vec::new();
    for task in file.tasks.iter_mut().chain(&mut file.muted) {
        if ids.contains(&task.id) {
            task.split = split;
            moved.push(task.clone());
        }
    }
    check_found(&moved, ids)?;
    let side = match split {
        Split::Train => "training",
        Split::Val => "validation",
        Split::Test => "test",
    };
    Ok(format!("Moved {} to {side}", named(&moved)))
}

const MAX_NAME_CHARS: usize = 48;

/// `“Write the notes…”`, or how many they are.
fn named(tasks: &[TaskRecord]) -> String {
    let [only] = tasks else { return format!("{} tasks", tasks.len()) };
    let intent: String = only.intent.split_whitespace().collect::<Vec<_>>().join(" ");
    if intent.chars().count() <= MAX_NAME_CHARS {
        return format!("“{intent}”");
    }
    let cut: String = intent.chars().take(MAX_NAME_CHARS).collect();
    format!("“{}…”", cut.trim_end())
}
