//! Curated tasks: found, looked through, and what a night makes of them.

use super::World;
use serde_json::{Value, json};
use std::fs;

const TASKS: &str = "/api/v1/sleep/tasks";

impl World {
    async fn find(&self, version: &str, more: Value) -> super::Answer {
        let mut body = json!({"project": self.project(), "version": version});
        body.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
        self.post(TASKS, &body).await
    }

    /// Four tasks of four sessions.
    async fn found(&self) -> Value {
        self.sessions(4);
        let found = self.find("", json!({})).await;
        assert_eq!(found.status, 200, "{}", found.json());
        found.json()["tasks"].clone()
    }

    async fn change(&self, seen: &Value, change: Value) -> super::Answer {
        let body = json!({"project": self.project(), "version": seen["version"], "change": change});
        self.post(&format!("{TASKS}/change"), &body).await
    }

    async fn changed(&self, seen: &Value, change: Value) -> Value {
        let answer = self.change(seen, change).await;
        assert_eq!(answer.status, 200, "{}", answer.json());
        answer.json()
    }

    async fn curated(&self) -> Value {
        self.get(&format!("{TASKS}?project={}", self.project().display())).await.json()
    }

    async fn night_with(&self, seen: &Value, backend: &str) -> super::Answer {
        let order = json!({"project": self.project(), "backend": backend, "tasks_version": seen["version"]});
        self.post("/api/v1/sleep/nights", &order).await
    }
}

