//! `skillopt doctor` on models: how many calls it makes, and what it tells of them.

use crate::binary::{Said, command};
use crate::fake_server::{FakeServer, Seen};
use anyhow::ensure;
use axum::http::StatusCode;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

fn doctor(url: &str, more: &[&str]) -> anyhow::Result<Said> {
    let dir = tempfile::tempdir()?;
    let mut command = command(dir.path());
    command.current_dir(dir.path()).env("MY_KEY", "sk-doctor-12345678");
    command.args(["doctor", "--port", "0", "--backend", "openai_compatible", "--model", "m"]);
    command.args(["--base-url", url, "--target-api-key-env", "MY_KEY"]).args(more);
    Ok(command.output()?.into())
}

#[test]
fn doctor_makes_one_call_a_role_and_tells_what_came_of_it() -> anyhow::Result<()> {
    let server = FakeServer::start();
    let said = doctor(&server.url, &["--json"])?;
    ensure!(said.code == 0, "{}{}", said.out, said.err);
    ensure!(server.seen().len() == 2, "{:?}", server.seen());
    ensure!(said.err.contains("making 2 calls") && said.err.contains("may charge"), "{}", said.err);
    let report = said.json()?;
    let target = &report["models"][0];
    ensure!(target["role"] == "target" && target["key"] == "MY_KEY", "{target}");
    ensure!(target["key_place"] == "the environment" && report["models"][1]["key"] == Value::Null);
    ensure!(target["test"]["ok"] == true && target["test"]["latency_ms"].is_u64(), "{target}");
    ensure!(target["test"]["prompt_tokens"] == 100 && target["test"]["attempts"] == 1, "{target}");
    let limits = report["endpoints"].as_array().map_or(0, Vec::len);
    ensure!(limits == 2, "one a key: {}", report["endpoints"]);
    ensure!(!said.out.contains("sk-doctor"), "{}", said.out);
    Ok(())
}

#[test]
fn doctor_asks_what_is_accepted_only_when_told_to_and_counts_the_calls() -> anyhow::Result<()> {
    // Knows no temperature.
    let server = FakeServer::with(
        Duration::ZERO,
        Arc::new(|seen: &Seen, _| {
            let body = json!({"error": {"message": "Unsupported parameter: 'temperature'."}});
            seen.body.get("temperature").is_some().then_some((StatusCode::BAD_REQUEST, body))
        }),
    );
    let said = doctor(&server.url, &["--probe"])?;
    ensure!(said.code == 0, "{}{}", said.out, said.err);
    ensure!(said.err.contains("making 14 calls"), "{}", said.err);
    // Roles with different keys learn together: what one was refused, the other does not send.
    let calls = server.seen().len();
    ensure!((15..=16).contains(&calls), "{calls}");
    ensure!(said.out.contains("temperature") && said.out.contains("refused"), "{}", said.out);
    ensure!(said.out.contains("leaves out temperature"), "{}", said.out);
    ensure!(said.out.contains("streams; its first token came after"), "{}", said.out);
    ensure!(server.seen().iter().any(|seen| seen.body["stream"] == true), "a stream was asked for");
    Ok(())
}

#[test]
fn doctor_fails_with_the_words_of_a_server_that_refuses() -> anyhow::Result<()> {
    let server = FakeServer::with(
        Duration::ZERO,
        Arc::new(|seen: &Seen, _| {
            let words = format!("no account for {}", seen.key);
            Some((StatusCode::UNAUTHORIZED, json!({"error": {"message": words}})))
        }),
    );
    let said = doctor(&server.url, &["--probe"])?;
    ensure!(
        said.code == 1 && said.out.contains("no account for authorization: Bearer ***"),
        "{}",
        said.out
    );
    ensure!(server.seen().len() == 2, "who refuses is not asked further");
    Ok(())
}
