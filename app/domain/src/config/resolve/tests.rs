//! Reading rules, precedence and refusals.

use super::*;
use rstest::rstest;

fn file(path: &str, value: Value) -> Setting {
    let place = Place { origin: Origin::File, name: "run.yaml".into(), line: Some(7) };
    Setting { path: path.into(), value, place }
}

fn from(origin: Origin, path: &str, value: &str) -> Setting {
    let place = Place { origin, name: "src".into(), line: None };
    Setting { path: path.into(), value: Value::Text(value.into()), place }
}

fn text(value: &str) -> Value {
    Value::Text(value.into())
}

fn message(setting: Setting) -> String {
    let problems = resolve(&[setting]).expect_err("refused");
    problems[0].to_string()
}

#[rstest]
#[case("evaluation.gate_mixed_weight", Value::Float(1e-3), Value::Float(0.001))]
#[case("optimizer.learning_rate", Value::Float(4.0), Value::Int(4))]
#[case("train.num_epochs", Value::Int(10), Value::Int(10))]
#[case("gradient.failure_only", Value::Bool(true), Value::Bool(true))]
#[case("train.seed", Value::Null, Value::Int(42))]
fn c85_numbers_are_read_as_documented(
    #[case] path: &str,
    #[case] raw: Value,
    #[case] expect: Value,
) {
    let resolved = resolve(&[file(path, raw)]).expect("accepted");
    assert_eq!(resolved.get(path), &expect);
}

#[rstest]
#[case("gradient.failure_only", text("yes"), "expected true or false")]
#[case("gradient.failure_only", text("off"), "expected true or false")]
#[case("gradient.failure_only", text("false"), "expected true or false")]
#[case("train.seed", text("1_000"), "expected a whole number")]
#[case("model.target_timeout_seconds", Value::Float(f64::INFINITY), "must be from")]
#[case("evaluation.gate_mixed_weight", Value::Float(1.5), "must be from 0 to 1")]
fn c85_wrong_types_and_ranges_are_refused(
    #[case] path: &str,
    #[case] raw: Value,
    #[case] expect: &str,
) {
    let message = message(file(path, raw));
    assert!(message.starts_with("run.yaml:7: ") && message.contains(expect), "{message}");
}

#[test]
fn c87_flag_beats_environment_beats_file_beats_base() {
    let mut settings = vec![
        from(Origin::Base, "model.target", "base"),
        from(Origin::Flag, "model.target", "flag"),
        from(Origin::Environment, "model.target", "env"),
        from(Origin::File, "model.target", "file"),
    ];
    for (origin, expect) in [
        (Origin::Flag, "flag"),
        (Origin::Environment, "env"),
        (Origin::File, "file"),
        (Origin::Base, "base"),
    ] {
        let resolved = resolve(&settings).expect("accepted");
        assert_eq!(resolved.get("model.target"), &text(expect));
        assert_eq!(resolved.place("model.target").map(|place| place.origin), Some(origin));
        settings.retain(|setting| setting.place.origin != origin);
    }
}

#[test]
fn c87_an_empty_text_does_not_hide_a_weaker_source() {
    let settings =
        [from(Origin::File, "model.target", "qwen"), from(Origin::Flag, "model.target", "")];
    assert_eq!(resolve(&settings).expect("accepted").get("model.target"), &text("qwen"));
}

#[test]
fn c87_a_base_may_ask_for_what_is_not_built_when_a_stronger_source_does_not() {
    let settings = [
        from(Origin::Base, "model.target_backend", "claude_chat"),
        from(Origin::Base, "model.reasoning_effort", "medium"),
        from(Origin::Flag, "model.target_backend", "mock"),
        from(Origin::File, "model.reasoning_effort", ""),
    ];
    assert_eq!(resolve(&settings).expect("accepted").get("model.target_backend"), &text("mock"));
}

