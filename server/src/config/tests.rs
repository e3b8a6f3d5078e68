//! YAML texts, files that build on each other, and what wins over what.

use super::*;
use rstest::rstest;
use skillopt_domain::config::{Origin, Place, Resolved, ResolvedValue, Setting, Value, resolve};
use std::path::{Path, PathBuf};

fn read(yaml: &str) -> Resolved {
    from_yaml_text("run.yaml", yaml).expect("accepted")
}

fn refusal(yaml: &str) -> String {
    from_yaml_text("run.yaml", yaml).expect_err("refused").to_string()
}

fn text(value: &str) -> Value {
    Value::Text(value.into())
}

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("temporary folder");
    for (name, content) in files {
        let path = dir.path().join(name);
        std::fs::create_dir_all(path.parent().expect("parent")).expect("folder");
        std::fs::write(path, content).expect("file");
    }
    dir
}

fn load_file(path: &Path) -> Result<Resolved, BadConfig> {
    load(Sources { file: Some(path), env: &Environment::default(), flags: &[] })
}

fn load_with(yaml: &str, env: &Environment, flags: &[&str]) -> Result<Resolved, BadConfig> {
    let dir = folder(&[("run.yaml", yaml)]);
    let words: Vec<String> = flags.iter().map(|word| (*word).to_owned()).collect();
    let flags = cfg_options(&words)?;
    load(Sources { file: Some(&dir.path().join("run.yaml")), env, flags: &flags })
}

#[rstest]
#[case(
    "evaluation: {gate_mixed_weight: 1e-3}",
    "evaluation.gate_mixed_weight",
    Value::Float(0.001)
)]
#[case("optimizer: {learning_rate: 4.0}", "optimizer.learning_rate", Value::Int(4))]
#[case("train: {num_epochs: 010}", "train.num_epochs", Value::Int(10))]
#[case("train: {num_epochs: 0x10}", "train.num_epochs", Value::Int(16))]
#[case("train: {seed: null}", "train.seed", Value::Int(42))]
#[case("train: {seed: ~}", "train.seed", Value::Int(42))]
#[case("train: {seed: }", "train.seed", Value::Int(42))]
#[case("gradient: {failure_only: true}", "gradient.failure_only", Value::Bool(true))]
#[case("model: {target: yes}", "model.target", text("yes"))]
#[case("model: {target: 'true'}", "model.target", text("true"))]
#[case("env: {split_ratio: 2:1:7}", "env.split_ratio", text("2:1:7"))]
fn c85_yaml_is_read_as_documented(#[case] yaml: &str, #[case] path: &str, #[case] expect: Value) {
    assert_eq!(read(yaml).get(path), &expect);
}

#[rstest]
#[case("gradient: {failure_only: yes}", "expected true or false, got `yes`")]
#[case("gradient: {failure_only: off}", "expected true or false, got `off`")]
#[case("gradient: {failure_only: \"false\"}", "expected true or false, got `false`")]
#[case("train: {seed: 1_000}", "expected a whole number, got `1_000`")]
#[case("train: {seed: 99999999999999999999}", "expected a whole number")]
#[case("model: {target_timeout_seconds: .inf}", "must be from")]
#[case("evaluation: {gate_mixed_weight: .nan}", "must be from 0 to 1")]
#[case("train: {batch_size: [40]}", "expected a whole number, got `[40]`")]
#[case("train: {batch_size: {n: 40}}", "expected a whole number")]
fn c85_what_is_not_meant_is_refused(#[case] yaml: &str, #[case] expect: &str) {
    let message = refusal(yaml);
    assert!(message.starts_with("run.yaml:1: ") && message.contains(expect), "{message}");
}

#[test]
fn c85_a_mapping_stays_a_mapping() {
    let resolved = read("model:\n  target_extra_body:\n    top_p: 0.5\n    stop: [a, b]\n");
    let expect = serde_json::json!({"top_p": 0.5, "stop": ["a", "b"]});
    assert_eq!(resolved.get("model.target_extra_body"), &Value::Json(expect));
}

