//! What a person asks of a night: flags or a form, put together with the config file and the environment.
//! The one place of nights that reads the environment.

use super::homes::{self, Machine, System};
use crate::config::{BadConfig, Environment, cfg_options, holds_secret};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use skillopt_domain::config::Setting;
use skillopt_sleep::adopt::Places;
use skillopt_sleep::config::{Config, ConfigErrors, EnvError, Override, Sources, find_file, load};
use skillopt_sleep::harvest::{
    HarvestOptions, Homes, Instant, Limits, Scope, Source, UnknownSource,
};
use skillopt_sleep::prompts::{PromptProblem, Prompts};
use skillopt_sleep::redact::redact;
use skillopt_sleep::skills::{RootPlaces, skill_roots};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What is asked of a night.
#[derive(Clone, Debug, Default)]
pub(crate) struct NightOrder {
    /// The project; the working directory when left out.
    pub(crate) project: Option<PathBuf>,
    /// The config file; the usual one when left out.
    pub(crate) config_file: Option<PathBuf>,
    /// Keys of the config, by the name of the flag that sets them.
    pub(crate) keys: Vec<Override>,
}

/// An order as the store keeps it, for decisions about its night.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct KeptOrder {
    pub(super) config_file: Option<PathBuf>,
    /// Flag, key and value.
    pub(super) keys: Vec<(String, String, Value)>,
    /// The file that the tasks of this night came from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tasks_file: Option<PathBuf>,
    /// Keys of models of this night, as `section.key=value`.
    // Invariant: none of them holds a secret.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) cfg_options: Vec<String>,
    /// Names of those that hold one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) secret_options: Vec<String>,
}

/// Why the keys of models that a night had are not known any more.
#[derive(Debug, thiserror::Error)]
pub(crate) enum KeptOptionsError {
    /// Secrets are not kept.
    #[error(
        "the night was begun with --cfg-options {}, and a secret is not kept; go on with the command that began it",
        .0.join(", ")
    )]
    Secret(Vec<String>),
    /// They are none any more.
    #[error(transparent)]
    Models(#[from] BadConfig),
}

impl NightOrder {
    /// The settings as JSON text, with the file that the tasks came from and the keys of models.
    pub(crate) fn kept(&self, tasks_file: Option<&Path>, cfg_options: &[Setting]) -> String {
        let (secret, plain): (Vec<&Setting>, Vec<&Setting>) =
            cfg_options.iter().partition(|option| is_secret(option));
        let kept = KeptOrder {
            tasks_file: tasks_file.and_then(|path| std::path::absolute(path).ok()),
            cfg_options: plain.iter().map(|one| format!("{}={}", one.path, one.value)).collect(),
            secret_options: secret.iter().map(|one| one.path.clone()).collect(),
            ..KeptOrder::of(self)
        };
        serde_json::to_string(&kept).unwrap_or_default()
    }

    /// The order for a project with the settings that [`NightOrder::kept`] wrote; text that is none has no settings.
    pub(crate) fn of_kept(project: PathBuf, kept: &str) -> Self {
        serde_json::from_str::<KeptOrder>(kept).unwrap_or_default().order(project)
    }

    /// The file with the tasks of a night with the settings that [`NightOrder::kept`] wrote.
    pub(crate) fn kept_tasks_file(kept: &str) -> Option<PathBuf> {
        serde_json::from_str::<KeptOrder>(kept).ok()?.tasks_file
    }

    /// The keys of models of a night with the settings that [`NightOrder::kept`] wrote.
    ///
    /// # Errors
    /// [`KeptOptionsError`] when the night had others too.
    pub(crate) fn kept_cfg_options(kept: &str) -> Result<Vec<Setting>, KeptOptionsError> {
        let kept: KeptOrder = serde_json::from_str(kept).unwrap_or_default();
        if !kept.secret_options.is_empty() {
            return Err(KeptOptionsError::Secret(kept.secret_options));
        }
        Ok(cfg_options(&kept.cfg_options)?)
    }

    /// A flag names this key.
    pub(crate) fn sets(&self, name: &str) -> bool {
        self.keys.iter().any(|one| one.key == name)
    }
}

