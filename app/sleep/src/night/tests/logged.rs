//! What the log of a night tells, from its first line to its last.

use super::*;
use std::collections::BTreeSet;

fn lines(result: &NightResult) -> Vec<Value> {
    let path = result.staging.clone().unwrap().join("evidence.jsonl");
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn word<'a>(line: &'a Value, name: &str) -> &'a str {
    line[name].as_str().unwrap()
}

/// Stage and event of the lines of these stages; what comes several times in a row is told once.
fn heads(lines: &[Value], stages: &[&str]) -> Vec<String> {
    let wanted = lines.iter().filter(|line| stages.contains(&word(line, "stage")));
    let mut heads: Vec<String> =
        wanted.map(|line| format!("{}/{}", word(line, "stage"), word(line, "event"))).collect();
    heads.dedup();
    heads
}

#[tokio::test]
async fn the_log_leads_from_the_config_over_sessions_and_answers_to_tasks() {
    let world = World::new();
    for name in ["one", "two"] {
        world.session(name, &[&format!("Write a letter to {name}")]);
    }
    let result = world.run(world.models(&willing())).await.unwrap();
    let lines = lines(&result);
    let expected = [
        "cycle/start",
        "harvest/session",
        "mine/miner_exchange",
        "mine/task_mined",
        "mine/task_ready",
        "cycle/end",
    ];
    assert_eq!(heads(&lines, &["cycle", "harvest", "mine"]), expected);
    assert_eq!(lines[0]["config"]["seed"], 42);
    let ready: Vec<&Value> = lines.iter().filter(|line| line["event"] == "task_ready").collect();
    assert_eq!(ready.len(), 2);
    assert!(ready.iter().all(|line| line["split"].is_string()), "{ready:?}");
}

#[tokio::test]
async fn the_log_tells_every_attempt_every_decision_the_test_and_the_proposal() {
    let tasks = letters().into_iter().chain([letter("t", Split::Test)]).collect();
    let world = World::new().given(tasks);
    let result = world.run(world.models(&willing())).await.unwrap();
    let lines = lines(&result);
    let decided = [
        "gate/baseline",
        "gate/trial",
        "gate/decision",
        "test/held_out_score",
        "stage/staged",
        "cycle/end",
    ];
    assert_eq!(heads(&lines, &["gate", "test", "stage", "cycle"])[1..], decided);
    let worked: BTreeSet<String> = heads(&lines, &["replay", "reflect"]).into_iter().collect();
    let events =
        ["reflect/edits_returned", "reflect/exchange", "replay/model_call", "replay/result"];
    assert_eq!(worked, BTreeSet::from(events.map(str::to_owned)));
    let replayed = lines.iter().filter(|line| line["stage"] == "replay");
    let mut phases: Vec<&str> = replayed.map(|line| word(line, "phase")).collect();
    phases.dedup();
    assert_eq!(phases, ["baseline_val", "train", "gate_trial:skill", "final_val", "test"]);
    let of = |event: &str| lines.iter().find(|line| line["event"] == event).unwrap();
    let formula = word(of("decision"), "formula");
    assert!(formula.contains("0.0000 (n 2) -> 1.0000 (n 2)"), "{formula}");
    assert_eq!(of("held_out_score")["n_test"], 1);
}

#[tokio::test]
async fn the_log_is_cut_where_the_config_says_and_can_be_left_out() {
    let world = World::new().with("evidence_max_chars", json!(200)).given(letters());
    let result = world.run(world.models(&willing())).await.unwrap();
    let is_cut = |line: &Value| word(line, "prompt").ends_with("characters cut]");
    let is_call = |line: &&Value| line["event"] == "model_call";
    assert!(lines(&result).iter().filter(is_call).all(is_cut));
    let usual = World::new().given(letters());
    let result = usual.run(usual.models(&willing())).await.unwrap();
    assert!(!lines(&result).iter().filter(is_call).any(is_cut), "4000 characters are enough");
    let silent = World::new().with("evidence_log", json!(false)).given(letters());
    let result = silent.run(silent.models(&willing())).await.unwrap();
    assert!(!result.staging.unwrap().join("evidence.jsonl").exists());
}