#[test]
fn c88_each_problem_has_its_line_and_all_are_told_at_once() {
    let yaml = "train:\n  batch_sise: 3\noptimiser:\n  learning_rate: 2\ngradient:\n  minibatchsize: 1\n  \
                merge_batch_size: 1\n";
    let message = refusal(yaml);
    for expect in [
        "run.yaml:2: train.batch_sise: there is no such key; did you mean train.batch_size?",
        "run.yaml:4: optimiser.learning_rate: there is no such key; did you mean optimizer.learning_rate?",
        "run.yaml:6: gradient.minibatchsize",
        "run.yaml:7: gradient.merge_batch_size: must be from 2",
    ] {
        assert!(message.contains(expect), "{expect} not in:\n{message}");
    }
    assert_eq!(message.lines().count(), 4);
}

#[rstest]
#[case(
    "train:\n  seed: 1\n  seed: 2\n",
    "run.yaml:3: train.seed: is set twice; it stands in line 2"
)]
#[case("train: {}\ntrain: {}\n", "run.yaml:2: train: is set twice")]
#[case("train: 3\n", "run.yaml:1: train: is a section")]
#[case("train: {seed: 1}\nbatch_size: 4\n", "write it as train.batch_size")]
#[case("- a\n- b\n", "expected sections with keys")]
#[case("train: {seed: 1\n", "not YAML")]
#[case("train:\n\tseed: 1\n", "not YAML")]
#[case("_base_: other.yaml\n", "cannot build on a file")]
#[case("models: {target: x}", "did you mean model.target?")]
fn c88_wrong_forms_are_explained(#[case] yaml: &str, #[case] expect: &str) {
    let message = refusal(yaml);
    assert!(message.contains(expect), "{message}");
}

#[test]
fn c88_a_retired_key_warns_with_its_line() {
    let resolved = read("gradient:\n  max_analyst_rounds: 3\n");
    let warning = resolved.warnings[0].to_string();
    assert!(warning.starts_with("run.yaml:2: ") && warning.contains("retired"), "{warning}");
}

#[rstest]
#[case("gradient: {merge_batch_size: 1}", "from 2")]
#[case("train: {batch_size: 0}", "from 1")]
#[case("train: {num_epochs: -1}", "from 1")]
#[case("env: {workers: 0}", "from 1 to 1024")]
#[case("evaluation: {gate_mixed_weight: 1.5}", "from 0 to 1")]
fn c89_values_that_would_hang_are_refused(#[case] yaml: &str, #[case] expect: &str) {
    let message = refusal(yaml);
    assert!(message.contains("must be from") && message.contains(expect), "{message}");
}

#[test]
fn an_empty_file_is_all_defaults() {
    assert_eq!(read(""), read("# only a comment\n"));
}

#[test]
fn a_byte_order_mark_and_crlf_do_not_matter() {
    let resolved = read("\u{feff}train:\r\n  seed: 7\r\n");
    assert_eq!(resolved.get("train.seed"), &Value::Int(7));
    assert_eq!(resolved.place("train.seed").and_then(|place| place.line), Some(2));
}

#[test]
fn flat_files_are_read_by_their_flat_names() {
    let resolved = read("edit_budget: 3\nbatch_size: 7\nenv: searchqa\ntarget_model: m\n");
    assert_eq!(resolved.get("optimizer.learning_rate"), &Value::Int(3));
    assert_eq!(resolved.get("train.batch_size"), &Value::Int(7));
    assert_eq!(resolved.get("model.target"), &text("m"));
    let message = refusal("editbudget: 3\n");
    assert!(message.contains("there is no such"), "{message}");
}

#[test]
fn a_child_wins_over_its_base_and_an_empty_value_does_not() {
    let dir = folder(&[
        ("base/root.yaml", "train: {seed: 1, batch_size: 8}\nmodel: {target: root}\n"),
        ("base/mid.yaml", "_base_: root.yaml\ntrain: {seed: 2}\n"),
        ("run.yaml", "_base_: base/mid.yaml\ntrain: {num_epochs: 9}\nmodel: {target: ''}\n"),
    ]);
    let resolved = load_file(&dir.path().join("run.yaml")).expect("accepted");
    assert_eq!(resolved.get("train.seed"), &Value::Int(2));
    assert_eq!(resolved.get("train.batch_size"), &Value::Int(8));
    assert_eq!(resolved.get("train.num_epochs"), &Value::Int(9));
    assert_eq!(resolved.get("model.target"), &text("root"));
    let place = resolved.place("train.seed").expect("a place");
    assert_eq!((place.origin, place.line), (Origin::Base, Some(2)));
    assert!(place.name.ends_with("base/mid.yaml"), "{}", place.name);
}

