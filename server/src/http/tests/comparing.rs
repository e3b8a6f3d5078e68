//! Comparisons over HTTP: two runs, many, one, none, and such that cannot be compared.

use super::World;
use crate::testing::{live_run, trained_run};
use serde_json::{Value, json};

async fn compared(world: &World, runs: &[&str]) -> Value {
    let answer = world.get(&format!("/api/v1/compare?runs={}", runs.join(","))).await;
    assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.body));
    answer.json()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_runs_are_paired_by_task_with_their_differences() {
    let world = World::new().await;
    let start = async |options: &[(&str, &str)]| {
        let body = json!({"values": World::small_run(options)});
        world.run_to_end("/api/v1/runs", &body).await.0
    };
    let one = start(&[]).await;
    let other = start(&[("optimizer.learning_rate", "2"), ("env.workers", "3")]).await;
    let view = compared(&world, &[&one, &other, &one]).await;
    assert_eq!(view["runs"].as_array().unwrap().len(), 2, "each once");
    assert_eq!(view["base"], json!(one));
    assert_eq!(view["cautions"], json!([]), "{}", view["cautions"]);
    let differing: Vec<(&str, &str)> = view["keys"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row["differs"] == true)
        .map(|row| (row["path"].as_str().unwrap(), row["effect"].as_str().unwrap()))
        .collect();
    assert_eq!(differing, [("env.workers", "safe"), ("optimizer.learning_rate", "results")]);
    let pair = &view["pairs"][0];
    assert_eq!(pair["run"], json!(other));
    assert_eq!(pair["test"]["n"], 56);
    assert_eq!(pair["selection"]["n"], 56);
    assert!(pair["statement"].as_str().unwrap().starts_with("On 56 shared test tasks"), "{pair}");
    let curve = &view["runs"][0]["curve"];
    assert_eq!((&curve["steps"][0], &curve["calls"][0]), (&json!(0), &json!(0)));
    let calls = curve["calls"].as_array().unwrap();
    assert!(calls.last().unwrap().as_u64() > Some(0) && calls.len() == 3, "{curve}");

    let base = format!("/api/v1/compare?runs={one},{other}&base={other}");
    assert_eq!(world.get(&base).await.json()["pairs"][0]["run"], json!(one));
    let diff = world.get(&format!("/api/v1/compare/skills?left={one}&right={one}")).await.json();
    assert_eq!((&diff["is_same"], &diff["diff"]["n_added"]), (&json!(true), &json!(0)));
}

#[tokio::test]
async fn twenty_runs_are_compared_at_once_and_what_is_missing_is_named() {
    let world = World::new().await;
    let mut ids = Vec::new();
    for _ in 0..20 {
        ids.push(trained_run(&world.store, 20).await.id.to_string());
    }
    ids.push("0190a0c2-7b1e-7c33-8f00-0123456789ab".to_owned());
    ids.push("no-id".to_owned());
    let asked: Vec<&str> = ids.iter().map(String::as_str).collect();
    let view = compared(&world, &asked).await;
    assert_eq!(view["runs"].as_array().unwrap().len(), 20);
    let mut missing: Vec<&str> =
        view["missing"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    missing.sort_unstable();
    assert_eq!(missing, ["0190a0c2-7b1e-7c33-8f00-0123456789ab", "no-id"]);
    assert_eq!(view["pairs"].as_array().unwrap().len(), 19);
    assert!(view["pairs"][0]["statement"].as_str().unwrap().contains("nothing can be said"));
    assert_eq!(view["keys"][0]["values"].as_array().unwrap().len(), 20);
    let kinds: Vec<&str> = view["cautions"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|one| one["kind"].as_str())
        .collect();
    assert_eq!(kinds, ["unfinished"]);
    let many = vec!["x"; 51].join(",");
    world.get(&format!("/api/v1/compare?runs={many}")).await.is_problem(400, "bad_request");
}

#[tokio::test]
async fn no_run_and_a_run_without_a_skill_are_no_errors() {
    let world = World::new().await;
    let view = compared(&world, &[]).await;
    assert_eq!(
        (&view["runs"], &view["base"], &view["pairs"]),
        (&json!([]), &Value::Null, &json!([]))
    );
    let bare = live_run(&world.store).await.id;
    let view = compared(&world, &[bare.as_str()]).await;
    assert_eq!(view["runs"][0]["best_skill"], Value::Null);
    let path = format!("/api/v1/compare/skills?left={bare}&right={bare}");
    world.get(&path).await.is_problem(404, "not_found");
}
