//! `skillopt eval` as a person runs it: one skill on one split, and the files that say what came out.

use crate::binary::{Said, command};
use crate::fake_server::{FakeServer, Fault};
use anyhow::{Context, ensure};
use axum::http::StatusCode;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

const SKILL: &str = "data/searchqa_sample/SKILL.md";

fn eval(data_dir: &Path, out: &Path) -> anyhow::Result<Said> {
    let mut command = command(data_dir);
    command.args([
        "eval",
        "--config",
        "configs/searchqa/sample.yaml",
        "--skill",
        SKILL,
        "--split",
        "val",
    ]);
    command
        .args(["--json", "--out-root"])
        .arg(out)
        .args(["--cfg-options", "model.mock_latency_ms=0"]);
    Ok(command.output().context("running skillopt")?.into())
}

#[test]
fn an_evaluation_leaves_its_rows_and_a_summary_of_them() -> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    let out = dir.path().join("out");
    let said = eval(&dir.path().join("data"), &out)?;
    ensure!(said.code == 0, "{}", said.err);
    let summary: Value =
        serde_json::from_str(&std::fs::read_to_string(out.join("eval_summary.json"))?)?;
    let rows = std::fs::read_to_string(out.join("results.jsonl"))?;
    let rows: Vec<Value> = rows.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    assert_eq!((&summary["skill"], &summary["split"]), (&SKILL.into(), &"val".into()), "{summary}");
    assert_eq!(summary["n_items"], rows.len());
    let hard: f64 = rows.iter().filter_map(|row| row["hard"].as_f64()).sum();
    let n = u32::try_from(rows.len())?;
    let mean = summary["hard"].as_f64().context("hard")?;
    ensure!((mean - hard / f64::from(n)).abs() < 1e-9, "{summary}");
    let said = std::fs::read_to_string(out.join("predictions.jsonl"))?;
    let said = said.lines().map(|line| {
        let attempt: Value = serde_json::from_str(line)?;
        ensure!(attempt["conversation"].as_array().is_some_and(|said| said.len() > 2), "{attempt}");
        Ok(attempt["id"].as_str().context("an id")?.to_owned())
    });
    let mut said: HashSet<String> = said.collect::<anyhow::Result<_>>()?;
    for row in &rows {
        let id = row["id"].as_str().context("an id")?;
        ensure!(
            ["task_type", "task_description"]
                .iter()
                .all(|field| row[*field].as_str().is_some_and(|text| !text.is_empty())),
            "{row}"
        );
        ensure!(said.remove(id), "what was said about {id}");
    }
    Ok(())
}

/// A server that is away for a while from its tenth request on.
fn away(how_long: Duration) -> FakeServer {
    let gone = Mutex::new(None::<Instant>);
    let fault: Fault = Arc::new(move |_, number| {
        let body = json!({"error": {"message": "the model is being loaded"}});
        let mut gone = gone.lock().unwrap_or_else(PoisonError::into_inner);
        let since = (number >= 10).then(|| *gone.get_or_insert_with(Instant::now))?;
        (since.elapsed() < how_long).then_some((StatusCode::SERVICE_UNAVAILABLE, body))
    });
    FakeServer::with(Duration::from_millis(2), fault)
}

fn eval_over_http(server: &FakeServer, settings: &[&str]) -> anyhow::Result<Said> {
    let dir = tempfile::tempdir()?;
    let mut command = command(dir.path());
    command.args(["eval", "--config", "configs/searchqa/sample.yaml", "--skill", SKILL]);
    command.args(["--split", "val", "--json", "--cfg-options"]);
    command.args(["model.target_backend=openai_compatible", "model.target=m", "env.workers=4"]);
    command.arg(format!("model.target_openai_compatible_base_url={}", server.url)).args(settings);
    Ok(command.output().context("running skillopt")?.into())
}

#[test]
fn c46_an_evaluation_tells_of_an_outage_and_of_its_end() -> anyhow::Result<()> {
    let said = eval_over_http(&away(Duration::from_millis(1500)), &[])?;
    ensure!(said.code == 0, "{}", said.err);
    ensure!(said.err.contains("has not answered for"), "{}", said.err);
    ensure!(said.err.contains("the model is being loaded"), "{}", said.err);
    ensure!(said.err.contains("answers again, after"), "{}", said.err);
    assert_eq!(said.json()?["status"], "done", "standard output holds the result alone");
    Ok(())
}

#[test]
fn c46_an_evaluation_that_an_outage_ends_says_so_last() -> anyhow::Result<()> {
    let server = away(Duration::from_secs(3600));
    let said = eval_over_http(&server, &["model.total_timeout_seconds=2"])?;
    assert_eq!(said.code, 1, "{}", said.err);
    let last = said.err.lines().last().unwrap_or_default();
    ensure!(last.contains("has not answered for") && last.contains("loaded"), "{}", said.err);
    let json = said.json()?;
    assert_eq!(json["status"], "failed");
    ensure!(json["detail"].as_str().is_some_and(|why| said.err.contains(why)), "{json}");
    Ok(())
}

#[test]
fn an_evaluation_that_a_cap_ends_says_to_run_it_again_and_not_to_resume_it() -> anyhow::Result<()> {
    let server = FakeServer::start();
    let said = eval_over_http(&server, &["limits.max_calls=3"])?;
    assert_eq!(said.code, 1, "{}", said.err);
    ensure!(
        said.err.contains("raise limits.max_calls and run the same command again"),
        "{}",
        said.err
    );
    let json = said.json()?;
    ensure!(json["detail"].as_str().is_some_and(|why| said.err.contains(why)), "{json}");
    ensure!(!said.err.contains("resume"), "{}", said.err);
    Ok(())
}
