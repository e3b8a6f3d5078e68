//! Runs that are answered from cassettes, by the rules of the Python system: what comes out is what the rules demand.
//! Scenarios and the reasons for each expectation stand in `tests/fixtures/cassettes`.

use crate::binary::{Said, command, history, root, train};
use anyhow::{Context, ensure};
use rstest::rstest;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs::read_to_string;
use std::path::{Path, PathBuf};

fn fixtures() -> PathBuf {
    root().join("tests/fixtures/cassettes")
}

fn read_json(path: &Path) -> anyhow::Result<Value> {
    let text = read_to_string(path).with_context(|| path.display().to_string())?;
    serde_json::from_str(&text).with_context(|| path.display().to_string())
}

fn lines(text: &str) -> Value {
    json!(text.split('\n').collect::<Vec<_>>())
}

/// Trains a scenario from a cassette into `out`, with a data directory beside it.
fn replay(name: &str, cassette: &Path, out: &Path) -> anyhow::Result<Said> {
    let config = format!("tests/fixtures/cassettes/{name}/config.yaml");
    let cassette = format!("model.cassette={}", cassette.display());
    let out_root = out.to_string_lossy();
    let arguments =
        ["--config", &config, "--out-root", &out_root, "--json", "--cfg-options", &cassette];
    train(&data_dir(out), &arguments)
}

fn data_dir(out: &Path) -> PathBuf {
    out.with_extension("data")
}

/// Records the run of a folder as a cassette.
fn record(said: &Said, out: &Path) -> anyhow::Result<PathBuf> {
    let run = said.json()?["run_id"].as_str().context("the run's id")?.to_owned();
    let path = out.with_extension("jsonl");
    let file = path.to_string_lossy();
    let recorded =
        command(&data_dir(out)).args(["runs", "cassette", &run, "--out", &file]).output()?;
    let recorded = Said::from(recorded);
    ensure!(recorded.code == 0, "{}", recorded.err);
    Ok(path)
}

/// A scenario that ran to its end.
struct Played {
    out: PathBuf,
    exchanges: Vec<Value>,
    recorded: PathBuf,
}

fn play(name: &str, dir: &Path) -> anyhow::Result<Played> {
    let out = dir.join("out");
    let said = replay(name, &fixtures().join(name).join("cassette.jsonl"), &out)?;
    ensure!(said.code == 0, "{name}: {}", said.err);
    let recorded = record(&said, &out)?;
    let text = read_to_string(&recorded)?;
    let exchanges = text.lines().skip(1).map(serde_json::from_str).collect::<Result<_, _>>()?;
    Ok(Played { out, exchanges, recorded })
}

impl Played {
    /// What the analysts of a step read between two tags; `None` when no analyst was asked.
    fn told(&self, step: &str, tag: &str) -> Option<String> {
        let analysts = self.exchanges.iter().filter(|exchange| {
            exchange["phase"] == step
                && exchange["purpose"].as_str().is_some_and(|word| word.starts_with("analyst"))
        });
        let texts: BTreeSet<String> = analysts
            .map(|exchange| {
                let user = exchange["messages"][1]["content"].as_str().unwrap_or_default();
                let open = user.split_once(&format!("<{tag}>\n")).map(|(_, rest)| rest);
                let inside = open.and_then(|rest| rest.split_once(&format!("\n</{tag}>")));
                inside.map_or(String::new(), |(inside, _)| inside.to_owned())
            })
            .collect();
        assert!(texts.len() < 2, "analysts of one step are told the same: {texts:?}");
        texts.into_iter().next()
    }

    fn step(&self, row: &Value) -> anyhow::Result<Value> {
        let number = row["step"].as_u64().context("a number")?;
        let dir = self.out.join(format!("steps/step_{number:04}"));
        let name = format!("step_{number:04}");
        let report = dir.join("edit_apply_report.json");
        let is_rewrite = ["rewrite_result.json", "full_rewrite_result.json"]
            .iter()
            .any(|file| dir.join(file).exists());
        let edits = match (report.exists(), is_rewrite) {
            (true, _) => {
                let rows = read_json(&report)?;
                let rows = rows.as_array().context("a list")?;
                json!(rows.iter().map(|row| row["status"].clone()).collect::<Vec<_>>())
            }
            (false, true) => Value::Null,
            (false, false) => json!([]),
        };
        let before = self.told(&name, "previous_steps").map(|text| match text.as_str() {
            "" => json!([]),
            text => lines(text),
        });
        let memory = self.told(&name, "optimizer_memory").filter(|text| !text.is_empty());
        let skill = self.out.join(format!("skills/skill_v{number:04}.md"));
        Ok(json!({
            "step": number,
            "action": row["action"],
            "candidate": row["candidate_gate_score"],
            "current": row["current_score"],
            "best": row["best_score"],
            "budget": row["edit_budget"],
            "edits": edits,
            "before": before,
            "memory": memory,
            "skill": lines(&read_to_string(skill)?),
        }))
    }

