//! Flags of nights become keys, and one choice is one choice.

use super::args::{CommonArgs, ScopeArg};
use super::order;
use serde_json::json;

#[test]
fn flags_become_keys_of_the_config_under_their_own_name() {
    let args = CommonArgs {
        backend: Some("claude".into()),
        max_tasks: 7,
        edit_budget: 0,
        lookback_hours: Some(0),
        settings: vec!["gate_metric=hard".into(), "recall_k=3".into()],
        ..CommonArgs::default()
    };
    let order = order(&args).expect("an order");
    let keys: Vec<_> = order
        .keys
        .iter()
        .map(|key| (key.flag.as_str(), key.key.as_str(), key.value.clone()))
        .collect();
    assert_eq!(
        keys,
        [
            ("--backend", "backend", json!("claude")),
            ("--lookback-hours", "lookback_hours", json!(0)),
            ("--max-tasks", "max_tasks_per_night", json!(7)),
            ("--set gate_metric", "gate_metric", json!("hard")),
            ("--set recall_k", "recall_k", json!(3)),
        ]
    );
}

#[test]
fn every_common_flag_becomes_its_key() {
    let path = |name: &str| Some(std::path::PathBuf::from(format!("/{name}")));
    let args = CommonArgs {
        scope: Some(ScopeArg::All),
        backend: Some("pi".into()),
        model: Some("m".into()),
        codex_path: path("codex"),
        cursor_path: path("cursor"),
        pi_path: path("pi"),
        opencode_path: path("opencode"),
        opencode_tool_replay: true,
        codex_home: path("codex"),
        cursor_home: path("cursor"),
        pi_home: path("pi"),
        source: Some("auto".into()),
        vscode_workspace_storage: path("code"),
        copilot_cli_session_store: path("copilot.db"),
        opencode_db: path("opencode.db"),
        edit_budget: 2,
        max_sessions: 3,
        target_skill_path: path("SKILL.md"),
        skill_roots: vec!["/roots".into()],
        progress: true,
        auto_adopt: true,
        preferences: Some("short".into()),
        ..CommonArgs::default()
    };
    let order = order(&args).expect("an order");
    let told: Vec<String> =
        order.keys.iter().map(|key| format!("{} {}={}", key.flag, key.key, key.value)).collect();
    let expect = [
        r#"--scope projects="all""#,
        r#"--backend backend="pi""#,
        r#"--model model="m""#,
        r#"--codex-path codex_path="/codex""#,
        r#"--cursor-path cursor_path="/cursor""#,
        r#"--pi-path pi_path="/pi""#,
        r#"--opencode-path opencode_path="/opencode""#,
        "--opencode-tool-replay opencode_tool_replay=true",
        r#"--codex-home codex_home="/codex""#,
        r#"--cursor-home cursor_home="/cursor""#,
        r#"--pi-home pi_home="/pi""#,
        r#"--source transcript_source="auto""#,
        r#"--vscode-workspace-storage vscode_workspace_storage="/code""#,
        r#"--copilot-cli-session-store copilot_cli_session_store="/copilot.db""#,
        r#"--opencode-db opencode_db="/opencode.db""#,
        "--edit-budget edit_budget=2",
        "--max-sessions max_sessions_per_night=3",
        r#"--target-skill-path target_skill_path="/SKILL.md""#,
        r#"--skill-root skill_roots=["/roots"]"#,
        "--progress progress=true",
        "--auto-adopt auto_adopt=true",
        r#"--preferences preferences="short""#,
    ];
    assert_eq!(told, expect);
}

#[test]
fn another_home_of_the_agent_is_another_state_of_nights() {
    let args = CommonArgs { claude_home: Some("/x/.claude".into()), ..CommonArgs::default() };
    let order = order(&args).expect("an order");
    assert!(
        order
            .keys
            .iter()
            .any(|key| key.key == "state_dir" && key.value == json!("/x/.skillopt-sleep"))
    );
}

#[test]
fn a_setting_without_a_value_is_refused() {
    let args = CommonArgs { settings: vec!["gate_metric".into()], ..CommonArgs::default() };
    assert!(order(&args).is_err());
}