fn ids(tasks: &Value) -> Vec<String> {
    let tasks = tasks["tasks"].as_array().unwrap().iter();
    tasks.map(|task| task["id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn tasks_are_found_without_a_model_and_a_night_uses_all_but_the_muted_ones() {
    let world = World::with_home().await;
    world.project();
    assert_eq!(
        (&world.curated().await["version"], ids(&world.curated().await).len()),
        (&json!(""), 0)
    );
    let tasks = world.found().await;
    let all = ids(&tasks);
    assert_eq!(
        (all.len(), &tasks["reviewed"], &tasks["n_sessions"]),
        (4, &json!(false), &json!(4))
    );
    // Ids hash the temporary path, so any split may be the larger one.
    let listed = tasks["tasks"].as_array().unwrap();
    let of_split = |split: &Value| listed.iter().filter(|task| &task["split"] == split).count();
    let spare = listed.iter().find(|task| of_split(&task["split"]) > 1).expect("4 tasks, 3 splits");
    let muted = spare["id"].as_str().unwrap().to_owned();

    let tasks = world.changed(&tasks, json!({"mute": [muted]})).await;
    assert_eq!(tasks["tasks"][3]["muted"], true, "it stands behind the others: {tasks}");
    let kept: Value =
        serde_json::from_str(&fs::read_to_string(tasks["path"].as_str().unwrap()).unwrap())
            .unwrap();
    assert_eq!(kept["format"], "skillopt_sleep.tasks.v1");
    assert_eq!(
        (kept["tasks"].as_array().unwrap().len(), &kept["muted"][0]["id"]),
        (3, &json!(muted))
    );

    let begun = world.night_with(&tasks, "mock").await;
    assert_eq!(begun.status, 200, "{}", begun.json());
    world.nights.drained().await;
    let id = begun.json()["id"].as_str().unwrap().to_owned();
    let night = world.get(&format!("/api/v1/sleep/nights/{id}")).await.json();
    assert_eq!(night["report"]["n_tasks"], 3, "{night}");
    assert!(!ids(&night).contains(&muted) && night["sources"] == json!([]), "{night}");
    assert_eq!(
        (world.n_audited("find_tasks").await, world.n_audited("change_tasks").await),
        (1, 1)
    );
}

#[tokio::test]
async fn no_model_sees_tasks_that_nobody_reviewed() {
    let world = World::with_home().await;
    let tasks = world.found().await;
    let refused = world.night_with(&tasks, "handoff").await.is_problem(400, "bad_request");
    assert!(refused["detail"].as_str().unwrap().contains("not reviewed"), "{refused}");
    let tasks = world.changed(&tasks, json!({"review": true})).await;
    let begun = world.night_with(&tasks, "handoff").await;
    assert_eq!(begun.status, 200, "{}", begun.json());
    world.nights.drained().await;
    let path = format!("/api/v1/sleep/handoff?project={}", world.project().display());
    let prompts = world.get(&path).await.json()["prompts"].clone();
    assert!(
        prompts.as_array().unwrap().iter().all(|prompt| prompt["purpose"] == "qa"),
        "{prompts}"
    );
    // The night goes on with the same tasks.
    for prompt in prompts.as_array().unwrap() {
        let body = json!({"project": world.project(), "text": "done"});
        let path = format!("/api/v1/sleep/handoff/{}", prompt["id"].as_str().unwrap());
        assert_eq!(world.put(&path, &body).await.status, 200);
    }
    let body = json!({"project": world.project()});
    let next = world.post("/api/v1/sleep/handoff/continue", &body).await;
    assert_eq!(next.status, 200, "{}", next.json());
    world.nights.drained().await;
    let id = next.json()["id"].as_str().unwrap().to_owned();
    let night = world.get(&format!("/api/v1/sleep/nights/{id}")).await.json();
    assert_eq!(
        (&night["night"]["status"], &night["sources"]),
        (&json!("pending"), &json!([])),
        "{night}"
    );
}

#[tokio::test]
async fn tasks_that_are_changed_while_a_night_waits_are_for_the_next_one() {
    let world = World::with_home().await;
    let tasks = world.found().await;
    let tasks = world.changed(&tasks, json!({"review": true})).await;
    let begun = world.night_with(&tasks, "handoff").await;
    assert_eq!(begun.status, 200, "{}", begun.json());
    world.nights.drained().await;
    let path = format!("/api/v1/sleep/handoff?project={}", world.project().display());
    let inbox = world.get(&path).await.json();
    for prompt in inbox["prompts"].as_array().unwrap() {
        let body = json!({"project": world.project(), "text": "done"});
        let path = format!("/api/v1/sleep/handoff/{}", prompt["id"].as_str().unwrap());
        assert_eq!(world.put(&path, &body).await.status, 200);
    }
    let fewer = world.changed(&tasks, json!({"delete": [ids(&tasks)[0]]})).await;
    world.changed(&fewer, json!({"review": true})).await;
    let body = json!({"project": world.project()});
    let next = world.post("/api/v1/sleep/handoff/continue", &body).await;
    assert_eq!(next.status, 200, "{}", next.json());
    world.nights.drained().await;
    let id = next.json()["id"].as_str().unwrap().to_owned();
    let night = world.get(&format!("/api/v1/sleep/nights/{id}")).await.json();
    let detail = night["night"]["detail"].as_str().unwrap();
    assert!(detail.contains("it goes on with those"), "{night}");
    let pinned = world.project().join(".skillopt-sleep-handoff/tasks.json");
    let pinned: Value = serde_json::from_str(&fs::read_to_string(pinned).unwrap()).unwrap();
    assert_eq!(pinned["tasks"].as_array().unwrap().len(), 4, "{pinned}");
}

#[tokio::test]
async fn two_tabs_lose_nothing_of_each_other() {
    let world = World::with_home().await;
    let seen = world.found().await;
    let all = ids(&seen);
    let changed = world.changed(&seen, json!({"delete": [all[0]]})).await;
    for change in [json!({"delete": [all[1]]}), json!("undo")] {
        world.change(&seen, change).await.is_problem(409, "conflict");
    }
    world.find(seen["version"].as_str().unwrap(), json!({})).await.is_problem(409, "conflict");
    world.night_with(&seen, "mock").await.is_problem(409, "conflict");
    assert_eq!(changed["can_undo"].as_str().unwrap().split(' ').next(), Some("Deleted"));
    let back = world.changed(&changed, json!("undo")).await;
    assert_eq!(
        (ids(&back), &back["version"], &back["can_undo"]),
        (all, &seen["version"], &json!(""))
    );
}

#[tokio::test]
async fn a_check_that_cannot_work_is_told_with_its_field_and_not_kept() {
    let world = World::with_home().await;
    let tasks = world.found().await;
    let id = ids(&tasks).remove(0);
    let text = |arg: &str| {
        let checks = json!([{"op": "contains", "arg": "notes"}, {"op": "regex", "arg": arg}]);
        json!({"intent": "Write the notes", "context": "", "judge": "rule", "reference": "", "checks": checks})
    };
    let refused = world.change(&tasks, json!({"edit": {"id": id, "text": text("(x")}})).await;
    let detail = refused.is_problem(400, "bad_request")["detail"].as_str().unwrap().to_owned();
    assert!(detail.starts_with("checks[1]: the pattern `(x` cannot be used"), "{detail}");
    let tried = world
        .post(&format!("{TASKS}/try"), &json!({"text": text("(x"), "reply": "y"}))
        .await
        .json();
    assert_eq!(
        (&tried["findings"][0]["field"], &tried["score"]),
        (&json!("checks[1]"), &Value::Null)
    );

    let body = json!({"text": text("^[0-9]+$"), "reply": "my notes"});
    let tried = world.post(&format!("{TASKS}/try"), &body).await.json();
    let score = &tried["score"];
    assert_eq!(
        (&score["soft"], &score["hard"], &score["passed"]),
        (&json!(0.5), &json!(0.0), &json!([true, false]))
    );
    assert_eq!(score["rationale"], "failed: regex=^[0-9]+$");
    let edited = world.changed(&tasks, json!({"edit": {"id": id, "text": text("x")}})).await;
    assert_eq!(edited["tasks"][0]["text"], text("x"));

    let unknown = world.change(&edited, json!({"move": {"ids": [id], "split": "holdout"}})).await;
    unknown.is_problem(400, "bad_request");
    world.change(&edited, json!({"burn": [id]})).await.is_problem(400, "bad_request");
}

#[tokio::test]
async fn tasks_of_a_night_join_and_those_of_another_project_do_not() {
    let world = World::with_home().await;
    world.sessions(4);
    let order = json!({"project": world.project(), "backend": "mock", "lookback_hours": 0});
    let begun = world.post("/api/v1/sleep/nights", &order).await.json();
    world.nights.drained().await;
    let found = world.find("", json!({"night": begun["id"]})).await.json();
    assert_eq!((&found["n_new"], &found["n_known"]), (&json!(4), &json!(0)), "{found}");
    let version = found["tasks"]["version"].as_str().unwrap();
    let again = world.find(version, json!({})).await.json();
    assert_eq!((&again["n_new"], &again["n_known"]), (&json!(0), &json!(4)), "{again}");
    let other = world.root().join("other");
    fs::create_dir_all(&other).unwrap();
    let body = json!({"project": other, "version": "", "night": begun["id"]});
    world.post(TASKS, &body).await.is_problem(400, "bad_request");
}

#[tokio::test]
async fn tasks_of_a_project_outside_of_the_servers_folders_are_closed() {
    let world = World::with_home().await;
    let outside = tempfile::tempdir().unwrap();
    let project = outside.path().canonicalize().unwrap();
    let path = format!("{TASKS}?project={}", project.display());
    world.get(&path).await.is_problem(403, "path_not_allowed");
    let body = json!({"project": project, "version": ""});
    world.post(TASKS, &body).await.is_problem(403, "path_not_allowed");
    let body = json!({"project": project, "version": "", "change": {"review": true}});
    world.post(&format!("{TASKS}/change"), &body).await.is_problem(403, "path_not_allowed");
}

#[tokio::test]
async fn a_search_that_finds_nothing_says_why() {
    let world = World::with_home().await;
    world.project();
    let found = world.find("", json!({"source": "claude"})).await.json();
    assert_eq!(found["n_new"], 0);
    assert!(!found["notes"].as_array().unwrap().is_empty(), "{found}");
    let refused = world.find("", json!({"source": "clod"})).await;
    refused.is_problem(400, "bad_request");
}

#[tokio::test]
async fn what_is_done_is_told_also_when_the_audit_log_cannot_be_written() {
    let world = World::with_home().await;
    world.store.close().await;
    assert_eq!(ids(&world.found().await).len(), 4);
}

#[tokio::test]
async fn a_forecast_with_curated_tasks_counts_those() {
    let world = World::with_home().await;
    let tasks = world.found().await;
    let forecast = async |version: &Value| {
        let order =
            json!({"project": world.project(), "backend": "claude", "tasks_version": version});
        world.post("/api/v1/sleep/forecast", &order).await
    };
    let told = forecast(&tasks["version"]).await.json();
    assert_eq!(told["n_tasks"], 4, "{told}");
    forecast(&json!("another")).await.is_problem(409, "conflict");
}
