//! Configs against files of the reference system and everything that can be wrong with them.

use super::*;
use rstest::rstest;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

fn sources(overrides: &[(&str, Value)]) -> Sources {
    let flag = |(key, value): &(&str, Value)| Override {
        flag: format!("--{key}"),
        key: (*key).to_owned(),
        value: value.clone(),
    };
    Sources {
        home: PathBuf::from("/home/me"),
        cwd: PathBuf::from("/work"),
        file: None,
        overrides: overrides.iter().map(flag).collect(),
    }
}

fn from_file(name: &str, text: &str, overrides: &[(&str, Value)]) -> Result<Config, ConfigErrors> {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join(name), text).unwrap();
    load(&Sources { file: find_file(dir.path()), ..sources(overrides) })
}

fn with(overrides: &[(&str, Value)]) -> Config {
    load(&sources(overrides)).unwrap()
}

#[test]
fn the_table_and_the_typed_config_have_the_same_keys_and_every_default_is_allowed() {
    let config = serde_json::to_value(with(&[])).unwrap();
    let mut typed: Vec<&String> = config.as_object().unwrap().keys().collect();
    let mut table: Vec<&str> = KEYS.iter().map(|key| key.name).collect();
    typed.sort();
    table.sort_unstable();
    assert_eq!(typed, table);
    for key in KEYS {
        let default: Value = serde_json::from_str(key.default).unwrap();
        let set = load(&sources(&[(key.name, default)]));
        assert!(set.is_ok(), "{}: {}", key.name, set.unwrap_err());
        assert!(key.help.ends_with('.'), "{}", key.name);
    }
}

#[test]
fn defaults_are_those_of_the_reference_system() {
    let config = with(&[]);
    assert_eq!(
        config.managed_skill_path(),
        Path::new("/home/me/.claude/skills/skillopt-sleep-learned/SKILL.md")
    );
    assert_eq!(config.memory_path(), Path::new("/work/CLAUDE.md"));
    assert_eq!(config.state_dir, Path::new("/home/me/.skillopt-sleep"));
    assert_eq!((config.max_sessions(), config.lookback(), config.seed), (120, Some(72), 42));
    assert_eq!((config.val_fraction(), config.gate_mixed_weight), (0.34, 0.5));
    assert!(!config.spends() && !config.is_fanout());
}

const THEIR_DEFAULTS: &str = r#"{
    "claude_home": "~/.claude", "codex_home": "~/.codex", "pi_home": "~/.pi", "cursor_home": "~/.cursor",
    "vscode_workspace_storage": "", "copilot_cli_session_store": "", "opencode_db": "",
    "transcript_source": "claude", "projects": "invoked", "invoked_project": "", "lookback_hours": 72,
    "max_tasks_per_night": 40, "max_sessions_per_night": null, "max_tokens_per_night": 400000,
    "holdout_fraction": 0.34, "val_fraction": 0.34, "test_fraction": 0.0, "backend": "mock", "model": "",
    "optimizer_backend": "", "optimizer_model": "", "target_backend": "", "target_model": "", "azure_endpoint": "",
    "codex_path": "", "pi_path": "", "cursor_path": "", "opencode_path": "", "opencode_tool_replay": false,
    "state_dir": "~/.skillopt-sleep", "edit_budget": 4, "preferences": "", "gate_mode": "on",
    "gate_metric": "mixed", "gate_mixed_weight": 0.5, "gate_no_regression": false, "replay_mode": "mock",
    "dream_rollouts": 1, "dream_factor": 0, "recall_k": 0, "evolve_memory": true, "evolve_skill": true,
    "llm_mine": true, "target_skill_path": "", "skill_roots": [], "target_task_filter": true, "progress": false,
    "evidence_log": true, "evidence_max_chars": 4000, "multi_skill_fanout": null, "multi_skill_report": false,
    "auto_adopt": false, "managed_skill_name": "skillopt-sleep-learned", "redact_secrets": true, "seed": 42
}"#;

#[test]
fn every_key_of_the_reference_system_is_here_with_its_default() {
    let theirs: Value = serde_json::from_str(THEIR_DEFAULTS).unwrap();
    let parsed = |key: &Key| (key.name.to_owned(), serde_json::from_str(key.default).unwrap());
    let ours: serde_json::Map<String, Value> =
        KEYS.iter().filter(|key| !key.is_addition).map(parsed).collect();
    assert_eq!(Value::Object(ours), theirs);
}

#[test]
fn the_key_of_the_split_names_our_rule_or_that_of_the_reference_system() {
    use crate::split::SplitRule as Rule;
    let rule = |set: &[(&str, Value)]| Rule::from(with(set).split_rule);
    assert_eq!(rule(&[]), Rule::Grouped);
    assert_eq!(rule(&[("split_rule", json!("compat"))]), Rule::Python);
}