#[rstest]
#[case("gradient.max_analyst_rounds", "it was retired")]
#[case("train.steps_per_epoch", "it is computed from the data")]
#[case("optimizer.meta_learning_rate", "no version of the system has used it")]
#[case("model.codex_exec_full_auto", "the sandbox and the approval policy say it")]
#[case("env.exec_timeout", "the time limit of an agent is model.target_timeout_seconds")]
fn c88_a_retired_key_warns_with_its_reason(#[case] path: &str, #[case] reason: &str) {
    let resolved = resolve(&[file(path, Value::Int(3))]).expect("accepted");
    let [warning] = &resolved.warnings[..] else { panic!("one: {:?}", resolved.warnings) };
    assert_eq!(warning.path, path);
    assert!(
        warning.message.contains("has no effect") && warning.message.contains(reason),
        "{warning}"
    );
    assert!(resolve(&[file(path, Value::Null)]).expect("accepted").warnings.is_empty());
}

#[rstest]
#[case("gradient.minibatchsize", "did you mean gradient.minibatch_size?")]
#[case("optimiser.learning_rate", "did you mean optimizer.learning_rate?")]
#[case("whatever.x", "there is no such section")]
fn c88_unknown_keys_are_refused_with_a_suggestion(#[case] path: &str, #[case] expect: &str) {
    let message = message(file(path, Value::Int(1)));
    assert!(message.contains(expect), "{message}");
}

#[rstest]
#[case("gradient.merge_batch_size", 1)]
#[case("train.batch_size", 0)]
#[case("train.num_epochs", -1)]
#[case("env.workers", 0)]
fn c89_values_that_would_hang_are_refused(#[case] path: &str, #[case] value: i64) {
    let message = message(file(path, Value::Int(value)));
    assert!(message.contains("must be from"), "{message}");
}

#[rstest]
#[case("env.max_turns", Value::Int(3))]
fn later_features_are_refused_as_not_built(#[case] path: &str, #[case] value: Value) {
    let message = message(file(path, value));
    assert!(message.contains("not built yet"), "{message}");
}

#[test]
fn later_features_are_accepted_when_off() {
    let settings =
        [file("model.codex_exec_use_sdk", text("cli")), file("env.max_turns", Value::Int(1))];
    assert!(resolve(&settings).is_ok());
}

#[test]
fn a_key_in_a_config_is_refused_and_never_repeated() {
    let message = message(file("model.openai_compatible_api_key", text("sk-very-secret")));
    assert!(message.contains("environment variable") && !message.contains("sk-very"), "{message}");
}

#[test]
fn every_default_has_the_type_of_its_key() {
    for spec in KEYS.iter().filter(|spec| !spec.default.is_empty()) {
        assert_ne!(spec.default_value(), Value::Null, "{}", spec.path);
    }
}

#[test]
fn a_list_of_words_is_text_with_commas_and_anything_else_is_refused() {
    let list = |json| file("evaluation.leading_words", Value::Json(json));
    let resolved = resolve(&[list(serde_json::json!(["must", "keep"]))]).expect("accepted");
    assert_eq!(resolved.get("evaluation.leading_words"), &text("must,keep"));
    assert!(message(list(serde_json::json!(["must", 7]))).contains("list of words"));
}

#[rstest]
#[case("azure", "openai_chat")]
#[case("compat", "openai_compatible")]
#[case("anthropic", "claude_chat")]
fn other_names_of_a_backend_are_taken(#[case] given: &str, #[case] name: &str) {
    let resolved = resolve(&[file("model.backend", text(given))]).expect("taken");
    assert_eq!(resolved.get("model.backend"), &text(name));
}

#[rstest]
#[case("openai_compatibel", "did you mean openai_compatible?")]
#[case("openai", "two things")]
#[case("mokc", "did you mean mock?")]
fn a_mistyped_backend_is_an_error_and_never_the_simulation(
    #[case] given: &str,
    #[case] words: &str,
) {
    let message = message(file("model.target_backend", text(given)));
    assert!(message.contains(words), "{message}");
}
