//! Test calls: whether a model answers now, and what its endpoint accepts. They are recorded in no ledger, but every one
//! that may cost money is in the audit log.

use super::Hosting;
use crate::config::BadConfig;
use serde_json::{Value, json};
use skillopt_domain::api::{CheckState, ModelTest, Probe};
use skillopt_domain::config::{BackendFamily, Capability, Effort, ModelRole, RunConfig};
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::outcome::Sample;
use skillopt_domain::spend::Role;
use skillopt_engine::ports::{
    Billed, ChatReply, ChatRequest, Image, ModelError, ModelErrorKind, ReplySchema, ToolSpec,
};
use skillopt_engine::train::preflight_request;
use skillopt_store::{AuditRow, StoreFailure};
use std::sync::{Arc, PoisonError};
use tokio_util::sync::CancellationToken;

const MOST_REPLY_CHARS: usize = 200;

/// What a test call is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestScope {
    /// One call.
    Answer,
    /// Also what the endpoint accepts: a further call for each of [`PROBES`].
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

/// Names of the further calls; those that the backend cannot make by its table are left out.
pub const PROBES: [&str; 6] =
    ["temperature", "reasoning effort", "JSON schema", "tools", "images", STREAMING];

const STREAMING: &str = "streaming";

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
            let n = if scope == TestScope::Accepts { 1 + probes_of(settings).len() } else { 1 };
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
        let answer = self.ask(config, role, &preflight_request(), cancel).await;
        let mut test = told(self.now_ms(), answer);
        if scope == TestScope::Accepts && test.ok && !settings.is_simulated() {
            for name in probes_of(settings) {
                let probe = self.probe(config, role, (name, &test.adaptations), cancel).await;
                test.probes.push(probe);
            }
        }
        let mut tests = self.shared.tests.lock().unwrap_or_else(PoisonError::into_inner);
        tests.insert(test_key(&model.identity(), role), test.clone());
        Ok(test)
    }

    /// What a model said last, since this process started.
    pub(super) fn last_test(&self, identity: &Value, role: Role) -> Option<ModelTest> {
        let tests = self.shared.tests.lock().unwrap_or_else(PoisonError::into_inner);
        tests.get(&test_key(identity, role)).cloned()
    }

    /// One call.
    pub(super) async fn ask(
        &self,
        config: &RunConfig,
        role: Role,
        request: &ChatRequest,
        cancel: &CancellationToken,
    ) -> Result<ChatReply, ModelError> {
        let model = self.model(config, role, None).map_err(|refused| ModelError {
            kind: ModelErrorKind::BadRequest,
            message: refused.message,
            attempts: 0,
            billed: Billed::default(),
        })?;
        let sample = Sample { seed: config.train.seed, epoch: 0, repeat: 0, fresh: None };
        model.chat(request, &sample, cancel).await
    }

    /// The same call with one thing more in it: whether that is accepted, or left out because it was refused. What had
    /// to be changed before says nothing about it.
    async fn probe(
        &self,
        config: &RunConfig,
        role: Role,
        (name, known): (&str, &[String]),
        cancel: &CancellationToken,
    ) -> Probe {
        let mut config = config.clone();
        let mut request = preflight_request();
        let settings = match role {
            Role::Target => &mut config.target,
            Role::Optimizer => &mut config.optimizer_model,
        };
        ask_for(name, settings, &mut request);
        let (state, words, attempts) = match self.ask(&config, role, &request, cancel).await {
            Ok(reply) => {
                let is_new = |change: &&String| !known.contains(*change);
                match reply.adaptations.iter().find(is_new) {
                    Some(change) => {
                        (CheckState::Warning, format!("refused: {change}"), reply.attempts)
                    }
                    None if name == STREAMING => {
                        let (state, words) = streamed(reply.first_token_ms);
                        (state, words, reply.attempts)
                    }
                    None => (CheckState::Ok, "accepted".to_owned(), reply.attempts),
                }
            }
            // Tokens used up by reasoning, or an answer without text, as the call of a tool is: it was taken.
            Err(err) if is_sign_of_life(err.kind) => {
                (CheckState::Ok, "accepted".to_owned(), err.attempts)
            }
            Err(err) if err.kind == ModelErrorKind::BadRequest => {
                (CheckState::Warning, format!("refused: {}", err.message), err.attempts)
            }
            Err(err) => (CheckState::Failed, err.to_string(), err.attempts),
        };
        Probe { name: name.to_owned(), state, words, attempts }
    }
}

/// What it means when the first piece of an answer came then, or never.
fn streamed(first_token_ms: Option<u64>) -> (CheckState, String) {
    match first_token_ms {
        Some(ms) => (CheckState::Ok, format!("streams; its first token came after {ms} ms")),
        None => (CheckState::Warning, "asked for a stream, it answers in one piece".to_owned()),
    }
}

fn probes_of(settings: &ModelRole) -> Vec<&'static str> {
    let spec = settings.backend.spec();
    PROBES
        .into_iter()
        .filter(|name| match *name {
            "temperature" => spec.family == BackendFamily::Http,
            "reasoning effort" => spec.can(Capability::ReasoningEffort),
            "JSON schema" => spec.can(Capability::JsonSchema),
            "tools" => spec.can(Capability::Tools),
            STREAMING => spec.family == BackendFamily::Http && spec.can(Capability::Streaming),
            _ => spec.can(Capability::Images),
        })
        .collect()
}

/// Puts what is asked for into the settings or into the request.
fn ask_for(name: &str, settings: &mut ModelRole, request: &mut ChatRequest) {
    /// A red square of 32 pixels; some servers refuse smaller pictures.
    const RED_SQUARE: &str = "iVBORw0KGgoAAAANSUhEUgAAACAAAAAgCAIAAAD8GO2jAAAAJ0lEQVR42u3NsQkAAAjAsP7/tF7hIASyp6lTCQQCgUAgEAgEgi/BAjLD/C5w/SM9AAAAAElFTkSuQmCC";
    let text = |name: &str| {
        json!({
            "type": "object", "properties": {name: {"type": "string"}}, "required": [name],
            "additionalProperties": false,
        })
    };
    match name {
        "temperature" => settings.temperature = Some(0.0),
        STREAMING => settings.provider.stream = true,
        "reasoning effort" => request.effort = Some(Effort::Low),
        "JSON schema" => {
            request.schema =
                Some(Arc::new(ReplySchema { name: "word".to_owned(), schema: text("word") }));
        }
        "tools" => request.tools.push(ToolSpec {
            name: "note".to_owned(),
            description: "Keeps a note.".to_owned(),
            parameters: text("text"),
        }),
        _ => {
            let (media_type, base64) = ("image/png".to_owned(), RED_SQUARE.to_owned());
            if let Some(last) = request.messages.last_mut() {
                last.images.push(Image { media_type, base64 });
            }
        }
    }
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
    Sha256Hex::of(format!("{role} {identity}"))
}
