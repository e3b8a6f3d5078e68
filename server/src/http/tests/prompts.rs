//! The prompts of a run over HTTP, and checks of one's own before a run.

use super::World;
use crate::testing::live_run;
use serde_json::json;
use skillopt_domain::event::EventKind;
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::prompt::{PromptOrigin, PromptUse};
use skillopt_engine::ports::Journal;

#[tokio::test]
async fn a_run_shows_its_prompts_and_no_other_text_of_the_store() {
    let world = World::new().await;
    let run = live_run(&world.store).await;
    let base = format!("/api/v1/runs/{}/prompts", run.id);
    assert_eq!(world.get(&base).await.json(), json!([]), "none before they are on record");
    let (text, other) = ("Mine <b>{{ max_items }}</b>", "a text of something else");
    for text in [text, other] {
        run.journal.keep_text(text).await.unwrap();
    }
    let prompt = |name: &str, origin, text: &str| PromptUse {
        name: name.to_owned(),
        origin,
        hash: Sha256Hex::of(text),
    };
    let prompts = vec![
        prompt("ranking", PromptOrigin::User, text),
        prompt("target", PromptOrigin::Benchmark, "gone"),
        prompt("of_a_later_version", PromptOrigin::Default, "gone"),
    ];
    run.journal.append("prompts", EventKind::PromptsChosen { prompts }).await.unwrap();
    let rows = world.get(&base).await.json();
    assert_eq!((&rows[0]["name"], &rows[0]["origin"]), (&json!("ranking"), &json!("user")));
    assert_eq!(rows[0]["hash"], json!(Sha256Hex::of(text)));
    assert!(rows[0]["purpose"].as_str().unwrap().starts_with("Orders edits"), "{rows}");
    assert!(rows[1]["purpose"].as_str().unwrap().contains("the target"), "{rows}");
    assert_eq!(rows[2]["purpose"], "");
    let shown = world.get(&format!("{base}/{}", Sha256Hex::of(text))).await;
    assert_eq!(shown.json(), json!({ "text": text }));
    for hash in [Sha256Hex::of(other), Sha256Hex::of("gone")] {
        world.get(&format!("{base}/{hash}")).await.is_problem(404, "not_found");
    }
    world.get(&format!("{base}/..%2fconfig")).await.is_problem(400, "bad_request");
    let none = "/api/v1/runs/0190a0c2-7b1e-7c33-8f00-0123456789ab/prompts";
    world.get(none).await.is_problem(404, "not_found");
}

#[tokio::test]
async fn prompts_are_checked_before_a_run_starts() {
    let world = World::new().await;
    let folder = world.path().join("prompts");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("ranking.md"), "Best first.\nJSON {\"selected\": []}\n").unwrap();
    let values = json!({
        "model.backend": "mock", "env.split_dir": "nowhere",
        "optimizer.prompts_dir": folder.display().to_string(),
    });
    let body = json!({ "name": "", "fresh": false, "values": values });
    let check = world.post("/api/v1/config/check", &body).await.json();
    let problems = check["problems"].as_array().unwrap();
    let own = problems.iter().find(|one| one["path"] == "optimizer.prompts_dir").unwrap();
    let file = folder.join("ranking.md").display().to_string();
    assert_eq!((&own["place"]["name"], &own["place"]["line"]), (&json!(file), &json!(2)), "{own}");
    assert!(own["message"].as_str().unwrap().contains("{{ max_items }} is missing"), "{own}");
    world.post("/api/v1/runs", &body).await.is_problem(422, "bad_config");
}
