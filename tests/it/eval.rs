//! `skillopt eval` as a person runs it: one skill on one split, and the files that say what came out.

use crate::binary::{Said, command};
use anyhow::{Context, ensure};
use serde_json::Value;
use std::collections::HashSet;
use std::path::Path;

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
