//! The typed configuration of one role's model.

use super::Reader;
use crate::config::backend::BackendKind;
use crate::config::resolve::Resolved;
use crate::price::Price;
use crate::spend::Role;
use serde::{Deserialize, Serialize};

/// Under which name the token limit goes on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenLimitParam {
    /// `max_completion_tokens` first; a refusal is remembered.
    Auto,
    /// Always `max_tokens`.
    MaxTokens,
    /// Always `max_completion_tokens`.
    MaxCompletionTokens,
}

/// One role's model and how it is called.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelRole {
    /// The adapter.
    pub backend: BackendKind,
    /// The model's name.
    pub model: String,
    /// Address of the API; empty for the mock.
    pub base_url: String,
    /// Environment variable with the key; empty for none.
    pub api_key_env: String,
    /// Not sent when `None`.
    pub temperature: Option<f64>,
    /// Most tokens of one reply.
    pub max_tokens: u32,
    /// Name of the limit on the wire.
    pub token_limit_param: TokenLimitParam,
    /// Longest time of one attempt, in seconds.
    pub timeout_s: f64,
    /// Further attempts after a failure that may pass.
    pub max_retries: u32,
    /// Longest wait that a provider may ask for, in seconds.
    pub max_retry_after_s: f64,
    /// Fields merged into each request.
    pub extra_body: Option<serde_json::Value>,
    /// Dollars for a million tokens read.
    pub price_in: Option<f64>,
    /// Dollars for a million tokens that the provider had cached; those of other tokens when `None`.
    #[serde(default)]
    pub price_cached_in: Option<f64>,
    /// Dollars for a million tokens written.
    pub price_out: Option<f64>,
    /// Adds `X-SkillOpt-*` headers.
    pub send_headers: bool,
    /// For the mock: time to answer, in milliseconds.
    pub mock_latency_ms: u64,
}

impl ModelRole {
    /// No real model answers: a simulation does, or a recording.
    #[must_use]
    pub fn is_simulated(&self) -> bool {
        self.backend.is_simulated()
    }

    /// What it charges; `None` when that is not known.
    #[must_use]
    pub fn price(&self) -> Option<Price> {
        Price::new(self.price_in, self.price_cached_in, self.price_out)
    }
}

impl ModelRole {
    /// The model of a role in a checked config, whether the rest of it is complete or not.
    #[must_use]
    pub fn of(resolved: &Resolved, role: Role) -> Self {
        Reader { resolved: &resolved.completed() }.role(role)
    }
}

impl Reader<'_> {
    pub(super) fn role(&self, role: Role) -> ModelRole {
        let own = self.text(&format!("model.{role}_backend"));
        let both = self.text("model.backend");
        let for_both = || BackendKind::parse(&both).map(|kind| kind.for_role(role));
        let backend =
            BackendKind::parse(&own).or_else(for_both).unwrap_or(BackendKind::OpenaiCompatible);
        let own_url = self.text(&format!("model.{role}_openai_compatible_base_url"));
        let base_url = if own_url.is_empty() {
            self.text("model.openai_compatible_base_url")
        } else {
            own_url
        };
        let max_tokens = match role {
            Role::Target => self.count("env.max_completion_tokens"),
            Role::Optimizer => self.count("model.optimizer_max_completion_tokens"),
        };
        let simulated = backend.is_simulated();
        let stand_in = if backend == BackendKind::Replay { "replay" } else { "sim" };
        let model = self.text(&format!("model.{role}"));
        ModelRole {
            backend,
            model: if simulated && model.is_empty() { format!("{stand_in}-{role}") } else { model },
            base_url: if simulated {
                String::new()
            } else {
                base_url.trim_end_matches('/').to_owned()
            },
            api_key_env: self.text(&format!("model.{role}_api_key_env")),
            temperature: self.float(&format!("model.{role}_temperature")),
            max_tokens,
            token_limit_param: match self.text("model.token_limit_param").as_str() {
                "max_tokens" => TokenLimitParam::MaxTokens,
                "max_completion_tokens" => TokenLimitParam::MaxCompletionTokens,
                _ => TokenLimitParam::Auto,
            },
            timeout_s: self.float(&format!("model.{role}_timeout_seconds")).unwrap_or(300.0),
            max_retries: self.count("model.max_retries"),
            max_retry_after_s: self.float("model.max_retry_after_seconds").unwrap_or(300.0),
            extra_body: self.json(&format!("model.{role}_extra_body")),
            price_in: self.float(&format!("model.{role}_price_in")),
            price_cached_in: self.float(&format!("model.{role}_price_cached_in")),
            price_out: self.float(&format!("model.{role}_price_out")),
            send_headers: self.flag("model.send_skillopt_headers"),
            mock_latency_ms: self.seed("model.mock_latency_ms"),
        }
    }
}
