//! From the config of a night, with its variables, to the config of a run.

use super::*;
use crate::config::Environment as Machine;
use serde_json::{Value, json};
use skillopt_domain::config::{BackendKind, OpenaiApi, RunConfig};
use skillopt_sleep::config::{Override, Sources as NightSources, load as load_night};
use std::path::PathBuf;

fn config(keys: &[(&str, Value)], variables: &'static [(&'static str, &'static str)]) -> Config {
    let set = |(key, value): &(&str, Value)| Override {
        flag: "--set".to_owned(),
        key: (*key).to_owned(),
        value: value.clone(),
    };
    let mut config = load_night(&NightSources {
        home: PathBuf::from("/home/me"),
        cwd: PathBuf::from("/p"),
        file: None,
        overrides: keys.iter().map(set).collect(),
    })
    .unwrap();
    let lookup =
        |name: &str| variables.iter().find(|pair| pair.0 == name).map(|pair| pair.1.to_owned());
    config.apply_env(&lookup).unwrap();
    config
}

fn run_of(config: &Config, more: &[Setting]) -> RunConfig {
    let (target, optimizer) = (config.target(), config.optimizer());
    let flags = flags_of(config, (&target, &optimizer), &[], more);
    let env = Machine::default();
    let resolved = load(Sources { file: None, env: &env, flags: &flags }).unwrap();
    run_config(&resolved).unwrap()
}

#[test]
fn azure_s_responses_api_is_chosen_for_every_role_that_has_it() {
    let keys = [
        ("backend", json!("azure-responses")),
        ("model", json!("gpt-5.5")),
        ("azure_endpoint", json!("https://me.openai.azure.com")),
    ];
    let run = run_of(&config(&keys, &[]), &[]);
    for role in Role::ALL.map(|role| run.role(role)) {
        assert_eq!(role.provider.openai_api, OpenaiApi::Responses);
        assert_eq!(role.base_url, "https://me.openai.azure.com");
    }
    let chat =
        run_of(&config(&[("backend", json!("azure_openai")), ("model", json!("m"))], &[]), &[]);
    assert_eq!(chat.target.provider.openai_api, OpenaiApi::Auto);
}

#[test]
fn several_addresses_of_azure_are_told_apart_and_one_of_them_goes_before_the_others() {
    let keys = [
        ("backend", json!("azure_openai")),
        ("model", json!("gpt-5.5")),
        ("azure_endpoint", json!("https://a.openai.azure.com, https://b.openai.azure.com,")),
    ];
    let config = config(&keys, &[]);
    let endpoints = config.azure_endpoints();
    assert_eq!(endpoints, ["https://a.openai.azure.com", "https://b.openai.azure.com"]);
    assert_eq!(run_of(&config, &[]).target.base_url, endpoints[0]);
    let at = flag("model.target_azure_openai_endpoint", "azure_endpoint", endpoints[1]);
    assert_eq!(run_of(&config, &[at]).target.base_url, endpoints[1]);
}

#[test]
fn programs_are_where_the_night_says_and_on_the_path_otherwise() {
    let keys = [
        ("backend", json!("codex")),
        ("codex_path", json!("/c/codex")),
        ("cursor_path", json!("/u/cursor-agent")),
        ("pi_path", json!("/p/pi")),
        ("opencode_path", json!("/o/opencode")),
    ];
    let paths = |given: &[(&str, Value)]| {
        let agents = run_of(&config(given, &[]), &[]).agents;
        [agents.codex.path, agents.cursor.path, agents.pi_path, agents.opencode_path]
    };
    assert_eq!(paths(&keys), ["/c/codex", "/u/cursor-agent", "/p/pi", "/o/opencode"]);
    assert_eq!(paths(&keys[..1]), [""; 4]);
}