#[test]
fn the_managed_skill_is_where_its_keys_say_and_roots_lie_below_the_project() {
    let named = with(&[("managed_skill_name", json!("mine"))]);
    assert_eq!(named.managed_skill_path(), Path::new("/home/me/.claude/skills/mine/SKILL.md"));
    let aimed = with(&[("target_skill_path", json!("skills/own/SKILL.md"))]);
    assert_eq!(aimed.managed_skill_path(), Path::new("/work/skills/own/SKILL.md"));
    let roots = with(&[("skill_roots", json!(["more", "/else"]))]).skill_root_paths();
    assert_eq!(roots, [Path::new("/work/more"), Path::new("/else")]);
}

#[rstest]
#[case(json!(null), true, true)]
#[case(json!(false), true, false)]
#[case(json!(true), false, true)]
fn the_newer_word_for_several_skills_goes_before_the_older_one(
    #[case] newer: Value,
    #[case] older: bool,
    #[case] expect: bool,
) {
    let set = [("multi_skill_fanout", newer), ("multi_skill_report", json!(older))];
    assert_eq!(with(&set).is_fanout(), expect);
}

#[rstest]
#[case(
    "config.json",
    r#"{"backend": "claude_code", "gate_mode": "greedy", "lookback_hours": null, "seed": 7.0}"#
)]
#[case("config.yaml", "backend: claude_code\ngate_mode: false\nlookback_hours: null\nseed: 7\n")]
#[case("config.yml", "backend: claude_code\ngate_mode: greedy\nlookback_hours: 0\nseed: 7\n")]
fn files_of_the_reference_system_are_read_in_each_format(#[case] name: &str, #[case] text: &str) {
    let config = from_file(name, text, &[]).unwrap();
    assert_eq!((config.backend.as_str(), config.gate_mode), ("claude", GateMode::Off));
    assert_eq!((config.lookback(), config.seed), (None, 7));
}

#[test]
fn flags_win_over_the_file_and_null_says_nothing() {
    let config = from_file(
        "config.json",
        r#"{"edit_budget": 9, "model": null}"#,
        &[("edit_budget", json!(2))],
    );
    let config = config.unwrap();
    assert_eq!((config.edit_budget, config.model.as_str()), (2, ""));
    assert!(config.user_set.contains("edit_budget") && !config.user_set.contains("model"));
}

#[rstest]
#[case(&[], 0.34)]
#[case(&[("holdout_fraction", 0.5)], 0.5)]
#[case(&[("val_fraction", 0.0), ("holdout_fraction", 0.5)], 0.0)]
#[case(&[("val_fraction", 0.2)], 0.2)]
fn f33_the_fraction_that_a_person_set_counts(#[case] set: &[(&str, f64)], #[case] expect: f64) {
    let set: Vec<(&str, Value)> = set.iter().map(|(key, value)| (*key, json!(value))).collect();
    assert_eq!(with(&set).val_fraction(), expect);
}

#[rstest]
#[case("--backend", "--backend: `\"cluade\"` is not one of")]
#[case("--set backend", "--set backend: `\"cluade\"` is not one of")]
#[case("form", "form: backend: `\"cluade\"` is not one of")]
fn an_error_about_a_flag_says_its_key_once(#[case] flag: &str, #[case] words: &str) {
    let mut sources = sources(&[("backend", json!("cluade"))]);
    flag.clone_into(&mut sources.overrides[0].flag);
    let err = load(&sources).unwrap_err().to_string();
    assert!(err.starts_with(words), "{err}");
}

