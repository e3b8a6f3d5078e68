//! Test calls: whether a model answers now, and what its endpoint accepts. They are recorded in no ledger, but every one
//! that may cost money is in the audit log.

use super::Hosting;
use crate::config::BadConfig;
use serde_json::{Map, Value, json};
use skillopt_domain::api::{CheckState, ModelTest, Probe};
use skillopt_domain::config::{ModelRole, RunConfig};
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::outcome::Sample;
use skillopt_domain::spend::Role;
use skillopt_engine::ports::{ChatReply, ModelError, ModelErrorKind};
use skillopt_engine::train::preflight_request;
use skillopt_store::{AuditRow, StoreFailure};
use tokio_util::sync::CancellationToken;

const MOST_REPLY_CHARS: usize = 200;

/// What a test call is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestScope {
    /// One call.
    Answer,
    /// Also what the endpoint accepts: [`PROBES`] further calls.
    Accepts,
}

/// Why a test call was not made.
#[derive(Debug, thiserror::Error)]
pub enum TestFailure {
    /// No model has that name.
    #[error("there is no model {0}; the list of models may be older than what it names")]
    Unknown(String),
    /// It cannot be called as it is configured.
    #[error("the config has problems")]
    Config(#[from] BadConfig),
    /// The store cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreFailure),
}

/// Names of the further calls.
pub const PROBES: [&str; 4] = ["temperature", "reasoning effort", "JSON schema", "tools"];

impl Hosting {
    /// Calls the model that the id of a [`skillopt_domain::api::ModelUse`] names, and remembers what it said.
    ///
    /// # Errors
    /// [`TestFailure`] when no call was made.
    pub async fn test_model(
        &self,
        id: &str,
        scope: TestScope,
        actor: &str,
        cancel: &CancellationToken,
    ) -> Result<ModelTest, TestFailure> {
        let found = self.model_of(id).await?;
        let (config, role) = found.ok_or_else(|| TestFailure::Unknown(id.to_owned()))?;
        let config = config?;
        self.test_role(&config, role, scope, actor, cancel).await
    }

    /// Calls the model of a role. A call that may cost money is written to the audit log before it is made.
    ///
    /// # Errors
    /// [`TestFailure`] when no call was made.
    pub async fn test_role(
        &self,
        config: &RunConfig,
        role: Role,
        scope: TestScope,
        actor: &str,
        cancel: &CancellationToken,
    ) -> Result<ModelTest, TestFailure> {
        let model = self.model(config, role, None).map_err(|one| BadConfig(vec![one]))?;
        let settings = config.role(role);
        if !settings.is_simulated() {
            let n = if scope == TestScope::Accepts { 1 + PROBES.len() } else { 1 };
            self.store()
                .audit(&AuditRow {
                    at_ms: self.now_ms(),
                    actor: actor.to_owned(),
                    action: "test_model".to_owned(),
                    subject: format!("{role} {}", model.name()),
                    detail: format!("{n} calls to {}", settings.base_url),
                })
                .await?;
        }
        let answer = self.ask(config, role, cancel).await;
        let mut test = told(self.now_ms(), answer);
        if scope == TestScope::Accepts && test.ok && !settings.is_simulated() {
            for name in PROBES {
                test.probes.push(self.probe(config, role, name, cancel).await);
            }
        }
        let mut tests = self.shared.tests.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        tests.insert(test_key(&model.identity(), role), test.clone());
        Ok(test)
    }

    /// What a model said last, since this process started.
    pub(super) fn last_test(&self, identity: &Value, role: Role) -> Option<ModelTest> {
        let tests = self.shared.tests.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        tests.get(&test_key(identity, role)).cloned()
    }

    /// The one call.
    pub(super) async fn ask(
        &self,
        config: &RunConfig,
        role: Role,
        cancel: &CancellationToken,
    ) -> Result<ChatReply, ModelError> {
        let model = self.model(config, role, None).map_err(|refused| ModelError {
            kind: ModelErrorKind::BadRequest,
            message: refused.message,
            attempts: 0,
            billed: skillopt_engine::ports::Billed::default(),
        })?;
        let sample = Sample { seed: config.train.seed, epoch: 0, repeat: 0, fresh: None };
        model.chat(&preflight_request(), &sample, cancel).await
    }

