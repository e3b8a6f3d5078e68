//! What a role's service needs beyond address, model and limits: sign-in, thinking, and how replies come.

use super::reader::Reader;
use crate::config::backend::{BackendKind, Effort};
use crate::config::value::{Origin, Value};
use crate::spend::Role;
use serde::{Deserialize, Serialize};

/// How a call to Azure signs in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AzureAuth {
    /// It is no call to Azure: the key, if there is one, is sent as a bearer.
    #[default]
    None,
    /// With the key when one is set, else with a token of the Azure CLI.
    Auto,
    /// With a key.
    ApiKey,
    /// With a token of the program `az`, which the user has signed in to.
    AzureCli,
    /// With a token of the machine.
    ManagedIdentity,
}

impl AzureAuth {
    /// A token may be fetched when no key is set.
    #[must_use]
    pub fn may_use_token(self) -> bool {
        matches!(self, Self::Auto | Self::AzureCli | Self::ManagedIdentity)
    }
}

/// Whether a model thinks before it answers, where that can be switched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Thinking {
    /// Nothing is sent.
    #[default]
    ServerDefault,
    /// It is told to.
    Enabled,
    /// It is told not to.
    Disabled,
}

/// Which of its APIs OpenAI, or Azure, is called by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OpenaiApi {
    /// Chat completions, and the other one for models that need it.
    #[default]
    Auto,
    /// Chat completions.
    Chat,
    /// The Responses API.
    Responses,
}

/// What a service needs beyond the common. Holds no secret.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Provider {
    /// Replies come in pieces.
    pub stream: bool,
    /// How hard to think where a call does not say; not sent when `None`.
    pub effort: Option<Effort>,
    /// For Qwen and `MiniMax`.
    pub thinking: Thinking,
    /// For `openai_chat`.
    pub azure_auth: AzureAuth,
    /// For `openai_chat`.
    #[serde(default)]
    pub openai_api: OpenaiApi,
    /// For Azure.
    pub api_version: String,
    /// For tokens of Azure.
    pub token_scope: String,
    /// For a managed identity: the client id of a user-assigned one; empty for the system's own.
    pub identity: String,
}

const MINIMAX_GLOBAL: &str = "https://api.minimax.io/v1";
const MINIMAX_CHINA: &str = "https://api.minimaxi.com/v1";
const OPENAI: &str = "https://api.openai.com/v1";

