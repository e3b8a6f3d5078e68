//! Flags of nights become keys, and one choice is one choice.

use super::args::CommonArgs;
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