impl KeptOrder {
    pub(super) fn of(order: &NightOrder) -> Self {
        let keys = order.keys.iter();
        Self {
            config_file: order.config_file.as_ref().and_then(|path| std::path::absolute(path).ok()),
            keys: keys.map(|one| (one.flag.clone(), one.key.clone(), one.value.clone())).collect(),
            ..Self::default()
        }
    }

    /// The order for a project.
    pub(super) fn order(self, project: PathBuf) -> NightOrder {
        let keys = self.keys.into_iter();
        NightOrder {
            project: Some(project),
            config_file: self.config_file,
            keys: keys.map(|(flag, name, value)| Override { flag, key: name, value }).collect(),
        }
    }
}

/// A night that can be run: everything that files and the environment say.
#[derive(Clone, Debug)]
pub(crate) struct NightSetup {
    pub(crate) config: Config,
    pub(crate) home: PathBuf,
    pub(crate) prompts: Prompts,
    pub(crate) skill_roots: Vec<PathBuf>,
}

/// Why a night cannot even be put together.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OrderError {
    /// A flag that is none.
    #[error("{0}")]
    Flag(String),
    /// Keys of the config.
    #[error("{0}")]
    Config(#[from] ConfigErrors),
    /// Variables.
    #[error(transparent)]
    Variable(#[from] EnvError),
    /// The project is no folder.
    #[error("{} is no folder that can be read: {reason}", .path.display())]
    Project {
        /// As it was asked for.
        path: PathBuf,
        /// The words of the operating system.
        reason: std::io::Error,
    },
    /// Nobody knows the home folder.
    #[error(
        "set {}: it is where transcripts and the state of nights are",
        homes::home_variable(System::HERE)
    )]
    NoHome,
    /// A prompt of one's own.
    #[error("{0}")]
    Prompts(String),
    /// A kind of transcripts.
    #[error(transparent)]
    Source(#[from] UnknownSource),
}

impl NightSetup {
    /// Reads config, environment and prompts.
    pub(crate) fn read(order: &NightOrder, env: &Environment) -> Result<Self, OrderError> {
        let home = home_of(env).ok_or(OrderError::NoHome)?;
        let asked = order.project.clone().unwrap_or_else(|| PathBuf::from("."));
        let project = asked
            .canonicalize()
            .and_then(|path| path.read_dir().map(|_| path))
            .map_err(|reason| OrderError::Project { path: asked, reason })?;
        let state_dir = home.join(".skillopt-sleep");
        let mut overrides = Vec::new();
        if order.project.is_some() {
            // A project that is named is the one that is meant, whatever a file says; a scope may still widen it.
            overrides.push(key("--project", "projects", "invoked"));
            overrides.push(key("--project", "invoked_project", project.display().to_string()));
        }
        overrides.extend(order.keys.iter().cloned());
        let mut config = load(&Sources {
            home: home.clone(),
            cwd: project.clone(),
            file: order.config_file.clone().or_else(|| find_file(&state_dir)),
            overrides,
        })?;
        config.apply_env(&|name| env.get(name).map(str::to_owned))?;
        // Joined paths may end in a slash; what names a project must not.
        config.invoked_project = config.invoked_project.components().collect();
        let prompts = read_prompts(&config)?;
        let skill_roots = skill_roots(&RootPlaces {
            project: config.invoked_project.clone(),
            claude_home: config.claude_home.clone(),
            extra: config.skill_root_paths(),
        });
        Ok(Self { config, home, prompts, skill_roots })
    }

    /// The project's path as text.
    pub(crate) fn project(&self) -> String {
        self.config.invoked_project.display().to_string()
    }
}

/// The home folder of the person, for nights and for all else that looks there.
pub(crate) fn home_of(env: &Environment) -> Option<PathBuf> {
    homes::home(System::HERE, &|name| env.get(name).map(str::to_owned))
}

