//! Experiments as a person runs them: benchmark folders, transfer, sweeps, personas. Models are the simulation, or a
//! scripted server on loopback.

use crate::binary::{Said, command, root};
use crate::fake_server::{FakeServer, Seen};
use crate::fake_wire::Wire;
use anyhow::{Context, ensure};
use axum::http::StatusCode;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

const BENCH: &str = "data/sleep/bench";
const SWEEP: &str = "data/sleep/sweep.yaml";
/// What the scripted optimizer proposes, and its target follows.
const RULE: &str = "Give every answer between <answer> and </answer>.";
const PATIENCE: Duration = Duration::from_secs(60);

/// A machine with nothing on it but a project.
struct Desk {
    dir: tempfile::TempDir,
}

impl Desk {
    fn new() -> anyhow::Result<Self> {
        let desk = Self { dir: tempfile::tempdir()? };
        for folder in ["home", "project"] {
            fs::create_dir_all(desk.path(folder))?;
        }
        Ok(desk)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn write(&self, name: &str, text: &str) -> anyhow::Result<String> {
        let path = self.path(name);
        fs::create_dir_all(path.parent().context("a folder")?)?;
        fs::write(&path, text)?;
        Ok(path.display().to_string())
    }

    fn command(&self, words: &[&str]) -> std::process::Command {
        let mut command = command(&self.path("data"));
        command.env("HOME", self.path("home")).args(["sleep", "experiment"]).args(words);
        command
    }

    fn run(&self, words: &[&str]) -> anyhow::Result<Said> {
        Ok(self.command(words).output().context("running skillopt")?.into())
    }

    /// Asks the server at `url` as the model `small`.
    fn ask(&self, words: &[&str], url: &str) -> anyhow::Result<Said> {
        let model = ["--backend", "openai_compatible", "--model", "small"];
        self.run(&[words, &model, &address(url).each_ref().map(String::as_str)].concat())
    }
}

fn address(url: &str) -> [String; 3] {
    ["--cfg-options".into(), "model.send_skillopt_headers=true".into(), base_url(url)]
}

fn base_url(url: &str) -> String {
    format!("model.openai_compatible_base_url={url}")
}

/// Knows the answers of the small benchmark, and gives them in the wanted form once it is told to.
fn scripted() -> FakeServer {
    guarded(|_| None)
}

/// As [`scripted`], behind a guard that may answer instead.
fn guarded(
    guard: impl Fn(&Seen) -> Option<(StatusCode, Value)> + Send + Sync + 'static,
) -> FakeServer {
    let folder = root().join(BENCH).join("marked-answers");
    let texts = ["benchmark.jsonl", "held-out.jsonl"]
        .map(|name| fs::read_to_string(folder.join(name)).expect("readable"));
    let known: Vec<(String, String)> = texts
        .iter()
        .flat_map(|text| text.lines())
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON"))
        .map(|task| {
            let text = |field: &str| task[field].as_str().unwrap_or_default().to_owned();
            (text("task"), text("reference"))
        })
        .collect();
    let told = move |seen: &Seen| (StatusCode::OK, Wire::Chat.reply(&answer(seen, &known)));
    FakeServer::with(
        Duration::ZERO,
        Arc::new(move |seen, _| guard(seen).or_else(|| Some(told(seen)))),
    )
}

fn answer(seen: &Seen, known: &[(String, String)]) -> String {
    let text = seen.body["messages"].to_string();
    if seen.purpose == "reflect" {
        let edit =
            json!([{"op": "add", "content": RULE, "anchor": "", "rationale": "it is missing"}]);
        return edit.to_string();
    }
    let found = known.iter().find(|(task, _)| text.contains(task.as_str()));
    let reference = found.map_or("I do not know", |(_, reference)| reference.as_str());
    match text.contains(RULE) {
        true => format!("<answer>{reference}</answer>"),
        false => reference.to_owned(),
    }
}

fn refused(said: &Said, words: &[&str]) -> anyhow::Result<()> {
    ensure!(said.code == 2, "{} {} {}", said.code, said.out, said.err);
    let message = said.json()?["message"].as_str().context("a message")?.to_owned();
    for word in words {
        ensure!(message.contains(word), "{message} has no {word}");
    }
    Ok(())
}

#[test]
fn a_benchmark_is_learned_by_the_simulation_which_says_that_it_is_one() -> anyhow::Result<()> {
    let desk = Desk::new()?;
    let out = desk.path("out");
    let words = ["--bench", BENCH, "--assert-improves", "--out", out.to_str().context("UTF-8")?];
    let said = desk.run(&[&words[..], &["--json"]].concat())?;
    ensure!(said.code == 0, "{} {}", said.out, said.err);
    let told = said.json()?;
    assert_eq!((&told["n_seeds"], &told["n_improved"]), (&json!(2), &json!(2)), "{told}");
    assert_eq!((&told["simulated"], &told["spend"]), (&json!(true), &Value::Null), "{told}");
    assert_eq!((&told["forecast_calls"], &told["tokens_used"]), (&json!(0), &json!(0)));
    for result in told["results"].as_array().context("results")? {
        let scores = (&result["held_out_before"], &result["held_out_after"]);
        assert_eq!(scores, (&json!(0.0), &json!(1.0)), "{result}");
        assert_eq!((&result["n_held_out"], &result["nights"]), (&json!(4), &json!(3)), "{result}");
        assert_eq!(result["simulated"], true, "{result}");
        ensure!(result["trace"][0]["n_validated"].as_u64() > Some(0), "{result}");
    }
    let kept: Value = serde_json::from_str(&fs::read_to_string(out.join("report.json"))?)?;
    assert_eq!(kept, told);
    let skill = fs::read_to_string(out.join("marked-answers/SKILL.md"))?;
    ensure!(skill.contains("between <answer> and </answer> tags"), "{skill}");
    ensure!(!desk.path("data").exists(), "nothing is opened for a simulation");
    let text = desk.run(&words)?;
    ensure!(
        text.out.contains("mock (simulated): held-out ") && text.out.contains("(n 4)"),
        "{}",
        text.out
    );
    Ok(())
}

#[test]
fn f49_the_flags_of_the_reference_system_do_what_they_say() -> anyhow::Result<()> {
    let desk = Desk::new()?;
    let run = |more: &[&str]| -> anyhow::Result<Value> {
        let words = ["--data_root", BENCH, "--seeds", "commit-subjects", "--json"];
        let said = desk.run(&[&words[..], more].concat())?;
        ensure!(said.code == 0, "{more:?}: {} {}", said.out, said.err);
        Ok(said.json()?["results"][0].clone())
    };
    // The simulation passes one check of three before it learned anything.
    for (gate, expect) in [("on", 1.0 / 6.0), ("hard", 0.0), ("soft", 1.0 / 3.0)] {
        let told = run(&["--gate", gate])?;
        let before = told["trace"][0]["baseline"].as_f64().context("a score")?;
        ensure!((before - expect).abs() < 1e-9, "{gate}: {told}");
    }
    let off = run(&["--gate", "off"])?;
    assert_eq!(off["trace"][0]["gate_action"], "greedy_applied", "{off}");
    assert_eq!(off["trace"][0]["baseline"], Value::Null, "{off}");
    let few = run(&["--limit_replay", "2", "--limit-holdout", "1", "--nights", "1"])?;
    assert_eq!((&few["n_held_out"], &few["trace"][0]["n_validated"]), (&json!(1), &json!(1)));
    assert_eq!(run(&["--rollouts_k", "2", "--edit-budget", "1"])?["rollouts_k"], 2);
    // 8 tasks train: 36 000 tokens pay for one night, eight times as many for four nights with two attempts at each.
    assert_eq!(run(&["--budget-tokens", "36000"])?["nights"], 1);
    let deep = run(&["--budget_tokens", "288000"])?;
    assert_eq!((&deep["nights"], &deep["rollouts_k"]), (&json!(4), &json!(2)), "{deep}");
    for wrong in [
        &["--bench", BENCH, "--budget-tokens", "1000", "--nights", "2"][..],
        &["--bench", BENCH, "--persona", "programmer"],
        &["--bench", BENCH, "--no-direct"],
        &["--bench", BENCH, "--gate", "maybe"],
        &["--seeds", "marked-answers"],
        &["--tasks-file", "tasks.json"],
        &["--bench", BENCH, "--auto-adopt"],
        &["--bench", BENCH, "--lookback-hours", "3"],
    ] {
        let said = desk.run(wrong)?;
        assert_eq!(said.code, 2, "{wrong:?}: {} {}", said.out, said.err);
    }
    Ok(())
}

#[test]
fn what_is_wrong_with_a_benchmark_is_told_with_file_and_field() -> anyhow::Result<()> {
    let desk = Desk::new()?;
    desk.write("bench/own/SKILL.md", "# Own\n")?;
    desk.write("bench/own/benchmark.jsonl", "{\"task_id\": \"a\", \"tusk\": \"b\"}\n")?;
    let bench = desk.path("bench").display().to_string();
    let run = |words: &[&str]| desk.run(&[words, &["--json"]].concat());
    refused(&run(&["--bench", &bench])?, &["own/benchmark.jsonl line 1", "`task`"])?;
    refused(&run(&["--bench", "nowhere"])?, &["nowhere"])?;
    refused(&run(&["--bench", BENCH, "--seeds", "advisor"])?, &["advisor", "marked-answers"])?;
    let transfer = ["--bench", BENCH, "--transfer-to", "claud:x"];
    refused(&run(&transfer)?, &["--transfer-to", "do you mean `claude`"])?;
    refused(&run(&["--bench", BENCH, "--backend", "handoff"])?, &["a person cannot answer"])?;
    refused(&run(&["--persona", "researcher", "--backend", "claud"])?, &["do you mean `claude`"])?;
    let project = ["--bench", BENCH, "--project", "nowhere"];
    refused(&run(&project)?, &["--project", "harvests nothing"])
}

#[test]
fn a_benchmark_is_learned_by_a_model_and_the_same_again_costs_nothing() -> anyhow::Result<()> {
    let desk = Desk::new()?;
    let server = scripted();
    let words = ["--bench", BENCH, "--seeds", "marked-answers", "--nights", "2", "--json"];
    let said = desk.ask(&[&words[..], &["--assert-improves"]].concat(), &server.url)?;
    ensure!(said.code == 0, "{} {}", said.out, said.err);
    let told = said.json()?;
    let result = &told["results"][0];
    assert_eq!((&told["simulated"], &result["simulated"]), (&json!(false), &json!(false)));
    assert_eq!((&result["held_out_before"], &result["held_out_after"]), (&json!(0.0), &json!(1.0)));
    assert_eq!(told["model"], "small", "{told}");
    let (spend, n_seen) = (&told["spend"], server.seen().len());
    assert_eq!(spend["calls"], json!(n_seen), "every call is counted: {spend}");
    assert_eq!(spend["cost_usd_micros"], Value::Null, "an unknown price is no zero: {spend}");
    assert_eq!(told["tokens_used"], spend["tokens"]);
    ensure!(told["forecast_calls"].as_u64() >= spend["calls"].as_u64(), "{told}");
    let again = desk.ask(&words, &server.url)?.json()?;
    assert_eq!((&again["spend"]["calls"], server.seen().len()), (&json!(0), n_seen), "{again}");
    assert_eq!(again["results"][0]["after"], result["after"]);
    let text = desk.ask(&words[..6], &server.url)?;
    ensure!(text.err.contains("forecast: at most "), "{}", text.err);
    ensure!(text.out.contains("spent: 0 calls, "), "{}", text.out);
    Ok(())
}

#[test]
fn a_cap_ends_an_experiment_and_what_was_spent_is_told() -> anyhow::Result<()> {
    let desk = Desk::new()?;
    let server = scripted();
    let words =
        ["--bench", BENCH, "--seeds", "marked-answers", "--json", "--budget-tokens", "12000"];
    let said = desk.ask(&words, &server.url)?;
    assert_eq!(said.code, 1, "{} {}", said.out, said.err);
    let told = said.json()?;
    assert_eq!(told["error"], "budget_used_up", "{told}");
    assert_eq!(told["spend"]["calls"], json!(server.seen().len()), "{told}");
    let minutes = ["--bench", BENCH, "--json", "--budget-minutes", "0.000001"];
    let said = desk.ask(&minutes, &server.url)?;
    ensure!(said.code != 0, "a cap of time holds: {}", said.out);
    Ok(())
}

#[test]
fn an_experiment_tells_how_it_goes_where_that_is_asked_for() -> anyhow::Result<()> {
    let desk = Desk::new()?;
    let words = ["--bench", BENCH, "--seeds", "marked-answers", "--nights", "1", "--json"];
    let quiet = desk.run(&words)?;
    ensure!(quiet.code == 0 && !quiet.err.contains("[sleep]"), "{}", quiet.err);
    let told = desk.run(&[&words[..], &["--progress"]].concat())?;
    ensure!(told.code == 0 && told.err.contains("measuring the test tasks 4/4"), "{}", told.err);
    assert_eq!(told.json()?, quiet.json()?, "one document is the only output all the same");
    Ok(())
}

#[test]
fn what_one_model_learned_is_used_by_another() -> anyhow::Result<()> {
    let desk = Desk::new()?;
    let server = scripted();
    let words = ["--bench", BENCH, "--seeds", "marked-answers", "--nights", "1", "--json"];
    let to = ["--transfer-to", "openai_compatible:large"];
    let said = desk.ask(&[&words[..], &to, &["--no-direct"]].concat(), &server.url)?;
    ensure!(said.code == 0, "{} {}", said.out, said.err);
    let told = said.json()?;
    let result = &told["results"][0];
    assert_eq!(
        (&result["baseline_target"], &result["transferred"], &result["direct_target"]),
        (&json!(0.0), &json!(1.0), &Value::Null),
        "{result}"
    );
    assert_eq!((&result["transfer_gain"], &result["n_held_out"]), (&json!(1.0), &json!(4)));
    let of = |model: &str| server.seen().iter().filter(|seen| seen.body["model"] == model).count();
    assert_eq!(of("large"), 8, "the target is tested twice and learns nothing");
    assert_eq!(json!(of("small") + 8), told["spend"]["calls"], "{told}");
    let said = desk.ask(&[&words[..], &to].concat(), &server.url)?;
    let told = said.json()?;
    assert_eq!(told["results"][0]["direct_target"], 1.0, "{told}");
    ensure!(of("large") > 8, "the target learned itself");
    Ok(())
}

#[test]
fn a_persona_asks_a_real_model_where_one_is_named() -> anyhow::Result<()> {
    let desk = Desk::new()?;
    let server = scripted();
    let words = ["--persona", "programmer", "--nights", "1", "--json", "--assert-improves"];
    let said = desk.ask(&words, &server.url)?;
    assert_eq!(said.code, 1, "the model knows nothing of commits: {} {}", said.out, said.err);
    ensure!(said.err.contains("FAIL: the held-out score went from"), "{}", said.err);
    let told = said.json()?;
    assert_eq!((&told["simulated"], &told["model"]), (&json!(false), &json!("small")), "{told}");
    assert_eq!((&told["n_validated"], &told["gate_blocks_harmful"]), (&json!(3), &Value::Null));
    let calls = told["spend"]["calls"].as_u64();
    ensure!(calls > Some(0) && calls <= told["forecast_calls"].as_u64(), "{told}");
    assert_eq!(calls, u64::try_from(server.seen().len()).ok());
    Ok(())
}

#[test]
fn the_proof_holds_and_its_json_has_the_names_of_the_reference_system() -> anyhow::Result<()> {
    let desk = Desk::new()?;
    for (persona, baseline) in [("researcher", 0.3333), ("programmer", 0.3194)] {
        let said = desk.run(&["--persona", persona, "--json", "--assert-improves"])?;
        ensure!(said.code == 0, "{} {}", said.out, said.err);
        let told = said.json()?;
        let before = told["baseline_holdout"].as_f64().context("a score")?;
        ensure!((before - baseline).abs() < 1e-4, "{told}");
        assert_eq!((&told["after_holdout"], &told["nights_run"]), (&json!(1.0), &json!(1)));
        assert_eq!(told["gate_blocks_harmful"], true, "{told}");
    }
    let said = desk.run(&["--edit-budget", "1", "--json", "--assert-improves"])?;
    assert_eq!(said.code, 1, "half of what is needed is no gain: {}", said.out);
    Ok(())
}

#[test]
fn a_sweep_keeps_a_row_each_and_goes_on_from_them() -> anyhow::Result<()> {
    let desk = Desk::new()?;
    let out = desk.path("out").display().to_string();
    let sweep = || desk.run(&["sweep", SWEEP, "--out", &out, "--json"]);
    let said = sweep()?;
    ensure!(said.code == 0, "{} {}", said.out, said.err);
    let told = said.json()?;
    assert_eq!(
        (&told["n_cells"], &told["n_done"], &told["n_known"]),
        (&json!(3), &json!(3), &json!(0))
    );
    assert_eq!((&told["simulated"], &told["rows"][0]["before"]["n"]), (&json!(true), &json!(4)));
    let kept = fs::read_to_string(desk.path("out/sweep.jsonl"))?;
    let again = sweep()?.json()?;
    assert_eq!((&again["n_known"], &again["rows"]), (&json!(3), &told["rows"]), "{again}");
    assert_eq!(fs::read_to_string(desk.path("out/sweep.jsonl"))?, kept);
    let card = desk.run(&["scorecard", &out])?;
    ensure!(
        card.out.contains("| marked\\-answers | direct | mock \\(simulated\\) | 2 | "),
        "{}",
        card.out
    );
    ensure!(
        card.out.contains("(n 4) | +") && card.out.contains("nothing about models"),
        "{}",
        card.out
    );
    assert_eq!(fs::read_to_string(desk.path("out/scorecard.md"))?.trim(), card.out.trim());
    let card = desk.run(&["scorecard", &out, "--json"])?.json()?;
    assert_eq!((&card["n_rows"], &card["rows"]), (&json!(3), &told["rows"]), "{card}");
    refused(&desk.run(&["scorecard", BENCH, "--json"])?, &[BENCH, "sweep.jsonl"])
}

#[test]
fn what_is_wrong_with_a_plan_is_told_with_file_and_field() -> anyhow::Result<()> {
    let desk = Desk::new()?;
    let bench = root().join(BENCH).canonicalize()?;
    let out = desk.path("out").display().to_string();
    let sweep = |text: &str| -> anyhow::Result<Said> {
        let plan = desk.write("plan.yaml", &format!("bench: {}\n{text}", bench.display()))?;
        desk.run(&["sweep", &plan, "--out", &out, "--json"])
    };
    refused(&sweep("cells: []\n")?, &["plan.yaml", "cells: there is none"])?;
    let cell = "cells: [{kind: direct, backend: claud}]\n";
    refused(&sweep(cell)?, &["plan.yaml", "cells[0].backend", "do you mean `claude`"])?;
    refused(&sweep("nigths: 2\ncells: []\n")?, &["plan.yaml", "nigths"])?;
    let seed = "cells: [{kind: direct, backend: mock, seed: advisor}]\n";
    refused(&sweep(seed)?, &["plan.yaml", "advisor"])?;
    let missing = desk.run(&["sweep", "no.yaml", "--out", &out, "--json"])?;
    refused(&missing, &["no.yaml", "cannot be read"])?;
    let foreign = desk.run(&["sweep", SWEEP, "--out", &out, "--backend", "claude", "--json"])?;
    refused(&foreign, &["--backend", "cells of its plan"])?;
    let idle = desk.run(&["sweep", SWEEP, "--out", &out, "--tasks-file", "t.json", "--json"])?;
    refused(&idle, &["--tasks-file", "tasks of its own"])?;
    let budget = "edit_budget: 2\ncells: [{kind: direct, backend: mock}]\n";
    let plan = desk.write("plan.yaml", &format!("bench: {}\n{budget}", bench.display()))?;
    let twice = desk.run(&["sweep", &plan, "--out", &out, "--edit-budget", "3", "--json"])?;
    refused(&twice, &["--edit-budget", "leave one out"])?;
    ensure!(!desk.path("out").exists(), "nothing was begun");
    let plan = json!({"bench": bench, "cells": [{"kind": "direct", "backend": "mock", "seed": "marked-answers"}]});
    let plan = desk.write("plan.json", &plan.to_string())?;
    let said = desk.run(&["sweep", &plan, "--out", &out, "--json"])?;
    assert_eq!((said.code, &said.json()?["n_done"]), (0, &json!(1)), "{}", said.err);
    Ok(())
}

/// A plan with a cell for each of these models.
fn plan_of(desk: &Desk, models: &[&str]) -> anyhow::Result<String> {
    let cell = |model: &&str| json!({"kind": "direct", "backend": "openai_compatible", "model": model, "seed": "marked-answers"});
    let cells: Vec<Value> = models.iter().map(cell).collect();
    let bench = root().join(BENCH).canonicalize()?;
    let plan = json!({"bench": bench, "nights": 1, "cells": cells});
    desk.write("plan.json", &plan.to_string())
}

#[test]
fn an_experiment_that_fails_is_a_row_and_is_tried_again() -> anyhow::Result<()> {
    let desk = Desk::new()?;
    let is_locked = Arc::new(AtomicBool::new(true));
    let locked = Arc::clone(&is_locked);
    let server = guarded(move |seen| {
        let is_refused = seen.body["model"] == "locked" && locked.load(Ordering::Relaxed);
        let words = json!({"error": {"message": "no such key"}});
        is_refused.then_some((StatusCode::UNAUTHORIZED, words))
    });
    let (plan, out) =
        (plan_of(&desk, &["locked", "open"])?, desk.path("out").display().to_string());
    let words = ["sweep", &plan, "--out", &out, "--json"];
    let address = address(&server.url);
    let words = [&words[..], &address.each_ref().map(String::as_str)].concat();
    let said = desk.run(&words)?;
    assert_eq!(said.code, 1, "{} {}", said.out, said.err);
    let told = said.json()?;
    assert_eq!((&told["n_done"], &told["n_failed"]), (&json!(1), &json!(1)), "{told}");
    ensure!(told["rows"][0]["error"].as_str().is_some_and(|error| !error.is_empty()), "{told}");
    assert_eq!(told["rows"][0]["after"], Value::Null, "what failed has no score: {told}");
    assert_eq!(told["rows"][1]["after"]["hard"], 1.0, "{told}");
    ensure!(told["rows"][1]["calls"].as_u64() > Some(0), "{told}");
    is_locked.store(false, Ordering::Relaxed);
    let said = desk.run(&words)?;
    ensure!(said.code == 0, "{} {}", said.out, said.err);
    let again = said.json()?;
    assert_eq!((&again["n_done"], &again["n_known"]), (&json!(2), &json!(1)), "{again}");
    assert_eq!(again["rows"][1], told["rows"][1]);
    Ok(())
}

#[test]
fn what_a_cap_stopped_stands_in_the_table_with_its_cost() -> anyhow::Result<()> {
    let desk = Desk::new()?;
    let server = scripted();
    let (plan, out) = (plan_of(&desk, &["small"])?, desk.path("out").display().to_string());
    let address = address(&server.url);
    let words = ["sweep", &plan, "--out", &out, "--json"];
    let words = [&words[..], &address.each_ref().map(String::as_str)].concat();
    let capped = [&words[..], &["--set", "max_tokens_per_night=12000"]].concat();
    let said = desk.run(&capped)?;
    assert_eq!((said.code, &said.json()?["error"]), (1, &json!("budget_used_up")), "{}", said.err);
    let row = || -> anyhow::Result<Value> {
        Ok(desk.run(&["scorecard", &out, "--json"])?.json()?["rows"][0].clone())
    };
    let (stopped, n_seen) = (row()?, server.seen().len());
    assert_eq!((&stopped["status"], &stopped["calls"]), (&json!("stopped"), &json!(n_seen)));
    let card = fs::read_to_string(desk.path("out/scorecard.md"))?;
    ensure!(card.contains("| stopped: a budget of the night is used up"), "{card}");
    let said = desk.run(&words)?;
    ensure!(said.code == 0, "{} {}", said.out, said.err);
    let done = row()?;
    ensure!(server.seen().len() > n_seen, "it went on");
    assert_eq!((&done["status"], &done["calls"]), (&json!("done"), &json!(server.seen().len())));
    Ok(())
}

/// Kills its process at a request, as a power cut does.
#[derive(Default)]
struct Killer {
    child: Mutex<Option<Child>>,
    /// Requests that are answered before.
    left: AtomicUsize,
}

impl Killer {
    fn strike(&self) -> Option<(StatusCode, Value)> {
        let go_on = |left: usize| left.checked_sub(1);
        if self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, go_on).is_ok() {
            return None;
        }
        // Held until the process is dead.
        let mut slot = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        let mut child = slot.take()?;
        child.kill().expect("the process is ours");
        child.wait().expect("the process ends");
        // Nobody is there to read this.
        Some((StatusCode::SERVICE_UNAVAILABLE, Value::Null))
    }
}

