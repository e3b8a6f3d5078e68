//! Environment variables that shape a run, as settings. Keys stay out of settings: here only their
//! variables are named.

use skillopt_domain::config::{KeyKind, Origin, Place, Setting, Value, find_key};
use skillopt_domain::spend::Role;
use std::collections::BTreeMap;
use std::fmt;

/// A snapshot of the process environment, so that no code below reads it on its own.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Environment(BTreeMap<String, String>);

impl Environment {
    /// The environment of this process. Variables that are no text are left out.
    #[must_use]
    pub fn of_process() -> Self {
        let pairs = std::env::vars_os();
        Self(
            pairs
                .filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?)))
                .collect(),
        )
    }

    /// An environment from pairs.
    #[must_use]
    pub fn from_pairs<const N: usize>(pairs: [(&str, &str); N]) -> Self {
        Self(pairs.into_iter().map(|(k, v)| (k.to_owned(), v.to_owned())).collect())
    }

    /// All variables, for programs that are given some of them.
    #[must_use]
    pub fn all(&self) -> &BTreeMap<String, String> {
        &self.0
    }

    /// The value of a variable; empty counts as not set.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(|value| value.trim()).filter(|value| !value.is_empty())
    }
}

/// Values may be secrets, so that only their number is shown.
impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Environment({} variables)", self.0.len())
    }
}

/// The variable that holds the key of a role: the one that the config names, else the role's own, else
/// the common one. `None` when none of them is set.
///
/// A key that nobody named goes only to the host that the environment names beside it: an address from a file
/// or a form never receives a key that was meant for another host.
#[must_use]
pub fn api_key_variable(
    env: &Environment,
    role: Role,
    named: &str,
    base_url: &str,
) -> Option<String> {
    if !named.is_empty() {
        return env.get(named).map(|_| named.to_owned());
    }
    let own = format!("{}_OPENAI_COMPATIBLE", prefix(role));
    let common = "OPENAI_COMPATIBLE".to_owned();
    [own, common].into_iter().find_map(|prefix| {
        let key = format!("{prefix}_API_KEY");
        env.get(&key)?;
        let home = env
            .get(&format!("{prefix}_BASE_URL"))
            .or_else(|| env.get("OPENAI_COMPATIBLE_BASE_URL"))?;
        (origin_of(home) == origin_of(base_url)).then_some(key)
    })
}

/// Scheme, host and port of an address.
fn origin_of(url: &str) -> String {
    url.trim().splitn(4, '/').take(3).collect::<Vec<_>>().join("/").to_ascii_lowercase()
}

/// Variables that choose backends. They come first: what else counts depends on them.
pub(super) fn backends(env: &Environment) -> Vec<Setting> {
    let of_role = |role: Role| {
        let name = format!("{}_BACKEND", prefix(role));
        first_set(env, &[&name])
            .map(|(name, value)| setting(format!("model.{role}_backend"), &name, &value))
    };
    Role::ALL.into_iter().filter_map(of_role).collect()
}

/// Variables of a role whose backend is `openai_compatible`; the role's own form wins.
pub(super) fn of_role(env: &Environment, role: Role) -> Vec<Setting> {
    let own = prefix(role);
    let max_tokens = match role {
        Role::Target => "env.max_completion_tokens".to_owned(),
        Role::Optimizer => "model.optimizer_max_completion_tokens".to_owned(),
    };
    let model = [
        format!("{own}_OPENAI_COMPATIBLE_MODEL"),
        format!("{own}_DEPLOYMENT"),
        "OPENAI_COMPATIBLE_MODEL".to_owned(),
    ];
    let both_forms = |name: &str| {
        [format!("{own}_OPENAI_COMPATIBLE_{name}"), format!("OPENAI_COMPATIBLE_{name}")]
    };
    let rows: [(String, Vec<String>); 5] = [
        (format!("model.{role}"), model.to_vec()),
        (format!("model.{role}_openai_compatible_base_url"), both_forms("BASE_URL").to_vec()),
        (format!("model.{role}_temperature"), both_forms("TEMPERATURE").to_vec()),
        (max_tokens, both_forms("MAX_TOKENS").to_vec()),
        (format!("model.{role}_timeout_seconds"), both_forms("TIMEOUT_SECONDS").to_vec()),
    ];
    rows.into_iter()
        .filter_map(|(path, names)| {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let (name, value) = first_set(env, &names)?;
            let asks_for_nothing = path.ends_with("temperature")
                && matches!(value.to_ascii_lowercase().as_str(), "none" | "off" | "null");
            (!asks_for_nothing).then(|| setting(path, &name, &value))
        })
        .collect()
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

/// Variables of programs, for a run that has one as a model.
pub(super) fn of_programs(env: &Environment) -> Vec<Setting> {
    OF_PROGRAMS
        .into_iter()
        .filter_map(|(key, names)| {
            let (name, value) = first_set(env, names)?;
            let path = format!("model.{key}");
            let is_switch = find_key(&path).is_some_and(|spec| spec.kind == KeyKind::Bool);
            Some(setting(path, &name, if is_switch { spoken_switch(&value) } else { &value }))
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

fn first_set(env: &Environment, names: &[&str]) -> Option<(String, String)> {
    names.iter().find_map(|name| Some(((*name).to_owned(), env.get(name)?.to_owned())))
}

fn setting(path: String, name: &str, value: &str) -> Setting {
    let place = Place { origin: Origin::Environment, name: name.to_owned(), line: None };
    Setting { path, value: Value::Text(value.to_owned()), place }
}

fn prefix(role: Role) -> &'static str {
    match role {
        Role::Target => "TARGET",
        Role::Optimizer => "OPTIMIZER",
    }
}
