//! The environment variables of the reference system. The caller looks them up; secrets are not among them.

use super::typed::Config;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What environment variables say.
#[derive(Clone, Debug, PartialEq)]
pub struct Environment {
    /// Tasks that are performed at once, 1 to 64.
    pub workers: u16,
    /// Where handoffs lie; `None` is in the project.
    pub handoff_dir: Option<PathBuf>,
    /// The file with prompts of one's own; `None` is `prompts.json` of the state folder.
    pub prompts_path: Option<PathBuf>,
    /// More phrases of a person who is not content.
    pub negative_feedback: Vec<String>,
    /// More phrases of a person who is content.
    pub positive_feedback: Vec<String>,
    /// More marks of sessions that agents held with themselves.
    pub agent_markers: Vec<String>,
    /// Models by backend, for those that the config names none for.
    pub models: BTreeMap<&'static str, String>,
    /// The `copilot` program.
    pub copilot_path: Option<PathBuf>,
    /// Home of Copilot CLI during replays.
    pub copilot_home: Option<PathBuf>,
    /// Copilot CLI gets its real home.
    pub copilot_full_env: bool,
    /// Tools that Copilot CLI may use.
    pub copilot_available_tools: Option<String>,
    /// The token limit of chat servers; as their role is configured when `None`.
    pub compat_max_tokens: Option<u32>,
    /// More fields for the body of chat calls.
    pub chat_extra_body: Map<String, Value>,
    /// How to prove oneself to Azure.
    pub azure_auth_mode: Option<String>,
    /// Where `OpenCode` has its database.
    pub opencode_db: Option<String>,
}

/// A variable has a value that cannot be meant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the variable {name} is `{value}`, but must be {expected}")]
pub struct EnvError {
    /// The variable.
    pub name: &'static str,
    /// Its value.
    pub value: String,
    /// What it must be.
    pub expected: &'static str,
}

const MODELS: [(&str, &str); 6] = [
    ("claude", "SKILLOPT_SLEEP_CLAUDE_MODEL"),
    ("codex", "SKILLOPT_SLEEP_CODEX_MODEL"),
    ("copilot", "SKILLOPT_SLEEP_COPILOT_MODEL"),
    ("cursor", "SKILLOPT_SLEEP_CURSOR_MODEL"),
    ("pi", "SKILLOPT_SLEEP_PI_MODEL"),
    ("opencode", "SKILLOPT_SLEEP_OPENCODE_MODEL"),
];

impl Default for Environment {
    fn default() -> Self {
        Self {
            workers: 1,
            handoff_dir: None,
            prompts_path: None,
            negative_feedback: Vec::new(),
            positive_feedback: Vec::new(),
            agent_markers: Vec::new(),
            models: BTreeMap::new(),
            copilot_path: None,
            copilot_home: None,
            copilot_full_env: false,
            copilot_available_tools: None,
            compat_max_tokens: None,
            chat_extra_body: Map::new(),
            azure_auth_mode: None,
            opencode_db: None,
        }
    }
}

impl Environment {
    /// Reads the variables through `lookup`. Empty ones count as not set.
    ///
    /// # Errors
    /// [`EnvError`] for the first value that cannot be meant.
    pub fn read(lookup: &dyn Fn(&str) -> Option<String>) -> Result<Self, EnvError> {
        let get = |name: &str| lookup(name).filter(|value| !value.trim().is_empty());
        let list = |name: &str| {
            let text = get(name).unwrap_or_default();
            let parts = text.split(',').map(|part| part.trim().to_owned());
            parts.filter(|part| !part.is_empty()).collect::<Vec<_>>()
        };
        let path = |name: &str| get(name).map(PathBuf::from);
        let models = MODELS.iter().filter_map(|(backend, name)| Some((*backend, get(name)?)));
        Ok(Self {
            workers: number(&get, "SKILLOPT_SLEEP_WORKERS", 1, 64)?.unwrap_or(1),
            handoff_dir: path("SKILLOPT_SLEEP_HANDOFF_DIR"),
            prompts_path: path("SKILLOPT_SLEEP_PROMPTS_PATH"),
            negative_feedback: list("SKILLOPT_SLEEP_NEG_FEEDBACK"),
            positive_feedback: list("SKILLOPT_SLEEP_POS_FEEDBACK"),
            agent_markers: list("SKILLOPT_SLEEP_AGENT_MARKERS"),
            models: models.collect(),
            copilot_path: path("SKILLOPT_SLEEP_COPILOT_PATH"),
            copilot_home: path("SKILLOPT_SLEEP_COPILOT_HOME"),
            copilot_full_env: get("SKILLOPT_SLEEP_COPILOT_FULL_ENV").as_deref() == Some("1"),
            copilot_available_tools: get("COPILOT_AVAILABLE_TOOLS"),
            compat_max_tokens: number(&get, "SKILLOPT_SLEEP_COMPAT_MAX_TOKENS", 1, 10_000_000)?,
            chat_extra_body: extra_body(&get)?,
            azure_auth_mode: get("AZURE_OPENAI_AUTH_MODE"),
            opencode_db: get("OPENCODE_DB"),
        })
    }
}

impl Config {
    /// Adds what environment variables say. What a file or a flag says wins over it.
    ///
    /// # Errors
    /// [`EnvError`]; the config is as it was then.
    pub fn apply_env(&mut self, lookup: &dyn Fn(&str) -> Option<String>) -> Result<(), EnvError> {
        self.env = Environment::read(lookup)?;
        let get = |name: &str| lookup(name).filter(|value| !value.trim().is_empty());
        for (path, name) in [
            (&mut self.codex_path, "SKILLOPT_SLEEP_CODEX_PATH"),
            (&mut self.cursor_path, "SKILLOPT_SLEEP_CURSOR_PATH"),
            (&mut self.opencode_path, "SKILLOPT_SLEEP_OPENCODE_PATH"),
        ] {
            if path.as_os_str().is_empty()
                && let Some(value) = get(name)
            {
                *path = PathBuf::from(value);
            }
        }
        if self.azure_endpoint.is_empty() {
            self.azure_endpoint = get("AZURE_OPENAI_ENDPOINT").unwrap_or_default();
        }
        Ok(())
    }
}

fn number<T: TryFrom<u32>>(
    get: &dyn Fn(&str) -> Option<String>,
    name: &'static str,
    min: u32,
    max: u32,
) -> Result<Option<T>, EnvError> {
    let Some(value) = get(name) else { return Ok(None) };
    let number = value.trim().parse().ok().filter(|number| (min..=max).contains(number));
    match number.and_then(|number| T::try_from(number).ok()) {
        Some(number) => Ok(Some(number)),
        None => Err(EnvError { name, value, expected: "a whole number in its range" }),
    }
}

fn extra_body(get: &dyn Fn(&str) -> Option<String>) -> Result<Map<String, Value>, EnvError> {
    let name = "SKILLOPT_SLEEP_CHAT_EXTRA_BODY";
    let Some(value) = get(name) else { return Ok(Map::new()) };
    serde_json::from_str(&value).map_err(|_| EnvError { name, value, expected: "a JSON object" })
}