#[test]
fn a_sweep_that_was_killed_goes_on_where_it_stood() -> anyhow::Result<()> {
    let desk = Desk::new()?;
    let killer = Arc::new(Killer { left: AtomicUsize::new(5), ..Killer::default() });
    let at_work = Arc::clone(&killer);
    let server =
        guarded(move |seen| if seen.body["model"] == "second" { at_work.strike() } else { None });
    let plan = plan_of(&desk, &["first", "second"])?;
    let out = desk.path("out").display().to_string();
    let address = address(&server.url);
    let words = ["sweep", &plan, "--out", &out, "--json"];
    let words = [&words[..], &address.each_ref().map(String::as_str)].concat();
    let of = |model: &str| server.seen().iter().filter(|seen| seen.body["model"] == model).count();
    let mut slot = killer.child.lock().unwrap_or_else(PoisonError::into_inner);
    let mut command = desk.command(&words);
    *slot = Some(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?);
    drop(slot);
    let began = Instant::now();
    while of("second") < 6 {
        ensure!(began.elapsed() < PATIENCE, "the sweep did not come to its second experiment");
        std::thread::sleep(Duration::from_millis(20));
    }
    // It is dead when it is gone from its place.
    while killer.child.lock().unwrap_or_else(PoisonError::into_inner).is_some() {
        ensure!(began.elapsed() < PATIENCE, "the process was not killed");
        std::thread::sleep(Duration::from_millis(20));
    }
    let kept = fs::read_to_string(desk.path("out/sweep.jsonl"))?;
    assert_eq!(kept.lines().count(), 1, "the first row is whole: {kept}");
    let n_first = of("first");
    let said = desk.run(&words)?;
    ensure!(said.code == 0, "{} {}", said.out, said.err);
    let told = said.json()?;
    assert_eq!((&told["n_known"], &told["n_done"]), (&json!(1), &json!(2)), "{told}");
    assert_eq!(of("first"), n_first, "what is done is not asked again");
    assert_eq!(of("second"), n_first + 1, "only the call in flight is made twice");
    assert_eq!(told["rows"][0], serde_json::from_str::<Value>(kept.trim())?);
    assert_eq!(told["rows"][0]["after"], told["rows"][1]["after"], "{told}");
    Ok(())
}

