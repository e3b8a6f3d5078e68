//! Puts a config together: defaults, a file, flags. Every fault is found before anything is used.

use super::backend::BackendName;
use super::schema::{KEYS, Key, Kind, find, suggest};
use super::typed::Config;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// What a config is made of.
#[derive(Clone, Debug)]
pub struct Sources {
    /// The person's home folder: what `~` means.
    pub home: PathBuf,
    /// The project when nothing names one.
    pub cwd: PathBuf,
    /// The config file to read; `None` reads none. [`find_file`] finds the usual one.
    pub file: Option<PathBuf>,
    /// Flags, in order; they win.
    pub overrides: Vec<Override>,
}

/// One flag.
#[derive(Clone, Debug, PartialEq)]
pub struct Override {
    /// The flag as it was typed, for messages.
    pub flag: String,
    /// The key.
    pub key: String,
    /// The value.
    pub value: Value,
}

/// Everything that is wrong with a config.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ConfigErrors(pub Vec<ConfigError>);

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// The file or the flag.
    pub place: String,
    /// The key; empty when it is about the whole file.
    pub key: String,
    /// What is wrong.
    pub problem: Problem,
}

/// What is wrong with a key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// The file cannot be read or is no object.
    #[error("{0}")]
    File(String),
    /// Nobody knows it.
    #[error("there is no such key{}", like(*.0))]
    Unknown(Option<&'static str>),
    /// The value cannot be meant.
    #[error("`{value}` is not {expected}{}", like(*.suggestion))]
    Value {
        /// The value, as JSON.
        value: String,
        /// What it must be.
        expected: String,
        /// The word that is most like it.
        suggestion: Option<&'static str>,
    },
    /// Values that do not go together.
    #[error("{0}")]
    Together(&'static str),
}

fn like(word: Option<&str>) -> String {
    word.map_or_else(String::new, |word| format!("; do you mean `{word}`?"))
}

impl fmt::Display for ConfigErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, ConfigError { place, key, problem }) in self.0.iter().enumerate() {
            let end = if at == 0 { "" } else { "\n" };
            let (key, colon) = match key.is_empty() || says(place, key) {
                true => ("", ""),
                false => (key.as_str(), ": "),
            };
            write!(f, "{end}{place}: {key}{colon}{problem}")?;
        }
        Ok(())
    }
}

/// A flag such as `--backend` or `--set backend` says its key already.
fn says(place: &str, key: &str) -> bool {
    let last = place.rsplit(' ').next().unwrap_or(place);
    place.starts_with("--") && last.trim_start_matches("--").replace('-', "_") == key
}

/// The config file of a state folder: `config.json`, else `config.yaml`, else `config.yml`.
#[must_use]
pub fn find_file(state_dir: &Path) -> Option<PathBuf> {
    let names = ["config.json", "config.yaml", "config.yml"];
    names.iter().map(|name| state_dir.join(name)).find(|path| path.is_file())
}

/// Puts a config together. Environment variables come after, by [`Config::apply_env`].
///
/// # Errors
/// [`ConfigErrors`] with everything that is wrong.
pub fn load(sources: &Sources) -> Result<Config, ConfigErrors> {
    let mut faults = Vec::new();
    let mut settings: Vec<(String, String, Value)> = Vec::new();
    if let Some(path) = &sources.file {
        let place = path.display().to_string();
        match read(path) {
            Ok(map) => {
                settings.extend(map.into_iter().map(|(key, value)| (place.clone(), key, value)));
            }
            Err(text) => faults.push(fault(place, "", Problem::File(text))),
        }
    }
    let flags = sources.overrides.iter().cloned();
    settings.extend(flags.map(|Override { flag, key, value }| (flag, key, value)));
    let mut values = defaults();
    let mut user_set = BTreeSet::new();
    for (place, name, value) in settings {
        let Some(key) = find(&name) else {
            faults.push(fault(place, &name, Problem::Unknown(suggest(&name))));
            continue;
        };
        // Nothing was said about a key that cannot be null.
        if value.is_null() && !is_nullable(key.kind) {
            continue;
        }
        match check(key.kind, &value) {
            Ok(value) => {
                values.insert(name, value);
                user_set.insert(key.name);
            }
            Err(problem) => faults.push(fault(place, &name, problem)),
        }
    }
    if !faults.is_empty() {
        return Err(ConfigErrors(faults));
    }
    finish(values, user_set, sources).map_err(|fault| ConfigErrors(vec![fault]))
}

fn fault(place: String, key: &str, problem: Problem) -> ConfigError {
    ConfigError { place, key: key.to_owned(), problem }
}

fn read(path: &Path) -> Result<Map<String, Value>, String> {
    let text = fs::read_to_string(path).map_err(|err| format!("cannot be read: {err}"))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let is_json = path.extension().is_some_and(|extension| extension == "json");
    let value: Value = if text.trim().is_empty() {
        Value::Null
    } else if is_json {
        serde_json::from_str(text).map_err(|err| format!("is no JSON: {err}"))?
    } else {
        let options = serde_saphyr::options! { with_snippet: false };
        serde_saphyr::from_str_with_options(text, options)
            .map_err(|err| format!("is no YAML: {}", err.without_snippet()))?
    };
    match value {
        Value::Null => Ok(Map::new()),
        Value::Object(map) => Ok(map),
        _ => Err("must be an object with keys".to_owned()),
    }
}