    /// The pairs that were shown after an epoch, as `id category`.
    fn pairs(&self, epoch: u32) -> anyhow::Result<Option<Vec<String>>> {
        let path = self.out.join(format!("slow_update/epoch_{epoch:02}/comparison_pairs.json"));
        if !path.exists() {
            return Ok(None);
        }
        let rows = read_json(&path)?;
        let word = |row: &Value, key: &str| row[key].as_str().unwrap_or_default().to_owned();
        let rows = rows.as_array().context("a list")?;
        Ok(Some(
            rows.iter()
                .map(|row| format!("{} {}", word(row, "id"), word(row, "category")))
                .collect(),
        ))
    }

    /// What came out, in the form of `expected.json`.
    fn outcome(&self) -> anyhow::Result<Value> {
        let rows = history(&self.out)?;
        let rows = rows.as_array().context("a list")?;
        let steps: Vec<Value> = rows.iter().map(|row| self.step(row)).collect::<Result<_, _>>()?;
        let summary = read_json(&self.out.join("summary.json"))?;
        let mut slow = Vec::new();
        for epoch in 1..10 {
            let path = self.out.join(format!("slow_update/epoch_{epoch:02}/slow_result.json"));
            if path.exists() {
                let action = read_json(&path)?["action"].clone();
                slow.push(json!({"epoch": epoch, "action": action, "pairs": self.pairs(epoch)?}));
            }
        }
        let best_skill = read_to_string(self.out.join("best_skill.md"))?;
        Ok(json!({
            "steps": steps,
            "final": {
                "best_step": summary["best_step"],
                "best_origin": summary["best_origin"],
                "current_origin": summary["current_origin"],
                "best_score": summary["best_score"],
                "best_skill": lines(&best_skill),
                "slow": slow,
            },
        }))
    }
}

/// Every place where two values differ, with both. Numbers are equal when their values are.
fn differences(expected: &Value, found: &Value) -> Vec<String> {
    fn compare(at: &str, expected: &Value, found: &Value, out: &mut Vec<String>) {
        match (expected, found) {
            (Value::Object(left), Value::Object(right)) => {
                let keys: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
                for key in keys {
                    let of = |map: &serde_json::Map<String, Value>| map.get(key).cloned();
                    let (left, right) =
                        (of(left).unwrap_or_default(), of(right).unwrap_or_default());
                    compare(&format!("{at}/{key}"), &left, &right, out);
                }
            }
            (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
                for (number, (left, right)) in left.iter().zip(right).enumerate() {
                    compare(&format!("{at}/{number}"), left, right, out);
                }
            }
            (Value::Number(left), Value::Number(right)) if left.as_f64() == right.as_f64() => {}
            _ if expected == found => {}
            _ => out.push(format!("{at}: expected {expected}, found {found}")),
        }
    }
    let mut out = Vec::new();
    compare("", expected, found, &mut out);
    out
}

#[rstest]
#[case("accumulation")]
#[case("appendix")]
#[case("autonomous")]
#[case("budget")]
#[case("buffer")]
#[case("condense")]
#[case("density")]
#[case("full_rewrite")]
#[case("matching")]
#[case("mixed")]
#[case("no_gate")]
#[case("no_limit")]
#[case("protected")]
#[case("replies")]
#[case("rewrite")]
#[case("schedule")]
#[case("slow_changed")]
#[case("slow_forced")]
#[case("slow_gated")]
#[case("slow_promoted")]
#[case("slow_stale_cache")]
#[case("soft")]
fn a_cassette_gives_the_history_that_the_rules_of_python_demand(
    #[case] name: &str,
) -> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    let played = play(name, dir.path())?;
    let expected = read_json(&fixtures().join(name).join("expected.json"))?;
    let differences = differences(&expected, &played.outcome()?);
    ensure!(differences.is_empty(), "{name}:\n{}", differences.join("\n"));

    // What was recorded of the run gives the same run again.
    let again = dir.path().join("again");
    let said = replay(name, &played.recorded, &again)?;
    ensure!(said.code == 0, "{name}, recorded: {}", said.err);
    assert_eq!(history(&again)?, history(&played.out)?);
    let best = |out: &Path| read_to_string(out.join("best_skill.md"));
    assert_eq!(best(&again)?, best(&played.out)?);
    Ok(())
}

