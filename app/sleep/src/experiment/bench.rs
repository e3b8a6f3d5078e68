//! Benchmark folders of the known shape: `SKILL.md`, `benchmark.jsonl` to learn and validate on, `held-out.jsonl` to
//! test on. Reads files; runs nothing.

use super::persona::SEED;
use crate::split::{Fractions, SplitRule, assign_splits};
use crate::task::{ReferenceKind, Split, TaskRecord};
use serde::Deserialize;
use serde_json::Value;
use std::collections::HashMap;
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
    /// A file or a folder cannot be read.
    #[error("{} cannot be read: {error}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The words of the operating system.
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
        /// What is wrong, with its field.
        problem: String,
    },
    /// A file has no task in it.
    #[error("{} has no task in it", .0.display())]
    Empty(PathBuf),
    /// There is no benchmark in this place.
    #[error(
        "{} is no benchmark: expected SKILL.md and benchmark.jsonl in it, or in folders of it", .0.display()
    )]
    NoFolder(PathBuf),
    /// There is no folder of this name.
    #[error("{} has no benchmark `{name}`; it has {}", .root.display(), .known.join(", "))]
    Unknown {
        /// Where it was looked for.
        root: PathBuf,
        /// The name.
        name: String,
        /// The names that there are.
        known: Vec<String>,
    },
}

/// Most tasks to take, as the reference system counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BenchLimits {
    /// That train; all when `None`.
    pub replay: Option<usize>,
    /// That validate, and as many that test; all when `None`.
    pub holdout: Option<usize>,
}

/// Where the known collection keeps its folders.
const WITHIN: &str = "eval/data/skillopt-v1";

/// Folders of `root` that hold a benchmark, by name; `root` itself when it is one.
///
/// # Errors
/// [`BenchError::Read`] when `root` cannot be listed, [`BenchError::NoFolder`] when there is none.
pub fn bench_folders(root: &Path) -> Result<Vec<PathBuf>, BenchError> {
    if is_bench(root) {
        return Ok(vec![root.to_owned()]);
    }
    let within = root.join(WITHIN);
    let root = if within.is_dir() { within.as_path() } else { root };
    let failed = |error| BenchError::Read { path: root.to_owned(), error };
    let mut folders = Vec::new();
    for entry in std::fs::read_dir(root).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if is_bench(&path) {
            folders.push(path);
        }
    }
    folders.sort();
    if folders.is_empty() { Err(BenchError::NoFolder(root.to_owned())) } else { Ok(folders) }
}

/// A skill that is missing beside its tasks is told when the folder is read.
fn is_bench(folder: &Path) -> bool {
    folder.join("benchmark.jsonl").is_file()
}

/// The benchmarks of `root` with these names, in the order of the names; all of them when none is named.
///
/// # Errors
/// [`BenchError`] with the file, the line or the name.
pub fn read_benches(
    root: &Path,
    names: &[String],
    limits: BenchLimits,
) -> Result<Vec<BenchFolder>, BenchError> {
    let folders = bench_folders(root)?;
    let name = |folder: &PathBuf| name_of(folder);
    let find = |wanted: &String| {
        folders.iter().find(|folder| name(folder) == *wanted).ok_or_else(|| BenchError::Unknown {
            root: root.to_owned(),
            name: wanted.clone(),
            known: folders.iter().map(name).collect(),
        })
    };
    let wanted: Vec<&PathBuf> = match names.is_empty() {
        true => folders.iter().collect(),
        false => names.iter().map(find).collect::<Result<_, _>>()?,
    };
    wanted.into_iter().map(|folder| read_bench(folder, limits)).collect()
}

