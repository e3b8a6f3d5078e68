//! The models of a run: adapters from their config, with keys from where the user keeps them.

use super::Hosting;
use super::inputs::problem;
use super::plain_file::read_plain;
use super::sign_in::token_source;
use crate::config::{Environment, RoleKey, role_key, run_config};
use skillopt_domain::api::{EndpointState, WireRow};
use skillopt_domain::config::{
    AzureAuth, BackendFamily, BackendKind, ConfigProblem, Resolved, RunConfig,
};
use skillopt_domain::ids::RunId;
use skillopt_domain::spend::Role;
use skillopt_engine::ports::Model;
use skillopt_models::cassette::{Cassette, ReplayModel};
use skillopt_models::mock::{MockOptimizer, MockTarget};
use skillopt_models::{
    Endpoints, HttpModel, HttpModelSetup, ProgramModel, ProgramSetup, ProgramSetupError, Secret,
    SetupError, TokenSource,
};
use std::path::Path;
use std::sync::Arc;

impl Hosting {
    /// The model of a role of a run that starts. Makes no call.
    pub(super) fn model(
        &self,
        config: &RunConfig,
        role: Role,
        run: Option<&RunId>,
    ) -> Result<Arc<dyn Model>, ConfigProblem> {
        let access = self.access(config, role)?;
        model_with(config, role, (run, access), &self.shared.env, &self.shared.endpoints)
    }

    /// The model of a role of a night. Makes no call.
    pub(crate) fn night_model(
        &self,
        config: &RunConfig,
        role: Role,
    ) -> Result<Arc<dyn Model>, ConfigProblem> {
        self.model(config, role, None)
    }

    /// What is known of each endpoint that this process has used.
    #[must_use]
    pub fn endpoints(&self) -> Vec<EndpointState> {
        self.shared.endpoints.states()
    }

    /// The model of a role, only to look at it: no limiter of a running run is touched.
    pub(super) fn model_to_describe(
        &self,
        config: &RunConfig,
        role: Role,
    ) -> Result<Arc<dyn Model>, ConfigProblem> {
        let access = Access { may_start: false, ..self.access(config, role)? };
        model_with(config, role, (None, access), &self.shared.env, &Endpoints::new())
    }

    /// The model of a role to look at, and where its key was found.
    pub(crate) fn model_with_key(
        &self,
        config: &RunConfig,
        role: Role,
    ) -> Result<(Arc<dyn Model>, Option<RoleKey>), ConfigProblem> {
        Ok((self.model_to_describe(config, role)?, self.role_key(config, role)?))
    }

    /// What a role signs in with; nothing when none is set, as local servers allow.
    fn access(&self, config: &RunConfig, role: Role) -> Result<Access, ConfigProblem> {
        let key = self.role_key(config, role)?;
        let secret = key.and_then(|key| self.shared.env.get(&key.variable)).and_then(Secret::new);
        let token = match &secret {
            Some(_) if config.role(role).provider.azure_auth == AzureAuth::Auto => None,
            _ => token_source(&self.shared.env, config.role(role), role)
                .map_err(|(key, reason)| problem(&format!("model.{key}"), reason))?,
        };
        Ok(Access { secret, token, may_start: true })
    }

    /// Where the key of a role was found.
    pub(super) fn role_key(
        &self,
        config: &RunConfig,
        role: Role,
    ) -> Result<Option<RoleKey>, ConfigProblem> {
        let settings = config.role(role);
        let uses_tokens = matches!(
            settings.provider.azure_auth,
            AzureAuth::AzureCli | AzureAuth::ManagedIdentity
        );
        if settings.is_simulated() || uses_tokens {
            return Ok(None);
        }
        let named = &settings.api_key_env;
        let is_program = settings.backend.spec().family == BackendFamily::Program;
        if is_program && (named.is_empty() || self.shared.env.get(named).is_some()) {
            // A program gets the variable itself.
            return Ok(None);
        }
        role_key(&self.shared.env, role, named, &settings.base_url)
            .map_err(|reason| problem(&format!("model.{role}_api_key_env"), reason))
    }

    /// What goes on the wire, by role; nothing when the config is not complete.
    #[must_use]
    pub fn wire(&self, resolved: &Resolved) -> Vec<WireRow> {
        let Ok(config) = run_config(resolved) else { return Vec::new() };
        Role::ALL
            .into_iter()
            .filter_map(|role| {
                let model = self.model_to_describe(&config, role).ok()?;
                Some(WireRow { role: role.to_string(), identity: model.identity().to_string() })
            })
            .collect()
    }
}

