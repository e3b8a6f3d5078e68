//! The typed configuration of one role's model.

use super::provider::{AZURE_ENDPOINT, AzureAuth, Provider};
use super::reader::{Reader, is_variable_name};
use crate::config::backend::{BackendFamily, BackendKind};
use crate::config::resolve::Resolved;
use crate::config::secret_name::secret_field;
use crate::config::value::Value;
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
    /// Address of the API; empty for what has none.
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
    /// Longest time of one call with all its attempts and waits, in seconds.
    pub total_timeout_s: f64,
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
    /// Dollars for a million tokens that the provider writes to its cache; not known when `None`.
    #[serde(default)]
    pub price_cache_write: Option<f64>,
    /// Dollars for a million tokens written.
    pub price_out: Option<f64>,
    /// Adds `X-SkillOpt-*` headers.
    pub send_headers: bool,
    /// For the mock: time to answer, in milliseconds.
    pub mock_latency_ms: u64,
    /// What its service needs beyond that.
    #[serde(default)]
    pub provider: Provider,
}

impl ModelRole {
    /// No real model answers: a simulation does, or a recording.
    #[must_use]
    pub fn is_simulated(&self) -> bool {
        self.backend.is_simulated()
    }

    /// It is called over HTTP.
    #[must_use]
    pub fn is_http(&self) -> bool {
        self.backend.spec().family == BackendFamily::Http
    }

    /// What it charges; `None` when that is not known.
    #[must_use]
    pub fn price(&self) -> Option<Price> {
        Price::new(self.price_in, self.price_cached_in, self.price_out)?
            .with_cache_write(self.price_cache_write)
    }

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
        let max_tokens = match role {
            Role::Target => self.count("env.max_completion_tokens"),
            Role::Optimizer => self.count("model.optimizer_max_completion_tokens"),
        };
        let of_service = |name: &str| self.of_service(role, backend, name);
        let own = |name: &str| self.float(&format!("model.{role}_{name}"));
        let timeout = format!("model.{role}_timeout_seconds");
        let timeout_of_copilot =
            self.float("model.copilot_chat_timeout").filter(|_| is_copilot(backend));
        let longest = match of_service("max_tokens") {
            Value::Int(most) => u32::try_from(most).unwrap_or(u32::MAX),
            _ => u32::MAX,
        };
        ModelRole {
            backend,
            model: self.model_name(role, backend),
            base_url: self.address(role, backend),
            api_key_env: self.text(&format!("model.{role}_api_key_env")),
            temperature: own("temperature").or_else(|| float(&of_service("temperature"))),
            max_tokens: max_tokens.min(longest),
            token_limit_param: match self.text("model.token_limit_param").as_str() {
                "max_tokens" => TokenLimitParam::MaxTokens,
                "max_completion_tokens" => TokenLimitParam::MaxCompletionTokens,
                _ => TokenLimitParam::Auto,
            },
            timeout_s: float(&of_service("timeout_seconds"))
                .filter(|_| self.is_default(&timeout))
                .or(timeout_of_copilot)
                .or_else(|| self.float(&timeout))
                .unwrap_or(300.0),
            total_timeout_s: self.float("model.total_timeout_seconds").unwrap_or(900.0),
            max_retries: self.count("model.max_retries"),
            max_retry_after_s: self.float("model.max_retry_after_seconds").unwrap_or(300.0),
            extra_body: self.json(&format!("model.{role}_extra_body")),
            price_in: self.float(&format!("model.{role}_price_in")),
            price_cached_in: self.float(&format!("model.{role}_price_cached_in")),
            price_cache_write: self.float(&format!("model.{role}_price_cache_write")),
            price_out: self.float(&format!("model.{role}_price_out")),
            send_headers: self.flag("model.send_skillopt_headers"),
            mock_latency_ms: self.seed("model.mock_latency_ms"),
            provider: self.provider(role, backend),
        }
    }

    /// What is wrong with a role's model, by key. With `capped` its price has to be known.
    pub(super) fn problems_of_role(
        &self,
        role: Role,
        model: &ModelRole,
        capped: bool,
    ) -> Vec<(String, String)> {
        let mut found = Vec::new();
        let mut add = |path: &str, message: String| found.push((path.to_owned(), message));
        let address_path = self.address_path(role, model.backend);
        if model.is_http() && model.base_url.is_empty() {
            add(
                &address_path,
                "needs an address; set model.openai_compatible_base_url, or the backend to mock"
                    .into(),
            );
        }
        if model.provider.azure_auth != AzureAuth::None
            && self.text(&self.path_of(role, AZURE_ENDPOINT)).is_empty()
        {
            add(
                &address_path,
                "needs the address of the Azure resource, such as https://name.openai.azure.com"
                    .into(),
            );
        }
        if model.backend == BackendKind::QwenChat && self.contradicts_itself_on_thinking(role) {
            add(
                &self.path_of(role, "qwen_chat_enable_thinking"),
                "says the opposite of the thinking mode; keep one of the two".into(),
            );
        }
        if !is_variable_name(&model.api_key_env) {
            add(
                &format!("model.{role}_api_key_env"),
                "expected the name of an environment variable; the key itself does not belong here"
                    .into(),
            );
        }
        if model.base_url.split('/').nth(2).is_some_and(|host| host.contains('@')) {
            add(&address_path, "an address must not hold a user name or password".into());
        }
        if let Some(field) = model.extra_body.as_ref().and_then(secret_field) {
            add(
                &format!("model.{role}_extra_body"),
                format!("`{field}` looks like a secret; secrets go in environment variables"),
            );
        }
        if model.is_http() && model.model.is_empty() {
            add(&format!("model.{role}"), "needs the model's name".into());
        }
        let priced = model.price_in.is_some() && model.price_out.is_some();
        if capped && !model.is_simulated() && !priced {
            add(
                "limits.max_cost_usd",
                format!(
                    "no price of the {role}'s model {} is known, so that the cap could not hold: add one on the \
                     page Settings → Prices or with `skillopt prices set`, or set model.{role}_price_in and \
                     model.{role}_price_out",
                    model.model
                ),
            );
        }
        found
    }

    /// The name that is set, else the usual one of the backend; empty when one must be set.
    fn model_name(&self, role: Role, backend: BackendKind) -> String {
        let of_both = match backend {
            BackendKind::MinimaxChat => self.text("model.minimax_model"),
            _ => String::new(),
        };
        let usual = match backend {
            BackendKind::Mock => format!("sim-{role}"),
            BackendKind::Replay => format!("replay-{role}"),
            other => other.spec().default_model.to_owned(),
        };
        let of_copilot = match is_copilot(backend) {
            true => self.text(&format!("model.copilot_chat_{role}_model")),
            false => String::new(),
        };
        let names = [of_copilot, self.text(&format!("model.{role}")), of_both, usual];
        names.into_iter().find(|name| !name.is_empty()).unwrap_or_default()
    }
}

fn is_copilot(backend: BackendKind) -> bool {
    matches!(backend, BackendKind::CopilotChat | BackendKind::CopilotExec)
}

fn float(value: &Value) -> Option<f64> {
    match value {
        Value::Float(number) => Some(*number),
        _ => None,
    }
}
