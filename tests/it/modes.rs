//! The sample run in every update mode, with every way to set the budget, and with all that happens between epochs.

use crate::binary::{history, train};
use anyhow::{Context, ensure};
use serde_json::Value;
use std::path::Path;

const SAMPLE: &str = "configs/searchqa/sample.yaml";

fn sample(dir: &Path, name: &str, settings: &[&str]) -> anyhow::Result<Value> {
    let out = dir.join(name);
    let out = out.to_string_lossy();
    let mut arguments = vec!["--config", SAMPLE, "--out-root", &out, "--json", "--cfg-options"];
    arguments.push("model.mock_latency_ms=0");
    arguments.extend(settings);
    let said = train(&dir.join("data"), &arguments)?;
    ensure!(said.code == 0, "{name}: {}", said.err);
    said.json()
}

fn gain(json: &Value) -> anyhow::Result<f64> {
    let test = |which: &str| json[which]["test"]["hard"].as_f64().context("a test score");
    Ok(test("best")? - test("baseline")?)
}

#[test]
fn the_sample_improves_in_every_update_mode_and_with_every_budget() -> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    for mode in ["patch", "rewrite_from_suggestions", "full_rewrite_minibatch"] {
        for control in ["fixed", "autonomous", "none"] {
            let name = format!("{mode}-{control}");
            let mode = format!("optimizer.skill_update_mode={mode}");
            let control = format!("optimizer.lr_control_mode={control}");
            let json = sample(dir.path(), &name, &[&mode, &control])?;
            ensure!(gain(&json)? > 0.05, "{name}: {json}");
        }
    }
    Ok(())
}

#[test]
fn the_sample_improves_with_all_that_happens_between_epochs_and_again_at_no_cost()
-> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    let everything = [
        "train.num_epochs=3",
        "optimizer.use_slow_update=true",
        "optimizer.longitudinal_pair_policy=changed",
        "optimizer.use_meta_skill=true",
        "optimizer.use_skill_aware_reflection=true",
    ];
    let first = sample(dir.path(), "one", &everything)?;
    ensure!(gain(&first)? > 0.05, "{first}");
    for file in [
        "slow_update/epoch_02/slow_result.json",
        "slow_update/epoch_03/comparison_pairs.json",
        "meta_skill/epoch_02/meta_skill_result.json",
        "steps/step_0001/appendix_notes.json",
    ] {
        ensure!(dir.path().join("one").join(file).exists(), "{file} is missing");
    }
    let second = sample(dir.path(), "two", &everything)?;
    assert_eq!(second["calls"]["target"], 0, "{second}");
    assert_eq!(second["calls"]["optimizer"], 0, "{second}");
    assert_eq!(history(&dir.path().join("one"))?, history(&dir.path().join("two"))?);
    Ok(())
}