impl Reader<'_> {
    pub(super) fn provider(&self, role: Role, backend: BackendKind) -> Provider {
        let thinking = match backend {
            BackendKind::QwenChat => self.qwen_thinking(role),
            BackendKind::MinimaxChat if self.flag("model.minimax_enable_thinking") => {
                Thinking::Enabled
            }
            BackendKind::MinimaxChat => Thinking::Disabled,
            _ => Thinking::ServerDefault,
        };
        let azure_auth = match backend {
            BackendKind::OpenaiChat => self.azure_auth(role),
            _ => AzureAuth::None,
        };
        let azure = |name: &str| match azure_auth {
            AzureAuth::None => String::new(),
            _ => self.text(&self.path_of(role, name)),
        };
        Provider {
            stream: self.flag("model.stream"),
            effort: Effort::parse(&self.text(&self.path_of(role, "reasoning_effort"))),
            thinking,
            azure_auth,
            openai_api: match self.text(&self.path_of(role, "openai_api")).as_str() {
                "chat" => OpenaiApi::Chat,
                "responses" => OpenaiApi::Responses,
                _ => OpenaiApi::Auto,
            },
            api_version: azure("azure_openai_api_version"),
            token_scope: azure("azure_openai_ad_scope"),
            identity: azure("azure_openai_managed_identity_client_id"),
        }
    }

    /// The address of a role's service; empty for what has none.
    pub(super) fn address(&self, role: Role, backend: BackendKind) -> String {
        let given = match backend {
            BackendKind::OpenaiCompatible => {
                self.text(&self.path_of(role, "openai_compatible_base_url"))
            }
            BackendKind::OpenaiChat => match self.text(&self.path_of(role, AZURE_ENDPOINT)) {
                none if none.is_empty() => OPENAI.to_owned(),
                endpoint => endpoint,
            },
            BackendKind::QwenChat => self.text(&self.path_of(role, "qwen_chat_base_url")),
            BackendKind::MinimaxChat => match self.text("model.minimax_base_url") {
                none if none.is_empty() => match self.text("model.minimax_region").as_str() {
                    "cn_zh" => MINIMAX_CHINA.to_owned(),
                    _ => MINIMAX_GLOBAL.to_owned(),
                },
                given => given,
            },
            BackendKind::AnthropicMessages => self.text("model.anthropic_base_url"),
            _ => String::new(),
        };
        given.trim().trim_end_matches('/').to_owned()
    }

    /// The key that sets the address of a role, for messages: the one that is set, else that of both roles.
    pub(super) fn address_path(&self, role: Role, backend: BackendKind) -> String {
        match backend {
            BackendKind::OpenaiChat => self.path_of(role, AZURE_ENDPOINT),
            BackendKind::QwenChat => self.path_of(role, "qwen_chat_base_url"),
            BackendKind::MinimaxChat => "model.minimax_base_url".to_owned(),
            BackendKind::AnthropicMessages => "model.anthropic_base_url".to_owned(),
            _ => format!("model.{role}_openai_compatible_base_url"),
        }
    }

    /// What a setting of a service says of the temperature, the reply's length and the time-out of a role.
    pub(super) fn of_service(&self, role: Role, backend: BackendKind, name: &str) -> Value {
        let path = match backend {
            BackendKind::QwenChat => self.path_of(role, &format!("qwen_chat_{name}")),
            BackendKind::MinimaxChat => format!("model.minimax_{name}"),
            _ => return Value::Null,
        };
        self.resolved.get(&path).clone()
    }

    /// The role's own key, or that of both roles: the one from the stronger source, the role's own among equals. So a
    /// base file that spells out the role's keys does not hide what a later file says of both.
    pub(super) fn path_of(&self, role: Role, name: &str) -> String {
        let (own, both) = (format!("model.{role}_{name}"), format!("model.{name}"));
        let strength = |path: &str| {
            let is_set = *self.resolved.get(path) != Value::Null;
            self.resolved.place(path).filter(|_| is_set).map(|place| place.origin)
        };
        if strength(&own).is_some_and(|own| Some(own) >= strength(&both)) { own } else { both }
    }

    /// The form with three words and the older one with two; whichever a stronger source sets.
    fn qwen_thinking(&self, role: Role) -> Thinking {
        let mode = self.path_of(role, "qwen_chat_thinking_mode");
        let switch = self.path_of(role, "qwen_chat_enable_thinking");
        let is_older = self.origin(&switch) > self.origin(&mode);
        match (self.resolved.get(&switch), self.text(&mode).as_str()) {
            (Value::Bool(true), "") => Thinking::Enabled,
            (Value::Bool(false), "") => Thinking::Disabled,
            (Value::Bool(flag), _) if is_older => {
                if *flag {
                    Thinking::Enabled
                } else {
                    Thinking::Disabled
                }
            }
            (_, "enabled") => Thinking::Enabled,
            (_, "disabled") => Thinking::Disabled,
            _ => Thinking::ServerDefault,
        }
    }

    /// Two settings of equal strength that ask for the opposite.
    pub(super) fn contradicts_itself_on_thinking(&self, role: Role) -> bool {
        let mode = self.path_of(role, "qwen_chat_thinking_mode");
        let switch = self.path_of(role, "qwen_chat_enable_thinking");
        let opposite = match self.resolved.get(&switch) {
            Value::Bool(true) => "disabled",
            Value::Bool(false) => "enabled",
            _ => return false,
        };
        self.text(&mode) == opposite && self.origin(&mode) == self.origin(&switch)
    }

    fn origin(&self, path: &str) -> Option<Origin> {
        self.resolved.place(path).map(|place| place.origin)
    }

    /// Without an endpoint it is OpenAI's own API.
    fn azure_auth(&self, role: Role) -> AzureAuth {
        let endpoint = self.text(&self.path_of(role, AZURE_ENDPOINT));
        match self.text(&self.path_of(role, "azure_openai_auth_mode")).as_str() {
            "openai" => AzureAuth::None,
            "api_key" => AzureAuth::ApiKey,
            "azure_cli" => AzureAuth::AzureCli,
            "managed_identity" => AzureAuth::ManagedIdentity,
            _ if is_azure_host(&endpoint) => AzureAuth::Auto,
            _ => AzureAuth::None,
        }
    }
}

pub(super) const AZURE_ENDPOINT: &str = "azure_openai_endpoint";

/// The host is one of Azure's own for models: tokens of Azure may go there. Other hosts of `azure.com` belong to
/// whoever rents them.
#[must_use]
pub fn is_azure_host(address: &str) -> bool {
    const ENDS: [&str; 7] = [
        ".openai.azure.com",
        ".cognitiveservices.azure.com",
        ".services.ai.azure.com",
        ".openai.azure.us",
        ".cognitiveservices.azure.us",
        ".openai.azure.cn",
        ".cognitiveservices.azure.cn",
    ];
    let Some(rest) = address.trim().strip_prefix("https://") else { return false };
    let host = rest.split(['/', '?', '#', ':']).next().unwrap_or_default().to_ascii_lowercase();
    !host.contains('@') && ENDS.iter().any(|end| host.ends_with(end))
}

#[cfg(test)]
mod tests;
