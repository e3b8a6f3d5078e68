//! What the backends that speak over HTTP differ in: API, place of the key, and the fields of their own. Pure.

use super::adapt::LimitName;
use super::address::Layout;
use super::dialect::Api;
use crate::secret::Secret;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value, json};
use skillopt_domain::config::{AzureAuth, BackendKind, Effort, ModelRole, OpenaiApi, Thinking};

/// The service behind a role's backend.
#[derive(Clone, Debug)]
pub(crate) struct Service {
    pub(crate) api: Api,
    /// Models may be served by the Responses API alone.
    pub(crate) may_use_responses: bool,
    pub(crate) layout: Layout,
    pub(crate) first_limit_name: LimitName,
    pub(crate) highest_effort: Effort,
    /// Fields of its own in each request.
    pub(crate) fields: Map<String, Value>,
    key_place: KeyPlace,
}

#[derive(Clone, Copy, Debug)]
enum KeyPlace {
    Bearer,
    ApiKey,
    Anthropic,
}

/// The version of Anthropic's API that is spoken.
const ANTHROPIC_VERSION: &str = "2023-06-01";

impl Service {
    pub(crate) fn of(config: &ModelRole) -> Self {
        let compatible = Self {
            api: Api::Chat,
            may_use_responses: true,
            layout: Layout::Plain,
            first_limit_name: LimitName::CompletionTokens,
            highest_effort: Effort::Max,
            fields: Map::new(),
            key_place: KeyPlace::Bearer,
        };
        match config.backend {
            BackendKind::OpenaiChat => Self::openai(config, compatible),
            BackendKind::QwenChat => Self {
                may_use_responses: false,
                first_limit_name: LimitName::Tokens,
                fields: qwen_fields(config.provider.thinking),
                ..compatible
            },
            BackendKind::MinimaxChat => Self {
                may_use_responses: false,
                first_limit_name: LimitName::Tokens,
                fields: minimax_fields(&config.model, config.provider.thinking),
                ..compatible
            },
            BackendKind::AnthropicMessages => Self {
                api: Api::Messages,
                may_use_responses: false,
                layout: Layout::Anthropic,
                first_limit_name: LimitName::Tokens,
                key_place: KeyPlace::Anthropic,
                ..compatible
            },
            _ => compatible,
        }
    }

    fn openai(config: &ModelRole, compatible: Self) -> Self {
        let api = match config.provider.openai_api {
            OpenaiApi::Auto if needs_responses(&config.model) => Api::Responses,
            OpenaiApi::Auto | OpenaiApi::Chat => Api::Chat,
            OpenaiApi::Responses => Api::Responses,
        };
        let highest_effort = Effort::Xhigh;
        match config.provider.azure_auth {
            AzureAuth::None => Self { api, highest_effort, ..compatible },
            _ => {
                let (deployment, api_version) =
                    (config.model.trim().to_owned(), config.provider.api_version.clone());
                let layout = Layout::Azure { deployment, api_version };
                Self { api, highest_effort, layout, key_place: KeyPlace::ApiKey, ..compatible }
            }
        }
    }

    /// The headers that carry the key; `None` when no header can.
    pub(crate) fn key_headers(&self, secret: &Secret) -> Option<HeaderMap> {
        let (name, text) = match self.key_place {
            KeyPlace::Bearer => (AUTHORIZATION, format!("Bearer {}", secret.expose())),
            KeyPlace::ApiKey => (HeaderName::from_static("api-key"), secret.expose().to_owned()),
            KeyPlace::Anthropic => {
                (HeaderName::from_static("x-api-key"), secret.expose().to_owned())
            }
        };
        let mut value = HeaderValue::from_str(&text).ok()?;
        value.set_sensitive(true);
        Some(HeaderMap::from_iter([(name, value)]))
    }

    /// Headers that each request has.
    pub(crate) fn headers(&self) -> HeaderMap {
        let version = HeaderValue::from_static(ANTHROPIC_VERSION);
        match self.key_place {
            KeyPlace::Anthropic => {
                HeaderMap::from_iter([(HeaderName::from_static("anthropic-version"), version)])
            }
            KeyPlace::Bearer | KeyPlace::ApiKey => HeaderMap::new(),
        }
    }
}

/// Models that OpenAI serves by the Responses API alone; further ones are learned from its refusal.
fn needs_responses(model: &str) -> bool {
    const MODELS: [&str; 10] = [
        "gpt-5-codex",
        "gpt-5.1-codex",
        "gpt-5.2-codex",
        "gpt-5.3-codex",
        "codex-mini",
        "gpt-5-pro",
        "gpt-5.2-pro",
        "gpt-5.4-pro",
        "o1-pro",
        "o3-pro",
    ];
    let model = model.trim();
    MODELS.iter().any(|name| {
        model.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    })
}

fn qwen_fields(thinking: Thinking) -> Map<String, Value> {
    let switch = match thinking {
        Thinking::ServerDefault => return Map::new(),
        Thinking::Enabled => true,
        Thinking::Disabled => false,
    };
    Map::from_iter([("chat_template_kwargs".to_owned(), json!({"enable_thinking": switch}))])
}

/// Models of the M2 line cannot be told not to think.
fn minimax_fields(model: &str, thinking: Thinking) -> Map<String, Value> {
    let adapts = thinking == Thinking::Enabled || model.trim().starts_with("MiniMax-M2");
    let kind = if adapts { "adaptive" } else { "disabled" };
    Map::from_iter([("thinking".to_owned(), json!({"type": kind}))])
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("gpt-5.3-codex", true)]
    #[case("gpt-5.4-pro-2026-03-05", true)]
    #[case("gpt-5.4", false)]
    #[case("gpt-5.4-profound", false)]
    #[case("my-codex-mini", false)]
    fn models_of_the_responses_api_are_known_by_name(#[case] model: &str, #[case] needs: bool) {
        assert_eq!(needs_responses(model), needs);
    }

    #[rstest]
    #[case("MiniMax-M3", Thinking::Disabled, "disabled")]
    #[case("MiniMax-M3", Thinking::Enabled, "adaptive")]
    #[case("MiniMax-M2.5", Thinking::Disabled, "adaptive")]
    fn minimax_is_always_told_whether_to_think(
        #[case] model: &str,
        #[case] thinking: Thinking,
        #[case] kind: &str,
    ) {
        assert_eq!(minimax_fields(model, thinking)["thinking"], json!({"type": kind}));
    }
}