fn name_of(folder: &Path) -> String {
    // A folder such as `.` has its name from where it lies.
    let whole = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    whole.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// Reads a folder. A missing `held-out.jsonl` means that there is nothing to test on.
///
/// # Errors
/// [`BenchError`] with the file and the line.
pub fn read_bench(folder: &Path, limits: BenchLimits) -> Result<BenchFolder, BenchError> {
    let name = name_of(folder);
    let skill = read(&folder.join("SKILL.md"))?;
    let mut seen = HashMap::new();
    let mut tasks = read_tasks(&folder.join("benchmark.jsonl"), &name, &mut seen)?;
    assign_splits(&mut tasks, SEED, Fractions::default(), SplitRule::Python);
    let held_out = folder.join("held-out.jsonl");
    if held_out.is_file() {
        let mut tests = read_tasks(&held_out, &name, &mut seen)?;
        for test in &mut tests {
            test.split = Split::Test;
        }
        tasks.extend(tests);
    }
    let mut left = HashMap::from([
        (Split::Train, limits.replay),
        (Split::Val, limits.holdout),
        (Split::Test, limits.holdout),
    ]);
    tasks.retain(|task| match left.get_mut(&task.split) {
        Some(Some(0)) => false,
        Some(Some(n)) => {
            *n -= 1;
            true
        }
        _ => true,
    });
    Ok(BenchFolder { name, skill, tasks })
}

/// A task of a file. Fields that are unknown are left to whoever wrote them.
#[derive(Deserialize)]
struct Line {
    task_id: String,
    task: String,
    #[serde(default)]
    judge: Value,
    /// The answer, for tasks without a judge and for the simulation.
    #[serde(default)]
    reference: String,
    /// What the simulation needs, such as `rule:wrap-answer`.
    #[serde(default)]
    tags: Vec<String>,
}

fn read(path: &Path) -> Result<String, BenchError> {
    let failed = |error| BenchError::Read { path: path.to_owned(), error };
    if std::fs::metadata(path).map_err(failed)?.len() > MAX_BYTES {
        return Err(BenchError::TooLong(path.to_owned()));
    }
    std::fs::read_to_string(path).map_err(failed)
}

/// Reads tasks. An id may stand once in all files of a folder: a task that trains must not test.
fn read_tasks(
    path: &Path,
    project: &str,
    seen: &mut HashMap<String, String>,
) -> Result<Vec<TaskRecord>, BenchError> {
    let text = read(path)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let file =
        path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let mut task = |(at, line): (usize, &str)| {
        let problem = |problem| BenchError::Line { path: path.to_owned(), line: at + 1, problem };
        let task = task_of(line, project).map_err(problem)?;
        let place = format!("{file} line {}", at + 1);
        match seen.insert(task.id.clone(), place) {
            Some(first) => {
                Err(problem(format!("task_id: `{}` is that of {first} as well", task.id)))
            }
            None => Ok(task),
        }
    };
    let tasks = lines.map(&mut task).collect::<Result<Vec<_>, _>>()?;
    if tasks.is_empty() { Err(BenchError::Empty(path.to_owned())) } else { Ok(tasks) }
}

fn task_of(line: &str, project: &str) -> Result<TaskRecord, String> {
    let Line { task_id, task, judge, reference, tags } =
        serde_json::from_str(line).map_err(|error| error.to_string())?;
    for (field, text) in [("task_id", &task_id), ("task", &task)] {
        if text.trim().is_empty() {
            return Err(format!("{field}: it is empty"));
        }
    }
    let rubric = judge.get("rubric").and_then(Value::as_str).unwrap_or_default().to_owned();
    let has_checks = judge.get("checks").is_some_and(Value::is_array);
    let (reference_kind, reference) = match (has_checks, rubric.is_empty(), reference.is_empty()) {
        (true, ..) => (ReferenceKind::Rule, reference),
        (false, false, _) => (ReferenceKind::Rubric, rubric),
        (false, true, false) => (ReferenceKind::Exact, reference),
        (false, true, true) => {
            return Err(
                "judge: it has neither checks nor a rubric, and there is no reference".to_owned()
            );
        }
    };
    let task = TaskRecord {
        id: task_id,
        project: project.to_owned(),
        intent: task,
        reference_kind,
        reference,
        judge: if has_checks { judge } else { Value::Object(serde_json::Map::new()) },
        tags,
        ..TaskRecord::default()
    };
    crate::judge::Judge::of(&task).map_err(|error| format!("judge: {}", error.problem))?;
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
        assert_eq!(bench_folders(&folders[0]).expect("it is one"), folders);
    }

    #[test]
    fn limits_count_what_trains_and_what_validates_and_tests() {
        let line = |id: u32| CHECKED.replace("b1", &format!("t{id}")) + "\n";
        let held = |id: u32| CHECKED.replace("b1", &format!("h{id}")) + "\n";
        let root = folder(&[
            ("SKILL.md", ""),
            ("benchmark.jsonl", &(0..20).map(line).collect::<String>()),
            ("held-out.jsonl", &(0..5).map(held).collect::<String>()),
        ]);
        let limits = BenchLimits { replay: Some(3), holdout: Some(2) };
        let benches = read_benches(root.path(), &[], limits).expect("readable");
        let n = |split| benches[0].tasks.iter().filter(|task| task.split == split).count();
        assert_eq!((n(Split::Train), n(Split::Val), n(Split::Test)), (3, 2, 2));
    }

    #[test]
    fn what_is_wrong_is_told_with_file_line_and_field() {
        let told = |files: &[(&str, &str)], names: &[String]| {
            let root = folder(files);
            let error = read_benches(root.path(), names, BenchLimits::default());
            let whole = error.expect_err("it is refused").to_string();
            whole.replace(&root.path().display().to_string(), "")
        };
        let skill = ("SKILL.md", "");
        let twice = format!("{CHECKED}\n");
        for (files, words) in [
            (&[skill][..], " is no benchmark: expected SKILL.md and benchmark.jsonl"),
            (&[("benchmark.jsonl", CHECKED)], "/brief-writer/SKILL.md cannot be read: "),
            (
                &[skill, ("benchmark.jsonl", "\n")],
                "/brief-writer/benchmark.jsonl has no task in it",
            ),
            (
                &[skill, ("benchmark.jsonl", r#"{"task_id": "a"}"#)],
                "/brief-writer/benchmark.jsonl line 1: missing field `task`",
            ),
            (
                &[skill, ("benchmark.jsonl", r#"{"task_id": "a", "task": "b"}"#)],
                "benchmark.jsonl line 1: judge: it has neither checks nor a rubric",
            ),
            (
                &[skill, ("benchmark.jsonl", &twice), ("held-out.jsonl", &twice)],
                "held-out.jsonl line 1: task_id: `b1` is that of benchmark.jsonl line 1 as well",
            ),
        ] {
            let told = told(files, &[]);
            assert!(told.contains(words), "{told} has no {words}");
        }
        let told = told(&[skill, ("benchmark.jsonl", CHECKED)], &["advisor".to_owned()]);
        assert!(told.contains("has no benchmark `advisor`; it has brief-writer"), "{told}");
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
