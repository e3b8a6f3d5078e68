//! The price table over HTTP: validation in words, and no write over what somebody else changed.

use super::*;
use serde_json::json;

fn row(input: f64) -> Value {
    json!({"model": "m*", "host": "", "input": input, "cached_input": null, "output": 2.0, "as_of": "2026-11-30", "source": ""})
}

#[tokio::test]
async fn prices_are_replaced_by_who_saw_the_last_version_only() {
    let world = World::new().await;
    let empty = world.get("/api/v1/prices").await.json();
    assert_eq!((&empty["version"], &empty["rows"]), (&json!(0), &json!([])));
    let first = json!({"version": 0, "rows": [row(1.0)]});
    let kept = world.put("/api/v1/prices", &first).await.json();
    assert_eq!((&kept["version"], &kept["rows"][0]["input"]), (&json!(1), &json!(1.0)));
    let late = json!({"version": 0, "rows": []});
    let problem = world.put("/api/v1/prices", &late).await.is_problem(409, "conflict");
    assert!(problem["detail"].as_str().is_some_and(|text| text.contains("load them again")));
    assert_eq!(world.get("/api/v1/prices").await.json(), kept);
    let log = world.store.audit_log(9).await.unwrap();
    assert_eq!((log[0].action.as_str(), log[0].detail.as_str()), ("set_prices", "added m*"));
}

#[tokio::test]
async fn a_row_that_cannot_be_is_refused_with_its_field_and_what_to_do() {
    let world = World::new().await;
    let mut bad = row(-1.0);
    bad["as_of"] = json!("yesterday");
    let update = json!({"version": 0, "rows": [row(1.0), bad]});
    let problem = world.put("/api/v1/prices", &update).await.is_problem(422, "bad_config");
    let paths: Vec<&str> = problem["problems"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|one| one["path"].as_str())
        .collect();
    assert_eq!(paths, ["rows[1].input", "rows[1].as_of", "rows[1].model"]);
    let unknown = json!({"version": 0, "rows": [], "force": true});
    world.put("/api/v1/prices", &unknown).await.is_problem(400, "bad_request");
}

#[tokio::test]
async fn a_check_prices_the_forecast_from_the_table() {
    let world = World::new().await;
    let data = format!("{}/../data/searchqa_sample", env!("CARGO_MANIFEST_DIR"));
    let form = json!({"name": "", "values": {
        "model.backend": "openai_compatible",
        "model.target": "m-1",
        "model.optimizer": "m-2",
        "model.openai_compatible_base_url": "http://127.0.0.1:1/v1",
        "env.split_dir": data,
    }});
    let cost = async || {
        let check = world.post("/api/v1/config/check", &form).await.json();
        assert_eq!(check["problems"], json!([]), "{check}");
        let parts = check["forecast"]["estimate"]["parts"].as_array().unwrap().clone();
        parts.iter().map(|part| part["target"]["cost_usd_micros"].clone()).collect::<Vec<_>>()
    };
    assert!(cost().await.iter().all(Value::is_null), "unknown, not zero");
    world.put("/api/v1/prices", &json!({"version": 0, "rows": [row(1.0)]})).await.json();
    assert!(cost().await.iter().any(|one| one["likely"].as_u64() > Some(0)));
}
