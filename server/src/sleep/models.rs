//! The models of a night: backends of nights are those of runs, under the names that nights have for them.

use super::order::NightSetup;
use crate::config::{BadConfig, Sources, check_but_prices, flag, load, run_config};
use crate::host::Hosting;
use skillopt_domain::config::{Limits, Setting};
use skillopt_domain::spend::Role;
use skillopt_engine::meter::{Meter, Prior};
use skillopt_engine::ports::Model;
use skillopt_models::{InTurn, Place as InTurnPlace};
use skillopt_sleep::backend::SleepModels;
use skillopt_sleep::config::{BackendName, Config, Environment, RoleBackend};
use skillopt_sleep::handoff::{Handoff, HandoffModel, NightKind, Place};
use skillopt_sleep::night::Answerers;
use skillopt_sleep::redact::redact;
use std::path::PathBuf;
use std::sync::Arc;

const MINUTE_MS: f64 = 60_000.0;
const MICROS: f64 = 1_000_000.0;

/// Who answers in a night: people through the files of `handoff`, else models. Makes no call.
pub(super) async fn answerers(
    hosting: &Hosting,
    setup: &NightSetup,
    handoff: Option<&Handoff>,
    (cfg_options, fresh): (&[Setting], Option<String>),
) -> Result<Answerers, BadConfig> {
    let config = &setup.config;
    if !config.spends() {
        check_keys(cfg_options)?;
        return Ok(Answerers::Mock);
    }
    let models = match handoff {
        Some(handoff) => {
            check_keys(cfg_options)?;
            let model: Arc<dyn Model> = Arc::new(HandoffModel::new(handoff.clone()));
            SleepModels { target: Arc::clone(&model), optimizer: model, judge: None }
        }
        None => models_of(hosting, setup, cfg_options).await?,
    };
    let meter = Meter::new(limits(config), Prior::default(), hosting.clock());
    Ok(Answerers::Models {
        models,
        ledger: Arc::new(hosting.store().clone()),
        flights: hosting.flights(),
        meter: Box::new(meter),
        fresh,
    })
}

/// Keys of models that this night does not ask. A mistyped one is an error all the same.
fn check_keys(cfg_options: &[Setting]) -> Result<(), BadConfig> {
    let env = crate::config::Environment::default();
    load(Sources { file: None, env: &env, flags: cfg_options }).map(drop)
}

fn roles(config: &Config) -> [RoleBackend; 3] {
    [config.target(), config.optimizer(), config.judge()]
}

fn is_handoff(config: &Config) -> bool {
    roles(config).iter().all(|role| role.backend.as_str() == "handoff")
}

/// The models of a night that calls some. Makes no call.
pub(super) async fn models_of(
    hosting: &Hosting,
    setup: &NightSetup,
    cfg_options: &[Setting],
) -> Result<SleepModels, BadConfig> {
    let roles = roles(&setup.config);
    if roles.iter().any(|role| role.backend == BackendName::MOCK) {
        return Err(mixed());
    }
    let [target, optimizer, judge] = &roles;
    let builder = Builder { hosting, config: &setup.config, cfg_options };
    let pair = (target, optimizer);
    Ok(SleepModels {
        target: builder.model(pair, Role::Target).await?,
        optimizer: builder.model(pair, Role::Optimizer).await?,
        judge: match judge == optimizer {
            true => None,
            false => Some(builder.model((target, judge), Role::Optimizer).await?),
        },
    })
}

/// The handoff of a project. Blocks.
pub(crate) fn handoff(setup: &NightSetup, kind: NightKind) -> Handoff {
    let Config { invoked_project, state_dir, env, .. } = &setup.config;
    let redact = Arc::new(|text: &str| redact(text).text);
    let shared = env.handoff_dir.as_deref();
    Handoff::of_project(Place { project: invoked_project, shared, kind, state_dir }, redact)
}

/// The handoff of a night that a person answers. Blocks.
pub(super) fn handoff_of_night(setup: &NightSetup, kind: NightKind) -> Option<Handoff> {
    is_handoff(&setup.config).then(|| handoff(setup, kind))
}

fn mixed() -> BadConfig {
    let message = "a simulation cannot be one half of a night whose other half is a real model: name a backend for \
                   both, or for neither";
    let setting = flag("backend", "night", "mock");
    BadConfig(vec![skillopt_domain::config::ConfigProblem {
        path: setting.path,
        place: None,
        message: message.to_owned(),
    }])
}

/// Makes the models of a night from configs of runs.
struct Builder<'a> {
    hosting: &'a Hosting,
    config: &'a Config,
    cfg_options: &'a [Setting],
}

/// Target and optimizer, as they are asked for.
type Pair<'a> = (&'a RoleBackend, &'a RoleBackend);

impl Builder<'_> {
    /// The model of a role. Azure at several addresses is asked in turn.
    async fn model(&self, pair: Pair<'_>, role: Role) -> Result<Arc<dyn Model>, BadConfig> {
        let asked = if role == Role::Target { pair.0 } else { pair.1 };
        let endpoints = self.config.azure_endpoints();
        if !is_azure(asked.backend) || endpoints.len() < 2 {
            return self.single(pair, role, &[]).await;
        }
        let mut places = Vec::new();
        for endpoint in endpoints {
            let key = format!("model.{role}_azure_openai_endpoint");
            let at = flag(&key, "azure_endpoint", endpoint);
            let once = flag("model.max_retries", "azure_endpoint", "0");
            places.push(InTurnPlace {
                quick: self.single(pair, role, &[at.clone(), once]).await?,
                patient: self.single(pair, role, &[at]).await?,
            });
        }
        let in_turn = InTurn::new(places).expect("there are two addresses at least");
        Ok(Arc::new(in_turn))
    }

    async fn single(
        &self,
        pair: Pair<'_>,
        role: Role,
        more: &[Setting],
    ) -> Result<Arc<dyn Model>, BadConfig> {
        let flags = flags_of(self.config, pair, self.cfg_options, more);
        let sources = Sources { file: None, env: self.hosting.environment(), flags: &flags };
        let resolved = load(sources)?;
        check_but_prices(&resolved)?;
        let config = run_config(&self.hosting.priced(&resolved).await)?;
        self.hosting.night_model(&config, role).map_err(|problem| BadConfig(vec![problem]))
    }
}

