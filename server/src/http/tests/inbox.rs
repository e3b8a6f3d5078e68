//! Prompts that wait: shown, answered, taken back, and the night that goes on.

use super::World;
use rstest::rstest;
use serde_json::{Value, json};
use std::fs;

const INBOX: &str = "/api/v1/sleep/handoff";

impl World {
    fn inbox_path(&self, tail: &str) -> String {
        format!("{INBOX}{tail}?project={}", self.project().display())
    }

    async fn inbox(&self) -> Value {
        let answer = self.get(&self.inbox_path("")).await;
        assert_eq!(answer.status, 200, "{}", answer.json());
        answer.json()
    }

    /// A night that waits for the answers to its first prompts.
    async fn waiting(&self) -> String {
        self.sessions(3);
        let order = json!({"project": self.project(), "backend": "handoff", "lookback_hours": 0});
        let begun = self.post("/api/v1/sleep/nights", &order).await;
        assert_eq!(begun.status, 200, "{}", begun.json());
        self.nights.drained().await;
        begun.json()["id"].as_str().unwrap().to_owned()
    }

    async fn give(&self, id: &str, text: &str, more: Value) -> super::Answer {
        let mut body = json!({"project": self.project(), "text": text});
        body.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
        self.put(&format!("{INBOX}/{id}"), &body).await
    }

    async fn go_on(&self) -> super::Answer {
        self.post(&format!("{INBOX}/continue"), &json!({"project": self.project()})).await
    }
}

