//! One test call a role, so that a wrong key or address shows before anything is spent.

use super::Hosting;
use super::model_test::is_sign_of_life;
use crate::config::run_config;
use skillopt_domain::api::{Check, CheckState, Preflight};
use skillopt_domain::config::{Resolved, RunConfig};
use skillopt_domain::spend::Role;
use skillopt_engine::ports::{ChatReply, ModelError};
use skillopt_engine::train::preflight_request;
use tokio_util::sync::CancellationToken;

impl Hosting {
    /// The checks of [`Hosting::check`] and one call a role, both at once. The calls are not recorded:
    /// they ask whether the model answers now.
    /// With a text in `skill` that is the initial skill.
    pub async fn preflight(
        &self,
        resolved: &Resolved,
        skill: Option<String>,
        cancel: &CancellationToken,
    ) -> Preflight {
        let (mut check, _) = self.check_with(resolved, skill).await;
        let failed = check.problems.iter().map(|problem| Check {
            label: if problem.path.is_empty() { "Config".to_owned() } else { problem.path.clone() },
            state: CheckState::Failed,
            figure: String::new(),
            detail: problem.message.clone(),
        });
        check.checks.extend(failed);
        let Ok(config) = run_config(&self.priced(resolved).await) else {
            return Preflight { checks: check.checks };
        };
        check.checks.extend(config.dangers().into_iter().map(|danger| Check {
            label: danger.path,
            state: CheckState::Warning,
            figure: String::new(),
            detail: danger.message,
        }));
        let (target, optimizer) = tokio::join!(
            self.test_call(&config, Role::Target, cancel),
            self.test_call(&config, Role::Optimizer, cancel)
        );
        check.checks.extend([target, optimizer].into_iter().flatten());
        Preflight { checks: check.checks }
    }

    /// Calls a model once; `None` when it cannot even be set up, which the checks have told already.
    async fn test_call(
        &self,
        config: &RunConfig,
        role: Role,
        cancel: &CancellationToken,
    ) -> Option<Check> {
        self.model(config, role, None).ok()?;
        Some(describe(role, self.ask(config, role, &preflight_request(), cancel).await))
    }
}

fn describe(role: Role, answer: Result<ChatReply, ModelError>) -> Check {
    let (state, figure, detail) = match answer {
        Ok(reply) => (CheckState::Ok, format!("{} ms", reply.latency_ms), String::new()),
        Err(err) if is_sign_of_life(err.kind) => (CheckState::Ok, String::new(), String::new()),
        Err(err) => (CheckState::Failed, String::new(), err.to_string()),
    };
    Check { label: format!("Call to the {role}"), state, figure, detail }
}