/// The model of a role without a key, only for what it would send: nothing can be called with it.
pub(super) fn keyless(
    config: &RunConfig,
    role: Role,
    env: &Environment,
) -> Result<Arc<dyn Model>, ConfigProblem> {
    let access = Access { may_start: true, ..Access::default() };
    model_with(config, role, (None, access), env, &Endpoints::new())
}

/// What signs in.
#[derive(Default)]
struct Access {
    secret: Option<Secret>,
    token: Option<TokenSource>,
    /// A program may be started to learn its version.
    may_start: bool,
}

fn model_with(
    config: &RunConfig,
    role: Role,
    (run, access): (Option<&RunId>, Access),
    env: &Environment,
    endpoints: &Arc<Endpoints>,
) -> Result<Arc<dyn Model>, ConfigProblem> {
    let settings = config.role(role);
    match (settings.backend, role) {
        (BackendKind::Mock, Role::Target) => Ok(Arc::new(MockTarget::new(settings))),
        (BackendKind::Mock, Role::Optimizer) => Ok(Arc::new(MockOptimizer::new(settings))),
        (BackendKind::Replay, _) => {
            let cassette = read_cassette(&config.cassette)?;
            Ok(Arc::new(ReplayModel::new(role, &settings.model, Arc::new(cassette))))
        }
        _ if settings.is_http() => {
            let setup = HttpModelSetup {
                role,
                config: settings,
                secret: access.secret,
                token: access.token,
                max_concurrency: config.max_concurrency,
                run,
            };
            let model = HttpModel::new(setup, endpoints).map_err(|err| {
                problem(&key_at_fault(&err, role, settings.backend), err.to_string())
            })?;
            Ok(Arc::new(model))
        }
        _ => {
            let setup = ProgramSetup {
                role,
                config: settings,
                agents: &config.agents,
                env: env.all(),
                max_concurrency: config.max_concurrency,
                is_run: run.is_some(),
                may_start: access.may_start,
            };
            let model = ProgramModel::new(setup, endpoints).map_err(|err| match &err {
                ProgramSetupError::NotFound(missing) => problem(missing.key, err.to_string()),
                ProgramSetupError::NoProgram(_) => {
                    problem(&format!("model.{role}_backend"), err.to_string())
                }
            })?;
            Ok(Arc::new(model))
        }
    }
}

/// The key of the config that is to be changed.
fn key_at_fault(err: &SetupError, role: Role, backend: BackendKind) -> String {
    match err {
        SetupError::NoAddress(_)
        | SetupError::BadAddress { .. }
        | SetupError::CredentialsInAddress { .. }
        | SetupError::SecretInQuery { .. }
        | SetupError::KeyInTheClear { .. } => match backend {
            BackendKind::OpenaiChat => format!("model.{role}_azure_openai_endpoint"),
            BackendKind::QwenChat => format!("model.{role}_qwen_chat_base_url"),
            BackendKind::MinimaxChat => "model.minimax_base_url".to_owned(),
            BackendKind::AnthropicMessages => "model.anthropic_base_url".to_owned(),
            _ => format!("model.{role}_openai_compatible_base_url"),
        },
        SetupError::BadKey(_) => format!("model.{role}_api_key_env"),
        SetupError::ExtraBodyIsNoObject(_) | SetupError::ExtraBodyTaken { .. } => {
            format!("model.{role}_extra_body")
        }
        SetupError::NoModel(_) | SetupError::Client(_) => format!("model.{role}"),
    }
}

/// The longest cassette that is read: some ten thousand exchanges.
const MOST_CASSETTE_BYTES: u64 = 256 << 20;

fn read_cassette(path: &str) -> Result<Cassette, ConfigProblem> {
    let fault = |message: String| problem("model.cassette", message);
    let bytes = read_plain(Path::new(path), MOST_CASSETTE_BYTES)
        .map_err(|err| fault(format!("cannot read {path}: {err}")))?;
    let text = String::from_utf8(bytes).map_err(|_| fault(format!("{path} is no UTF-8 text")))?;
    Cassette::read(&text).map_err(|err| fault(format!("{path}, {err}")))
}
