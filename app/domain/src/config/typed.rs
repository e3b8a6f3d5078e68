//! The typed configuration that the engine and its adapters work with.

mod agents;
mod model;
mod provider;
mod reader;
mod sections;

pub use agents::{Agents, Claude, Codex, Copilot, Cursor};
pub use model::{ModelRole, TokenLimitParam};
pub use provider::{AzureAuth, OpenaiApi, Provider, Thinking, is_azure_host};
pub use sections::{
    Evaluation, Gradient, Limits, LrScheduler, Optimizer, SearchQaEnv, SplitMode, Train,
};

use super::backend::BackendKind;
use super::modes::Compat;
use super::resolve::{ConfigProblem, Resolved};
use super::value::Place;
use crate::spend::Role;
use reader::{Reader, parse_ratio};
use serde::{Deserialize, Serialize};

/// Everything that shapes a run. Contains no secret.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunConfig {
    /// The model that performs tasks.
    pub target: ModelRole,
    /// The model that proposes edits.
    pub optimizer_model: ModelRole,
    /// Calls in flight to one endpoint.
    pub max_concurrency: u32,
    /// Section `train`.
    pub train: Train,
    /// Section `gradient`.
    pub gradient: Gradient,
    /// Section `optimizer`.
    pub optimizer: Optimizer,
    /// Section `evaluation`.
    pub evaluation: Evaluation,
    /// Section `limits`.
    pub limits: Limits,
    /// Section `env`.
    pub env: SearchQaEnv,
    /// Whose rules the run follows.
    #[serde(default)]
    pub compat: Compat,
    /// Path of the cassette that `replay` answers from; empty for none.
    #[serde(default)]
    pub cassette: String,
    /// How programs that serve as models are run.
    #[serde(default)]
    pub agents: Agents,
}

impl RunConfig {
    /// Reads checked values and checks what concerns several keys.
    ///
    /// # Errors
    /// All problems at once.
    pub fn from_resolved(resolved: &Resolved) -> Result<Self, Vec<ConfigProblem>> {
        let reader = Reader { resolved: &resolved.completed() };
        let config = Self {
            target: reader.role(Role::Target),
            optimizer_model: reader.role(Role::Optimizer),
            max_concurrency: reader.count("model.max_concurrency"),
            train: reader.train(),
            gradient: reader.gradient(),
            optimizer: reader.optimizer(),
            evaluation: reader.evaluation(),
            limits: reader.limits(),
            env: reader.env(),
            compat: match reader.text("train.compat").as_str() {
                "python" => Compat::Python,
                _ => Compat::None,
            },
            cassette: reader.text("model.cassette"),
            agents: reader.agents(),
        };
        let problems = config.problems(&reader);
        if problems.is_empty() { Ok(config) } else { Err(problems) }
    }

    /// The model of a role.
    #[must_use]
    pub fn role(&self, role: Role) -> &ModelRole {
        match role {
            Role::Target => &self.target,
            Role::Optimizer => &self.optimizer_model,
        }
    }

    /// The run follows the rules of the Python system.
    #[must_use]
    pub fn is_python(&self) -> bool {
        self.compat == Compat::Python
    }

    fn problems(&self, reader: &Reader<'_>) -> Vec<ConfigProblem> {
        let mut found = Vec::new();
        let mut add = |path: &str, message: String| {
            let place =
                reader.resolved.place(path).filter(|place| **place != Place::default_value());
            found.push(ConfigProblem { path: path.to_owned(), place: place.cloned(), message });
        };
        if self.optimizer.min_learning_rate > self.optimizer.learning_rate {
            let highest = self.optimizer.learning_rate;
            add("optimizer.min_learning_rate", format!("must be at most the highest, {highest}"));
        }
        let replays = Role::ALL.iter().any(|role| self.role(*role).backend == BackendKind::Replay);
        if replays && self.cassette.is_empty() {
            add(
                "model.cassette",
                "needs the file to replay; `skillopt runs cassette RUN --output FILE` writes one"
                    .into(),
            );
        }
        for role in Role::ALL {
            let capped = self.limits.max_cost_usd_micros.is_some();
            for (path, message) in reader.problems_of_role(role, self.role(role), capped) {
                add(&path, message);
            }
        }
        match self.env.split_mode {
            SplitMode::SplitDir if self.env.split_dir.is_empty() => {
                add("env.split_dir", "needs a folder with train, val and test".into());
            }
            SplitMode::Ratio if self.env.data_path.is_empty() => {
                add("env.data_path", "needs a file to split".into());
            }
            SplitMode::SplitDir | SplitMode::Ratio => {}
        }
        if parse_ratio(&reader.text("env.split_ratio")).is_none() {
            add("env.split_ratio", "expected three whole numbers above 0, such as 2:1:7".into());
        }
        found
    }
}

#[cfg(test)]
mod tests;
