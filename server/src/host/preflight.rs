//! One test call a role, so that a wrong key or address shows before anything is spent.

use super::Hosting;
use crate::config::run_config;
use skillopt_domain::api::{Check, CheckState, Preflight};
use skillopt_domain::config::{Resolved, RunConfig};
use skillopt_domain::outcome::Sample;
use skillopt_domain::spend::Role;
use skillopt_engine::ports::{ModelError, ModelErrorKind};
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
        let model = self.model(config, role, None).ok()?;
        let sample = Sample { seed: config.train.seed, epoch: 0, repeat: 0, fresh: None };
        let answer = model.chat(&preflight_request(), &sample, cancel).await;
        Some(describe(role, answer.map(|reply| reply.latency_ms)))
    }
}

fn describe(role: Role, answer: Result<u64, ModelError>) -> Check {
    let label = format!("Call to the {role}");
    match answer {
        Ok(latency_ms) => Check {
            label,
            state: CheckState::Ok,
            figure: format!("{latency_ms} ms"),
            detail: String::new(),
        },
        // It was reached and thought until the small limit: that is an answer here.
        Err(err) if matches!(err.kind, ModelErrorKind::Empty | ModelErrorKind::ReasoningOnly) => {
            Check { label, state: CheckState::Ok, figure: String::new(), detail: String::new() }
        }
        Err(err) => Check {
            label,
            state: CheckState::Failed,
            figure: String::new(),
            detail: err.to_string(),
        },
    }
}
