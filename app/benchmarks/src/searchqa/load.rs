//! Loading SearchQA data: split folders and ratio splits, all rows checked before one is used.

use super::prompt::{CONTEXT_CHARS, cut_context};
use super::{Item, SearchQa};
use crate::data_file::{data_files, read_rows};
use crate::error::{DataError, RowProblem, RowProblems};
use crate::ratio::{self, Origin, PARTS};
use serde_json::Value;
use skillopt_domain::config::{SearchQaEnv, SplitMode};
use skillopt_domain::ids::TaskId;
use skillopt_engine::ports::Task;
use skillopt_engine::splits::{SplitName, Splits};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// A data set that is ready for a run.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The items.
    pub benchmark: SearchQa,
    /// Their tasks in three disjoint splits.
    pub splits: Splits,
    /// What a person should know before the run, one sentence each.
    pub warnings: Vec<String>,
    /// The data files that were read.
    pub sources: Vec<PathBuf>,
    /// The split folder in use; `None` when a ratio split was not written.
    pub split_dir: Option<PathBuf>,
}

/// Loads the data of a run. A ratio split is written to `env.split_output_dir`, or else to `generated_dir`.
///
/// # Errors
/// [`DataError`] names the file and, where rows are wrong, all of them.
pub fn load(env: &SearchQaEnv, generated_dir: &Path) -> Result<Loaded, DataError> {
    let own = Path::new(&env.split_output_dir);
    let parent = if env.split_output_dir.is_empty() { generated_dir } else { own };
    gather(env, Some(parent))
}

/// As [`load`], and writes nothing.
///
/// # Errors
/// As [`load`].
pub fn preview(env: &SearchQaEnv) -> Result<Loaded, DataError> {
    gather(env, None)
}

fn gather(env: &SearchQaEnv, output: Option<&Path>) -> Result<Loaded, DataError> {
    let mut reader = Reader::default();
    let (parts, split_dir) = match env.split_mode {
        SplitMode::SplitDir => {
            let folder = PathBuf::from(&env.split_dir);
            (reader.split_folder(&folder)?, Some(folder))
        }
        SplitMode::Ratio => reader.ratio_split(env, output)?,
    };
    let parts = parts.map(|items| limited(items, env.limit));
    let tasks = |at: usize| -> Vec<Task> { parts[at].iter().map(Item::task).collect() };
    let splits = Splits::try_new(tasks(0), tasks(1), tasks(2))?;
    reader.warn_about(&parts);
    let Reader { warnings, sources, .. } = reader;
    let benchmark = SearchQa::new(parts.into_iter().flatten());
    Ok(Loaded { benchmark, splits, warnings, sources, split_dir })
}

fn limited(mut items: Vec<Item>, limit: u32) -> Vec<Item> {
    if limit > 0 {
        items.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    }
    items
}

#[derive(Debug, Default)]
struct Reader {
    warnings: Vec<String>,
    sources: Vec<PathBuf>,
    seen: HashMap<TaskId, String>,
    problems: Vec<RowProblem>,
}

impl Reader {
    fn split_folder(&mut self, folder: &Path) -> Result<[Vec<Item>; 3], DataError> {
        std::fs::metadata(folder)
            .map_err(|source| DataError::Read { path: folder.to_owned(), source })?;
        let mut parts = [const { Vec::new() }; 3];
        for (part, name) in parts.iter_mut().zip(PARTS) {
            let path = self.split_file(folder, name)?;
            *part = self.checked(&path)?.into_iter().map(|(item, _)| item).collect();
        }
        self.refuse_bad_rows()?;
        Ok(parts)
    }

