//! What concerns several keys, and what stands for another word.

use super::*;
use crate::config::modes::{LrControl, PairPolicy, SlowUpdateMode, UpdateMode};
use crate::config::value::Value;
use crate::config::{Setting, resolve};
use rstest::rstest;

fn config(changes: &[(&str, &str)]) -> Result<RunConfig, Vec<ConfigProblem>> {
    let base = [("model.backend", "mock"), ("env.split_dir", "data")];
    let settings: Vec<Setting> = base
        .iter()
        .chain(changes)
        .map(|(path, value)| Setting {
            path: (*path).to_owned(),
            value: Value::Text((*value).to_owned()),
            place: Place::flag(*path),
        })
        .collect();
    RunConfig::from_resolved(&resolve(&settings)?)
}

#[rstest]
#[case("optimizer.min_learning_rate", "9", "must be at most the highest")]
#[case("model.target_api_key_env", "sk-12345", "name of an environment variable")]
#[case("model.target_extra_body", "{\"x\": {\"Api-Key\": \"v\"}}", "looks like a secret")]
#[case("model.target_backend", "openai_compatible", "needs an address")]
#[case("env.split_ratio", "2:0:1", "three whole numbers")]
fn what_concerns_several_keys_is_checked(
    #[case] path: &str,
    #[case] value: &str,
    #[case] expect: &str,
) {
    let problems = config(&[(path, value)]).expect_err("refused");
    assert!(problems.iter().any(|problem| problem.message.contains(expect)), "{problems:?}");
    assert!(problems.iter().all(|problem| !problem.message.contains("sk-12345")));
}

#[rstest]
#[case(&[("optimizer.use_slow_update", "true")], SlowUpdateMode::Gated)]
#[case(&[("optimizer.use_slow_update", "true"), ("train.compat", "python")], SlowUpdateMode::Forced)]
#[case(&[("optimizer.use_slow_update", "true"), ("train.compat", "python"),
         ("optimizer.slow_update_gate_with_selection", "true")], SlowUpdateMode::Gated)]
#[case(&[("optimizer.slow_update_gate_with_selection", "true")], SlowUpdateMode::Off)]
fn the_slow_update_is_gated_unless_someone_asks_otherwise(
    #[case] changes: &[(&str, &str)],
    #[case] expect: SlowUpdateMode,
) {
    assert_eq!(config(changes).expect("accepted").optimizer.slow_update, expect);
}

#[test]
fn words_of_the_reference_system_mean_the_same_here() {
    let config = config(&[
        ("optimizer.lr_control_mode", "no_lr"),
        ("optimizer.skill_update_mode", "rewrite"),
        ("optimizer.longitudinal_pair_policy", "01_10"),
    ])
    .expect("accepted");
    assert_eq!(config.optimizer.lr_control, LrControl::None);
    assert_eq!(config.optimizer.update_mode, UpdateMode::RewriteFromSuggestions);
    assert_eq!(config.optimizer.longitudinal.policy, PairPolicy::Changed);
}

#[test]
fn emphatic_words_come_from_the_config_or_from_the_reference_system() {
    let on = ("evaluation.use_semantic_density", "true");
    let density = |changes: &[(&str, &str)]| config(changes).expect("ok").evaluation.density;
    assert_eq!(density(&[]), None);
    assert_eq!(density(&[on]).expect("on").words.len(), 11);
    let own = density(&[on, ("evaluation.leading_words", "Must, keep")]).expect("on");
    assert_eq!(own.words, ["must", "keep"]);
}

#[test]
fn a_run_that_is_older_than_a_key_has_its_default() {
    let settings = [("model.backend", "mock"), ("env.split_dir", "data")].map(|(path, value)| {
        Setting { path: path.into(), value: Value::Text(value.into()), place: Place::flag(path) }
    });
    let whole = resolve(&settings).expect("valid");
    let mut old = whole.clone();
    old.values.retain(|row| settings.iter().any(|setting| setting.path == row.path));
    let config = RunConfig::from_resolved(&old).expect("complete");
    assert_eq!(config, RunConfig::from_resolved(&whole).expect("complete"));
    assert!(config.gradient.use_eval_feedback && config.optimizer.max_context_tokens > 0);
}

#[test]
fn a_tiny_cap_is_no_missing_cap() {
    let limits = config(&[("limits.max_cost_usd", "4e-7"), ("limits.max_minutes", "5e-6")])
        .expect("accepted")
        .limits;
    assert_eq!((limits.max_cost_usd_micros, limits.max_ms), (Some(1), Some(1)));
}
