//! Which fields matter with the values chosen so far: the others are not shown. Pure.

use skillopt_domain::config::BackendKind;
use skillopt_domain::spend::Role;

/// True when the key has an effect now.
pub(super) fn is_relevant(path: &str, value: impl Fn(&str) -> String) -> bool {
    match path {
        "env.split_dir" => value("env.split_mode") != "ratio",
        "env.data_path" | "env.split_ratio" | "env.split_seed" | "env.split_output_dir" => {
            value("env.split_mode") == "ratio"
        }
        "evaluation.gate_mixed_weight" => value("evaluation.gate_metric") == "mixed",
        "model.stream" | "model.reasoning_effort" => {
            !is_simulated("target", &value) || !is_simulated("optimizer", &value)
        }
        "model.rewrite_reasoning_effort" => !is_simulated("optimizer", &value),
        "model.mock_latency_ms" => serves_a_role("mock", &value),
        "model.cassette" => serves_a_role("replay", &value),
        _ if service_of(path).is_some() => serves(path, &value),
        _ if is_only_for_real_models(path, "target") => !is_simulated("target", &value),
        _ if is_only_for_real_models(path, "optimizer") => !is_simulated("optimizer", &value),
        _ => true,
    }
}

/// The backend that alone reads a key of its own.
fn service_of(path: &str) -> Option<&'static str> {
    const SERVICES: [(&str, &str); 5] = [
        ("openai_compatible_", "openai_compatible"),
        ("azure_openai_", "openai_chat"),
        ("qwen_chat_", "qwen_chat"),
        ("minimax_", "minimax_chat"),
        ("anthropic_", "anthropic_messages"),
    ];
    let key = path.strip_prefix("model.")?;
    let key =
        ROLES.iter().find_map(|role| key.strip_prefix(*role)?.strip_prefix('_')).unwrap_or(key);
    SERVICES.iter().find(|(start, _)| key.starts_with(start)).map(|(_, backend)| *backend)
}

const ROLES: [&str; 2] = ["target", "optimizer"];

/// The backend that reads the key serves the role that the key is for.
fn serves(path: &str, value: &impl Fn(&str) -> String) -> bool {
    let is_for = |role: &str| path.starts_with(&format!("model.{role}_"));
    let is_for_one = ROLES.iter().any(|role| is_for(role));
    ROLES.iter().any(|role| {
        (is_for(role) || !is_for_one)
            && service_of(path).is_some_and(|service| service == backend_of(role, value))
    })
}

/// A role's own backend wins over that of both; one that is for targets leaves the optimizer to another.
fn backend_of(role: &str, value: &impl Fn(&str) -> String) -> &'static str {
    let kind = |path: &str| BackendKind::parse(&value(path));
    let as_role = if role == "target" { Role::Target } else { Role::Optimizer };
    let of_both = || kind("model.backend").map(|kind| kind.for_role(as_role));
    let own = kind(&format!("model.{role}_backend"));
    own.or_else(of_both).unwrap_or(BackendKind::OpenaiCompatible).as_str()
}

fn serves_a_role(backend: &str, value: &impl Fn(&str) -> String) -> bool {
    ROLES.iter().any(|role| backend_of(role, value) == backend)
}

/// No real model answers for the role.
fn is_simulated(role: &str, value: &impl Fn(&str) -> String) -> bool {
    matches!(backend_of(role, value), "mock" | "replay")
}

fn is_only_for_real_models(path: &str, role: &str) -> bool {
    let Some(key) = path.strip_prefix("model.").and_then(|key| key.strip_prefix(role)) else {
        return false;
    };
    matches!(
        key,
        "" | "_api_key_env"
            | "_reasoning_effort"
            | "_temperature"
            | "_timeout_seconds"
            | "_extra_body"
            | "_price_in"
            | "_price_cached_in"
            | "_price_cache_write"
            | "_price_out"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("env.split_ratio", "env.split_mode=ratio", true)]
    #[case("env.split_ratio", "", false)]
    #[case("env.split_dir", "env.split_mode=ratio", false)]
    #[case("model.target", "model.backend=mock", false)]
    #[case("model.target", "model.backend=mock model.target_backend=openai_compatible", true)]
    #[case("model.target_api_key_env", "", true)]
    #[case("model.target_backend", "model.backend=mock", true)]
    #[case("model.openai_compatible_base_url", "model.backend=mock", false)]
    #[case("model.openai_compatible_base_url", "", true)]
    #[case("model.target_qwen_chat_base_url", "model.backend=qwen_chat", true)]
    #[case("model.optimizer_qwen_chat_base_url", "model.backend=qwen_chat", false)]
    #[case("model.azure_openai_endpoint", "model.backend=qwen_chat", true)]
    #[case("model.azure_openai_endpoint", "model.backend=anthropic_messages", false)]
    #[case("model.minimax_region", "model.optimizer_backend=minimax_chat", true)]
    #[case("model.target_reasoning_effort", "model.backend=mock", false)]
    #[case("model.target", "model.backend=replay", false)]
    #[case("model.cassette", "model.backend=mock", false)]
    #[case("model.cassette", "model.optimizer_backend=replay", true)]
    #[case("model.mock_latency_ms", "model.backend=replay", false)]
    #[case("evaluation.gate_mixed_weight", "evaluation.gate_metric=mixed", true)]
    #[case("train.seed", "", true)]
    fn a_field_is_shown_when_it_has_an_effect(
        #[case] path: &str,
        #[case] set: &str,
        #[case] shown: bool,
    ) {
        let value = |wanted: &str| {
            let pairs = set.split(' ').filter_map(|pair| pair.split_once('='));
            pairs
                .into_iter()
                .find(|(key, _)| *key == wanted)
                .map_or(String::new(), |(_, value)| value.to_owned())
        };
        assert_eq!(is_relevant(path, value), shown);
    }
}