fn ids(inbox: &Value) -> Vec<String> {
    let prompts = inbox["prompts"].as_array().unwrap().iter();
    prompts.map(|prompt| prompt["id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_night_that_waits_is_answered_here_and_goes_on_where_it_stood() {
    let world = World::with_home().await;
    let first = world.waiting().await;
    let inbox = world.inbox().await;
    assert_eq!((&inbox["night"], &inbox["n_answered"]), (&json!(first), &json!(0)), "{inbox}");
    let asked = ids(&inbox);
    assert_eq!(asked.len(), 3, "one for each session: {inbox}");
    let prompt = &inbox["prompts"][0];
    assert_eq!((&prompt["purpose"], &prompt["wants_json"]), (&json!("mine"), &json!(true)));
    assert!(prompt["prompt"].as_str().unwrap().contains("notes of module"), "{prompt}");

    let refused = world.go_on().await.is_problem(409, "conflict");
    assert!(refused["detail"].as_str().unwrap().contains("3 prompts have no answer"), "{refused}");
    for (number, id) in asked.iter().enumerate() {
        let task = json!([{"intent": format!("Write the notes of part {number}"), "rubric": "short", "satisfied": true}]);
        let answered = world.give(id, &task.to_string(), json!({})).await;
        assert_eq!(answered.status, 200, "{}", answered.json());
        assert_eq!(answered.json()["n_answered"], number + 1);
    }
    let begun = world.go_on().await;
    assert_eq!(begun.status, 200, "{}", begun.json());
    world.nights.drained().await;
    let next = world.inbox().await;
    assert_eq!((&next["night"], &next["n_answered"]), (&begun.json()["id"], &json!(0)), "{next}");
    assert!(ids(&next).iter().all(|id| !asked.contains(id)), "nothing is asked twice");
    let prompt = &next["prompts"][0];
    assert_eq!((&prompt["purpose"], &prompt["wants_json"]), (&json!("qa"), &json!(false)));
    assert_eq!(
        (world.n_audited("answer_handoff").await, world.n_audited("begin_night").await),
        (3, 2)
    );
}

#[tokio::test]
async fn an_answer_is_neither_replaced_nor_taken_back_unseen() {
    let world = World::with_home().await;
    world.waiting().await;
    let id = ids(&world.inbox().await).remove(0);
    let file = world.project().join(format!(".skillopt-sleep-handoff/answers/{id}.md"));
    let mine = |page: &Value| {
        page["prompts"]
            .as_array()
            .unwrap()
            .iter()
            .find(|one| one["id"] == id.as_str())
            .cloned()
            .unwrap()
    };
    let one = mine(&world.give(&id, "[1]", json!({})).await.json());
    assert_eq!(
        (&one["answer"], fs::read_to_string(&file).unwrap().as_str()),
        (&json!("[1]"), "[1]")
    );
    let refused = world.give(&id, "[2]", json!({})).await.is_problem(409, "conflict");
    assert!(refused["detail"].as_str().unwrap().contains("meanwhile"), "{refused}");
    let seen = json!({"replaces": one["answer_sha"]});
    assert_eq!(world.give(&id, "[2]", seen.clone()).await.status, 200);
    world.give(&id, "[3]", seen).await.is_problem(409, "conflict");
    let forced = mine(&world.give(&id, "[3]", json!({"overwrite": true})).await.json());
    assert_eq!(forced["answer"], "[3]");

    let path = world.inbox_path(&format!("/{id}"));
    let back = mine(&world.delete(&path).await.json());
    assert_eq!((&back["answer"], file.exists()), (&Value::Null, false));
    world.delete(&path).await.is_problem(404, "not_found");
    assert_eq!(world.n_audited("take_back_answer").await, 1);
}

#[rstest]
#[case("..%2F..%2Fx")]
#[case("0123456789abcdef")]
#[case("pending.json")]
#[tokio::test]
async fn what_was_not_asked_is_no_path(#[case] id: &str) {
    let world = World::with_home().await;
    world.waiting().await;
    world.give(id, "x", json!({"overwrite": true})).await.is_problem(404, "not_found");
    world.delete(&world.inbox_path(&format!("/{id}"))).await.is_problem(404, "not_found");
    let answers = world.project().join(".skillopt-sleep-handoff/answers");
    assert_eq!(fs::read_dir(answers).unwrap().count(), 0);
}

#[tokio::test]
async fn an_answer_has_text_and_an_end() {
    let world = World::with_home().await;
    world.waiting().await;
    let id = ids(&world.inbox().await).remove(0);
    for text in [" \n".to_owned(), "x".repeat((1 << 20) + 1)] {
        world.give(&id, &text, json!({})).await.is_problem(400, "bad_request");
    }
    assert_eq!(world.inbox().await["n_answered"], 0);
}

#[tokio::test]
async fn a_project_outside_of_the_servers_folders_has_no_inbox() {
    let world = World::with_home().await;
    let outside = tempfile::tempdir().unwrap();
    let project = outside.path().canonicalize().unwrap();
    let path = format!("{INBOX}?project={}", project.display());
    world.get(&path).await.is_problem(403, "path_not_allowed");
    let body = json!({"project": project, "text": "x"});
    world
        .put(&format!("{INBOX}/0123456789abcdef"), &body)
        .await
        .is_problem(403, "path_not_allowed");
    let body = json!({"project": project});
    world.post(&format!("{INBOX}/continue"), &body).await.is_problem(403, "path_not_allowed");
}

#[tokio::test]
async fn without_a_night_that_waits_nothing_goes_on() {
    let world = World::with_home().await;
    world.project();
    let inbox = world.inbox().await;
    assert_eq!((&inbox["prompts"], &inbox["night"]), (&json!([]), &Value::Null));
    world.go_on().await.is_problem(409, "conflict");
}

#[tokio::test]
async fn a_night_whose_files_were_put_aside_does_not_begin_again() {
    let world = World::with_home().await;
    world.waiting().await;
    let folder = world.project().join(".skillopt-sleep-handoff");
    fs::rename(&folder, folder.with_added_extension("night1.done")).unwrap();
    world.go_on().await.is_problem(409, "conflict");
    assert_eq!(world.n_audited("begin_night").await, 1);
}

impl World {
    /// The night whose prompts the first page asks to answer; of one project there is at most one.
    async fn asking(&self) -> Value {
        let asking = self.get("/api/v1/overview").await.json()["nights"]["asking"].clone();
        assert!(asking.as_array().unwrap().len() < 2, "{asking}");
        asking[0]["id"].clone()
    }
}

#[tokio::test]
async fn a_night_that_another_one_finished_waits_no_more() {
    let world = World::with_home().await;
    let first = world.waiting().await;
    for id in ids(&world.inbox().await) {
        assert_eq!(world.give(&id, "[]", json!({})).await.status, 200);
    }
    assert_eq!(world.inbox().await["night"], json!(first));
    for (is_dry, night) in [(true, json!(first)), (false, Value::Null)] {
        let order = json!({"project": world.project(), "backend": "mock", "dry_run": is_dry});
        assert_eq!(world.post("/api/v1/sleep/nights", &order).await.status, 200);
        world.nights.drained().await;
        assert_eq!(world.inbox().await["night"], night, "a dry run takes nothing");
        assert_eq!(world.asking().await, night, "the first page says the same");
    }
    assert_eq!(ids(&world.inbox().await).len(), 3, "its prompts are there still");
    world.go_on().await.is_problem(404, "not_found");
    assert_eq!(world.n_audited("begin_night").await, 3);
}

#[tokio::test]
async fn what_is_answered_for_a_dry_run_is_no_answer_for_the_night_that_waits() {
    let world = World::with_home().await;
    world.waiting().await;
    let asked = ids(&world.inbox().await);
    let order = json!({"project": world.project(), "backend": "handoff", "lookback_hours": 0, "dry_run": true});
    let begun = world.post("/api/v1/sleep/nights", &order).await;
    assert_eq!(begun.status, 200, "{}", begun.json());
    world.nights.drained().await;
    let inbox = world.inbox().await;
    assert_eq!((&inbox["night"], ids(&inbox)), (&begun.json()["id"], asked.clone()), "{inbox}");
    assert!(inbox["dir"].as_str().unwrap().ends_with(".skillopt-sleep-handoff.dry"), "{inbox}");
    assert_eq!(world.give(&asked[0], "[]", json!({})).await.status, 200);
    let answers = |dir: &str| {
        fs::read_dir(world.project().join(dir).join("answers")).map_or(0, Iterator::count)
    };
    assert_eq!(answers(".skillopt-sleep-handoff.dry"), 1);
    assert_eq!(answers(".skillopt-sleep-handoff"), 0);
}

#[tokio::test]
async fn a_dry_run_that_waits_hides_no_prompts_of_the_night() {
    let world = World::with_home().await;
    let night = world.waiting().await;
    assert_eq!(world.inbox().await["other"], Value::Null, "nothing else waits");
    let order = json!({"project": world.project(), "backend": "handoff", "lookback_hours": 0, "dry_run": true});
    let dry = world.post("/api/v1/sleep/nights", &order).await.json()["id"].clone();
    world.nights.drained().await;
    for (is_dry, own, other) in [(true, dry.clone(), json!(night)), (false, json!(night), dry)] {
        let path = format!("{}&dry={is_dry}", world.inbox_path(""));
        let inbox = world.get(&path).await.json();
        assert_eq!(
            (&inbox["is_dry"], &inbox["night"], &inbox["other"]),
            (&json!(is_dry), &own, &other)
        );
        assert_eq!(ids(&inbox).len(), 3, "{inbox}");
    }
    // The night is answered and goes on, whatever waits beside it.
    let of_night = json!({"dry": false});
    for id in ids(&world.inbox().await) {
        let answered = world.give(&id, "[]", of_night.clone()).await;
        assert_eq!(answered.status, 200, "{}", answered.json());
        assert_eq!(answered.json()["is_dry"], false);
    }
    let taken = world.inbox_path(&format!("/{}", ids(&world.inbox().await)[0]));
    world.delete(&taken).await.is_problem(404, "not_found");
    let body = json!({"project": world.project(), "dry": true});
    world.post(&format!("{INBOX}/continue"), &body).await.is_problem(409, "conflict");
    let body = json!({"project": world.project(), "dry": false});
    assert_eq!(world.post(&format!("{INBOX}/continue"), &body).await.status, 200);
    world.nights.drained().await;
    let left = world.project().join(".skillopt-sleep-handoff");
    assert!(left.with_added_extension("dry").exists(), "the dry run waits on");
}

#[cfg(unix)]
#[tokio::test]
async fn damaged_pins_are_a_conflict_and_a_file_system_that_refuses_is_an_error_of_the_server() {
    let world = World::with_home().await;
    world.waiting().await;
    let order = json!({"project": world.project(), "backend": "handoff", "lookback_hours": 0});
    let record = world.path().join("home/.skillopt-sleep/handoff-pins");
    fs::remove_dir_all(&record).unwrap();
    fs::write(&record, "no folder").unwrap();
    world.post("/api/v1/sleep/nights", &order).await.is_problem(500, "internal");
    let pins = world.project().join(".skillopt-sleep-handoff/digests.json");
    fs::write(pins, b"\xff").unwrap();
    let refused = world.post("/api/v1/sleep/nights", &order).await.is_problem(409, "conflict");
    assert!(refused["detail"].as_str().unwrap().contains("digests.json"), "{refused}");
}
