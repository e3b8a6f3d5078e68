//! Which fields matter with the values chosen so far: the others are not shown. Pure.

/// True when the key has an effect now.
pub(super) fn is_relevant(path: &str, value: impl Fn(&str) -> String) -> bool {
    match path {
        "env.split_dir" => value("env.split_mode") != "ratio",
        "env.data_path" | "env.split_ratio" | "env.split_seed" | "env.split_output_dir" => {
            value("env.split_mode") == "ratio"
        }
        "evaluation.gate_mixed_weight" => value("evaluation.gate_metric") == "mixed",
        "model.openai_compatible_base_url" => {
            !is_simulated("target", &value) || !is_simulated("optimizer", &value)
        }
        "model.mock_latency_ms" => serves_a_role("mock", &value),
        "model.cassette" => serves_a_role("replay", &value),
        _ if is_only_for_real_models(path, "target") => !is_simulated("target", &value),
        _ if is_only_for_real_models(path, "optimizer") => !is_simulated("optimizer", &value),
        _ => true,
    }
}

/// A role's own backend wins over that of both.
fn backend_of(role: &str, value: &impl Fn(&str) -> String) -> String {
    let own = value(&format!("model.{role}_backend"));
    if own.is_empty() { value("model.backend") } else { own }
}

fn serves_a_role(backend: &str, value: &impl Fn(&str) -> String) -> bool {
    ["target", "optimizer"].iter().any(|role| backend_of(role, value) == backend)
}

/// No real model answers for the role.
fn is_simulated(role: &str, value: &impl Fn(&str) -> String) -> bool {
    matches!(backend_of(role, value).as_str(), "mock" | "replay")
}

fn is_only_for_real_models(path: &str, role: &str) -> bool {
    let Some(key) = path.strip_prefix("model.").and_then(|key| key.strip_prefix(role)) else {
        return false;
    };
    matches!(
        key,
        "" | "_openai_compatible_base_url"
            | "_api_key_env"
            | "_temperature"
            | "_timeout_seconds"
            | "_extra_body"
            | "_price_in"
            | "_price_cached_in"
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