#[test]
fn f19_an_unknown_backend_is_an_error_with_a_suggestion_and_never_mock() {
    let err = from_file("config.json", r#"{"backend": "cluade"}"#, &[]).unwrap_err().to_string();
    assert!(err.contains("config.json: backend: `\"cluade\"` is not one of mock, claude"), "{err}");
    assert!(err.ends_with("do you mean `claude`?"), "{err}");
    for key in KEYS.iter().filter(|key| key.kind == Kind::Backend) {
        assert!(load(&sources(&[(key.name, json!("cluade"))])).is_err(), "{}", key.name);
    }
}

#[rstest]
#[case("claude", &["anthropic", "claude_cli", "claude_code", " Claude "])]
#[case("codex", &["codex_cli", "openai_codex"])]
#[case("copilot", &["github_copilot", "copilot_cli", "gh_copilot"])]
#[case("cursor", &["cursor_agent", "cursor_cli"])]
#[case("pi", &["pi_cli", "pi_coding_agent", "pi-coding-agent"])]
#[case("opencode", &["opencode_cli", "opencode-cli"])]
#[case("handoff", &["session", "file"])]
#[case("azure_openai", &["azure", "aoai"])]
#[case("azure_responses", &["azure-responses", "aoai-responses", "responses"])]
fn aliases_of_backends_are_those_of_the_reference_system(
    #[case] name: &str,
    #[case] aliases: &[&str],
) {
    for word in aliases.iter().chain(&[name]) {
        assert_eq!(BackendName::parse(word).unwrap().as_str(), name, "{word}");
    }
}

#[test]
fn every_backend_of_runs_is_one_of_nights() {
    for spec in &skillopt_domain::config::BACKENDS {
        assert_eq!(with(&[("backend", json!(spec.name))]).backend.as_str(), spec.name);
        assert!(BackendName::all().any(|name| name == spec.name), "{} is not told", spec.name);
    }
}

#[rstest]
#[case("off")]
#[case("none")]
#[case("greedy")]
#[case("false")]
fn every_word_for_no_gate_is_understood(#[case] word: &str) {
    assert_eq!(with(&[("gate_mode", json!(word))]).gate_mode, GateMode::Off);
}

#[test]
fn f42_every_fault_of_a_file_is_told_with_file_and_key() {
    let text = r#"{"edit_budgte": 1, "seed": -1, "progress": "yes", "gate_metric": "mixd", "projects": 3}"#;
    let err = from_file("config.json", text, &[("--", json!(1))]).unwrap_err();
    assert_eq!(err.0.len(), 6);
    let told = err.to_string();
    for part in [
        "edit_budgte: there is no such key; do you mean `edit_budget`?",
        "seed: `-1` is not a whole number",
        "progress: `\"yes\"` is not true or false",
        "do you mean `mixed`?",
        "projects: `3` is not invoked, all",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
}

#[rstest]
#[case("config.json", "{")]
#[case("config.json", "[1]")]
#[case("config.yaml", "a: [")]
fn f42_a_file_that_is_damaged_is_not_ignored(#[case] name: &str, #[case] text: &str) {
    assert!(from_file(name, text, &[]).unwrap_err().to_string().contains(name));
}

#[test]
fn fractions_that_leave_nothing_to_train_on_are_refused() {
    let err =
        load(&sources(&[("val_fraction", json!(0.6)), ("test_fraction", json!(0.4))])).unwrap_err();
    assert!(err.to_string().contains("val_fraction"), "{err}");
}

#[test]
fn time_that_counts_needs_a_margin() {
    let set = |margin: f64| {
        load(&sources(&[("reward_latency_weight", json!(0.2)), ("gate_margin", json!(margin))]))
    };
    let err = set(0.0).unwrap_err().to_string();
    assert!(err.contains("`reward_latency_weight`") && err.contains("`gate_margin`"), "{err}");
    assert!(set(0.05).is_ok());
}

#[test]
fn a_moved_home_takes_the_state_along() {
    let moved = with(&[("claude_home", json!("/else/.claude"))]);
    assert_eq!(moved.state_dir, Path::new("/else/.skillopt-sleep"));
    let both = with(&[("claude_home", json!("/else/.claude")), ("state_dir", json!("~/s"))]);
    assert_eq!(both.state_dir, Path::new("/home/me/s"));
}

#[test]
fn f60_roles_inherit_and_a_real_backend_in_one_of_them_spends() {
    let config = with(&[("target_backend", json!("codex")), ("judge_model", json!("j"))]);
    assert_eq!(config.target().backend.as_str(), "codex");
    assert_eq!(config.optimizer().backend, BackendName::MOCK);
    assert_eq!(config.judge().model, "j");
    assert!(config.spends());
}

#[test]
fn environment_variables_fill_what_nobody_set() {
    let mut config = with(&[("codex_path", json!("/mine/codex")), ("backend", json!("claude"))]);
    let lookup = |name: &str| {
        Some(
            match name {
                "SKILLOPT_SLEEP_WORKERS" => "4",
                "SKILLOPT_SLEEP_CODEX_PATH" => "/env/codex",
                "SKILLOPT_SLEEP_CURSOR_PATH" => "/env/cursor",
                "SKILLOPT_SLEEP_CLAUDE_MODEL" => "opus",
                "SKILLOPT_SLEEP_NEG_FEEDBACK" => "nein, kaputt ,",
                "SKILLOPT_SLEEP_CHAT_EXTRA_BODY" => "{\"a\": 1}",
                "SKILLOPT_SLEEP_HANDOFF_DIR" => "  ",
                _ => return None,
            }
            .to_owned(),
        )
    };
    config.apply_env(&lookup).unwrap();
    assert_eq!(
        (config.codex_path.as_path(), config.cursor_path.as_path()),
        (Path::new("/mine/codex"), Path::new("/env/cursor"))
    );
    assert_eq!((config.env.workers, config.target().model.as_str()), (4, "opus"));
    assert_eq!(config.env.negative_feedback, ["nein", "kaputt"]);
    assert_eq!(
        (config.env.handoff_dir.clone(), config.env.chat_extra_body["a"].clone()),
        (None, json!(1))
    );
}

#[rstest]
#[case("SKILLOPT_SLEEP_WORKERS", "0")]
#[case("SKILLOPT_SLEEP_WORKERS", "many")]
#[case("SKILLOPT_SLEEP_COMPAT_MAX_TOKENS", "-1")]
#[case("SKILLOPT_SLEEP_CHAT_EXTRA_BODY", "[1]")]
fn a_variable_that_cannot_be_meant_is_an_error_with_its_name(
    #[case] name: &str,
    #[case] value: &str,
) {
    let lookup = |asked: &str| (asked == name).then(|| value.to_owned());
    let err = with(&[]).apply_env(&lookup).unwrap_err();
    assert!(err.to_string().contains(name), "{err}");
}