#[test]
fn f51_a_night_tells_before_it_begins_what_it_can_come_to() -> anyhow::Result<()> {
    let desk = Desk::new()?;
    let server = scripted();
    let task = |id: u32, split: &str| {
        json!({
            "id": format!("t{id}"), "project": "p", "intent": format!("question {id}"), "split": split,
            "reference_kind": "exact", "reference": "<answer>", "skill_hint": "",
        })
    };
    let tasks = [task(1, "train"), task(2, "val"), task(3, "val"), task(4, "test")];
    let file = desk.write("tasks.json", &json!({"reviewed": true, "tasks": tasks}).to_string())?;
    let address = address(&server.url);
    let night = |verb: &str, more: &[&str]| -> anyhow::Result<Said> {
        let mut command = command(&desk.path("data"));
        command.env("HOME", desk.path("home")).args(["sleep", verb]).args(&address);
        command.args(["--backend", "openai_compatible", "--model", "small", "--project"]);
        Ok(command.arg(desk.path("project")).args(more).output()?.into())
    };
    let said = night("run", &["--tasks-file", &file, "--json"])?;
    ensure!(said.code == 0, "{} {}", said.out, said.err);
    let forecast = said.json()?["forecast"].clone();
    assert_eq!(
        (&forecast["is_bound"], &forecast["n_tasks"]),
        (&json!(true), &json!(4)),
        "{forecast}"
    );
    assert_eq!((&forecast["n_test"], &forecast["test"]), (&json!(1), &json!(1)), "{forecast}");
    let (most, made) = (forecast["calls_max"].as_u64(), u64::try_from(server.seen().len()).ok());
    ensure!(made > Some(0) && made <= most, "{made:?} of {most:?}: {forecast}");
    let said = night("dry-run", &[])?;
    ensure!(said.code == 0, "{} {}", said.out, said.err);
    ensure!(
        said.err.contains("forecast: about ") && said.err.contains(" calls at most (mining "),
        "{}",
        said.err
    );
    Ok(())
}

#[test]
fn c06_an_agent_at_work_for_us_starts_no_experiment_and_may_read_one() -> anyhow::Result<()> {
    let desk = Desk::new()?;
    let inside = |words: &[&str]| -> anyhow::Result<Said> {
        let mut command = desk.command(words);
        Ok(command.env(skillopt_domain::own_call::VARIABLE, "x").output()?.into())
    };
    let out = desk.path("out").display().to_string();
    for words in [&["--bench", BENCH][..], &["sweep", SWEEP, "--out", &out]] {
        let said = inside(words)?;
        assert_eq!(said.code, 1, "{}", said.out);
        ensure!(said.err.contains("works for a SkillOpt run"), "{}", said.err);
    }
    ensure!(!Path::new(&out).exists(), "nothing was begun");
    desk.run(&["sweep", SWEEP, "--out", &out])?;
    assert_eq!(inside(&["scorecard", &out])?.code, 0);
    Ok(())
}
