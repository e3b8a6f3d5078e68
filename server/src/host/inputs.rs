//! What a run starts from, read from disk: the initial skill and the data.

use super::plain_file::read_plain;
use super::prompts::prompt_set;
use skillopt_benchmarks::searchqa::{self, Loaded};
use skillopt_domain::config::{ConfigProblem, Resolved, RunConfig, SplitMode, Value};
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::skill::SkillDoc;
use skillopt_engine::prompts::PromptSet;
use std::path::{Component, Path, PathBuf};

/// Keys whose values are paths that a run reads or writes later, maybe from another working directory.
const PATH_KEYS: [&str; 6] = [
    "env.skill_init",
    "env.split_dir",
    "env.data_path",
    "env.split_output_dir",
    "model.cassette",
    "optimizer.prompts_dir",
];

/// Skill, data and prompts of a run.
#[derive(Debug)]
pub(crate) struct Inputs {
    pub(crate) skill: SkillDoc,
    pub(crate) data: Loaded,
    pub(crate) prompts: PromptSet,
}

impl Inputs {
    /// Reads all. Ratio splits without a folder of their own are written under `generated_dir`. With a text in
    /// `skill` that is the initial skill, and its file is not looked at.
    pub(crate) fn load(
        config: &RunConfig,
        generated_dir: &Path,
        skill: Option<String>,
    ) -> Result<Self, Vec<ConfigProblem>> {
        let skill = initial(config, skill);
        let data =
            searchqa::load(&config.env, generated_dir).map_err(|err| data_problem(config, &err));
        Self::all(skill, data, prompts(config))
    }

    /// Reads all and writes nothing. With a text in `skill` that is the initial skill, and its file is not looked at.
    pub(crate) fn preview(
        config: &RunConfig,
        skill: Option<String>,
    ) -> Result<Self, Vec<ConfigProblem>> {
        let skill = initial(config, skill);
        let data = searchqa::preview(&config.env).map_err(|err| data_problem(config, &err));
        Self::all(skill, data, prompts(config))
    }

    fn all(
        skill: Result<SkillDoc, ConfigProblem>,
        data: Result<Loaded, ConfigProblem>,
        prompts: Result<PromptSet, Vec<ConfigProblem>>,
    ) -> Result<Self, Vec<ConfigProblem>> {
        match (skill, data, prompts) {
            (Ok(skill), Ok(data), Ok(prompts)) => Ok(Self { skill, data, prompts }),
            (skill, data, prompts) => {
                let one = skill.err().into_iter().chain(data.err());
                Err(one.chain(prompts.err().into_iter().flatten()).collect())
            }
        }
    }
}

/// The prompts in the update mode of the run.
pub(crate) fn prompts(config: &RunConfig) -> Result<PromptSet, Vec<ConfigProblem>> {
    let optimizer = &config.optimizer;
    prompt_set(&optimizer.prompts_dir, searchqa::PROMPTS, &[optimizer.update_mode])
}

fn initial(config: &RunConfig, given: Option<String>) -> Result<SkillDoc, ConfigProblem> {
    given.map_or_else(|| read_skill(&config.env.skill_init), |text| Ok(SkillDoc::parse(text)))
}

/// The longest skill file that is read: far beyond what fits in any context.
const MOST_SKILL_BYTES: u64 = 16 << 20;

/// Reads a skill file; an empty path is an empty skill.
pub(crate) fn read_skill(path: &str) -> Result<SkillDoc, ConfigProblem> {
    if path.is_empty() {
        return Ok(SkillDoc::parse(""));
    }
    let read = read_plain(Path::new(path), MOST_SKILL_BYTES)
        .map_err(|err| format!("cannot read {path}: {err}{}", missing_hint(path)));
    let parsed = read.and_then(|bytes| {
        SkillDoc::from_bytes(bytes).map_err(|err| format!("cannot read {path}: {err}"))
    });
    parsed.map_err(|message| problem("env.skill_init", message))
}

fn data_problem(config: &RunConfig, err: &skillopt_benchmarks::DataError) -> ConfigProblem {
    if let skillopt_benchmarks::DataError::Write { .. } = err {
        return problem("env.split_output_dir", err.to_string());
    }
    let (key, path) = match config.env.split_mode {
        SplitMode::SplitDir => ("env.split_dir", &config.env.split_dir),
        SplitMode::Ratio => ("env.data_path", &config.env.data_path),
    };
    problem(key, format!("{err}{}", missing_hint(path)))
}

/// Where a relative path that leads nowhere was looked for.
fn missing_hint(path: &str) -> String {
    let path = Path::new(path);
    match std::env::current_dir() {
        Ok(here) if path.is_relative() && !path.exists() => {
            format!("; relative paths start at the working directory, {}", here.display())
        }
        _ => String::new(),
    }
}

/// The beginning of a hash, for people.
pub(super) fn short(sha: &Sha256Hex) -> &str {
    &sha.as_str()[..8]
}

pub(crate) fn problem(path: &str, message: String) -> ConfigProblem {
    ConfigProblem { path: path.to_owned(), place: None, message }
}

/// The same config with absolute paths, so that the run can be resumed from any working directory.
pub(crate) fn with_absolute_paths(resolved: &Resolved) -> Resolved {
    let mut resolved = resolved.clone();
    for row in resolved.values.iter_mut().filter(|row| PATH_KEYS.contains(&row.path.as_str())) {
        if let Value::Text(path) = &row.value
            && !path.is_empty()
        {
            row.value = Value::Text(absolute(Path::new(path)).display().to_string());
        }
    }
    resolved
}

/// An absolute path without `.` and `..`, symlinks not followed. Relative paths start at the working
/// directory.
pub(crate) fn absolute(path: &Path) -> PathBuf {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut parts = PathBuf::new();
    for part in whole.components() {
        match part {
            Component::ParentDir => {
                parts.pop();
            }
            Component::CurDir => {}
            other => parts.push(other),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absolute_paths_have_no_dots() {
        let here = std::env::current_dir().expect("a working directory");
        assert_eq!(absolute(Path::new("a/./b/../c")), here.join("a/c"));
        assert_eq!(absolute(Path::new("/x/../y")), Path::new("/y"));
    }

    #[test]
    fn a_missing_skill_is_named_and_an_empty_path_is_an_empty_skill() {
        let problem = read_skill("/no/such/SKILL.md").expect_err("refused");
        assert!(problem.to_string().contains("/no/such/SKILL.md"), "{problem}");
        assert_eq!(read_skill("").expect("empty").text(), "");
    }
}
