//! Keys of providers with a dialect or a sign-in of their own.

use super::{KeySpec, OFF_EMPTY, OFF_FALSE, off};

const AZURE_SCOPE: &[&str] = &["", "https://cognitiveservices.azure.com/.default"];

pub(super) const KEYS: &[KeySpec] = &[
    off("model.reasoning_effort", OFF_EMPTY),
    off("model.rewrite_reasoning_effort", OFF_EMPTY),
    off("model.azure_openai_endpoint", OFF_EMPTY),
    off("model.azure_openai_api_version", &["", "2024-12-01-preview"]),
    off("model.azure_openai_auth_mode", OFF_EMPTY),
    off("model.azure_openai_ad_scope", AZURE_SCOPE),
    off("model.azure_openai_managed_identity_client_id", OFF_EMPTY),
    off("model.optimizer_azure_openai_endpoint", OFF_EMPTY),
    off("model.optimizer_azure_openai_api_version", &["", "2024-12-01-preview"]),
    off("model.optimizer_azure_openai_auth_mode", OFF_EMPTY),
    off("model.optimizer_azure_openai_ad_scope", AZURE_SCOPE),
    off("model.optimizer_azure_openai_managed_identity_client_id", OFF_EMPTY),
    off("model.target_azure_openai_endpoint", OFF_EMPTY),
    off("model.target_azure_openai_api_version", &["", "2024-12-01-preview"]),
    off("model.target_azure_openai_auth_mode", OFF_EMPTY),
    off("model.target_azure_openai_ad_scope", AZURE_SCOPE),
    off("model.target_azure_openai_managed_identity_client_id", OFF_EMPTY),
    off("model.qwen_chat_thinking_mode", OFF_EMPTY),
    off("model.optimizer_qwen_chat_thinking_mode", OFF_EMPTY),
    off("model.target_qwen_chat_thinking_mode", OFF_EMPTY),
    off("model.minimax_region", OFF_EMPTY),
    off("model.minimax_base_url", OFF_EMPTY),
    off("model.minimax_model", &["", "MiniMax-M3"]),
    off("model.minimax_temperature", &["", "0.7"]),
    off("model.minimax_max_tokens", &["", "8000"]),
    off("model.minimax_enable_thinking", OFF_FALSE),
];