#[rstest]
#[case(&[("run.yaml", "_base_: run.yaml\n")], "builds on itself")]
#[case(&[("run.yaml", "_base_: b/a.yaml\n"), ("b/a.yaml", "\n_base_: ../run.yaml\n")], "a.yaml:2: _base_: builds on itself")]
#[case(&[("run.yaml", "_base_: [a.yaml]\n")], "expected the path of one file")]
#[case(&[("run.yaml", "_base_: gone.yaml\n")], "cannot read")]
fn bad_bases_are_refused(#[case] files: &[(&str, &str)], #[case] expect: &str) {
    let dir = folder(files);
    let message = load_file(&dir.path().join("run.yaml")).expect_err("refused").to_string();
    assert!(message.contains(expect), "{message}");
}

#[test]
fn two_files_may_build_on_the_same_base() {
    let dir = folder(&[("a.yaml", "_base_: base.yaml\n"), ("base.yaml", "train: {seed: 5}\n")]);
    for _ in 0..2 {
        assert!(load_file(&dir.path().join("a.yaml")).is_ok());
    }
}

#[test]
fn c87_flags_win_over_the_environment_and_that_over_files() {
    let yaml = "model: {target: file, optimizer: file}\ntrain: {seed: 1}\n";
    let env = Environment::from_pairs([
        ("TARGET_OPENAI_COMPATIBLE_MODEL", "role"),
        ("TARGET_DEPLOYMENT", "deployment"),
        ("OPENAI_COMPATIBLE_MODEL", "common"),
        ("OPENAI_COMPATIBLE_BASE_URL", "http://127.0.0.1:1/v1"),
        ("OPTIMIZER_OPENAI_COMPATIBLE_TEMPERATURE", "none"),
        ("OPENAI_COMPATIBLE_TEMPERATURE", "0.5"),
        ("OPENAI_COMPATIBLE_MAX_TOKENS", "100"),
    ]);
    let resolved = load_with(yaml, &env, &["train.seed=9", "edit_budget=3"]).expect("accepted");
    for (path, expect) in [
        ("model.target", text("role")),
        ("model.optimizer", text("common")),
        ("model.target_openai_compatible_base_url", text("http://127.0.0.1:1/v1")),
        ("model.target_temperature", Value::Float(0.5)),
        ("model.optimizer_temperature", Value::Null),
        ("env.max_completion_tokens", Value::Int(100)),
        ("model.optimizer_max_completion_tokens", Value::Int(100)),
        ("train.seed", Value::Int(9)),
        ("optimizer.learning_rate", Value::Int(3)),
    ] {
        assert_eq!(resolved.get(path), &expect, "{path}");
    }
    let place = resolved.place("model.target").expect("a place");
    assert_eq!(place.name, "TARGET_OPENAI_COMPATIBLE_MODEL");
}

#[test]
fn c87_variables_of_real_models_do_not_reach_a_simulated_role() {
    let env = Environment::from_pairs([
        ("OPENAI_COMPATIBLE_MODEL", "real"),
        ("OPENAI_COMPATIBLE_BASE_URL", "http://127.0.0.1:1"),
    ]);
    let resolved = load_with("model: {backend: mock}\n", &env, &[]).expect("accepted");
    assert_eq!(resolved.get("model.target"), &Value::Null);
    let asked =
        load_with("model: {backend: mock}\n", &env, &["model.target_backend=openai_compatible"]);
    let asked = asked.expect("accepted");
    assert_eq!(asked.get("model.target"), &text("real"));
    assert_eq!(asked.get("model.optimizer"), &Value::Null);
}