/// What a night says of the config of a run with these two models; everything else of it is as the environment and
/// `--cfg-options` say.
fn flags_of(
    config: &Config,
    (target, optimizer): Pair<'_>,
    cfg_options: &[Setting],
    more: &[Setting],
) -> Vec<Setting> {
    // A run needs a data set; a night brings its own tasks, and none is read from here.
    let mut flags = vec![flag("env.split_dir", "night", ".")];
    flags.extend(settings_of(Role::Target, target, &config.env));
    flags.extend(settings_of(Role::Optimizer, optimizer, &config.env));
    flags.extend(paths_of(config));
    flags.extend_from_slice(cfg_options);
    flags.extend_from_slice(more);
    flags
}

fn settings_of(role: Role, asked: &RoleBackend, env: &Environment) -> Vec<Setting> {
    let place = format!("{role} of the night");
    let set = |key: &str, value: &str| flag(&format!("model.{role}{key}"), &place, value);
    let mut settings = vec![set("_backend", kind_of(asked.backend))];
    if !asked.model.is_empty() {
        settings.push(set("", &asked.model));
    }
    if asked.backend.as_str() == "azure_responses" {
        settings.push(set("_openai_api", "responses"));
    }
    if takes_chat_variables(asked.backend) {
        let limit = match role {
            Role::Target => "env.max_completion_tokens",
            Role::Optimizer => "model.optimizer_max_completion_tokens",
        };
        let tokens = env
            .compat_max_tokens
            .map(|tokens| flag(limit, "SKILLOPT_SLEEP_COMPAT_MAX_TOKENS", &tokens.to_string()));
        settings.extend(tokens);
        if !env.chat_extra_body.is_empty() {
            let body = serde_json::Value::Object(env.chat_extra_body.clone()).to_string();
            let key = format!("model.{role}_extra_body");
            settings.push(flag(&key, "SKILLOPT_SLEEP_CHAT_EXTRA_BODY", &body));
        }
    }
    settings
}

fn is_azure(backend: BackendName) -> bool {
    matches!(backend.as_str(), "azure_openai" | "azure_responses")
}

/// Servers that speak OpenAI's chat completions.
fn takes_chat_variables(backend: BackendName) -> bool {
    matches!(backend.as_str(), "openai_compatible" | "openai_chat" | "azure_openai")
}

/// The backend of runs behind a name of nights.
fn kind_of(backend: BackendName) -> &'static str {
    match backend.as_str() {
        "claude" => "claude_chat",
        "codex" => "codex_exec",
        "copilot" => "copilot_chat",
        "cursor" => "cursor_exec",
        "pi" => "pi_chat",
        "opencode" => "opencode_chat",
        "azure_openai" | "azure_responses" => "openai_chat",
        other => other,
    }
}

fn paths_of(config: &Config) -> Vec<Setting> {
    let paths = [
        ("model.codex_exec_path", &config.codex_path),
        ("model.cursor_exec_path", &config.cursor_path),
        ("model.pi_path", &config.pi_path),
        ("model.opencode_path", &config.opencode_path),
    ];
    let given = paths.into_iter().filter(|(_, path)| !path.as_os_str().is_empty());
    let mut settings: Vec<Setting> = given
        .map(|(key, path)| flag(key, "path of the night", &path.display().to_string()))
        .collect();
    let mut set = |key: &str, place: &str, value: Option<String>| {
        settings.extend(value.map(|value| flag(key, place, &value)));
    };
    let env = &config.env;
    let shown = |path: &PathBuf| path.display().to_string();
    let copilot = env.copilot_path.as_ref().map(shown);
    set("model.copilot_exec_path", "SKILLOPT_SLEEP_COPILOT_PATH", copilot);
    // With the full environment, Copilot has its own home, whatever else is said.
    let home = env.copilot_home.as_ref().filter(|_| !env.copilot_full_env).map(shown);
    set("model.copilot_exec_home", "SKILLOPT_SLEEP_COPILOT_HOME", home);
    let tools = env.copilot_available_tools.clone();
    set("model.copilot_exec_stand_in_tools", "COPILOT_AVAILABLE_TOOLS", tools);
    let endpoint = config.azure_endpoints().first().map(|address| (*address).to_owned());
    set("model.azure_openai_endpoint", "azure_endpoint", endpoint);
    settings
}

/// The caps of a night.
pub(super) fn limits(config: &Config) -> Limits {
    let whole = |number: f64| {
        // Caps of a night are far below the limit of exact doubles, and never negative.
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "checked by the table of keys"
        )]
        let whole = number.round() as u64;
        whole
    };
    Limits {
        max_calls: None,
        max_tokens: Some(config.max_tokens_per_night).filter(|tokens| *tokens > 0),
        max_cost_usd_micros: config.max_cost_usd_per_night.map(|dollars| whole(dollars * MICROS)),
        max_ms: config.max_minutes_per_night.map(|minutes| whole(minutes * MINUTE_MS)),
        error_share: 0.25,
    }
}

#[cfg(test)]
mod tests;
