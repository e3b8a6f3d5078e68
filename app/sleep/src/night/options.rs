//! From the keys of the config to the options of the stages. Pure.

use crate::backend::TokenLimits;
use crate::config::Config;
use crate::consolidate::{GateRule, NightOptions};
use crate::replay::RewardWeights;

/// How the stages of a night go, by its config.
#[must_use]
pub fn night_options(config: &Config) -> NightOptions {
    let weights = RewardWeights {
        accuracy: 1.0,
        tokens: config.reward_tokens_weight,
        latency: config.reward_latency_weight,
    };
    let mut rule = GateRule::new(config.gate_metric, config.gate_mixed_weight);
    rule.no_regression = config.gate_no_regression;
    rule.margin = config.gate_margin;
    rule.min_tasks = small(config.gate_min_tasks);
    rule.weights = weights;
    NightOptions {
        evolve_skill: config.evolve_skill,
        evolve_memory: config.evolve_memory,
        gate: config.gate_mode,
        rule,
        gate_repeats: small(config.gate_repeats),
        slow_update: config.slow_update,
        gate_per_edit: config.gate_per_edit,
        edit_budget: small(config.edit_budget),
        preferences: config.preferences.clone(),
        dream_factor: small(config.dream_factor),
        recall_k: small(config.recall_k),
        rollouts: small(config.dream_rollouts),
        workers: u32::from(config.env.workers),
        ..NightOptions::default()
    }
}

/// Most tokens of each kind of call.
pub(super) fn token_limits(config: &Config) -> TokenLimits {
    TokenLimits {
        attempt: config.attempt_max_tokens,
        judge: config.judge_max_tokens,
        miner: config.miner_max_tokens,
        reflect: config.reflect_max_tokens,
    }
}

/// The table of keys holds counts far below the limit.
fn small(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{GateMode, Override, Sources, load};
    use serde_json::{Value, json};
    use skillopt_domain::score::GateMetric;
    use std::path::PathBuf;

    fn config(keys: &[(&str, Value)]) -> Config {
        let set = |(key, value): &(&str, Value)| Override {
            flag: "--set".to_owned(),
            key: (*key).to_owned(),
            value: value.clone(),
        };
        load(&Sources {
            home: PathBuf::from("/home/me"),
            cwd: PathBuf::from("/p"),
            file: None,
            overrides: keys.iter().map(set).collect(),
        })
        .expect("a config")
    }

    #[test]
    fn what_is_not_set_leaves_the_gate_as_the_reference_system_has_it() {
        let options = night_options(&config(&[]));
        assert_eq!(options.rule, GateRule::default());
        assert_eq!((options.gate, options.gate_repeats), (GateMode::On, 1));
        assert!(!options.slow_update);
        assert_eq!(token_limits(&config(&[])), TokenLimits::default());
    }

    #[test]
    fn every_key_of_the_gate_reaches_the_night() {
        let options = night_options(&config(&[
            ("gate_mode", json!("greedy")),
            ("gate_metric", json!("soft")),
            ("gate_margin", json!(0.05)),
            ("gate_min_tasks", json!(4)),
            ("gate_repeats", json!(3)),
            ("gate_no_regression", json!(true)),
            ("reward_tokens_weight", json!(0.5)),
            ("reward_latency_weight", json!(0.25)),
            ("slow_update", json!(true)),
        ]));
        assert_eq!((options.gate, options.gate_repeats), (GateMode::Off, 3));
        let weights = RewardWeights { accuracy: 1.0, tokens: 0.5, latency: 0.25 };
        let mut rule = GateRule::new(GateMetric::Soft, 0.5);
        (rule.no_regression, rule.margin) = (true, 0.05);
        (rule.min_tasks, rule.weights) = (4, weights);
        assert_eq!(options.rule, rule);
        assert!(options.slow_update);
    }

    #[test]
    fn every_key_of_learning_reaches_the_night() {
        let usual = night_options(&config(&[]));
        assert_eq!(usual, NightOptions { gate_per_edit: true, ..NightOptions::default() });
        let asked = night_options(&config(&[
            ("evolve_skill", json!(false)),
            ("evolve_memory", json!(false)),
            ("edit_budget", json!(2)),
            ("preferences", json!("short answers")),
            ("dream_rollouts", json!(3)),
            ("dream_factor", json!(4)),
            ("recall_k", json!(5)),
            ("gate_per_edit", json!(false)),
            ("gate_mixed_weight", json!(0.25)),
        ]));
        let expect = NightOptions {
            evolve_skill: false,
            evolve_memory: false,
            edit_budget: 2,
            preferences: "short answers".to_owned(),
            rollouts: 3,
            dream_factor: 4,
            recall_k: 5,
            rule: GateRule::new(GateMetric::Mixed, 0.25),
            ..NightOptions::default()
        };
        assert_eq!(asked, expect);
    }

    #[test]
    fn limits_of_tokens_are_those_of_their_keys() {
        let limits = token_limits(&config(&[
            ("attempt_max_tokens", json!(512)),
            ("judge_max_tokens", json!(200)),
            ("miner_max_tokens", json!(800)),
            ("reflect_max_tokens", json!(1024)),
        ]));
        let expect = TokenLimits {
            attempt: Some(512),
            judge: Some(200),
            miner: Some(800),
            reflect: Some(1024),
        };
        assert_eq!(limits, expect);
    }
}
