//! Models over HTTP: what is listed, and who may make a test call.

use super::{World, post};
use axum::http::header;
use serde_json::{Value, json};

fn find<'a>(models: &'a Value, id: &str) -> &'a Value {
    let uses = models["uses"].as_array().unwrap();
    uses.iter().find(|one| one["id"] == id).unwrap_or(&Value::Null)
}

#[tokio::test]
async fn a_simulated_model_is_listed_called_and_remembered() {
    let world = World::new().await;
    let models = world.get("/api/v1/models").await.json();
    let target = find(&models, "simulated.target");
    assert_eq!((&target["model"], &target["is_simulated"]), (&json!("sim-target"), &json!(true)));
    assert_eq!((&target["last_test"], &target["problem"]), (&Value::Null, &json!("")));
    let body = json!({"id": "simulated.target", "probe": true});
    let test = world.post("/api/v1/models/test", &body).await.json();
    assert_eq!((&test["ok"], &test["attempts"]), (&json!(true), &json!(1)));
    assert!(test["latency_ms"].is_u64() && test["probes"] == json!([]), "{test}");
    let models = world.get("/api/v1/models").await.json();
    assert_eq!(find(&models, "simulated.target")["last_test"], test);
    assert_eq!(find(&models, "simulated.optimizer")["last_test"], Value::Null);
    assert!(world.store.audit_log(10).await.unwrap().is_empty(), "it cost nothing");
}

#[tokio::test]
async fn what_is_not_set_up_says_so_and_is_not_called() {
    let world = World::new().await;
    let models = world.get("/api/v1/models").await.json();
    let problem = find(&models, "new.target")["problem"].as_str().unwrap();
    assert!(problem.contains("model.target_openai_compatible_base_url"), "{problem}");
    assert!(!problem.contains("optimizer"), "the other role's faults stand there: {problem}");
    let answer = world.post("/api/v1/models/test", &json!({"id": "new.target"})).await;
    answer.is_problem(422, "bad_config");
    for id in ["", "new", "new.judge", "../x.target", "0190a0c2-7b1e-7c33-8f00-0123456789ab.target"]
    {
        let answer = world.post("/api/v1/models/test", &json!({"id": id})).await;
        answer.is_problem(404, "not_found");
    }
    let extra = json!({"id": "simulated.target", "base_url": "https://evil.example"});
    world.post("/api/v1/models/test", &extra).await.is_problem(400, "bad_request");
}

#[tokio::test]
async fn c70_a_page_of_another_origin_makes_no_test_call() {
    let world = World::new().await;
    let mut request = post("/api/v1/models/test", &json!({"id": "simulated.target"}));
    request.headers_mut().insert(header::ORIGIN, "https://evil.example".parse().unwrap());
    world.answer(request).await.is_problem(403, "forbidden");
    let models = world.get("/api/v1/models").await.json();
    assert_eq!(find(&models, "simulated.target")["last_test"], Value::Null);
}
