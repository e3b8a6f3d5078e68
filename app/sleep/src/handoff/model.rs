//! A handoff as a model: what was answered is the reply, and what was not is asked and pending.

use super::files::{Handoff, HandoffError};
use async_trait::async_trait;
use serde_json::{Value, json};
use skillopt_domain::outcome::Sample;
use skillopt_engine::ports::{
    Billed, ChatReply, ChatRequest, Model, ModelError, ModelErrorKind, Purpose, Speaker, WorstCase,
};
use tokio_util::sync::CancellationToken;

/// The reference system's advice to whoever answers, by what is asked.
fn advised_tokens(purpose: Purpose) -> u32 {
    match purpose {
        Purpose::Qa => 512,
        Purpose::Judge => 200,
        Purpose::Mine => 800,
        Purpose::SlowUpdate => 600,
        _ => 1024,
    }
}

/// Whoever answers the files of a handoff.
#[derive(Clone, Debug)]
pub struct HandoffModel {
    handoff: Handoff,
}

impl HandoffModel {
    /// Asks through this handoff.
    #[must_use]
    pub fn new(handoff: Handoff) -> Self {
        Self { handoff }
    }

    /// The handoff.
    #[must_use]
    pub fn handoff(&self) -> &Handoff {
        &self.handoff
    }
}

#[async_trait]
impl Model for HandoffModel {
    fn identity(&self) -> Value {
        json!({"kind": "handoff"})
    }

    fn name(&self) -> &'static str {
        "handoff"
    }

    fn is_simulated(&self) -> bool {
        false
    }

    fn worst_case(&self, _request: &ChatRequest) -> WorstCase {
        // Whoever answers is paid elsewhere, nobody knows how much.
        WorstCase { calls: 1, tokens: 0, cost_usd_micros: None }
    }

    async fn chat(
        &self,
        request: &ChatRequest,
        _sample: &Sample,
        _cancel: &CancellationToken,
    ) -> Result<ChatReply, ModelError> {
        let prompt = prompt_of(request);
        let failed = |err: HandoffError| error(kind_of(&err), err.to_string());
        if let Some(text) = self.handoff.answer_of(&prompt).map_err(failed)? {
            return Ok(reply(text));
        }
        let max_tokens = request.max_tokens.unwrap_or_else(|| advised_tokens(request.purpose));
        let id =
            self.handoff.pend_for(request.purpose.as_str(), &prompt, max_tokens).map_err(failed)?;
        Err(error(ModelErrorKind::Pending, format!("prompt {id} waits for an answer")))
    }
}

/// The reference system has one text a call; a conversation becomes one.
fn prompt_of(request: &ChatRequest) -> String {
    if let [only] = request.messages.as_slice()
        && only.role == Speaker::User
    {
        return only.content.clone();
    }
    let parts = request.messages.iter().map(|message| {
        let speaker = match message.role {
            Speaker::System => "SYSTEM",
            Speaker::User => "USER",
            Speaker::Assistant => "ASSISTANT",
            Speaker::Tool => "TOOL",
        };
        format!("[{speaker}]\n{}", message.content)
    });
    parts.collect::<Vec<_>>().join("\n\n")
}

fn kind_of(err: &HandoffError) -> ModelErrorKind {
    match err {
        HandoffError::NeedsAnswer => ModelErrorKind::Pending,
        HandoffError::EmptyAnswer => ModelErrorKind::Empty,
        HandoffError::Io { .. }
        | HandoffError::Damaged { .. }
        | HandoffError::OtherTasks { .. }
        | HandoffError::UnknownId(_)
        | HandoffError::LongAnswer { .. }
        | HandoffError::AnswerChanged(_)
        | HandoffError::NoAnswer(_)
        | HandoffError::NotPlain(_) => ModelErrorKind::BadRequest,
    }
}

fn error(kind: ModelErrorKind, message: String) -> ModelError {
    ModelError { kind, message, attempts: 1, billed: Billed::default() }
}

fn reply(text: String) -> ChatReply {
    ChatReply { text, cost_usd_micros: None, attempts: 1, ..ChatReply::default() }
}