    /// The same call with one thing more in it: whether that is accepted, or left out because it was refused.
    async fn probe(
        &self,
        config: &RunConfig,
        role: Role,
        name: &str,
        cancel: &CancellationToken,
    ) -> Probe {
        let mut config = config.clone();
        let settings = match role {
            Role::Target => &mut config.target,
            Role::Optimizer => &mut config.optimizer_model,
        };
        let field = ask_for(name, settings);
        match self.ask(&config, role, cancel).await {
            Ok(reply) => {
                let left_out = format!("leaves out {field}");
                let refused = reply.adaptations.contains(&left_out);
                let state = if refused { CheckState::Warning } else { CheckState::Ok };
                let words = if refused { "refused; it is left out" } else { "accepted" };
                Probe { name: name.to_owned(), state, words: words.to_owned(), attempts: reply.attempts }
            }
            // Tokens used up by reasoning, or an answer without text, as a call of a tool has: the field was taken.
            Err(err) if is_sign_of_life(err.kind) => {
                let words = "accepted".to_owned();
                Probe { name: name.to_owned(), state: CheckState::Ok, words, attempts: err.attempts }
            }
            Err(err) => {
                let state = match err.kind {
                    ModelErrorKind::BadRequest => CheckState::Warning,
                    _ => CheckState::Failed,
                };
                Probe { name: name.to_owned(), state, words: err.to_string(), attempts: err.attempts }
            }
        }
    }
}

/// Puts what is asked for into the settings, and gives the name of its field on the wire.
fn ask_for(name: &str, settings: &mut ModelRole) -> &'static str {
    let (field, value) = match name {
        "temperature" => {
            settings.temperature = Some(0.0);
            return "temperature";
        }
        "reasoning effort" => ("reasoning_effort", json!("low")),
        "JSON schema" => ("response_format", json!({
            "type": "json_schema",
            "json_schema": {"name": "word", "strict": true, "schema": {
                "type": "object", "properties": {"word": {"type": "string"}},
                "required": ["word"], "additionalProperties": false,
            }},
        })),
        _ => ("tools", json!([{
            "type": "function",
            "function": {"name": "note", "description": "Keeps a note.", "parameters": {
                "type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"],
            }},
        }])),
    };
    let mut fields = match settings.extra_body.take() {
        Some(Value::Object(fields)) => fields,
        _ => Map::new(),
    };
    fields.insert(field.to_owned(), value);
    settings.extra_body = Some(Value::Object(fields));
    field
}

fn told(at_ms: u64, answer: Result<ChatReply, ModelError>) -> ModelTest {
    let silent = ModelTest {
        at_ms,
        ok: true,
        error: String::new(),
        reply: String::new(),
        latency_ms: None,
        attempts: 0,
        prompt_tokens: None,
        completion_tokens: None,
        cost_usd_micros: None,
        adaptations: Vec::new(),
        probes: Vec::new(),
    };
    match answer {
        Ok(reply) => ModelTest {
            reply: reply.text.chars().take(MOST_REPLY_CHARS).collect(),
            latency_ms: Some(reply.latency_ms),
            attempts: reply.attempts,
            prompt_tokens: reply.usage.map(|usage| usage.prompt_tokens),
            completion_tokens: reply.usage.map(|usage| usage.completion_tokens),
            cost_usd_micros: reply.cost_usd_micros,
            adaptations: reply.adaptations,
            ..silent
        },
        Err(err) => ModelTest {
            ok: is_sign_of_life(err.kind),
            attempts: err.attempts,
            error: err.to_string(),
            ..silent
        },
    }
}

/// It was reached and thought until the small limit, or said nothing: that is an answer to a test.
pub(super) fn is_sign_of_life(kind: ModelErrorKind) -> bool {
    matches!(kind, ModelErrorKind::Empty | ModelErrorKind::ReasoningOnly)
}

/// Two models with one identity are one.
fn test_key(identity: &Value, role: Role) -> Sha256Hex {
    Sha256Hex::of(&format!("{role} {identity}"))
}
