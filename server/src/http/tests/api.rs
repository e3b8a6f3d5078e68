//! The API over runs with a history, and its description.

use super::World;
use crate::http::openapi;
use crate::testing::{IMPROVED, INITIAL, accepted_step, live_run, trained_run};
use rstest::rstest;
use serde_json::{Value, json};
use skillopt_domain::event::EventKind;
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::run::RunStatus;
use skillopt_engine::ports::Journal;
use std::fs;
use std::time::Duration;

/// Every route.
const ROUTES: [&str; 71] = [
    "get /about",
    "get /compare",
    "get /compare/skills",
    "get /runs",
    "post /runs",
    "post /runs/sample",
    "post /runs/{id}/rerun",
    "post /preflight",
    "post /imports",
    "get /runs/{id}",
    "post /runs/{id}/pause",
    "post /runs/{id}/resume",
    "post /runs/{id}/cancel",
    "get /stream",
    "get /runs/{id}/stream",
    "get /runs/{id}/events",
    "get /runs/{id}/curves",
    "get /runs/{id}/steps",
    "get /runs/{id}/steps/{step}",
    "get /runs/{id}/versions",
    "get /runs/{id}/skills/{sha}",
    "get /runs/{id}/skills/{sha}/raw",
    "get /runs/{id}/tasks",
    "get /runs/{id}/trajectories/{number}/beside/{other}",
    "get /runs/{id}/versions/{version}/blame",
    "get /runs/{id}/rejected",
    "get /runs/{id}/trajectories",
    "get /runs/{id}/trajectories/{number}",
    "get /runs/{id}/config",
    "get /sleep",
    "post /sleep/nights",
    "get /sleep/nights/{id}",
    "post /sleep/nights/{id}/cancel",
    "post /sleep/nights/{id}/adopt",
    "post /sleep/nights/{id}/reject",
    "post /sleep/nights/{id}/revert",
    "get /sleep/nights/{id}/evidence",
    "get /sleep/schedules",
    "post /sleep/schedules",
    "patch /sleep/schedules/{id}",
    "delete /sleep/schedules/{id}",
    "post /sleep/schedules/{id}/run",
    "get /sleep/handoff",
    "put /sleep/handoff/{id}",
    "delete /sleep/handoff/{id}",
    "post /sleep/handoff/continue",
    "get /sleep/tasks",
    "post /sleep/tasks",
    "post /sleep/tasks/change",
    "post /sleep/tasks/try",
    "get /prices",
    "put /prices",
    "get /runs/{id}/prompts",
    "get /runs/{id}/prompts/{hash}",
    "get /config/schema",
    "get /config/presets",
    "post /config/check",
    "post /config/import",
    "post /config/export",
    "get /models",
    "post /models/test",
    "get /models/endpoints",
    "post /adoptions/preview",
    "get /adoptions",
    "post /adoptions",
    "post /adoptions/{id}/revert",
    "post /sleep/forecast",
    "post /sleep/nights/{id}/preview",
    "get /review",
    "get /overview",
    "post /sleep/nights/{id}/reopen",
];

#[tokio::test]
async fn openapi_describes_every_route() {
    let world = World::new().await;
    let document = world.get("/api/v1/openapi.json").await.json();
    let mut described: Vec<String> = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        let short = path.strip_prefix("/api/v1").unwrap();
        for (method, operation) in item.as_object().unwrap() {
            assert!(
                operation["summary"].is_string() || operation["description"].is_string(),
                "{path}"
            );
            described.push(format!("{method} {short}"));
        }
    }
    described.sort();
    let mut wanted = ROUTES.map(str::to_owned);
    wanted.sort();
    assert_eq!(described, wanted);
}

#[test]
fn openapi_refers_only_to_schemas_that_it_has() {
    let text = openapi().to_json().unwrap();
    let document: Value = serde_json::from_str(&text).unwrap();
    let schemas = document["components"]["schemas"].as_object().unwrap();
    for reference in text.split("\"#/components/schemas/").skip(1) {
        let name = reference.split('"').next().unwrap();
        assert!(schemas.contains_key(name), "{name}");
    }
    let query = &document["paths"]["/api/v1/runs"]["get"]["parameters"];
    assert!(query.as_array().unwrap().iter().all(|one| one["in"] == "query"), "{query}");
}

