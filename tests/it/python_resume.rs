//! A folder that `runs export --format python` wrote, read the way in which the Python trainer resumes.

use crate::binary::{command, train};
use anyhow::{Context, bail, ensure};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const SAMPLE: &str = "configs/searchqa/sample.yaml";
const START: &str = "<!-- SLOW_UPDATE_START -->";
const END: &str = "<!-- SLOW_UPDATE_END -->";

/// Where the Python trainer goes on.
#[derive(Debug)]
struct Resumed {
    next_step: u64,
    current: String,
    best: String,
    current_score: f64,
    best_score: f64,
    /// Scores by hash of the text: a candidate in here is not measured.
    cache: BTreeMap<String, (f64, f64)>,
    /// Ends of past epochs that would be worked out again.
    again: Vec<String>,
    /// Recorded answers that would be taken for those of the work ahead.
    mixed_in: Vec<PathBuf>,
}

/// Reads a folder by the rules of the Python trainer: `runtime_state.json` first, paths as they stand, a falsy score is
/// unknown, past epochs are entered again and their guidance put into the skill, and recorded answers are taken by id.
fn resume(folder: &Path) -> anyhow::Result<Resumed> {
    let state = object(&folder.join("runtime_state.json"))?;
    let rows: Vec<Map<String, Value>> = serde_json::from_str(&read(&folder.join("history.json"))?)?;
    let last = state["last_completed_step"].as_u64().context("last_completed_step")?;
    let text_at = |key: &str| {
        let path = PathBuf::from(state[key].as_str().context("a path")?);
        ensure!(
            path.is_absolute(),
            "{key} is relative to wherever Python is started: {}",
            path.display()
        );
        read(&path)
    };
    let (mut current, best) = (text_at("current_skill_path")?, text_at("best_skill_path")?);
    let score = |key: &str| state[key].as_f64().filter(|score| *score != 0.0).unwrap_or(-1.0);
    let mut cache = BTreeMap::new();
    for row in &rows {
        for key in ["step", "epoch", "current_score", "best_score", "best_step"] {
            ensure!(row.get(key).is_some_and(Value::is_number), "{key} is no number in {row:?}");
        }
        row.get("action").and_then(Value::as_str).context("action")?;
        if let (Some(hash), Some(hard)) = (row.get("candidate_hash"), row.get("selection_hard")) {
            let soft =
                row.get("selection_soft").and_then(Value::as_f64).context("selection_soft")?;
            let hard = hard.as_f64().context("selection_hard")?;
            cache.insert(hash.as_str().context("candidate_hash")?.to_owned(), (hard, soft));
        }
    }
    let mut again = Vec::new();
    let last_epoch = rows.last().context("a row")?["epoch"].as_u64().context("epoch")?;
    for epoch in 1..=last_epoch {
        let steps = rows.iter().filter(|row| row["epoch"].as_u64() == Some(epoch));
        let end =
            steps.filter_map(|row| row["step"].as_u64()).max().context("an epoch without steps")?;
        read(&folder.join(format!("skills/skill_v{end:04}.md")))?;
        for (kind, file) in
            [("slow_update", "slow_result.json"), ("meta_skill", "meta_skill_result.json")]
        {
            let path = folder.join(format!("{kind}/epoch_{epoch:02}/{file}"));
            if !path.exists() {
                again.push(format!("{kind} {epoch}"));
                continue;
            }
            let result = object(&path)?;
            let action = result["action"].as_str().context("action")?;
            if kind == "slow_update"
                && epoch >= 2
                && ["accept", "accept_new_best", "force_accept"].contains(&action)
            {
                current =
                    injected(&current, result["slow_update_content"].as_str().context("content")?);
            }
        }
    }
    let ahead =
        [format!("steps/step_{:04}", last + 1), "test_eval".into(), "final_selection_eval".into()];
    let mixed_in =
        ahead.iter().map(|name| folder.join(name)).filter(|path| path.exists()).collect();
    Ok(Resumed {
        next_step: last + 1,
        current,
        best,
        current_score: score("current_score"),
        best_score: score("best_score"),
        cache,
        again,
        mixed_in,
    })
}

/// The Python trainer reflects on conversations that it reads by id, with the prompts beside them.
fn every_attempt_can_be_reflected_on(rollout: &Path) -> anyhow::Result<()> {
    let rows = read(&rollout.join("results.jsonl"))?;
    ensure!(!rows.is_empty(), "no attempt in {}", rollout.display());
    for row in rows.lines() {
        let row: Value = serde_json::from_str(row)?;
        let folder = rollout.join("predictions").join(row["id"].as_str().context("an id")?);
        let said: Value = serde_json::from_str(&read(&folder.join("conversation.json"))?)?;
        ensure!(said.as_array().is_some_and(|said| said.len() > 2), "{}: {said}", folder.display());
        for prompt in ["target_system_prompt.txt", "target_user_prompt.txt"] {
            ensure!(!read(&folder.join(prompt))?.is_empty(), "{}: {prompt}", folder.display());
        }
    }
    Ok(())
}

