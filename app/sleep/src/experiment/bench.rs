//! Benchmark folders of the known shape: `SKILL.md`, `benchmark.jsonl` to learn and validate on, `held-out.jsonl` to
//! test on. Reads files; runs nothing.

use super::persona::SEED;
use crate::split::{Fractions, SplitRule, assign_splits};
use crate::task::{ReferenceKind, Split, TaskRecord};
use serde::Deserialize;
use serde_json::Value;
use std::io;
use std::path::{Path, PathBuf};

/// A longer file is no benchmark.
const MAX_BYTES: u64 = 64_000_000;

/// A skill with tasks to improve it on.
#[derive(Clone, Debug, PartialEq)]
pub struct BenchFolder {
    /// Name of the folder.
    pub name: String,
    /// The skill to begin with.
    pub skill: String,
    /// Tasks with their splits.
    pub tasks: Vec<TaskRecord>,
}

/// Why a folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// A file cannot be read.
    #[error("{} cannot be read", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        error: io::Error,
    },
    /// A file is too long.
    #[error("{} is longer than 64 MB", .0.display())]
    TooLong(PathBuf),
    /// A line is no task.
    #[error("{} line {line}: {problem}", .path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Its line, from 1.
        line: usize,
        /// What is wrong.
        problem: String,
    },
}

/// Most tasks to take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BenchLimits {
    /// Of `benchmark.jsonl`; all when `None`.
    pub replay: Option<usize>,
    /// Of `held-out.jsonl`; all when `None`.
    pub holdout: Option<usize>,
}

/// Folders below `root` that hold a benchmark, by name.
///
/// # Errors
/// [`BenchError::Read`] when `root` cannot be listed.
pub fn bench_folders(root: &Path) -> Result<Vec<PathBuf>, BenchError> {
    let failed = |error| BenchError::Read { path: root.to_owned(), error };
    let mut folders = Vec::new();
    for entry in std::fs::read_dir(root).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.join("benchmark.jsonl").is_file() && path.join("SKILL.md").is_file() {
            folders.push(path);
        }
    }
    folders.sort();
    Ok(folders)
}

/// Reads a folder. A missing `held-out.jsonl` means that there is nothing to test on.
///
/// # Errors
/// [`BenchError`] with the file and the line.
pub fn read_bench(folder: &Path, limits: BenchLimits) -> Result<BenchFolder, BenchError> {
    let name = folder.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
    let skill = read(&folder.join("SKILL.md"))?;
    let mut tasks = read_tasks(&folder.join("benchmark.jsonl"), &name)?;
    tasks.truncate(limits.replay.unwrap_or(usize::MAX));
    assign_splits(&mut tasks, SEED, Fractions::default(), SplitRule::Python);
    let held_out = folder.join("held-out.jsonl");
    if held_out.is_file() {
        let mut tests = read_tasks(&held_out, &name)?;
        tests.truncate(limits.holdout.unwrap_or(usize::MAX));
        for test in &mut tests {
            test.split = Split::Test;
        }
        tasks.extend(tests);
    }
    Ok(BenchFolder { name, skill, tasks })
}

#[derive(Deserialize)]
struct Line {
    task_id: String,
    task: String,
    #[serde(default)]
    judge: Value,
}

fn read(path: &Path) -> Result<String, BenchError> {
    let failed = |error| BenchError::Read { path: path.to_owned(), error };
    if std::fs::metadata(path).map_err(failed)?.len() > MAX_BYTES {
        return Err(BenchError::TooLong(path.to_owned()));
    }
    std::fs::read_to_string(path).map_err(failed)
}

fn read_tasks(path: &Path, project: &str) -> Result<Vec<TaskRecord>, BenchError> {
    let text = read(path)?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let task = |(at, line): (usize, &str)| {
        task_of(line, project).map_err(|problem| BenchError::Line {
            path: path.to_owned(),
            line: at + 1,
            problem,
        })
    };
    lines.map(task).collect()
}

fn task_of(line: &str, project: &str) -> Result<TaskRecord, String> {
    let Line { task_id, task, judge } =
        serde_json::from_str(line).map_err(|error| error.to_string())?;
    let rubric = judge.get("rubric").and_then(Value::as_str).unwrap_or_default().to_owned();
    let has_checks = judge.get("checks").is_some_and(Value::is_array);
    let reference_kind = match (has_checks, rubric.is_empty()) {
        (true, _) => ReferenceKind::Rule,
        (false, false) => ReferenceKind::Rubric,
        (false, true) => return Err("the judge has neither checks nor a rubric".to_owned()),
    };
    let task = TaskRecord {
        id: task_id,
        project: project.to_owned(),
        intent: task,
        reference_kind,
        reference: if has_checks { String::new() } else { rubric },
        judge: if has_checks { judge } else { Value::Object(serde_json::Map::new()) },
        ..TaskRecord::default()
    };
    crate::judge::Judge::of(&task).map_err(|error| error.problem.to_string())?;
    Ok(task)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("a folder");
        let seed = root.path().join("brief-writer");
        std::fs::create_dir(&seed).expect("made");
        for (name, text) in files {
            std::fs::write(seed.join(name), text).expect("written");
        }
        root
    }

    const CHECKED: &str = r#"{"task_id": "b1", "task": "write a brief", "judge": {"kind": "rule", "checks": [{"op": "section_present", "arg": "Risks"}]}}"#;

    #[test]
    fn a_folder_is_read_and_its_held_out_tasks_test() {
        let rubric =
            r#"{"task_id": "h1", "task": "sum up", "judge": {"rubric": "names a number"}}"#;
        let root = folder(&[
            ("SKILL.md", "# Briefs\n"),
            ("benchmark.jsonl", &format!("{CHECKED}\n\n")),
            ("held-out.jsonl", rubric),
        ]);
        let folders = bench_folders(root.path()).expect("listed");
        let bench = read_bench(&folders[0], BenchLimits::default()).expect("readable");
        assert_eq!((bench.name.as_str(), bench.skill.as_str()), ("brief-writer", "# Briefs\n"));
        let told: Vec<_> =
            bench.tasks.iter().map(|t| (t.reference_kind, t.split == Split::Test)).collect();
        assert_eq!(told, [(ReferenceKind::Rule, false), (ReferenceKind::Rubric, true)]);
        let none = BenchLimits { replay: Some(0), holdout: Some(0) };
        assert!(read_bench(&folders[0], none).expect("readable").tasks.is_empty());
    }

    #[test]
    fn c59_a_check_that_cannot_be_used_is_an_error_with_its_line() {
        let bad = r#"{"task_id": "b2", "task": "x", "judge": {"kind": "rule", "checks": [{"op": "regex", "arg": "("}]}}"#;
        let text = format!("{CHECKED}\n{bad}\n");
        let root = folder(&[("SKILL.md", ""), ("benchmark.jsonl", &text)]);
        let folders = bench_folders(root.path()).expect("listed");
        let error = read_bench(&folders[0], BenchLimits::default()).expect_err("a bad line");
        assert!(matches!(error, BenchError::Line { line: 2, .. }), "{error}");
    }
}
