//! What both simulated models share: identity, limits, simulated time, and the form of a reply.

use super::dice::{roll, sample_word};
use super::rates;
use serde_json::{Value, json};
use skillopt_domain::config::ModelRole;
use skillopt_domain::outcome::Sample;
use skillopt_domain::spend::{Role, Usage};
use skillopt_engine::ports::{
    Billed, ChatReply, ChatRequest, Finish, ModelError, ModelErrorKind, WorstCase,
};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Raised when a simulated model answers the same request in another way.
const VERSION: u32 = 1;
const CHARS_PER_TOKEN: usize = 4;

/// One simulated model without its wit.
#[derive(Clone, Debug)]
pub(super) struct Simulation {
    role: Role,
    model: String,
    latency_ms: u64,
    reply_tokens: u32,
}

impl Simulation {
    pub(super) fn new(role: Role, settings: &ModelRole) -> Self {
        let most = match role {
            Role::Target => rates::TARGET_REPLY_TOKENS,
            Role::Optimizer => rates::OPTIMIZER_REPLY_TOKENS,
        };
        Self {
            role,
            model: settings.model.clone(),
            latency_ms: settings.mock_latency_ms,
            reply_tokens: settings.max_tokens.min(most),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.model
    }

    // Time to answer shapes no answer, so it is no part of the identity.
    pub(super) fn identity(&self) -> Value {
        json!({
            "kind": "mock",
            "version": VERSION,
            "role": self.role.as_str(),
            "model": self.model,
            "max_tokens": self.reply_tokens,
        })
    }

    pub(super) fn worst_case(&self, request: &ChatRequest) -> WorstCase {
        let limit = u64::from(self.limit(request));
        WorstCase { calls: 1, tokens: prompt_tokens(request) + limit, cost_usd_micros: Some(0) }
    }

    /// Waits as a model would, then replies. A wait that is cut short leaves nothing behind.
    pub(super) async fn reply(
        &self,
        request: &ChatRequest,
        sample: &Sample,
        cancel: &CancellationToken,
        text: String,
    ) -> Result<ChatReply, ModelError> {
        let latency_ms = self.jittered(&text, sample);
        if latency_ms > 0 {
            tokio::select! {
                () = cancel.cancelled() => return Err(cancelled()),
                () = tokio::time::sleep(Duration::from_millis(latency_ms)) => {}
            }
        }
        let (text, finish) = cut(text, self.limit(request));
        let usage = Usage::new(prompt_tokens(request), tokens(text.len()));
        Ok(ChatReply {
            text,
            finish,
            usage: Some(usage),
            cost_usd_micros: Some(0),
            latency_ms,
            attempts: 1,
            ..ChatReply::default()
        })
    }

    fn limit(&self, request: &ChatRequest) -> u32 {
        request.max_tokens.map_or(self.reply_tokens, |asked| asked.min(self.reply_tokens))
    }

    fn jittered(&self, text: &str, sample: &Sample) -> u64 {
        let swing = roll(&["latency", text, &sample_word(sample)]).mul_add(2.0, -1.0);
        let factor = swing.mul_add(rates::LATENCY_JITTER, 1.0);
        let latency = Duration::from_millis(self.latency_ms).mul_f64(factor);
        u64::try_from(latency.as_millis()).unwrap_or(self.latency_ms)
    }
}

fn cancelled() -> ModelError {
    ModelError {
        kind: ModelErrorKind::Cancelled,
        message: "cancelled while the simulated model was answering".to_owned(),
        attempts: 1,
        billed: Billed::default(),
    }
}

/// Estimated tokens of a text with this many bytes.
pub(super) fn tokens(bytes: usize) -> u64 {
    u64::try_from(bytes.div_ceil(CHARS_PER_TOKEN)).unwrap_or(u64::MAX)
}

fn prompt_tokens(request: &ChatRequest) -> u64 {
    tokens(request.messages.iter().map(|message| message.content.len()).sum())
}

fn cut(mut text: String, limit: u32) -> (String, Finish) {
    let bytes = usize::try_from(limit).unwrap_or(usize::MAX).saturating_mul(CHARS_PER_TOKEN);
    if text.len() <= bytes {
        return (text, Finish::Stop);
    }
    text.truncate(text.floor_char_boundary(bytes));
    (text, Finish::Length)
}