fn injected(skill: &str, content: &str) -> String {
    let mut body = skill.to_owned();
    while let Some((head, rest)) = body.split_once(START) {
        let tail = rest.split_once(END).map_or("", |(_, tail)| tail);
        body = format!("{head}{tail}");
    }
    let mut lines: Vec<&str> = Vec::new();
    for line in body.trim_end().lines() {
        if !(line.is_empty() && lines.last().is_some_and(|last| last.is_empty())) {
            lines.push(line);
        }
    }
    format!("{}\n\n{START}\n{}\n{END}\n", lines.join("\n").trim_end(), content.trim())
}

fn read(path: &Path) -> anyhow::Result<String> {
    fs::read_to_string(path).with_context(|| path.display().to_string())
}

fn object(path: &Path) -> anyhow::Result<Value> {
    let value: Value =
        serde_json::from_str(&read(path)?).with_context(|| path.display().to_string())?;
    ensure!(value.is_object(), "{} is no object", path.display());
    Ok(value)
}

/// Trains the sample with all that happens between epochs, and hands it over.
fn hand_over(dir: &Path, settings: &[&str]) -> anyhow::Result<(PathBuf, PathBuf)> {
    let (data, run, copy) = (dir.join("data"), dir.join("run"), dir.join("copy"));
    let out = run.to_string_lossy();
    let mut arguments = vec!["--config", SAMPLE, "--out-root", &out, "--json", "--cfg-options"];
    arguments.extend([
        "model.mock_latency_ms=0",
        "train.num_epochs=3",
        "optimizer.use_slow_update=true",
    ]);
    arguments.extend(["optimizer.use_meta_skill=true"]);
    arguments.extend(settings);
    let said = train(&data, &arguments)?.json()?;
    let id = said["run_id"].as_str().context("a run")?;
    let output = command(&data)
        .args(["runs", "export", id, "--format", "python", "-o"])
        .arg(&copy)
        .output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok((run, copy))
}

#[test]
fn the_python_trainer_goes_on_where_a_run_stopped() -> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    for (name, settings) in [
        ("done", &[][..]),
        ("forced", &["train.compat=python"][..]),
        ("rewrite", &["optimizer.skill_update_mode=rewrite_from_suggestions"][..]),
        ("capped in a step", &["limits.max_calls=600"][..]),
        ("capped at an epoch's end", &["limits.max_calls=700"][..]),
    ] {
        let (run, copy) = hand_over(&dir.path().join(name), settings)?;
        let resumed = resume(&copy).with_context(|| name.to_owned())?;
        let rows: Vec<Value> = serde_json::from_str(&read(&run.join("history.json"))?)?;
        let last = rows.last().context("a step")?;
        ensure!(
            Some(resumed.next_step) == last["step"].as_u64().map(|step| step + 1),
            "{name}: {resumed:?}"
        );
        let skill = read(&run.join(format!("skills/skill_v{:04}.md", resumed.next_step - 1)))?;
        assert_eq!(resumed.current, skill, "{name}: the skill to go on with");
        assert_eq!(resumed.best, read(&run.join("best_skill.md"))?, "{name}: the best skill");
        ensure!(resumed.current_score > 0.0 && resumed.best_score > 0.0, "{name}: {resumed:?}");
        ensure!(resumed.mixed_in.is_empty(), "{name}: {:?}", resumed.mixed_in);
        every_attempt_can_be_reflected_on(&copy.join("steps/step_0001/rollout"))?;
        let measured = rows.iter().filter(|row| row["selection_hard"].is_number());
        for row in measured {
            let hash = row["candidate_hash"].as_str().context("a hash")?;
            ensure!(resumed.cache.contains_key(hash), "{name}: {hash} would be measured again");
        }
        let epoch = last["epoch"].as_u64().context("an epoch")?;
        let of_past = |word: &&String| !word.ends_with(&epoch.to_string());
        ensure!(!resumed.again.iter().any(|word| of_past(&word)), "{name}: {:?}", resumed.again);
        if name == "capped in a step" {
            let begun = run.join(format!("steps/step_{:04}", resumed.next_step));
            ensure!(begun.exists() && epoch < 3, "the cap must fall into a step: {last}");
        }
        if name == "capped at an epoch's end" {
            let half = format!("slow_update/epoch_{epoch:02}");
            ensure!(run.join(&half).exists(), "the cap must fall into an epoch's end: {last}");
            ensure!(!copy.join(&half).exists(), "{half} is half done");
            ensure!(resumed.again.contains(&format!("slow_update {epoch}")), "{:?}", resumed.again);
        }
    }
    Ok(())
}

#[test]
fn a_folder_of_our_own_is_none_for_the_python_trainer_and_the_copy_is_imported_as_the_same_steps()
-> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    let (run, copy) = hand_over(dir.path(), &[])?;
    let Err(error) = resume(&run) else { bail!("a relative path must not pass") };
    ensure!(format!("{error:#}").contains("is relative"), "{error:#}");
    let config = read(&copy.join("config.yaml"))?;
    for line in ["use_slow_update: true", "slow_update_gate_with_selection: true", "seed: 42"] {
        ensure!(config.contains(line), "{line}: {config}");
    }
    let imported =
        command(&dir.path().join("other")).args(["import"]).arg(&copy).arg("--json").output()?;
    let said: Value = serde_json::from_slice(&imported.stdout)?;
    let rows: Vec<Value> = serde_json::from_str(&read(&run.join("history.json"))?)?;
    assert_eq!(said["n_steps"].as_u64(), u64::try_from(rows.len()).ok(), "{said}");
    Ok(())
}