    fn split_file(&mut self, folder: &Path, name: SplitName) -> Result<PathBuf, DataError> {
        let part = folder.join(name.folder());
        if !part.is_dir() {
            return Err(DataError::NoSplitFolder {
                path: folder.to_owned(),
                folder: name.folder(),
            });
        }
        let mut files = data_files(&part)?.into_iter();
        let first = files.next().ok_or(DataError::NoFile { path: part })?;
        for other in files {
            let warning =
                format!("{} is not read: {} comes first", other.display(), first.display());
            self.warnings.push(warning);
        }
        Ok(first)
    }

    fn ratio_split(
        &mut self,
        env: &SearchQaEnv,
        output: Option<&Path>,
    ) -> Result<([Vec<Item>; 3], Option<PathBuf>), DataError> {
        let path = only_file(Path::new(&env.data_path))?;
        let rows = self.checked(&path)?;
        self.refuse_bad_rows()?;
        let parts = ratio::split(rows, env.split_ratio, env.split_seed);
        let origin = Origin {
            benchmark: SearchQa::NAME,
            data_path: &env.data_path,
            ratio: env.split_ratio,
            seed: env.split_seed,
        };
        let raw = |rows: &Vec<(Item, Value)>| rows.iter().map(|(_, value)| value.clone()).collect();
        let folder = match output {
            Some(parent) => Some(ratio::write(parent, &parts.each_ref().map(raw), &origin)?),
            None => None,
        };
        Ok((parts.map(|rows| rows.into_iter().map(|(item, _)| item).collect()), folder))
    }

    /// Reads a file; bad rows and ids that occur again are collected.
    fn checked(&mut self, path: &Path) -> Result<Vec<(Item, Value)>, DataError> {
        self.sources.push(path.to_owned());
        let file = path.display().to_string();
        let mut items = Vec::new();
        for raw in read_rows(path)? {
            let Some(item) = Item::read(&file, &raw, &mut self.problems) else {
                continue;
            };
            let place = format!("{file}, row {}", raw.row);
            if let Some(first) = self.seen.get(&item.id) {
                self.problems.push(RowProblem {
                    file: file.clone(),
                    row: raw.row,
                    field: "id".to_owned(),
                    problem: format!("`{}` is the id of {first} already", item.id),
                });
                continue;
            }
            self.seen.insert(item.id.clone(), place);
            items.push((item, raw.value));
        }
        Ok(items)
    }

    fn refuse_bad_rows(&mut self) -> Result<(), DataError> {
        match std::mem::take(&mut self.problems) {
            problems if problems.is_empty() => Ok(()),
            problems => Err(DataError::Rows(RowProblems(problems))),
        }
    }

    fn warn_about(&mut self, parts: &[Vec<Item>; 3]) {
        if parts[1].is_empty() {
            self.warnings.push("there is no validation task: nothing can be verified".to_owned());
        }
        if parts[2].is_empty() {
            self.warnings.push("there is no test task: nothing is measured at the end".to_owned());
        }
        let is_cut =
            |item: &&Item| cut_context(&item.context, CONTEXT_CHARS) != item.context.trim();
        let n_cut = parts.iter().flatten().filter(is_cut).count();
        if n_cut > 0 {
            self.warnings.push(format!(
                "the passages of {n_cut} tasks are longer than {CONTEXT_CHARS} characters; the target sees the first passages that fit"
            ));
        }
    }
}

fn only_file(path: &Path) -> Result<PathBuf, DataError> {
    let metadata = std::fs::metadata(path)
        .map_err(|source| DataError::Read { path: path.to_owned(), source })?;
    if metadata.is_file() {
        return Ok(path.to_owned());
    }
    let files = data_files(path)?;
    match files.as_slice() {
        [] => Err(DataError::NoFile { path: path.to_owned() }),
        [only] => Ok(only.clone()),
        several => {
            let name =
                |file: &PathBuf| file.file_name().map(|name| name.to_string_lossy().into_owned());
            let names = several.iter().filter_map(name).collect::<Vec<_>>().join(", ");
            Err(DataError::SeveralFiles { path: path.to_owned(), names })
        }
    }
}