#[test]
fn variables_of_programs_count_for_a_run_that_has_one() {
    let env = Environment::from_pairs([
        ("CODEX_CLI_BIN", "/opt/codex"),
        ("CODEX_EXEC_NETWORK_ACCESS", "1"),
        ("EXEC_EMPTY_RESPONSE_RETRIES", "3"),
        ("OPENAI_COMPATIBLE_MODEL", "somebody-else"),
    ]);
    let get = |yaml: &str, path: &str| load_with(yaml, &env, &[]).expect("loads").get(path).clone();
    let with = "model: {backend: codex}";
    assert_eq!(get(with, "model.codex_exec_path"), text("/opt/codex"));
    assert_eq!(get(with, "model.codex_exec_network_access"), Value::Bool(true));
    assert_eq!(get(with, "model.exec_empty_response_retries"), Value::Int(3));
    assert_eq!(get(with, "model.target"), Value::Null);
    let without = "model: {backend: mock}";
    assert_eq!(get(without, "model.codex_exec_path"), Value::Null);
    // The other role may be served over HTTP.
    let mixed = "model: {target_backend: codex_exec, optimizer_backend: openai_compatible}";
    assert_eq!(get(mixed, "model.optimizer"), text("somebody-else"));
    assert_eq!(get(mixed, "model.target"), Value::Null);
}

#[test]
fn other_names_of_codex_keys_are_understood() {
    let yaml = "model: {codex_bin: /opt/codex, sandbox: read-only}";
    assert_eq!(read(yaml).get("model.codex_exec_path"), &text("/opt/codex"));
    assert_eq!(read(yaml).get("model.codex_exec_sandbox"), &text("read-only"));
    assert_eq!(read("codex_path: a/codex").get("model.codex_exec_path"), &text("a/codex"));
    let flags = ["model.codex_sandbox=read-only", "codex_cli_bin=/opt/codex"];
    let found = load_with("", &Environment::default(), &flags).expect("loads");
    assert_eq!(found.get("model.codex_exec_sandbox"), &text("read-only"));
    assert_eq!(found.get("model.codex_exec_path"), &text("/opt/codex"));
    let wrong = refusal("model: {sandbox: none}");
    assert!(wrong.contains("model.codex_exec_sandbox") && wrong.contains("run.yaml:1"), "{wrong}");
}

#[test]
fn c87_the_environment_chooses_a_backend_and_one_that_cannot_play_the_role_is_told() {
    let env = Environment::from_pairs([
        ("TARGET_BACKEND", "mock"),
        ("OPTIMIZER_BACKEND", "copilot_exec"),
    ]);
    let message = load_with("train: {seed: 1}\n", &env, &[]).expect_err("refused").to_string();
    assert!(message.contains("OPTIMIZER_BACKEND: model.optimizer_backend"), "{message}");
    assert!(message.contains("cannot propose edits"), "{message}");
}

#[test]
fn secrets_are_refused_everywhere_and_never_repeated() {
    let env = Environment::from_pairs([("OPENAI_COMPATIBLE_API_KEY", "sk-in-env")]);
    let flags = ["model.openai_compatible_api_key=sk-in-flag"];
    let message = load_with("model: {api_key: sk-in-file}\n", &env, &flags).expect_err("refused");
    let message = message.to_string();
    assert!(message.contains("environment variable") && !message.contains("sk-in"), "{message}");
    let resolved = load_with("model: {backend: mock}\n", &env, &[]).expect("accepted");
    let all = format!("{env:?} {resolved:?} {:?} {:?}", flat_json(&resolved), to_yaml(&resolved));
    assert!(!all.contains("sk-in"), "{all}");
}

#[test]
fn exported_yaml_reads_back_as_the_same_values() {
    let yaml = "model:\n  target: \"yes\"\n  optimizer: '010'\n  target_api_key_env: \"null\"\n  \
                target_extra_body: {a: [1, x], b: {c: true}}\n  target_temperature: 1e-7\n\
                train: {seed: 7}\ngradient: {failure_only: true}\n\
                env: {split_dir: 'C:\\data: #1', skill_init: ' lead', out_root: /tmp/x, split_ratio: 1:1:1}\n";
    let resolved = read(yaml);
    let exported = to_yaml(&resolved).expect("yaml");
    assert!(!exported.contains("out_root"), "{exported}");
    let back = read(&exported);
    for row in resolved.values.iter().filter(|row| row.path != "env.out_root") {
        assert_eq!(back.get(&row.path), &row.value, "{}\n{exported}", row.path);
    }
    assert_eq!(to_yaml(&read("")).expect("yaml"), "# Every key has its default.\n");
    assert_eq!(read(&to_yaml(&read("")).expect("yaml")), read(""));
}

