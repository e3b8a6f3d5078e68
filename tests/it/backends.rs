//! A training run on the sample with each backend that speaks HTTP, in both roles, against a server that speaks its API.
//! The server answers as the simulated models do, so every backend must lead to one history.

use crate::binary::{Said, command, history};
use crate::fake_server::{FakeServer, Seen};
use crate::training::over_http;
use anyhow::{Context, ensure};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Output;

/// A backend, with `URL` where the address of the server goes.
struct Case {
    name: &'static str,
    settings: &'static [&'static str],
    variables: &'static [(&'static str, &'static str)],
    /// Of each call: where it goes and what signs in, of the target and of the optimizer.
    places: [&'static str; 2],
    key: &'static str,
    is_right: fn(&Value) -> bool,
}

const CHAT: &str = "/v1/chat/completions";

const CASES: [Case; 6] = [
    Case {
        name: "openai_compatible, streamed",
        settings: &[
            "model.backend=openai_compatible",
            "model.stream=true",
            "model.reasoning_effort=low",
        ],
        variables: &[
            ("OPENAI_COMPATIBLE_BASE_URL", "URL/v1"),
            ("OPENAI_COMPATIBLE_API_KEY", "sk-compatible"),
        ],
        places: [CHAT, CHAT],
        key: "authorization: Bearer sk-compatible",
        is_right: |body| body["stream"] == true && body["reasoning_effort"] == "low",
    },
    Case {
        name: "openai_chat, chat and Responses",
        settings: &["model.backend=openai_chat", "model.optimizer=gpt-5.3-codex"],
        variables: &[("OPENAI_BASE_URL", "URL/v1"), ("OPENAI_API_KEY", "sk-openai")],
        places: [CHAT, "/v1/responses"],
        key: "authorization: Bearer sk-openai",
        is_right: |body| match body["model"] == "gpt-5.3-codex" {
            true => body["store"] == false && body["instructions"].is_string(),
            false => body["messages"][0]["role"] == "system",
        },
    },
    Case {
        name: "openai_chat at Azure, Responses streamed",
        settings: &[
            "model.backend=azure_openai",
            "model.azure_openai_auth_mode=api_key",
            "model.target=codex-mini",
            "model.stream=true",
        ],
        variables: &[("AZURE_OPENAI_ENDPOINT", "URL"), ("AZURE_OPENAI_API_KEY", "sk-azure")],
        places: [
            "/openai/v1/responses",
            "/openai/deployments/fake-optimizer/chat/completions?api-version=2024-12-01-preview",
        ],
        key: "api-key: sk-azure",
        is_right: |body| body["stream"] == true,
    },
    Case {
        name: "qwen_chat",
        settings: &[
            "model.backend=qwen",
            "model.optimizer_backend=qwen_chat",
            "model.qwen_chat_thinking_mode=disabled",
        ],
        variables: &[("QWEN_CHAT_BASE_URL", "URL/v1"), ("QWEN_CHAT_API_KEY", "sk-qwen")],
        places: [CHAT, CHAT],
        key: "authorization: Bearer sk-qwen",
        is_right: |body| body["chat_template_kwargs"] == json!({"enable_thinking": false}),
    },
    Case {
        name: "minimax_chat",
        settings: &["model.backend=minimax", "model.optimizer_backend=minimax_chat"],
        variables: &[("MINIMAX_BASE_URL", "URL/v1"), ("MINIMAX_API_KEY", "sk-minimax")],
        places: [CHAT, CHAT],
        key: "authorization: Bearer sk-minimax",
        is_right: |body| body["thinking"] == json!({"type": "disabled"}),
    },
    Case {
        name: "anthropic_messages, streamed",
        settings: &["model.backend=anthropic_messages", "model.stream=true"],
        variables: &[("ANTHROPIC_BASE_URL", "URL"), ("ANTHROPIC_API_KEY", "sk-anthropic")],
        places: ["/v1/messages", "/v1/messages"],
        key: "x-api-key: sk-anthropic",
        is_right: |body| {
            let mark = json!({"type": "ephemeral"});
            // The preflight has a system message too.
            body["system"][0]["cache_control"] == mark && body["max_tokens"].is_u64()
        },
    },
];

