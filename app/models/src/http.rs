//! Models that are called over HTTP. What a provider's peculiarities mean is decided in the files below; this one holds
//! the model that the engine sees.

mod adapt;
mod address;
mod attempt;
mod call;
mod dialect;
mod endpoints;
mod error_body;
mod failure;
mod request;
mod service;
mod setup;
mod sign_in;
mod sse;
#[cfg(test)]
mod tests;

pub use endpoints::Endpoints;
pub use setup::{HttpModelSetup, SetupError};
pub use sign_in::TokenSource;

use crate::limiter::{Limiter, Size};
use crate::secret::Secret;
use crate::timer::time_limit;
use adapt::Learned;
use address::Address;
use async_trait::async_trait;
use call::Call;
use request::WirePolicy;
use reqwest::Client;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue, USER_AGENT};
use serde_json::{Map, Value, json};
use service::Service;
use sign_in::Tokens;
use skillopt_domain::config::{AzureAuth, BackendKind, OpenaiApi};
use skillopt_domain::outage::Outage;
use skillopt_domain::outcome::Sample;
use skillopt_domain::price::Price;
use skillopt_domain::spend::{Role, Usage};
use skillopt_engine::ports::{ChatReply, ChatRequest, Model, ModelError, WorstCase};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// One role's model behind an HTTP address.
pub struct HttpModel {
    backend: BackendKind,
    policy: WirePolicy,
    address: Address,
    /// What Azure's address holds beyond the base URL.
    api_version: Option<String>,
    /// The API that a person chose.
    chosen_api: OpenaiApi,
    secret: Option<Secret>,
    tokens: Option<Arc<Tokens>>,
    headers: HeaderMap,
    send_headers: bool,
    timeout: Duration,
    total_timeout: Duration,
    max_retries: u32,
    max_retry_after: Duration,
    prices: Option<Price>,
    client: Client,
    limiter: Arc<Limiter>,
    learned: Arc<Learned>,
    endpoints: Arc<Endpoints>,
}

impl HttpModel {
    /// Checks the configuration; no call is made.
    ///
    /// # Errors
    /// [`SetupError`] when it cannot work, or would give the key away.
    pub fn new(setup: HttpModelSetup<'_>, endpoints: &Arc<Endpoints>) -> Result<Self, SetupError> {
        let HttpModelSetup { role, config, secret, token, max_concurrency, run } = setup;
        let model = config.model.trim();
        if model.is_empty() {
            return Err(SetupError::NoModel(role));
        }
        let auth = config.provider.azure_auth;
        // Where a token is wanted, no key is sent.
        let secret = secret
            .filter(|_| matches!(auth, AzureAuth::None | AzureAuth::Auto | AzureAuth::ApiKey));
        let token = token.filter(|_| auth.may_use_token() && secret.is_none());
        let service = Service::of(config);
        let signs_in = secret.is_some() || token.is_some();
        let address = Address::parse(&config.base_url, role, signs_in, service.layout.clone())?;
        let mut headers = base_headers();
        headers.extend(service.headers());
        if let Some(secret) = &secret {
            headers.extend(service.key_headers(secret).ok_or(SetupError::BadKey(role))?);
        }
        if config.send_headers {
            headers.insert("x-skillopt-role", HeaderValue::from_static(role.as_str()));
            if let Some(run) = run.and_then(|run| HeaderValue::from_str(run.as_str()).ok()) {
                headers.insert("x-skillopt-run", run);
            }
        }
        let size = Size::new(max_concurrency, run.is_some());
        Ok(Self {
            backend: config.backend,
            policy: WirePolicy {
                api: service.api,
                may_use_responses: service.may_use_responses,
                model: model.to_owned(),
                temperature: config.temperature,
                max_tokens: config.max_tokens,
                limit_param: config.token_limit_param,
                first_limit_name: service.first_limit_name,
                effort: config.provider.effort,
                highest_effort: service.highest_effort,
                stream: config.provider.stream,
                extra: merged(extra_fields(config.extra_body.as_ref(), role)?, service.fields),
            },
            api_version: (auth != AzureAuth::None).then(|| config.provider.api_version.clone()),
            chosen_api: match config.backend {
                BackendKind::OpenaiChat => config.provider.openai_api,
                _ => OpenaiApi::Auto,
            },
            client: endpoints.client(address.transport)?,
            limiter: endpoints.limiter(&address, model, secret.as_ref(), size),
            learned: endpoints.learned(&address, model),
            tokens: token.map(|source| endpoints.tokens(source, &config.provider.token_scope)),
            endpoints: Arc::clone(endpoints),
            headers,
            send_headers: config.send_headers,
            timeout: time_limit(config.timeout_s),
            total_timeout: time_limit(config.total_timeout_s),
            max_retries: config.max_retries,
            max_retry_after: time_limit(config.max_retry_after_s),
            prices: config.price(),
            address,
            secret,
        })
    }

    /// Words that came from outside, without what signs in.
    fn mask(&self, words: &str) -> String {
        let words = self.secret.as_ref().map_or_else(|| words.to_owned(), |key| key.mask(words));
        self.tokens.as_ref().map_or_else(|| words.clone(), |tokens| tokens.mask(&words))
    }

    /// A model's answer, without what signs in.
    fn mask_answer(&self, answer: String) -> String {
        let answer = match &self.secret {
            Some(key) => key.mask_answer(answer),
            None => answer,
        };
        match &self.tokens {
            Some(tokens) => tokens.mask_answer(answer),
            None => answer,
        }
    }
}

