//! Which of two settings counts, and what a service gets.

use super::*;
use crate::config::{Place, RunConfig, Setting, resolve};
use rstest::rstest;

fn config(settings: &[(Origin, &str, &str)]) -> RunConfig {
    let setting = |(origin, path, value): &(Origin, &str, &str)| {
        let place = Place { origin: *origin, ..Place::flag(*path) };
        let value = match *value {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            text => Value::Text(text.to_owned()),
        };
        Setting { path: (*path).to_owned(), value, place }
    };
    let mut all = vec![
        setting(&(Origin::Flag, "env.split_dir", "data")),
        setting(&(Origin::Flag, "model.target", "m")),
        setting(&(Origin::Flag, "model.optimizer_backend", "mock")),
    ];
    all.extend(settings.iter().map(setting));
    RunConfig::from_resolved(&resolve(&all).expect("settings")).expect("a config")
}

#[rstest]
#[case::nothing(&[], Thinking::ServerDefault)]
#[case::for_both(&[(Origin::File, "model.qwen_chat_thinking_mode", "disabled")], Thinking::Disabled)]
#[case::blank_role_keys_of_a_base_file(
    &[(Origin::File, "model.qwen_chat_thinking_mode", "disabled"),
      (Origin::Base, "model.target_qwen_chat_thinking_mode", "")],
    Thinking::Disabled
)]
#[case::the_role_wins(
    &[(Origin::File, "model.qwen_chat_thinking_mode", "disabled"),
      (Origin::File, "model.target_qwen_chat_thinking_mode", "enabled")],
    Thinking::Enabled
)]
#[case::the_older_form(&[(Origin::File, "model.qwen_chat_enable_thinking", "true")], Thinking::Enabled)]
#[case::the_stronger_form(
    &[(Origin::Base, "model.qwen_chat_thinking_mode", "enabled"),
      (Origin::File, "model.qwen_chat_enable_thinking", "false")],
    Thinking::Disabled
)]
fn c43_thinking_has_three_states_and_a_blank_key_is_none(
    #[case] settings: &[(Origin, &str, &str)],
    #[case] expect: Thinking,
) {
    let mut all = vec![(Origin::File, "model.target_backend", "qwen")];
    all.extend(settings);
    assert_eq!(config(&all).target.provider.thinking, expect);
}

#[test]
fn a_later_file_s_word_for_both_roles_wins_over_the_role_s_in_a_base_file() {
    let config = config(&[
        (Origin::File, "model.target_backend", "azure_openai"),
        (Origin::File, "model.azure_openai_endpoint", "https://me.openai.azure.com/"),
        (Origin::Base, "model.target_azure_openai_api_version", "2024-12-01-preview"),
        (Origin::File, "model.azure_openai_api_version", "2025-04-01-preview"),
    ]);
    assert_eq!(config.target.provider.api_version, "2025-04-01-preview");
    assert_eq!(config.target.base_url, "https://me.openai.azure.com");
    assert_eq!(config.target.provider.azure_auth, AzureAuth::Auto);
}

#[rstest]
#[case("openai_chat", "https://api.openai.com/v1", "m")]
#[case("qwen_chat", "http://localhost:8000/v1", "m")]
#[case("minimax", "https://api.minimax.io/v1", "m")]
#[case("anthropic_messages", "https://api.anthropic.com", "m")]
fn each_service_has_an_address_of_its_own(
    #[case] backend: &str,
    #[case] address: &str,
    #[case] model: &str,
) {
    let target = config(&[(Origin::File, "model.target_backend", backend)]).target;
    assert_eq!((target.base_url.as_str(), target.model.as_str()), (address, model));
    assert_eq!(target.provider.azure_auth, AzureAuth::None);
}

#[test]
fn minimax_takes_its_own_keys_where_the_role_has_none() {
    let given = [
        (Origin::File, "model.target_backend", "minimax_chat"),
        (Origin::Flag, "model.target", ""),
        (Origin::File, "model.minimax_region", "cn_zh"),
        (Origin::File, "model.minimax_temperature", "0.7"),
        (Origin::File, "model.minimax_max_tokens", "8000"),
        (Origin::File, "model.minimax_enable_thinking", "true"),
    ];
    let target = config(&given).target;
    assert_eq!(target.base_url, "https://api.minimaxi.com/v1");
    assert_eq!((target.temperature, target.max_tokens), (Some(0.7), 8_000));
    assert_eq!(target.provider.thinking, Thinking::Enabled);
}

#[rstest]
#[case("https://me.openai.azure.com", true)]
#[case("https://ME.OpenAI.Azure.com:443/openai/v1", true)]
#[case("http://me.openai.azure.com", false)]
#[case("https://me.eastus.cloudapp.azure.com", false)]
#[case("https://openai.azure.com.evil.example", false)]
#[case("https://evil.example/.openai.azure.com", false)]
#[case("https://x@evil.example?.openai.azure.com", false)]
fn hosts_of_azure_are_told_from_hosts_at_azure(#[case] address: &str, #[case] is_azure: bool) {
    assert_eq!(is_azure_host(address), is_azure);
}