fn defaults() -> Map<String, Value> {
    KEYS.iter().map(|key| (key.name.to_owned(), default_of(key))).collect()
}

fn default_of(key: &Key) -> Value {
    serde_json::from_str(key.default).unwrap_or(Value::Null)
}

fn is_nullable(kind: Kind) -> bool {
    matches!(kind, Kind::BoolOrNull | Kind::IntOrNull { .. } | Kind::FloatOrNull { .. })
}

/// The value as the typed config takes it.
fn check(kind: Kind, value: &Value) -> Result<Value, Problem> {
    let wrong = |suggestion| Problem::Value {
        value: value.to_string(),
        expected: kind.expected(),
        suggestion,
    };
    let is_path = |text: &str| !text.chars().any(char::is_control);
    let is_ok = match (kind, value) {
        (_, Value::Null) => is_nullable(kind),
        (Kind::Bool | Kind::BoolOrNull, Value::Bool(_)) | (Kind::Text, Value::String(_)) => true,
        (Kind::Int { min, max } | Kind::IntOrNull { min, max }, Value::Number(number)) => {
            let whole = whole(number).filter(|whole| (min..=max).contains(whole));
            return whole.map(Value::from).ok_or_else(|| wrong(None));
        }
        (Kind::Float { min, max } | Kind::FloatOrNull { min, max }, Value::Number(number)) => {
            number.as_f64().is_some_and(|number| (min..=max).contains(&number))
        }
        (Kind::Path, Value::String(text)) => is_path(text),
        (Kind::Paths | Kind::Projects, Value::Array(items)) => {
            items.iter().all(|item| item.as_str().is_some_and(is_path))
        }
        (Kind::Projects, Value::String(word)) => matches!(word.as_str(), "invoked" | "all"),
        // YAML makes a truth value of the word that switches the gate off.
        (Kind::Choice { options }, Value::Bool(false)) if options.contains(&"false") => {
            return Ok(Value::from("false"));
        }
        (Kind::Choice { options }, Value::String(word)) => {
            if !options.contains(&word.as_str()) {
                return Err(wrong(super::schema::most_like(word, options.iter().copied())));
            }
            true
        }
        (Kind::Backend, Value::String(name)) => match BackendName::parse(name) {
            Ok(name) => return Ok(Value::from(name.as_str())),
            Err(unknown) => return Err(wrong(unknown.suggestion)),
        },
        _ => false,
    };
    if is_ok { Ok(value.clone()) } else { Err(wrong(None)) }
}

/// A whole number, also one that was written as `3.0`.
fn whole(number: &serde_json::Number) -> Option<u64> {
    number.as_u64().or_else(|| {
        let float = number.as_f64().filter(|float| float.fract() == 0.0 && *float >= 0.0)?;
        format!("{float:.0}").parse().ok()
    })
}

fn finish(
    values: Map<String, Value>,
    user_set: BTreeSet<&'static str>,
    sources: &Sources,
) -> Result<Config, ConfigError> {
    let place = sources
        .file
        .as_ref()
        .map_or_else(|| "config".to_owned(), |file| file.display().to_string());
    let mut config: Config = serde_json::from_value(Value::Object(values))
        .map_err(|err| fault(place.clone(), "", Problem::File(err.to_string())))?;
    config.user_set = user_set;
    expand(&mut config, sources);
    let sum = config.val_fraction() + config.test_fraction;
    if sum >= 1.0 {
        let problem =
            Problem::Together("`val_fraction` and `test_fraction` must leave tasks to train on");
        return Err(fault(place, "val_fraction", problem));
    }
    if config.reward_latency_weight > 0.0 && config.gate_margin <= 0.0 {
        let problem = Problem::Together(
            "`reward_latency_weight` above 0 needs a `gate_margin` above 0: how long an answer takes differs by chance, \
             and would decide every tie",
        );
        return Err(fault(place, "reward_latency_weight", problem));
    }
    if let Err(err) = crate::stage::SkillName::parse(&config.managed_skill_name) {
        return Err(fault(place, "managed_skill_name", Problem::File(err.to_string())));
    }
    Ok(config)
}

/// `~` becomes the home folder, an empty project the working directory, and the state moves with `--claude-home`.
fn expand(config: &mut Config, sources: &Sources) {
    let home = |path: &Path| match path.strip_prefix("~") {
        Ok(rest) => sources.home.join(rest),
        Err(_) => path.to_owned(),
    };
    for path in [
        &mut config.claude_home,
        &mut config.codex_home,
        &mut config.pi_home,
        &mut config.cursor_home,
        &mut config.vscode_workspace_storage,
        &mut config.copilot_cli_session_store,
        &mut config.opencode_db,
        &mut config.invoked_project,
        &mut config.codex_path,
        &mut config.pi_path,
        &mut config.cursor_path,
        &mut config.opencode_path,
        &mut config.state_dir,
        &mut config.target_skill_path,
    ] {
        *path = home(path);
    }
    for root in &mut config.skill_roots {
        *root = home(root);
    }
    config.invoked_project = sources.cwd.join(&config.invoked_project);
    let moves_home = sources.overrides.iter().any(|flag| flag.key == "claude_home");
    if moves_home && !config.user_set.contains("state_dir") {
        let parent = config.claude_home.parent().unwrap_or(&config.claude_home);
        config.state_dir = parent.join(".skillopt-sleep");
    }
}