#[tokio::test]
async fn about_tells_version_and_folders() {
    let world = World::new().await;
    trained_run(&world.store, 20).await;
    let about = world.get("/api/v1/about").await.json();
    assert_eq!(about["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(about["n_runs"], 1);
    assert_eq!(about["adopt_roots"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_run_can_be_read_in_all_its_parts() {
    let world = World::new().await;
    let run = trained_run(&world.store, 20).await;
    let base = format!("/api/v1/runs/{}", run.id);
    let part = async |tail: &str| {
        let answer = world.get(&format!("{base}{tail}")).await;
        assert_eq!(answer.status, 200, "{tail}: {}", String::from_utf8_lossy(&answer.body));
        answer.json()
    };
    assert_eq!(world.get("/api/v1/runs?q=a+run").await.json()["total"], 1);
    let detail = part("").await;
    assert_eq!(
        (&detail["summary"]["status"], &detail["view"]["n_accepted"]),
        (&json!("running"), &json!(1))
    );
    let events = part("/events?after=2&limit=2").await;
    assert_eq!(events["items"][0]["seq"], 3);
    assert_eq!((events["items"].as_array().unwrap().len(), &events["next"]), (2, &json!("4")));
    assert_eq!(part("/curves").await["steps"][0]["step"], 1);
    let steps = part("/steps").await;
    assert_eq!((&steps["total"], &steps["next"]), (&json!(1), &Value::Null));
    assert_eq!(part("/steps/1").await["events"].as_array().unwrap().len(), 1);
    assert_eq!(part("/versions").await.as_array().unwrap().len(), 2);
    assert_eq!(part("/rejected").await["items"], json!([]));
    assert_eq!(part("/tasks?purpose=test&show=changed").await["rows"], json!([]));
    let blame = part("/versions/1/blame").await;
    assert_eq!(
        (&blame["lines"][2]["text"], &blame["origins"][1]["origin"]),
        (&json!("Answer with the shortest phrase."), &json!("step"))
    );
    assert_eq!(part("/trajectories").await["items"], json!([]));
    let config = part("/config").await;
    let seed = config["rows"].as_array().unwrap().iter().find(|row| row["path"] == "train.seed");
    assert_eq!(seed.unwrap()["place"]["origin"], "default");
    let text = part(&format!("/skills/{}", Sha256Hex::of(IMPROVED))).await;
    assert_eq!((&text["text"], &text["eol"]), (&json!(IMPROVED), &json!("lf")));
    let heading =
        json!({"node": "heading", "level": 1, "children": [{"node": "text", "text": "Skill"}]});
    assert_eq!(text["rendered"]["nodes"][0], heading);
}

#[tokio::test]
async fn a_skill_downloads_byte_for_byte() {
    let world = World::new().await;
    let run = trained_run(&world.store, 20).await;
    let path = format!("/api/v1/runs/{}/skills/{}/raw", run.id, Sha256Hex::of(INITIAL));
    let answer = world.get(&path).await;
    assert_eq!(answer.body, INITIAL.as_bytes());
    assert_eq!(answer.header("content-type"), "text/markdown; charset=utf-8");
    assert!(answer.header("content-disposition").starts_with("attachment"));
}

#[tokio::test]
async fn a_skill_of_another_run_is_not_shown() {
    let world = World::new().await;
    trained_run(&world.store, 20).await;
    let other = live_run(&world.store).await;
    let sha = Sha256Hex::of(IMPROVED);
    for tail in ["", "/raw"] {
        let path = format!("/api/v1/runs/{}/skills/{sha}{tail}", other.id);
        world.get(&path).await.is_problem(404, "not_found");
    }
}

#[rstest]
#[case("")]
#[case("/events")]
#[case("/curves")]
#[case("/steps")]
#[case("/steps/1")]
#[case("/versions")]
#[case("/rejected")]
#[case("/tasks")]
#[case("/trajectories/1/beside/2")]
#[case("/versions/0/blame")]
#[case("/trajectories")]
#[case("/trajectories/1")]
#[case("/config")]
#[tokio::test]
async fn an_unknown_run_is_not_found(#[case] tail: &str) {
    let world = World::new().await;
    let path = format!("/api/v1/runs/0190a0c2-7b1e-7c33-8f00-0123456789ab{tail}");
    world.get(&path).await.is_problem(404, "not_found");
}

#[tokio::test]
async fn c77_curves_are_thinned_and_pages_of_steps_are_not() {
    let world = World::new().await;
    let run = live_run(&world.store).await;
    for n in 1..=300 {
        let mut step = accepted_step(n, 20);
        step.candidate_score = Some(if n == 137 { 0.99 } else { 0.5 });
        run.journal.append(&format!("step/{n}"), EventKind::StepFinished(step)).await.unwrap();
    }
    let base = format!("/api/v1/runs/{}", run.id);
    let curves = world.get(&format!("{base}/curves?max_points=60")).await.json();
    let shown = curves["steps"].as_array().unwrap();
    assert!(shown.len() <= 60 && curves["n_steps"] == 300, "{}", shown.len());
    assert!(shown.iter().any(|step| step["step"] == 137), "the spike stays");
    let page = world.get(&format!("{base}/steps?from=101&limit=100")).await.json();
    assert_eq!(page["items"].as_array().unwrap().len(), 100);
    assert_eq!((&page["items"][0]["step"], &page["next"]), (&json!(101), &json!("201")));
}

#[tokio::test]
async fn actions_that_the_state_forbids_are_conflicts() {
    let world = World::new().await;
    let run = live_run(&world.store).await;
    let base = format!("/api/v1/runs/{}", run.id);
    let paused = world.post(&format!("{base}/pause"), &json!({})).await;
    assert_eq!(paused.json()["status"], "pausing");
    assert_eq!(world.post(&format!("{base}/resume"), &json!({})).await.json()["status"], "running");
    assert_eq!(
        world.post(&format!("{base}/cancel"), &json!({})).await.json()["status"],
        "cancelling"
    );
    world.post(&format!("{base}/pause"), &json!({})).await.is_problem(409, "conflict");
    world.post(&format!("{base}/resume"), &json!({})).await.is_problem(409, "conflict");
}

#[tokio::test]
async fn the_schema_lists_every_key_with_its_kind() {
    let world = World::new().await;
    let keys = world.get("/api/v1/config/schema").await.json();
    let seed = keys.as_array().unwrap().iter().find(|key| key["path"] == "train.seed").unwrap();
    assert_eq!((&seed["kind"]["kind"], &seed["default"]), (&json!("int"), &json!("42")));
    let presets = world.get("/api/v1/config/presets").await.json();
    assert_eq!(presets[0]["values"]["model.backend"], "mock");
    assert_eq!(presets[1]["values"]["model.backend"], "openai_compatible");
}

#[tokio::test]
async fn a_bad_value_is_a_problem_of_its_field() {
    let world = World::new().await;
    let form = json!({"values": {"train.num_epochs": "many", "train.sede": "1"}});
    let check = world.post("/api/v1/config/check", &form).await.json();
    let paths: Vec<&Value> =
        check["problems"].as_array().unwrap().iter().map(|problem| &problem["path"]).collect();
    assert_eq!(paths, ["train.num_epochs", "train.sede"]);
    for route in ["/runs", "/preflight", "/config/export"] {
        let answer = world.post(&format!("/api/v1{route}"), &form).await;
        let problem = answer.is_problem(422, "bad_config");
        assert_eq!(problem["problems"].as_array().unwrap().len(), 2);
    }
    assert_eq!(world.store.counts().await.unwrap().runs, 0);
}

#[tokio::test]
async fn yaml_goes_into_the_form_and_out_again() {
    let world = World::new().await;
    let yaml = json!({"yaml": "train:\n  seed: 7\nmodel:\n  backend: mock\n"});
    let values = world.post("/api/v1/config/import", &yaml).await.json();
    assert_eq!(values, json!({"train.seed": "7", "model.backend": "mock"}));
    let out = world.post("/api/v1/config/export", &json!({"values": values})).await.json();
    let again = world.post("/api/v1/config/import", &out).await.json();
    assert_eq!(again, values);
    let broken = json!({"yaml": "train:\n  sede: 7\n"});
    let problem = world.post("/api/v1/config/import", &broken).await.is_problem(422, "bad_config");
    assert_eq!(problem["problems"][0]["place"]["line"], 2);
}

#[tokio::test]
async fn a_version_is_previewed_adopted_listed_and_reverted() {
    let world = World::new().await;
    let run = trained_run(&world.store, 20).await;
    let path = world.path().canonicalize().unwrap().join("SKILL.md");
    fs::write(&path, "mine\n").unwrap();
    let mut request = json!({"run": run.id, "skill": Sha256Hex::of(IMPROVED), "path": path});
    let preview = world.post("/api/v1/adoptions/preview", &request).await.json();
    assert_eq!((&preview["blockers"], &preview["diff"]["n_removed"]), (&json!([]), &json!(1)));

    request["expected_live"] = preview["live"].clone();
    request["idempotency_key"] = json!("k");
    let receipt = world.post("/api/v1/adoptions", &request).await.json();
    assert_eq!(fs::read_to_string(&path).unwrap(), IMPROVED);
    assert_eq!(receipt["actor"], "local");

    request["idempotency_key"] = json!("another");
    let answer = world.post("/api/v1/adoptions", &request).await;
    let problem = answer.is_problem(409, "file_changed");
    assert!(problem["detail"].as_str().unwrap().contains(Sha256Hex::of(IMPROVED).as_str()));

    let listed = world.get(&format!("/api/v1/adoptions?run={}", run.id)).await.json();
    assert_eq!(listed, json!([receipt]), "a refused adoption is no receipt");
    let id = receipt["id"].as_str().unwrap();
    let reverted = world.post(&format!("/api/v1/adoptions/{id}/revert"), &json!({})).await.json();
    assert!(reverted["reverted_at_ms"].is_u64());
    assert_eq!(fs::read_to_string(&path).unwrap(), "mine\n");

    request["path"] = json!("/etc/SKILL.md");
    let refused = world.post("/api/v1/adoptions", &request).await;
    refused.is_problem(403, "path_not_allowed");
}

#[tokio::test]
async fn the_sample_run_starts_with_one_click() {
    let world = World::new().await;
    let launched = world.post("/api/v1/runs/sample", &json!({})).await;
    assert_eq!(launched.status, 200, "{}", String::from_utf8_lossy(&launched.body));
    let runs = world.get("/api/v1/runs").await.json();
    assert_eq!(runs["items"][0]["id"], launched.json()["id"]);
    assert_eq!(runs["items"][0]["status"], RunStatus::Queued.as_str());
    world.supervisor.shut_down(Duration::from_secs(1)).await;
}