#[test]
fn every_program_of_nights_is_its_backend_of_runs_in_every_role_that_it_serves() {
    let kinds = [
        ("claude", BackendKind::ClaudeChat),
        ("codex", BackendKind::CodexExec),
        ("copilot", BackendKind::CopilotChat),
        ("cursor", BackendKind::CursorExec),
        ("pi", BackendKind::PiChat),
        ("opencode", BackendKind::OpencodeChat),
    ];
    for (name, kind) in kinds {
        let run = run_of(&config(&[("backend", json!(name))], &[]), &[]);
        assert_eq!(Role::ALL.map(|role| run.role(role).backend), [kind; 2], "{name}");
    }
    // What only performs tasks needs another model beside it for edits, and gets none that nobody named.
    let pair = [("backend", json!("claude")), ("target_backend", json!("copilot_exec"))];
    let run = run_of(&config(&pair, &[]), &[]);
    let used = (run.target.backend, run.role(Role::Optimizer).backend);
    assert_eq!(used, (BackendKind::CopilotExec, BackendKind::ClaudeChat));
    let alone = config(&[("backend", json!("copilot_exec"))], &[]);
    let flags = flags_of(&alone, (&alone.target(), &alone.optimizer()), &[], &[]);
    let sources = Sources { file: None, env: &Machine::default(), flags: &flags };
    let refused = load(sources).err().map(|err| err.to_string()).unwrap_or_default();
    assert!(refused.contains("cannot propose edits"), "{refused}");
}

#[test]
fn caps_of_a_night_are_those_of_its_keys_and_zero_tokens_are_no_cap() {
    let caps = |keys: &[(&str, Value)]| {
        let limits = limits(&config(keys, &[]));
        (limits.max_tokens, limits.max_cost_usd_micros, limits.max_ms)
    };
    let keys = [
        ("max_tokens_per_night", json!(1000)),
        ("max_cost_usd_per_night", json!(0.5)),
        ("max_minutes_per_night", json!(1.5)),
    ];
    assert_eq!(caps(&keys), (Some(1000), Some(500_000), Some(90_000)));
    assert_eq!(caps(&[]), (Some(400_000), None, None));
    assert_eq!(caps(&[("max_tokens_per_night", json!(0))]), (None, None, None));
}

#[test]
fn variables_of_chat_servers_shape_their_calls_and_no_others() {
    let variables = &[
        ("SKILLOPT_SLEEP_COMPAT_MAX_TOKENS", "4096"),
        ("SKILLOPT_SLEEP_CHAT_EXTRA_BODY", "{\"top_k\": 5}"),
        ("OPENAI_COMPATIBLE_BASE_URL", "unused"),
    ];
    let keys = [("backend", json!("openai_compatible")), ("model", json!("m"))];
    let address = flag("model.openai_compatible_base_url", "test", "http://127.0.0.1:1/v1");
    let run = run_of(&config(&keys, variables), std::slice::from_ref(&address));
    for role in Role::ALL.map(|role| run.role(role)) {
        assert_eq!((role.max_tokens, role.extra_body.clone()), (4096, Some(json!({"top_k": 5}))));
    }
    let plain = run_of(&config(&keys, &[]), &[address]);
    assert_ne!(plain.target.max_tokens, 4096);
    let claude = run_of(&config(&[("backend", json!("claude"))], variables), &[]);
    assert_eq!(claude.target.extra_body, None);
}

#[test]
fn variables_of_copilot_say_where_its_home_is_and_what_runs_stand_ins() {
    let keys = [("backend", json!("copilot"))];
    let variables =
        &[("SKILLOPT_SLEEP_COPILOT_HOME", "/c"), ("COPILOT_AVAILABLE_TOOLS", "bash,view")];
    let copilot = run_of(&config(&keys, variables), &[]).agents.copilot;
    assert_eq!((copilot.home.as_str(), copilot.stand_in_tools.as_str()), ("/c", "bash,view"));
    let full = &[("SKILLOPT_SLEEP_COPILOT_HOME", "/c"), ("SKILLOPT_SLEEP_COPILOT_FULL_ENV", "1")];
    let copilot = run_of(&config(&keys, full), &[]).agents.copilot;
    assert_eq!((copilot.home.as_str(), copilot.stand_in_tools.as_str()), ("", "bash"));
}
