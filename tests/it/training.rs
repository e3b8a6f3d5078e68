//! Whole training runs through the binary, over the simulated models and over HTTP.

use crate::binary::{Said, command, history, train};
use crate::fake_server::FakeServer;
use anyhow::Context;
use axum::http::StatusCode;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

const SAMPLE: &str = "configs/searchqa/sample.yaml";

/// Arguments for the sample data against a server: short, deterministic, with purposes in headers.
pub(crate) fn over_http<'a>(url: &'a str, out_root: &'a str) -> Vec<String> {
    let settings = [
        "model.target_backend=openai_compatible".to_owned(),
        "model.optimizer_backend=openai_compatible".to_owned(),
        format!("model.openai_compatible_base_url={url}"),
        "model.target=fake-target".to_owned(),
        "model.optimizer=fake-optimizer".to_owned(),
        "model.send_skillopt_headers=true".to_owned(),
        "train.num_epochs=1".to_owned(),
        "env.limit=28".to_owned(),
    ];
    let mut arguments = vec!["--config".to_owned(), SAMPLE.to_owned(), "--json".to_owned()];
    arguments.extend(["--out-root".to_owned(), out_root.to_owned(), "--cfg-options".to_owned()]);
    arguments.extend(settings);
    arguments
}

pub(crate) fn train_over_http(
    data_dir: &Path,
    url: &str,
    out_root: &Path,
    more: &[&str],
) -> anyhow::Result<Said> {
    let out_root = out_root.to_string_lossy();
    let mut arguments = over_http(url, &out_root);
    arguments.extend(more.iter().map(|word| (*word).to_owned()));
    train(data_dir, &arguments.iter().map(String::as_str).collect::<Vec<_>>())
}

fn number(value: &Value, path: &str) -> u64 {
    value.pointer(path).and_then(Value::as_u64).unwrap_or(u64::MAX)
}

#[test]
fn the_sample_improves_and_the_same_command_again_costs_nothing() -> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    let run = |name: &str| -> anyhow::Result<(Value, Vec<u8>, Value)> {
        let out = dir.path().join(name);
        let out_text = out.to_string_lossy();
        let fast = "model.mock_latency_ms=0";
        let arguments =
            ["--config", SAMPLE, "--out-root", &out_text, "--json", "--cfg-options", fast];
        let said = train(&dir.path().join("data"), &arguments)?;
        assert_eq!(said.code, 0, "{}", said.err);
        Ok((said.json()?, std::fs::read(out.join("best_skill.md"))?, history(&out)?))
    };
    let (first, first_skill, first_history) = run("one")?;
    assert_eq!(first["status"], "done");
    assert!(number(&first, "/accepted") >= 2 && number(&first, "/rejected") >= 2, "{first}");
    let test = |which: &str| first[which]["test"]["hard"].as_f64().context("a test score");
    assert!(test("best")? > test("baseline")?, "{first}");
    assert_eq!(first["best"]["test"]["n"], 56);

    let (second, second_skill, second_history) = run("two")?;
    assert_eq!((number(&second, "/calls/target"), number(&second, "/calls/optimizer")), (0, 0));
    assert!(number(&second, "/calls/cached") > 0);
    assert_eq!(first_skill, second_skill);
    assert_eq!(first_history, second_history);

    let gone = dir.path().join("two");
    std::fs::remove_dir_all(&gone)?;
    let gone = gone.to_string_lossy();
    let fast = "model.mock_latency_ms=0";
    let arguments = ["--config", SAMPLE, "--out-root", &gone, "--cfg-options", fast];
    let again = train(&dir.path().join("data"), &arguments)?;
    assert_eq!(again.code, 0, "{}", again.err);
    assert!(again.err.contains("--format skill"), "{}", again.err);
    Ok(())
}