#[async_trait]
impl Model for HttpModel {
    fn identity(&self) -> Value {
        let mut identity = json!({
            "kind": self.backend.as_str(),
            "base_url": self.address.public,
            "model": self.policy.model,
            "temperature": self.policy.temperature,
            "max_tokens": self.policy.max_tokens,
            "extra_body": sorted(&Value::Object(self.policy.extra.clone())),
        });
        // What is not set adds nothing, so that what was paid before these were known stays findable.
        if let Some(effort) = self.policy.effort {
            identity["reasoning_effort"] = effort.as_str().into();
        }
        match self.chosen_api {
            OpenaiApi::Auto => {}
            OpenaiApi::Chat => identity["api"] = "chat".into(),
            OpenaiApi::Responses => identity["api"] = "responses".into(),
        }
        if let Some(version) = &self.api_version {
            identity["api_version"] = version.as_str().into();
        }
        identity
    }

    fn name(&self) -> &str {
        &self.policy.model
    }

    fn is_simulated(&self) -> bool {
        false
    }

    /// Half a token for each byte of the prompt, a few for the frame of each message, and all tokens that the
    /// reply may have. Tokenizers need about a quarter of a token for a byte of English and a third for a
    /// byte of Chinese, so this is about twice the likely number, and no tokenizer has to be known.
    fn worst_case(&self, request: &ChatRequest) -> WorstCase {
        const FRAME_TOKENS: usize = 8;
        const IMAGE_TOKENS: usize = 3_000;
        let of_text = |bytes: usize| bytes.div_ceil(2) + FRAME_TOKENS;
        let of_json = |value: &Value| of_text(value.to_string().len());
        let prompt = request.messages.iter().map(|message| {
            let calls = message.tool_calls.iter().map(|call| of_text(call.arguments.len()));
            of_text(message.content.len())
                + message.images.len() * IMAGE_TOKENS
                + calls.sum::<usize>()
        });
        let tools = request.tools.iter().map(|tool| {
            of_json(&tool.parameters) + of_text(tool.name.len() + tool.description.len())
        });
        let schema = request.schema.iter().map(|schema| of_json(&schema.schema));
        let usage = Usage::new(
            u64::try_from(prompt.chain(tools).chain(schema).sum::<usize>()).unwrap_or(u64::MAX),
            u64::from(request.max_tokens.unwrap_or(self.policy.max_tokens)),
        );
        WorstCase {
            calls: 1,
            tokens: usage.prompt_tokens.saturating_add(usage.completion_tokens),
            cost_usd_micros: self.prices.map(|prices| prices.most_usd_micros(usage)),
        }
    }

    fn outages(&self) -> Option<watch::Receiver<Option<Outage>>> {
        Some(self.limiter.outages())
    }

    /// The sample index does not go on the wire: a real model draws anew by itself.
    async fn chat(
        &self,
        request: &ChatRequest,
        _sample: &Sample,
        cancel: &CancellationToken,
    ) -> Result<ChatReply, ModelError> {
        let mut call = Call::new(self, request);
        let end = cancel.run_until_cancelled(call.run()).await;
        end.unwrap_or_else(|| Err(call.cancelled()))
    }
}

impl fmt::Debug for HttpModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpModel")
            .field("base_url", &self.address.public)
            .field("model", &self.policy.model)
            .finish_non_exhaustive()
    }
}

fn base_headers() -> HeaderMap {
    let mut headers = HeaderMap::new();
    let agent = concat!("skillopt/", env!("CARGO_PKG_VERSION"));
    headers.insert(USER_AGENT, HeaderValue::from_static(agent));
    headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers
}

/// Fields that have a setting of their own, or that would change what comes back, are not taken from here.
fn extra_fields(extra: Option<&Value>, role: Role) -> Result<Map<String, Value>, SetupError> {
    const TAKEN: [(&str, &str); 11] = [
        ("model", "set the model's name instead"),
        ("messages", "they are the request itself"),
        ("input", "it is the request itself"),
        ("instructions", "they are the request itself"),
        ("system", "it is the request itself"),
        ("stream", "set model.stream instead"),
        ("max_output_tokens", "set the role's token limit instead"),
        ("n", "one reply is read"),
        ("temperature", "set the role's temperature instead"),
        ("max_tokens", "set the role's token limit instead"),
        ("max_completion_tokens", "set the role's token limit instead"),
    ];
    let fields = match extra {
        None | Some(Value::Null) => return Ok(Map::new()),
        Some(Value::Object(fields)) => fields,
        Some(_) => return Err(SetupError::ExtraBodyIsNoObject(role)),
    };
    match TAKEN.into_iter().find(|(field, _)| fields.contains_key(*field)) {
        Some((field, instead)) => {
            Err(SetupError::ExtraBodyTaken { role, field: field.to_owned(), instead })
        }
        None => Ok(fields.clone()),
    }
}

/// The user's fields, and what the service needs beside them; where both say something, the user's word counts.
fn merged(mut fields: Map<String, Value>, of_service: Map<String, Value>) -> Map<String, Value> {
    for (name, value) in of_service {
        match (fields.get_mut(&name), value) {
            (None, value) => {
                fields.insert(name, value);
            }
            (Some(Value::Object(own)), Value::Object(more)) => {
                let missing: Vec<_> =
                    more.into_iter().filter(|(name, _)| !own.contains_key(name)).collect();
                own.extend(missing);
            }
            (Some(_), _) => {}
        }
    }
    fields
}

/// The same value with its fields in order, so that equal settings have equal texts.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut entries: Vec<_> = fields.iter().map(|(k, v)| (k.clone(), sorted(v))).collect();
            entries.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Object(entries.into_iter().collect())
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        other => other.clone(),
    }
}