fn train(
    server: &FakeServer,
    dir: &Path,
    settings: &[&str],
    variables: &[(&str, &str)],
) -> anyhow::Result<Said> {
    let out = dir.join("out");
    let out = out.to_string_lossy();
    let mut arguments = over_http(&server.url, &out);
    // The backend and its address are those of the case.
    arguments.retain(|word| !word.contains("_backend=") && !word.contains("base_url="));
    arguments.extend(settings.iter().map(|word| (*word).to_owned()));
    let host = server.url.trim_end_matches("/v1");
    let mut command = command(&dir.join("data"));
    for (name, value) in variables {
        command.env(name, value.replace("URL", host));
    }
    command.arg("train").args(&arguments);
    let output: Output = command.output().context("running skillopt")?;
    Ok(output.into())
}

fn is_target(seen: &Seen) -> bool {
    seen.purpose == "qa"
}

#[test]
fn each_http_backend_trains_the_sample_in_both_roles_and_speaks_its_api() -> anyhow::Result<()> {
    let mut first: Option<Value> = None;
    for case in &CASES {
        let (server, dir) = (FakeServer::start(), tempfile::tempdir()?);
        let said =
            train(&server, dir.path(), case.settings, case.variables).with_context(|| case.name)?;
        ensure!(said.code == 0, "{}: {}", case.name, said.err);
        let (json, seen) = (said.json()?, server.seen());
        assert_eq!(json["status"], "done", "{}", case.name);
        let accepted = json["accepted"].as_u64().context("accepted")?;
        assert!(accepted >= 1, "{}: nothing was learned: {json}", case.name);
        assert_eq!(json["tokens"], json!(seen.len() * 110), "{}", case.name);
        assert!(seen.iter().any(is_target), "{}", case.name);
        for one in seen.iter().filter(|one| one.purpose != "preflight") {
            let place = case.places[usize::from(!is_target(one))];
            assert_eq!((&one.place[..], &one.key[..]), (place, case.key), "{}", case.name);
            assert!((case.is_right)(&one.body), "{}: {}", case.name, one.body);
        }
        let history = history(&dir.path().join("out"))?;
        assert_eq!(first.get_or_insert_with(|| history.clone()), &history, "{}", case.name);
    }
    Ok(())
}

#[cfg(unix)]
#[test]
fn a_run_at_azure_without_a_key_signs_in_with_the_azure_cli() -> anyhow::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let (server, dir) = (FakeServer::start(), tempfile::tempdir()?);
    let (az, asked) = (dir.path().join("az"), dir.path().join("asked"));
    let answer = r#"{"accessToken": "token-of-az", "expires_on": 99999999999}"#;
    let script = format!("#!/bin/sh\necho asked >> '{}'\necho '{answer}'\n", asked.display());
    std::fs::write(&az, script)?;
    std::fs::set_permissions(&az, std::fs::Permissions::from_mode(0o755))?;
    let path = format!("{}:/usr/bin:/bin", dir.path().display());
    let settings = ["model.backend=azure", "model.azure_openai_auth_mode=azure_cli"];
    let variables = [("AZURE_OPENAI_ENDPOINT", "URL"), ("PATH", path.as_str())];
    let said = train(&server, dir.path(), &settings, &variables)?;
    ensure!(said.code == 0, "{}", said.err);
    assert!(server.seen().iter().all(|one| one.key == "authorization: Bearer token-of-az"));
    assert_eq!(std::fs::read_to_string(asked)?, "asked\n", "one token serves both roles");
    Ok(())
}

#[test]
fn a_token_of_azure_goes_to_no_host_that_only_a_config_names() -> anyhow::Result<()> {
    let (server, dir) = (FakeServer::start(), tempfile::tempdir()?);
    let endpoint = format!("model.azure_openai_endpoint={}", server.url.trim_end_matches("/v1"));
    let settings =
        ["model.backend=azure", "model.azure_openai_auth_mode=managed_identity", &endpoint];
    let said = train(&server, dir.path(), &settings, &[])?;
    assert_ne!(said.code, 0);
    assert!(said.err.contains("AZURE_OPENAI_ENDPOINT"), "{}", said.err);
    assert!(server.seen().is_empty());
    Ok(())
}

#[test]
fn a_mistyped_backend_is_an_error_with_the_nearest_name_and_never_the_simulation()
-> anyhow::Result<()> {
    let (server, dir) = (FakeServer::start(), tempfile::tempdir()?);
    let said = train(&server, dir.path(), &["model.backend=minimax_caht"], &[])?;
    assert_eq!(said.code, 2, "{}", said.err);
    assert!(said.err.contains("did you mean minimax_chat?"), "{}", said.err);
    assert!(!dir.path().join("out").exists());
    Ok(())
}