#[rstest]
#[case("nokey", "expected section.key=value")]
#[case("=3", "expected section.key=value")]
#[case("train.seed=x", "--cfg-options train.seed: train.seed: expected a whole number")]
#[case("whatever=3", "there is no such section")]
fn bad_cfg_options_are_explained(#[case] word: &str, #[case] expect: &str) {
    let message = load_with("", &Environment::default(), &[word]).expect_err("refused").to_string();
    assert!(message.contains(expect), "{message}");
}

#[rstest]
#[case("my_api_key=sk-Hidden1", "environment variable")]
#[case("model.some_password=sk-Hidden1", "environment variable")]
#[case("sk-Hidden1", "expected section.key=value")]
fn secrets_in_cfg_options_are_never_repeated(#[case] word: &str, #[case] expect: &str) {
    let message = load_with("", &Environment::default(), &[word]).expect_err("refused").to_string();
    assert!(message.contains(expect) && !message.contains("Hidden1"), "{message}");
}

#[test]
fn every_flat_name_is_unique() {
    use skillopt_domain::config::KEYS;
    for spec in KEYS {
        assert_eq!(path_of_flat(flat_name(spec.path)), Some(spec.path));
    }
}

#[test]
fn shipped_configs_load_without_problems_or_warnings() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../configs");
    for name in ["_base_/default.yaml", "searchqa/default.yaml", "searchqa/sample.yaml"] {
        let resolved = load_file(&root.join(name)).unwrap_or_else(|problems| panic!("{problems}"));
        assert!(resolved.warnings.is_empty(), "{name}: {:?}", resolved.warnings);
    }
    let sample = load_file(&root.join("searchqa/sample.yaml")).expect("sample");
    let config = run_config(&sample).expect("complete");
    assert!(config.target.is_simulated() && config.optimizer_model.is_simulated());
}

#[test]
fn what_the_form_shows_of_a_role_stays_when_the_backend_of_both_changes() {
    let of_file = |path: &str, value: &str| Setting {
        path: path.to_owned(),
        value: Value::Text(value.to_owned()),
        place: Place { origin: Origin::File, name: "run.yaml".to_owned(), line: None },
    };
    let stored = [
        of_file("model.backend", "mock"),
        of_file("model.optimizer_backend", "openai_compatible"),
        of_file("model.target_backend", "mock"),
    ];
    let stored = resolve(&stored).unwrap();
    let shown = [("model.backend", "replay"), ("model.optimizer_backend", "openai_compatible")];
    let shown = shown.map(|(path, value)| (path.to_owned(), value.to_owned())).into();
    let fork = changed(&stored, &form_changes(&stored, &shown)).unwrap();
    let at = |path: &str| fork.get(path).to_string();
    assert_eq!(at("model.backend"), "replay");
    assert_eq!(at("model.optimizer_backend"), "openai_compatible", "the form shows it");
    assert_eq!(at("model.target_backend"), "null", "the form shows none");
}

#[test]
fn settings_without_effect_of_an_imported_run_are_left_out_of_a_fork_and_named() {
    let mut stored = resolve(&[]).unwrap();
    let place = Place { origin: Origin::File, name: "config.json".to_owned(), line: Some(3) };
    for (path, value) in [("batches_per_epoch", Value::Int(4)), ("unset_thing", Value::Null)] {
        stored.values.push(ResolvedValue { path: path.into(), value, place: place.clone() });
    }
    let (known, warning) = without_foreign(&stored);
    assert_eq!(known, resolve(&[]).unwrap());
    let message = warning.expect("a warning").message;
    assert!(message.ends_with("not taken over: batches_per_epoch"), "{message}");
    assert_eq!(without_foreign(&known).1, None);

    let sent = |value: &str| [("batches_per_epoch".to_owned(), value.to_owned())].into();
    let refused = |value: &str| changed(&known, &form_changes(&stored, &sent(value))).is_err();
    assert!(!refused("4"), "the form shows what is stored");
    assert!(refused("5"), "somebody wants what cannot be");
}