/// Prompts of one's own lie beside the state, and are checked before anything is spent.
fn read_prompts(config: &Config) -> Result<Prompts, OrderError> {
    let usual = config.state_dir.join("prompts.json");
    let path = config.env.prompts_path.clone().unwrap_or(usual);
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(err) if err.kind() == std::io::ErrorKind::NotFound => return Ok(Prompts::default()),
        Err(err) => {
            return Err(OrderError::Prompts(format!("cannot read {}: {err}", path.display())));
        }
    };
    let overrides: BTreeMap<String, String> = serde_json::from_str(&text)
        .map_err(|err| OrderError::Prompts(format!("{}: {err}", path.display())))?;
    Prompts::with(&overrides).map_err(|problems: Vec<PromptProblem>| {
        let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
        OrderError::Prompts(format!("{}: {}", path.display(), lines.join("; ")))
    })
}

/// What a harvest looks at.
pub(crate) fn harvest_options(
    setup: &NightSetup,
    env: &Environment,
    now_ms: u64,
) -> Result<HarvestOptions, OrderError> {
    use skillopt_sleep::config::Projects;
    let config = &setup.config;
    let now = Instant::from_whole(now_ms)
        .unwrap_or_else(|| Instant::from_system(std::time::SystemTime::now()));
    let max_sessions = usize::try_from(config.max_sessions()).unwrap_or(usize::MAX);
    Ok(HarvestOptions {
        sources: Source::parse(&config.transcript_source)?,
        homes: homes(setup, env),
        project: setup.project(),
        scope: match &config.projects {
            Projects::Invoked => Scope::Invoked,
            Projects::All => Scope::All,
            Projects::List(list) => {
                Scope::List(list.iter().map(|path| path.display().to_string()).collect())
            }
        },
        lookback_hours: config
            .lookback()
            .map_or(0, |hours| u32::try_from(hours).unwrap_or(u32::MAX)),
        limits: Limits { max_sessions: Some(max_sessions), ..Limits::default() },
        negative_phrases: config.env.negative_feedback.clone(),
        positive_phrases: config.env.positive_feedback.clone(),
        agent_markers: config.env.agent_markers.clone(),
        ..HarvestOptions::new(now)
    })
}

fn homes(setup: &NightSetup, env: &Environment) -> Homes {
    let config = &setup.config;
    let given = |path: &Path| Some(path.to_owned()).filter(|path| !path.as_os_str().is_empty());
    let get = |name: &str| env.get(name).map(str::to_owned);
    let machine = Machine { system: System::HERE, home: &setup.home, get: &get };
    let vscode_storage = given(&config.vscode_workspace_storage)
        .map_or_else(|| machine.vscode_storage(), |folder| vec![folder]);
    let opencode = given(&config.opencode_db)
        .or_else(|| machine.opencode_db(config.env.opencode_db.as_deref()));
    let workspaces = env.get("SKILLOPT_DEVIN_WORKSPACES").unwrap_or_default();
    Homes {
        claude: given(&config.claude_home),
        codex: given(&config.codex_home),
        vscode_storage,
        copilot_cli: given(&config.copilot_cli_session_store)
            .or_else(|| Some(setup.home.join(".copilot/session-store.db"))),
        cursor: given(&config.cursor_home),
        pi: given(&config.pi_home),
        opencode: opencode.filter(|path| path.as_os_str() != ":memory:"),
        devin_transcripts: Some(machine.devin_transcripts()),
        agent_memory: Some(setup.home.join(".agentmemory/standalone.json")),
        devin_workspaces: match workspaces {
            "" => vec![setup.project()],
            list => {
                let parts = list.split(System::HERE.separator());
                parts.filter(|path| !path.is_empty()).map(str::to_owned).collect()
            }
        },
    }
}

/// What the machine gives to adoptions.
pub(crate) fn places(setup: &NightSetup) -> Places {
    Places { temp_dir: std::env::temp_dir(), allowed: setup.config.adoption_roots() }
}

fn is_secret(option: &Setting) -> bool {
    let text = option.value.to_string();
    redact(&text).text != text || holds_secret(&option.path, &Value::String(text))
}

/// A flag's value.
pub(crate) fn key(flag: &str, key: &str, value: impl Into<Value>) -> Override {
    Override { flag: flag.to_owned(), key: key.to_owned(), value: value.into() }
}

#[cfg(test)]
mod tests;
