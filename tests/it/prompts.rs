//! `skillopt prompts` as a person uses it: export, change, check, train with it, resume.

use crate::binary::{Said, command, train};
use anyhow::Context;
use std::fs;
use std::path::Path;

const SAMPLE: &str = "configs/searchqa/sample.yaml";
const QUICK: [&str; 2] = ["model.mock_latency_ms=0", "train.num_epochs=1"];

fn prompts(data_dir: &Path, arguments: &[&str]) -> anyhow::Result<Said> {
    let all = [&["prompts"], arguments].concat();
    Ok(command(data_dir).args(all).output().context("running skillopt")?.into())
}

#[test]
fn prompts_are_listed_and_shown_with_all_that_they_need() -> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    let list = prompts(dir.path(), &["list"])?;
    assert_eq!(list.code, 0, "{}", list.err);
    for expect in ["analyst_failure ", "parts/rules ", "target ", "(searchqa, not replaceable)"] {
        assert!(list.out.contains(expect), "{expect}: {}", list.out);
    }
    let rows = prompts(dir.path(), &["list", "--json"])?.json()?;
    let rows = rows.as_array().context("rows")?.clone();
    assert!(rows.iter().all(|row| row["sha256"].as_str().is_some_and(|hash| hash.len() == 64)));
    let show = prompts(dir.path(), &["show", "ranking"])?.out;
    for expect in [
        "ranking: Orders",
        "{{ max_items }} (needed): most items",
        "\"selected_indices\"",
        "You choose which",
    ] {
        assert!(show.contains(expect), "{expect}: {show}");
    }
    let unknown = prompts(dir.path(), &["show", "../ranking"])?;
    assert_eq!(unknown.code, 2);
    assert!(unknown.err.contains("the prompts are analyst_failure"), "{}", unknown.err);
    Ok(())
}

#[test]
fn exported_prompts_are_changed_checked_trained_with_and_kept() -> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    let (data, own) = (dir.path().join("data"), dir.path().join("own"));
    let folder = own.display().to_string();
    assert_eq!(prompts(&data, &["export", &folder])?.code, 0);
    let again = prompts(&data, &["export", &folder])?;
    assert_eq!(again.code, 2, "nothing is written over");
    let same = prompts(&data, &["check", &folder])?;
    assert_eq!(same.code, 0, "{}", same.err);
    assert!(same.out.contains("nothing that differs"), "{}", same.out);

    let file = own.join("analyst_success.md");
    let ours = fs::read_to_string(&file)?;
    fs::write(&file, ours.replace("{{ contract }}", "{{ contrakt }}"))?;
    let bad = prompts(&data, &["check", &folder])?;
    assert_eq!(bad.code, 1);
    assert!(
        bad.err.contains("analyst_success.md:") && bad.err.contains("{{ contrakt }}"),
        "{}",
        bad.err
    );
    let folder_option = format!("optimizer.prompts_dir={folder}");
    let out = |name: &str| dir.path().join(name).display().to_string();
    let trained = |name: &str, options: &[&str]| {
        let (out, head) = (out(name), ["--config", SAMPLE, "--json", "--out-root"]);
        let options = [&head, &[out.as_str(), "--cfg-options"][..], &QUICK, options].concat();
        train(&data, &options)
    };
    let refused = trained("refused", &[&folder_option])?;
    assert_eq!(refused.code, 2, "{}", refused.err);
    assert!(refused.err.contains("analyst_success.md:"), "{}", refused.err);
    assert!(!dir.path().join("refused").exists(), "nothing was begun");

    fs::write(&file, format!("My own words.\n{ours}"))?;
    let sound = prompts(&data, &["check", &folder, "--json"])?.json()?;
    assert_eq!(sound["own"], serde_json::json!(["analyst_success"]));
    let plain = trained("plain", &[])?.json()?;
    let own = trained("mine", &[&folder_option])?.json()?;
    // Recorded replies belong to the words that led to them: only what was asked in other words is asked anew.
    let calls = |run: &serde_json::Value, role: &str| run["calls"][role].as_u64();
    assert!(calls(&plain, "optimizer") > calls(&own, "optimizer"), "{plain} {own}");
    assert!(calls(&own, "optimizer") > Some(0), "{own}");
    let record = fs::read_to_string(dir.path().join("mine/prompts.json"))?;
    assert!(record.contains("My own words.") && record.contains("\"user\""));
    let exported =
        command(&data).args(["runs", "export", own["run_id"].as_str().context("id")?]).output()?;
    assert!(
        String::from_utf8_lossy(&exported.stdout).contains("My own words."),
        "the export has the texts"
    );
    Ok(())
}
