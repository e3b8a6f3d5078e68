//! Environment variables that shape a run, as settings. Keys stay out of settings; [`super::role_key`] finds them.

use super::env_file::EnvFile;
use super::keyring::Keyring;
use super::role_key::KeyPlace;
use skillopt_domain::config::{BackendKind, KeyKind, Origin, Place, Setting, Value, find_key};
use skillopt_domain::spend::Role;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// What this process was given from outside: its environment, `.env` files, and the keys that the system's keyring holds.
/// No code below reads them on its own. The environment wins over files, these over the keyring.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    process: Variables,
    files: Vec<EnvFile>,
    keyring: Option<Keyring>,
}

/// Values may be secrets, so that only their number is shown.
#[derive(Clone, Default)]
struct Variables(BTreeMap<String, String>);

impl fmt::Debug for Variables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} variables", self.0.len())
    }
}

/// A value, and where it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found<'a> {
    pub(crate) value: &'a str,
    pub(crate) place: KeyPlace,
}

impl Environment {
    /// The environment of this process, the `.env` files of the working directory and of the data directory, and the
    /// keyring. Variables that are no text are left out.
    #[must_use]
    pub fn of_process(data_dir: &Path) -> Self {
        let pairs = std::env::vars_os();
        let process = pairs
            .filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?)))
            .collect();
        let here = std::env::current_dir().ok();
        let dirs = here.iter().map(PathBuf::as_path).chain([data_dir]);
        let mut files: Vec<EnvFile> =
            dirs.filter_map(|dir| EnvFile::read(&dir.join(".env"))).collect();
        files.dedup_by(|one, other| one.path() == other.path());
        Self { process: Variables(process), files, keyring: Some(Keyring::open(data_dir)) }
    }

    /// An environment from pairs.
    #[must_use]
    pub fn from_pairs<const N: usize>(pairs: [(&str, &str); N]) -> Self {
        let pairs = pairs.into_iter().map(|(k, v)| (k.to_owned(), v.to_owned()));
        Self { process: Variables(pairs.collect()), ..Self::default() }
    }

    /// All variables of the process, for programs that are given some of them.
    #[must_use]
    pub fn all(&self) -> &BTreeMap<String, String> {
        &self.process.0
    }

    #[cfg(test)]
    pub(crate) fn with_files(self, paths: &[&Path]) -> Self {
        Self { files: paths.iter().filter_map(|path| EnvFile::read(path)).collect(), ..self }
    }

    #[cfg(test)]
    pub(crate) fn with_keyring(self, keyring: Keyring) -> Self {
        Self { keyring: Some(keyring), ..self }
    }

    /// The value of a variable; empty counts as not set. A key that only the keyring holds is read from there, which
    /// blocks the first time.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.find(name).map(|found| found.value)
    }

    /// The value of a variable of the process: what says which programs are run comes from nowhere else.
    pub(crate) fn of_process_only(&self, name: &str) -> Option<&str> {
        self.process.0.get(name).and_then(|value| set(value))
    }

    pub(crate) fn find(&self, name: &str) -> Option<Found<'_>> {
        let of_process = || {
            let value = set(self.process.0.get(name)?)?;
            Some(Found { value, place: KeyPlace::Environment })
        };
        let of_files = || self.files.iter().find_map(|file| in_file(file, name));
        let of_keyring = || {
            let value = self.keyring.as_ref()?.get(name)?;
            Some(Found { value, place: KeyPlace::Keyring })
        };
        of_process().or_else(of_files).or_else(of_keyring)
    }

    /// The address that stands beside a key: in the same place, or in the environment, which the user rules. What a
    /// file says of addresses binds no key that it does not hold.
    pub(super) fn beside(&self, key: &KeyPlace, name: &str) -> Option<&str> {
        let in_process = self.process.0.get(name).and_then(|value| set(value));
        in_process.or_else(|| match key {
            KeyPlace::File { path, .. } => {
                let file =
                    self.files.iter().find(|file| file.path().display().to_string() == *path)?;
                file.get(name).map(|(value, _)| value)
            }
            KeyPlace::Environment | KeyPlace::Keyring => None,
        })
    }

    /// The address that a key in the keyring was put there for.
    pub(crate) fn bound_to(&self, name: &str, place: &KeyPlace) -> Option<&str> {
        match place {
            KeyPlace::Keyring => self.keyring.as_ref()?.bound_to(name),
            KeyPlace::Environment | KeyPlace::File { .. } => None,
        }
    }

    /// Why a key was not taken although some place may hold it; `None` where none does.
    pub(crate) fn withheld(&self, name: &str) -> Option<String> {
        let of_file = |file: &EnvFile| {
            let reason = file.refused().filter(|_| file.withholds(name))?;
            Some(format!("{} was not read: {reason}", file.path().display()))
        };
        self.files.iter().find_map(of_file).or_else(|| self.keyring.as_ref()?.refused(name))
    }

    /// The `.env` file that names such an address while the environment of the process does not.
    pub(super) fn file_that_leads_to(&self, is_it: impl Fn(&str) -> bool) -> Option<String> {
        if self.process.0.values().any(|value| is_it(value)) {
            return None;
        }
        let file = self.files.iter().find(|file| file.addresses().any(&is_it))?;
        Some(file.path().display().to_string())
    }

    /// The `.env` files that were found.
    pub(crate) fn files(&self) -> &[EnvFile] {
        &self.files
    }

    /// The keyring, where there is one.
    pub(crate) fn keyring(&self) -> Option<&Keyring> {
        self.keyring.as_ref()
    }
}

