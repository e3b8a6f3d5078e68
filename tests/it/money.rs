//! What a run costs: foreseen, priced, and held by caps to the call.

use crate::binary::{Said, command, train};
use crate::fake_server::FakeServer;
use crate::training::train_over_http;
use anyhow::{Context, ensure};
use axum::http::StatusCode;
use rstest::rstest;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

const SAMPLE: &str = "configs/searchqa/sample.yaml";

fn sample(settings: &[&str]) -> anyhow::Result<Value> {
    let dir = tempfile::tempdir()?;
    let out = dir.path().join("out").to_string_lossy().into_owned();
    let mut arguments = vec!["--config", SAMPLE, "--json", "--out-root", &out, "--cfg-options"];
    arguments.push("model.mock_latency_ms=0");
    arguments.extend(settings);
    let said = train(&dir.path().join("data"), &arguments)?;
    ensure!(said.code == 0, "{}", said.err);
    said.json()
}

fn number(value: &Value, path: &str) -> anyhow::Result<u64> {
    value.pointer(path).and_then(Value::as_u64).with_context(|| format!("{path} of {value}"))
}

/// Calls and tokens of a summary.
fn spent(summary: &Value) -> anyhow::Result<[(&'static str, u64); 2]> {
    let calls = number(summary, "/calls/target")? + number(summary, "/calls/optimizer")?;
    Ok([("calls", calls), ("tokens", number(summary, "/tokens")?)])
}

fn holds(summary: &Value) -> anyhow::Result<()> {
    for (what, spent) in spent(summary)? {
        let (low, high) = (
            number(summary, &format!("/forecast/{what}/low"))?,
            number(summary, &format!("/forecast/{what}/high"))?,
        );
        ensure!((low..=high).contains(&spent), "{spent} {what}, foreseen were {low} to {high}");
    }
    Ok(())
}

#[test]
fn the_forecast_of_the_sample_is_within_15_percent_of_what_it_spends() -> anyhow::Result<()> {
    let summary = sample(&[])?;
    holds(&summary)?;
    for (what, spent) in spent(&summary)? {
        let likely = number(&summary, &format!("/forecast/{what}/likely"))?;
        ensure!(
            likely.abs_diff(spent) * 100 <= spent * 15,
            "{spent} {what}, {likely} were foreseen"
        );
    }
    Ok(())
}

#[rstest]
#[case::rewrite(&["optimizer.skill_update_mode=rewrite_from_suggestions"])]
#[case::full_rewrite(&["optimizer.skill_update_mode=full_rewrite_minibatch"])]
#[case::slow_update(&["optimizer.use_slow_update=true", "optimizer.use_meta_skill=true", "train.num_epochs=3"])]
#[case::autonomous(&["optimizer.lr_control_mode=autonomous"])]
#[case::splits(&["model.optimizer_max_context_tokens=3000"])]
#[case::small(&["train.batch_size=5", "gradient.minibatch_size=2", "train.accumulation=2"])]
#[case::python(&["train.compat=python", "optimizer.use_slow_update=true", "train.num_epochs=3"])]
fn the_range_of_the_forecast_holds_what_the_run_spends(
    #[case] settings: &[&str],
) -> anyhow::Result<()> {
    holds(&sample(settings)?)
}

/// As short as a run can be, with all its stages.
const SHORT: [&str; 4] =
    ["env.limit=6", "train.batch_size=6", "env.workers=3", "gradient.analyst_workers=3"];

fn short(dir: &Path, server: &FakeServer, settings: &[&str]) -> anyhow::Result<Said> {
    let more: Vec<&str> = SHORT.into_iter().chain(settings.iter().copied()).collect();
    train_over_http(&dir.join("data"), &server.url, &dir.join("out"), &more)
}

#[test]
fn c47_a_cap_on_calls_holds_to_the_call_and_a_higher_one_goes_on() -> anyhow::Result<()> {
    let (whole, dir) = (FakeServer::start(), tempfile::tempdir()?);
    let said = short(dir.path(), &whole, &[])?;
    assert_eq!(said.code, 0, "{}", said.err);
    let all = whole.seen().len();

    let (server, dir) = (FakeServer::start(), tempfile::tempdir()?);
    for cap in [1, 2, 3, 7, 8, 11, 16, all - 1] {
        let said = short(dir.path(), &server, &[&format!("limits.max_calls={cap}")])?;
        assert_eq!((said.code, server.seen().len()), (1, cap), "cap {cap}: {}", said.err);
        let summary = said.json()?;
        assert_eq!(summary["status"], "capped");
        assert_eq!(spent(&summary)?[0].1, cap as u64);
    }
    let said = short(dir.path(), &server, &["limits.max_calls=0"])?;
    assert_eq!(
        (said.code, server.seen().len()),
        (0, all),
        "nothing was paid for twice: {}",
        said.err
    );
    Ok(())
}

/// Replies are short, so that the worst case of a call is not far from what it takes.
const PRICED: [&str; 6] = [
    "env.max_completion_tokens=100",
    "model.optimizer_max_completion_tokens=100",
    "model.target_price_in=10",
    "model.target_price_out=100",
    "model.optimizer_price_in=10",
    "model.optimizer_price_out=100",
];

/// Every other answer of it is empty: that is counted and paid for all the same.
fn forgetful() -> FakeServer {
    FakeServer::with(Duration::ZERO, Arc::new(|_, number| (number % 2 == 0).then(empty)))
}

#[rstest]
#[case::tokens("limits.max_tokens", "/tokens", 1.0)]
#[case::money("limits.max_cost_usd", "/cost_usd", 1e-6)]
fn c47_no_cap_on_tokens_or_money_is_passed(
    #[case] key: &str,
    #[case] path: &str,
    #[case] unit: f64,
) -> anyhow::Result<()> {
    let spent = |summary: &Value| summary.pointer(path).and_then(Value::as_f64).context("spent");
    let dir = tempfile::tempdir()?;
    let whole = spent(&short(dir.path(), &forgetful(), &PRICED)?.json()?)?;
    let (server, dir) = (forgetful(), tempfile::tempdir()?);
    for share in [0.2, 0.5, 0.9] {
        let most = (whole * share / unit).floor() * unit;
        let setting = format!("{key}={most:.6}");
        let setting = setting.trim_end_matches(".000000");
        let settings: Vec<&str> = PRICED.into_iter().chain([setting]).collect();
        let said = short(dir.path(), &server, &settings)?;
        let summary = said.json()?;
        assert_eq!(summary["status"], "capped", "{setting}: {}", said.err);
        let spent = spent(&summary)?;
        assert!(spent <= most, "{spent} of {most}");
        let served = server.seen().len() as u64;
        assert_eq!(summary["tokens"], json!(served * 110), "every answer is counted");
    }
    Ok(())
}

fn empty() -> (StatusCode, Value) {
    let choice = json!({"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": ""}});
    let usage = json!({"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110});
    (StatusCode::OK, json!({"object": "chat.completion", "choices": [choice], "usage": usage}))
}

fn prices(data: &Path, arguments: &[&str]) -> anyhow::Result<Said> {
    Ok(command(data).arg("prices").args(arguments).output()?.into())
}

#[test]
fn c47_a_cap_in_dollars_needs_prices_and_the_price_table_gives_them() -> anyhow::Result<()> {
    let (server, dir) = (FakeServer::start(), tempfile::tempdir()?);
    let data = dir.path().join("data");
    let refused = short(dir.path(), &server, &["limits.max_cost_usd=100"])?;
    assert_eq!((refused.code, server.seen().len()), (2, 0));
    assert!(
        refused.err.contains("fake-target") && refused.err.contains("skillopt prices set"),
        "{}",
        refused.err
    );

    for arguments in [
        &[
            "set",
            "fake-*",
            "--in",
            "10",
            "--cached",
            "1",
            "--out",
            "100",
            "--as-of",
            "2026-11-30",
            "--source",
            "a test",
        ][..],
        &["set", "other", "--in", "1", "--out", "1"],
        &["remove", "other"],
    ] {
        let said = prices(&data, arguments)?;
        assert_eq!(said.code, 0, "{}", said.err);
    }
    let bad = prices(&data, &["set", "x*y", "--in", "1", "--out", "1"])?;
    assert!(bad.code == 2 && bad.err.contains("a * may stand at the end only"), "{}", bad.err);
    let listed = prices(&data, &["list", "--json"])?.json()?;
    assert_eq!(
        (listed["version"].clone(), listed["rows"].as_array().map(Vec::len)),
        (json!(3), Some(1))
    );

    let said = short(dir.path(), &server, &["limits.max_cost_usd=100"])?;
    assert_eq!(said.code, 0, "{}", said.err);
    let summary = said.json()?;
    // 60 tokens read, 40 from the cache and 10 written a call, at 10, 1 and 100 dollars for a million.
    let calls = spent(&summary)?[0].1;
    assert_eq!(summary["cost_usd"], json!(f64::from(u32::try_from(calls)?) * 0.00164));
    assert!(number(&summary, "/forecast/cost_usd_micros/likely")? > 0);

    // A later price changes nothing that was counted; the run has its own.
    assert_eq!(prices(&data, &["set", "fake-*", "--in", "99", "--out", "99"])?.code, 0);
    let again = short(dir.path(), &server, &["limits.max_cost_usd=100"])?;
    assert_eq!((again.code, again.json()?["cost_usd"].clone()), (0, summary["cost_usd"].clone()));
    let id = summary["run_id"].as_str().context("an id")?;
    let shown: Said = command(&data).args(["runs", "show", id, "--json"]).output()?.into();
    assert_eq!(shown.code, 0, "{}", shown.err);
    Ok(())
}

#[test]
fn a_dry_run_tells_the_forecast_and_what_it_rests_on() -> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    let said = train(&dir.path().join("data"), &["--config", SAMPLE, "--dry-run"])?;
    assert_eq!(said.code, 0, "{}", said.err);
    for words in ["forecast: about ", ") calls, ", "assumed: ", "the target is simulated"] {
        assert!(said.out.contains(words), "{words} is not in {}", said.out);
    }
    Ok(())
}