#[test]
fn every_scenario_is_played() -> anyhow::Result<()> {
    let source = read_to_string(root().join("tests/it/replay.rs"))?;
    let mut n = 0;
    for entry in std::fs::read_dir(fixtures())? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().join("cassette.jsonl").exists() {
            ensure!(source.contains(&format!("#[case(\"{name}\")]")), "{name} is not played");
            ensure!(entry.path().join("README.md").exists(), "{name} does not say why");
            n += 1;
        }
    }
    ensure!(n >= 12, "{n} scenarios are too few");
    Ok(())
}

/// Every expectation with one place changed.
fn mutations(value: &Value) -> Vec<(String, Value)> {
    fn leaves(at: &str, value: &Value, out: &mut Vec<String>) {
        match value {
            Value::Object(map) => {
                map.iter().for_each(|(key, value)| leaves(&format!("{at}/{key}"), value, out));
            }
            Value::Array(items) => {
                items
                    .iter()
                    .enumerate()
                    .for_each(|(n, item)| leaves(&format!("{at}/{n}"), item, out));
                out.push(at.to_owned());
            }
            _ => out.push(at.to_owned()),
        }
    }
    let mut places = Vec::new();
    leaves("", value, &mut places);
    let mutated = places.into_iter().map(|place| {
        let mut mutated = value.clone();
        if let Some(found) = mutated.pointer_mut(&place) {
            *found = match found.take() {
                Value::String(text) => json!(format!("{text}x")),
                Value::Number(number) => json!(number.as_f64().unwrap_or_default() + 0.25),
                Value::Array(mut items) => {
                    items.push(json!("one more"));
                    json!(items)
                }
                _ => json!("something"),
            };
        }
        (place, mutated)
    });
    mutated.collect()
}

#[test]
fn an_expectation_that_is_changed_anywhere_fails() -> anyhow::Result<()> {
    for name in ["buffer", "slow_gated", "rewrite"] {
        let dir = tempfile::tempdir()?;
        let outcome = play(name, dir.path())?.outcome()?;
        let expected = read_json(&fixtures().join(name).join("expected.json"))?;
        let mutations = mutations(&expected);
        ensure!(mutations.len() > 60, "{name}: {} places", mutations.len());
        for (place, mutated) in mutations {
            ensure!(
                !differences(&mutated, &outcome).is_empty(),
                "{name}: {place} is not looked at"
            );
        }
    }
    Ok(())
}

#[test]
fn a_call_that_is_not_in_the_cassette_is_named_with_its_stage_and_the_nearest_one()
-> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    let text = read_to_string(fixtures().join("budget/cassette.jsonl"))?;
    let without: Vec<&str> = text
        .lines()
        .filter(|line| !line.contains("\"ranking\", \"phase\": \"step_0001\""))
        .collect();
    let cassette = dir.path().join("cut.jsonl");
    std::fs::write(&cassette, without.join("\n"))?;
    let said = replay("budget", &cassette, &dir.path().join("out"))?;
    assert_eq!(said.code, 1, "{}", said.err);
    for part in ["no reply for the optimizer's call `ranking` in step_0001", "it is for step_0002"]
    {
        ensure!(said.err.contains(part), "{part} is missing in {}", said.err);
    }
    Ok(())
}

#[test]
fn a_simulated_run_is_recorded_and_replayed_by_our_own_rules_too() -> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    let run = |out: &Path, changes: &[&str]| -> anyhow::Result<Said> {
        let out_root = out.to_string_lossy();
        let mut arguments =
            vec!["--config", "configs/searchqa/sample.yaml", "--out-root", &out_root];
        arguments.extend(["--json", "--cfg-options", "model.mock_latency_ms=0", "env.limit=28"]);
        arguments.extend(["optimizer.use_slow_update=true", "optimizer.use_meta_skill=true"]);
        arguments.extend(changes);
        let said = train(&data_dir(out), &arguments)?;
        ensure!(said.code == 0, "{}", said.err);
        Ok(said)
    };
    let first = dir.path().join("first");
    let cassette = record(&run(&first, &[])?, &first)?;
    let header: Value =
        serde_json::from_str(read_to_string(&cassette)?.lines().next().unwrap_or_default())?;
    assert_eq!(header["format"], "skillopt-cassette/1");
    assert_eq!(header["data"]["n_train"], 28);
    assert!(
        header["skill"].as_str().is_some_and(|text| text.starts_with("---") || text.contains('#'))
    );
    let second = dir.path().join("second");
    let from = format!("model.cassette={}", cassette.display());
    let backends =
        ["model.backend=replay", "model.target_backend=replay", "model.optimizer_backend=replay"];
    run(&second, &[&[from.as_str()][..], &backends[..]].concat())?;
    assert_eq!(history(&first)?, history(&second)?);
    // Nothing depends on the order in which calls were made.
    let again = record(&run(&first, &[])?, &first)?;
    assert_eq!(read_to_string(&again)?, read_to_string(&cassette)?);
    Ok(())
}
