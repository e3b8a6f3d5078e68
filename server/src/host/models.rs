//! The models of a run: adapters from their config, with keys from the environment.

use super::Hosting;
use super::inputs::problem;
use super::plain_file::read_plain;
use crate::config::{api_key_variable, run_config};
use skillopt_domain::api::WireRow;
use skillopt_domain::config::{BackendKind, ConfigProblem, Resolved, RunConfig};
use skillopt_domain::ids::RunId;
use skillopt_domain::spend::Role;
use skillopt_engine::ports::Model;
use skillopt_models::cassette::{Cassette, ReplayModel};
use skillopt_models::mock::{MockOptimizer, MockTarget};
use skillopt_models::{Endpoints, HttpModel, HttpModelSetup, Secret};
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
        let secret = self.secret(config, role)?;
        model_with(config, role, (run, secret), &self.shared.endpoints)
    }

    /// The model of a role, only to look at it: no limiter of a running run is touched.
    pub(super) fn model_to_describe(
        &self,
        config: &RunConfig,
        role: Role,
    ) -> Result<Arc<dyn Model>, ConfigProblem> {
        let secret = self.secret(config, role)?;
        model_with(config, role, (None, secret), &Endpoints::new())
    }

    /// The key of a role; `None` when no variable holds one, as local servers allow.
    fn secret(&self, config: &RunConfig, role: Role) -> Result<Option<Secret>, ConfigProblem> {
        let settings = config.role(role);
        if settings.is_simulated() {
            return Ok(None);
        }
        let named = &settings.api_key_env;
        match api_key_variable(&self.shared.env, role, named, &settings.base_url) {
            Some(variable) => Ok(self.shared.env.get(&variable).and_then(Secret::new)),
            None if named.is_empty() => Ok(None),
            None => Err(problem(
                &format!("model.{role}_api_key_env"),
                format!("the environment variable {named} is not set"),
            )),
        }
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
pub(super) fn keyless(config: &RunConfig, role: Role) -> Result<Arc<dyn Model>, ConfigProblem> {
    model_with(config, role, (None, None), &Endpoints::new())
}

fn model_with(
    config: &RunConfig,
    role: Role,
    (run, secret): (Option<&RunId>, Option<Secret>),
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
        (BackendKind::OpenaiCompatible, _) => {
            let setup = HttpModelSetup {
                role,
                config: settings,
                secret,
                max_concurrency: config.max_concurrency,
                run,
            };
            let model = HttpModel::new(setup, endpoints)
                .map_err(|err| problem(&format!("model.{role}"), err.to_string()))?;
            Ok(Arc::new(model))
        }
        (other, _) => Err(problem(
            &format!("model.{role}_backend"),
            format!("`{}` is not built yet", other.as_str()),
        )),
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