#[test]
fn a_training_run_over_http_works_and_counts_its_tokens() -> anyhow::Result<()> {
    let server = FakeServer::start();
    let dir = tempfile::tempdir()?;
    let said =
        train_over_http(&dir.path().join("data"), &server.url, &dir.path().join("out"), &[])?;
    assert_eq!(said.code, 0, "{}", said.err);
    let json = said.json()?;
    let calls = number(&json, "/calls/target") + number(&json, "/calls/optimizer");
    assert_eq!(calls, server.seen().len() as u64);
    assert_eq!(json["tokens"], json!(calls * 110));
    assert_eq!(json["cost_usd"], Value::Null, "no price is known, so no cost is");
    Ok(())
}

#[test]
fn c37_a_401_on_every_call_ends_in_preflight_with_exit_1_and_the_providers_words()
-> anyhow::Result<()> {
    let words = "Incorrect API key provided: see your account";
    let server = FakeServer::with(
        Duration::ZERO,
        Arc::new(move |_, _| {
            Some((StatusCode::UNAUTHORIZED, json!({"error": {"message": words}})))
        }),
    );
    let dir = tempfile::tempdir()?;
    let said =
        train_over_http(&dir.path().join("data"), &server.url, &dir.path().join("out"), &[])?;
    assert_eq!(said.code, 1);
    assert!(said.err.contains(words), "{}", said.err);
    assert_eq!(server.seen().len(), 1, "nothing but the first preflight call was made");
    Ok(())
}

#[test]
fn after_a_preflight_at_a_wrong_address_the_same_command_with_the_right_one_gets_the_folder()
-> anyhow::Result<()> {
    let wrong = FakeServer::with(
        Duration::ZERO,
        Arc::new(|_, _| {
            Some((StatusCode::UNAUTHORIZED, json!({"error": {"message": "not here"}})))
        }),
    );
    let right = FakeServer::start();
    let dir = tempfile::tempdir()?;
    let (data, out) = (dir.path().join("data"), dir.path().join("out"));
    let failed = train_over_http(&data, &wrong.url, &out, &[])?;
    assert_eq!(failed.code, 1, "{}", failed.err);
    let said = train_over_http(&data, &right.url, &out, &[])?;
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.err.contains("the folder goes to a new run"), "{}", said.err);
    let failed = failed.json()?["run_id"].as_str().context("a run")?.to_owned();
    assert_ne!(said.json()?["run_id"], failed.as_str());
    let copy = dir.path().join("copy");
    let export = ["runs", "export", &failed, "--format", "python", "--output"];
    let refused = Said::from(command(&data).args(export).arg(&copy).output()?);
    assert_eq!(refused.code, 1, "{}", refused.err);
    assert!(refused.err.contains("belongs to run"), "{}", refused.err);
    assert!(!copy.exists(), "what is in the folder is of another run");
    Ok(())
}

#[test]
fn five_runs_with_one_seed_give_one_history_whatever_the_order_of_arrival() -> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    let mut histories = Vec::new();
    for run in 0u64..5 {
        // Each server answers at its own pace, so that replies arrive in another order.
        let server = FakeServer::with(Duration::from_millis(run), Arc::new(|_, _| None));
        let out = dir.path().join(format!("out{run}"));
        // The address is part of every ledger key; another data directory makes it plain.
        let said = train_over_http(&dir.path().join(format!("data{run}")), &server.url, &out, &[])?;
        assert_eq!(said.code, 0, "{}", said.err);
        histories.push(history(&out)?);
    }
    for other in &histories[1..] {
        assert_eq!(&histories[0], other);
    }
    Ok(())
}

#[test]
fn c42_an_unknown_parameter_is_renamed_once_and_the_run_goes_on() -> anyhow::Result<()> {
    let server = FakeServer::with(
        Duration::ZERO,
        Arc::new(|_, number| {
            let body = json!({"error": {"code": "unsupported_parameter",
                "message": "Unsupported parameter: 'max_completion_tokens'. Use 'max_tokens' instead.",
                "param": "max_completion_tokens"}});
            (number == 1).then_some((StatusCode::BAD_REQUEST, body))
        }),
    );
    let dir = tempfile::tempdir()?;
    let said =
        train_over_http(&dir.path().join("data"), &server.url, &dir.path().join("out"), &[])?;
    assert_eq!(said.code, 0, "{}", said.err);
    Ok(())
}