fn set(value: &str) -> Option<&str> {
    Some(value.trim()).filter(|value| !value.is_empty())
}

fn in_file<'a>(file: &'a EnvFile, name: &str) -> Option<Found<'a>> {
    let (value, line) = file.get(name)?;
    let place = KeyPlace::File { path: file.path().display().to_string(), line };
    Some(Found { value, place })
}

/// Variables that choose backends. They come first: what else counts depends on them.
pub(super) fn backends(env: &Environment) -> Vec<Setting> {
    let of_role = |role: Role| {
        let name = format!("{}_BACKEND", prefix(role));
        first_set(env, format!("model.{role}_backend"), &[&name])
    };
    Role::ALL.into_iter().filter_map(of_role).collect()
}

/// Variables of a role that its backend has; the role's own form wins.
pub(super) fn of_role(env: &Environment, role: Role, backend: BackendKind) -> Vec<Setting> {
    let rows = rows_of(role, backend).into_iter();
    rows.filter_map(|(path, names)| {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let setting = first_set(env, path, &names)?;
        let asks_for_nothing = setting.path.ends_with("temperature")
            && matches!(
                setting.value.to_string().to_ascii_lowercase().as_str(),
                "none" | "off" | "null"
            );
        (!asks_for_nothing).then_some(setting)
    })
    .collect()
}

/// Keys with the variables that set them, the strongest first.
fn rows_of(role: Role, backend: BackendKind) -> Vec<(String, Vec<String>)> {
    let own = prefix(role);
    let deployment = || format!("{own}_DEPLOYMENT");
    let of_model = |names: Vec<String>| (format!("model.{role}"), names);
    let both = |family: &str, name: &str| {
        vec![format!("{own}_{family}_{name}"), format!("{family}_{name}")]
    };
    let timeout = format!("model.{role}_timeout_seconds");
    let temperature = format!("model.{role}_temperature");
    match backend {
        BackendKind::OpenaiCompatible => {
            let family = "OPENAI_COMPATIBLE";
            let max_tokens = match role {
                Role::Target => "env.max_completion_tokens".to_owned(),
                Role::Optimizer => "model.optimizer_max_completion_tokens".to_owned(),
            };
            let mut names = both(family, "MODEL");
            names.insert(1, deployment());
            vec![
                of_model(names),
                (format!("model.{role}_openai_compatible_base_url"), both(family, "BASE_URL")),
                (temperature, both(family, "TEMPERATURE")),
                (max_tokens, both(family, "MAX_TOKENS")),
                (timeout, both(family, "TIMEOUT_SECONDS")),
            ]
        }
        BackendKind::OpenaiChat => {
            let of_azure = |name: &str| {
                let mut names = both("AZURE_OPENAI", name);
                names.insert(1, format!("AZURE_OPENAI_{own}_{name}"));
                if name == "ENDPOINT" {
                    names.push("OPENAI_BASE_URL".to_owned());
                }
                (format!("model.{role}_azure_openai_{}", name.to_ascii_lowercase()), names)
            };
            let names =
                ["ENDPOINT", "API_VERSION", "AUTH_MODE", "AD_SCOPE", "MANAGED_IDENTITY_CLIENT_ID"];
            let mut rows = vec![of_model(vec![deployment()])];
            rows.extend(names.map(of_azure));
            rows
        }
        BackendKind::QwenChat => {
            let family = "QWEN_CHAT";
            let key = |name: &str| {
                (
                    format!("model.{role}_qwen_chat_{}", name.to_ascii_lowercase()),
                    both(family, name),
                )
            };
            let mut names = both(family, "MODEL");
            names.insert(1, deployment());
            vec![
                of_model(names),
                key("BASE_URL"),
                key("MAX_TOKENS"),
                key("ENABLE_THINKING"),
                key("THINKING_MODE"),
                (temperature, both(family, "TEMPERATURE")),
                (timeout, both(family, "TIMEOUT_SECONDS")),
            ]
        }
        BackendKind::MinimaxChat => {
            let names = ["REGION", "BASE_URL", "MAX_TOKENS", "TEMPERATURE", "ENABLE_THINKING"];
            let key = |name: &str| {
                let variable = format!("MINIMAX_{name}");
                (format!("model.minimax_{}", name.to_ascii_lowercase()), vec![variable])
            };
            let mut rows = vec![of_model(vec![deployment()])];
            rows.extend(names.map(key));
            rows.push((timeout, vec!["MINIMAX_TIMEOUT_SECONDS".to_owned()]));
            rows
        }
        BackendKind::AnthropicMessages => vec![
            of_model(vec![deployment()]),
            ("model.anthropic_base_url".to_owned(), vec!["ANTHROPIC_BASE_URL".to_owned()]),
        ],
        _ => Vec::new(),
    }
}

