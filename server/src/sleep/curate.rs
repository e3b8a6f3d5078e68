//! Curated tasks between the wire and the library, and where their file is: in the data directory, since a project that
//! was cloned could bring a file that says it was reviewed.

use skillopt_domain::api::{
    CuratedTask, CuratedTasks, TaskChange, TaskCheck, TaskFinding, TaskText, TaskTried, TrialScore,
};
use skillopt_domain::hash::Sha256Hex;
use skillopt_sleep::curate::{Change, CuratedFile, Finding, Kept, Texts, look_at, score, warnings};
use skillopt_sleep::split::together;
use skillopt_sleep::task::{ReferenceKind, Split, TaskRecord};
use std::path::Path;

/// The file of a project.
pub(crate) fn curated_file(data_dir: &Path, project: &Path) -> CuratedFile {
    let name = Sha256Hex::of(project.display().to_string());
    CuratedFile::new(data_dir.join("tasks").join(format!("{}.json", name.short())))
}

/// The tasks as they are shown, without secrets.
pub(crate) fn curated_view(project: &Path, path: &Path, kept: Kept) -> CuratedTasks {
    let Kept { file, version, can_undo } = kept;
    let warnings = warnings(&file);
    let all: Vec<TaskRecord> = file.tasks.iter().chain(&file.muted).cloned().collect();
    let groups = group_numbers(&all);
    let n_used = file.tasks.len();
    let tasks = all.iter().zip(groups).enumerate();
    let tasks = tasks.map(|(at, (task, group))| task_item(task, at >= n_used, group));
    CuratedTasks {
        project: project.display().to_string(),
        path: path.display().to_string(),
        version,
        reviewed: file.reviewed,
        source: file.transcript_source.clone(),
        n_sessions: file.n_sessions,
        tasks: tasks.collect(),
        warnings,
        can_undo,
    }
}

/// For each task the number of those that it belongs together with.
fn group_numbers(tasks: &[TaskRecord]) -> Vec<u32> {
    // Variants of a task belong to nobody.
    let mut next = u32::try_from(tasks.len()).unwrap_or(u32::MAX);
    let mut numbers = vec![None; tasks.len()];
    for (number, members) in (0..).zip(together(tasks)) {
        members.into_iter().for_each(|at| numbers[at] = Some(number));
    }
    numbers
        .into_iter()
        .map(|number| {
            number.unwrap_or_else(|| {
                next = next.saturating_add(1);
                next
            })
        })
        .collect()
}

fn task_item(task: &TaskRecord, muted: bool, group: u32) -> CuratedTask {
    let task = task.redacted();
    CuratedTask {
        muted,
        group,
        split: word(task.split),
        outcome: word(task.outcome),
        text: text_of(&task),
        findings: look_at(&task).into_iter().map(finding_item).collect(),
        id: task.id,
        sessions: task.source_sessions,
        skill_hint: task.skill_hint,
        tags: task.tags,
    }
}

fn text_of(task: &TaskRecord) -> TaskText {
    let Texts { intent, context, kind, reference, checks } = Texts::of(task);
    let checks = checks.into_iter().map(|(op, arg)| TaskCheck { op, arg }).collect();
    TaskText { intent, context, judge: word(kind), reference, checks }
}

/// The stable word of an enum.
fn word(value: impl serde::Serialize) -> String {
    serde_json::to_value(value)
        .ok()
        .and_then(|value| value.as_str().map(str::to_owned))
        .unwrap_or_default()
}

fn finding_item(finding: Finding) -> TaskFinding {
    let Finding { field, message, is_error } = finding;
    TaskFinding { field, message, is_error }
}

/// The change as the library knows it; `None` for the one that takes the last one back.
///
/// # Errors
/// In words, when a word is not known.
pub(crate) fn lib_change(change: TaskChange) -> Result<Option<Change>, String> {
    Ok(Some(match change {
        TaskChange::Edit { id, text } => Change::Edit { id, texts: texts_of(text)? },
        TaskChange::Mute(ids) => Change::Mute(ids),
        TaskChange::Unmute(ids) => Change::Unmute(ids),
        TaskChange::Delete(ids) => Change::Delete(ids),
        TaskChange::Merge { ids, keep } => Change::Merge { ids, keep },
        TaskChange::Move { ids, split } => Change::Move { ids, split: split_of(&split)? },
        TaskChange::Review(reviewed) => Change::Review(reviewed),
        TaskChange::Undo => return Ok(None),
    }))
}

fn split_of(name: &str) -> Result<Split, String> {
    match name {
        "train" => Ok(Split::Train),
        "val" => Ok(Split::Val),
        "test" => Ok(Split::Test),
        _ => Err(format!("there is no split {name:?}; take train, val or test")),
    }
}

fn texts_of(text: TaskText) -> Result<Texts, String> {
    let TaskText { intent, context, judge, reference, checks } = text;
    let kind: ReferenceKind = serde_json::from_value(serde_json::json!(judge)).map_err(|_| {
        format!("there is no judge {judge:?}; take rule, rubric, exact, answer or none")
    })?;
    let checks = checks.into_iter().map(|check| (check.op, check.arg)).collect();
    Ok(Texts { intent, context, kind, reference, checks })
}

/// What is wrong with texts, and how they score a reply.
///
/// # Errors
/// In words, when a word is not known.
pub(crate) fn tried(text: TaskText, reply: Option<&str>) -> Result<TaskTried, String> {
    let mut task = TaskRecord::default();
    texts_of(text)?.put_into(&mut task);
    let findings: Vec<TaskFinding> = look_at(&task).into_iter().map(finding_item).collect();
    let mut tried = TaskTried { findings, ..TaskTried::default() };
    match reply.map(|reply| score(&task, reply)) {
        None => {}
        Some(Err(why)) => tried.unscored = why,
        Some(Ok((judged, passed))) => {
            tried.score = Some(TrialScore {
                hard: judged.hard.get(),
                soft: judged.soft.get(),
                rationale: judged.rationale,
                passed,
            });
        }
    }
    Ok(tried)
}
