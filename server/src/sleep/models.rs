//! The models of a night: backends of nights are those of runs, under the names that nights have for them.

use super::order::NightSetup;
use crate::config::{BadConfig, Sources, check_but_prices, flag, load, run_config};
use crate::host::Hosting;
use skillopt_domain::config::{Limits, RunConfig, Setting};
use skillopt_domain::spend::Role;
use skillopt_engine::meter::{Meter, Prior};
use skillopt_engine::ports::Model;
use skillopt_sleep::backend::SleepModels;
use skillopt_sleep::config::{BackendName, Config, RoleBackend};
use skillopt_sleep::handoff::{Handoff, HandoffModel};
use skillopt_sleep::night::Answerers;
use skillopt_sleep::redact::redact;
use std::path::PathBuf;
use std::sync::Arc;

const MINUTE_MS: f64 = 60_000.0;
const MICROS: f64 = 1_000_000.0;

/// Who answers in a night, and the files through which people do. Makes no call.
pub(super) async fn answerers(
    hosting: &Hosting,
    setup: &NightSetup,
    cfg_options: &[Setting],
    fresh: Option<String>,
) -> Result<(Answerers, Option<Handoff>), BadConfig> {
    let config = &setup.config;
    let mut asked = None;
    if !config.spends() {
        return Ok((Answerers::Mock, None));
    }
    let models = if is_handoff(config) {
        let handoff = handoff(setup);
        let model: Arc<dyn Model> = Arc::new(HandoffModel::new(handoff.clone()));
        asked = Some(handoff);
        SleepModels { target: Arc::clone(&model), optimizer: model, judge: None }
    } else {
        models_of(hosting, setup, cfg_options).await?
    };
    let meter = Meter::new(limits(config), Prior::default(), hosting.clock());
    let answerers = Answerers::Models {
        models,
        ledger: Arc::new(hosting.store().clone()),
        flights: hosting.flights(),
        meter: Box::new(meter),
        fresh,
    };
    Ok((answerers, asked))
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
    let pair = run_config_of(hosting, setup, (target, optimizer), cfg_options).await?;
    let model = |config: &RunConfig, role| {
        hosting.night_model(config, role).map_err(|problem| BadConfig(vec![problem]))
    };
    let own_judge = match judge == optimizer {
        true => None,
        false => {
            let config = run_config_of(hosting, setup, (target, judge), cfg_options).await?;
            Some(model(&config, Role::Optimizer)?)
        }
    };
    Ok(SleepModels {
        target: model(&pair, Role::Target)?,
        optimizer: model(&pair, Role::Optimizer)?,
        judge: own_judge,
    })
}

/// The handoff of a project.
pub(crate) fn handoff(setup: &NightSetup) -> Handoff {
    let usual = setup.config.invoked_project.join(".skillopt-sleep-handoff");
    let dir: PathBuf = setup.config.env.handoff_dir.clone().unwrap_or(usual);
    Handoff::new(dir, Arc::new(|text: &str| redact(text).text))
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

/// The config of a run with these two models; everything else of it is as the environment and `--cfg-options` say.
async fn run_config_of(
    hosting: &Hosting,
    setup: &NightSetup,
    (target, optimizer): (&RoleBackend, &RoleBackend),
    cfg_options: &[Setting],
) -> Result<RunConfig, BadConfig> {
    // A run needs a data set; a night brings its own tasks, and none is read from here.
    let mut flags = vec![flag("env.split_dir", "night", ".")];
    flags.extend(settings_of("target", target));
    flags.extend(settings_of("optimizer", optimizer));
    flags.extend(paths_of(&setup.config));
    flags.extend_from_slice(cfg_options);
    let sources = Sources { file: None, env: hosting.environment(), flags: &flags };
    let resolved = load(sources)?;
    check_but_prices(&resolved)?;
    run_config(&hosting.priced(&resolved).await)
}

fn settings_of(role: &str, asked: &RoleBackend) -> Vec<Setting> {
    let place = format!("{role} of the night");
    let mut settings = vec![flag(&format!("model.{role}_backend"), &place, kind_of(asked.backend))];
    if !asked.model.is_empty() {
        settings.push(flag(&format!("model.{role}"), &place, &asked.model));
    }
    settings
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
    if let Some(path) = &config.env.copilot_path {
        settings.push(flag("model.copilot_exec_path", "variable", &path.display().to_string()));
    }
    if !config.azure_endpoint.is_empty() {
        settings.push(flag(
            "model.azure_openai_endpoint",
            "azure_endpoint",
            &config.azure_endpoint,
        ));
    }
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