fn first_set(env: &Environment, path: String, names: &[&str]) -> Option<Setting> {
    let (name, found) = names.iter().find_map(|name| Some((*name, env.find(name)?)))?;
    let (name, line) = match found.place {
        KeyPlace::File { path, line } => (path, Some(line)),
        KeyPlace::Environment | KeyPlace::Keyring => (name.to_owned(), None),
    };
    let place = Place { origin: Origin::Environment, name, line };
    Some(Setting { path, value: Value::Text(found.value.to_owned()), place })
}

/// Variables of programs that serve as models.
const OF_PROGRAMS: [(&str, &[&str]); 22] = [
    ("codex_exec_path", &["CODEX_EXEC_PATH", "CODEX_CLI_BIN", "CODEX_PATH"]),
    ("codex_exec_sandbox", &["CODEX_EXEC_SANDBOX", "CODEX_SANDBOX_MODE"]),
    ("codex_exec_profile", &["CODEX_EXEC_PROFILE", "CODEX_PROFILE"]),
    ("codex_exec_reasoning_effort", &["CODEX_EXEC_REASONING_EFFORT"]),
    ("codex_exec_network_access", &["CODEX_EXEC_NETWORK_ACCESS"]),
    ("codex_exec_web_search", &["CODEX_EXEC_WEB_SEARCH"]),
    ("codex_exec_approval_policy", &["CODEX_EXEC_APPROVAL_POLICY"]),
    ("codex_trace_to_optimizer", &["REFLACT_CODEX_TRACE_TO_OPTIMIZER"]),
    ("claude_code_exec_path", &["CLAUDE_CODE_EXEC_PATH", "CLAUDE_CLI_BIN"]),
    ("claude_code_exec_effort", &["CLAUDE_CODE_EXEC_EFFORT"]),
    ("claude_code_exec_max_thinking_tokens", &["CLAUDE_CODE_EXEC_MAX_THINKING_TOKENS"]),
    ("claude_code_exec_permission_mode", &["CLAUDE_PERMISSION_MODE"]),
    ("claude_setting_sources", &["CLAUDE_SETTING_SOURCES"]),
    ("cursor_exec_path", &["CURSOR_EXEC_PATH"]),
    ("cursor_exec_sandbox", &["CURSOR_EXEC_SANDBOX"]),
    ("copilot_exec_path", &["COPILOT_EXEC_PATH"]),
    ("copilot_exec_home", &["COPILOT_EXEC_HOME"]),
    ("copilot_exec_allow_all_tools", &["COPILOT_EXEC_ALLOW_ALL_TOOLS"]),
    ("copilot_chat_optimizer_model", &["COPILOT_CHAT_OPTIMIZER_MODEL"]),
    ("copilot_chat_target_model", &["COPILOT_CHAT_TARGET_MODEL"]),
    ("copilot_chat_timeout", &["COPILOT_CHAT_TIMEOUT"]),
    ("exec_empty_response_retries", &["EXEC_EMPTY_RESPONSE_RETRIES"]),
];

/// Variables of programs, for a run that has one as a model. Only the process says which programs are run: no file in
/// the working directory does.
pub(super) fn of_programs(env: &Environment) -> Vec<Setting> {
    OF_PROGRAMS
        .into_iter()
        .filter_map(|(key, names)| {
            let set = names.iter().find_map(|name| Some((*name, env.of_process_only(name)?)));
            let (name, value) = set?;
            let path = format!("model.{key}");
            let is_switch = find_key(&path).is_some_and(|spec| spec.kind == KeyKind::Bool);
            let value = if is_switch { spoken_switch(value) } else { value };
            let place = Place { origin: Origin::Environment, name: name.to_owned(), line: None };
            Some(Setting { path, value: Value::Text(value.to_owned()), place })
        })
        .collect()
}

/// The reference system's spellings of a switch in the environment.
fn spoken_switch(value: &str) -> &str {
    match value.to_ascii_lowercase().as_str() {
        "1" | "yes" | "on" | "true" => "true",
        "0" | "no" | "off" | "false" => "false",
        _ => value,
    }
}

/// The beginning of a role's own variables.
pub(super) fn prefix(role: Role) -> &'static str {
    match role {
        Role::Target => "TARGET",
        Role::Optimizer => "OPTIMIZER",
    }
}
