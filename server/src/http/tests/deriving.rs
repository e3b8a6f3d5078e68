//! Re-run, fork and resume over HTTP: what differs is told, and only what is safe goes on.

use super::World;
use rstest::rstest;
use serde_json::{Value, json};
use skillopt_domain::ids::RunId;
use skillopt_domain::run::{RunStatus, RunTransition};
use skillopt_store::{Author, Change, LeaseTerm};
use std::path::Path;
use std::time::Duration;

impl World {
    /// Values of a small run over the sample data.
    pub(super) fn small_run(options: &[(&str, &str)]) -> Value {
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/searchqa_sample");
        let mut values = json!({
            "model.backend": "mock", "env.split_dir": data, "env.skill_init": data.join("SKILL.md"),
            "train.num_epochs": "1", "train.batch_size": "28",
        });
        for (path, value) in options {
            values[*path] = json!(value);
        }
        values
    }

    /// Starts what a request asks for and waits for its end.
    pub(super) async fn run_to_end(&self, route: &str, body: &Value) -> (String, Value) {
        let answer = self.post(route, body).await;
        assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.body));
        let id = answer.json()["id"].as_str().unwrap().to_owned();
        (id.clone(), self.wait_for(&id, RunStatus::is_over).await)
    }

    async fn wait_for(&self, id: &str, is: fn(RunStatus) -> bool) -> Value {
        let path = format!("/api/v1/runs/{id}");
        let mut signals = self.store.subscribe();
        let ended = async {
            loop {
                let detail = self.get(&path).await.json();
                let status = detail["summary"]["status"].as_str().and_then(RunStatus::parse);
                if status.is_some_and(is) {
                    return detail;
                }
                let _ = tokio::time::timeout(Duration::from_millis(100), signals.recv()).await;
            }
        };
        tokio::select! {
            () = self.supervisor.watch() => panic!("the supervisor stopped"),
            ended = tokio::time::timeout(Duration::from_secs(60), ended) => ended.expect("an end in time"),
        }
    }
}

fn paths(differences: &Value) -> Vec<&str> {
    let rows = differences.as_array().map(Vec::as_slice).unwrap_or_default();
    rows.iter().filter_map(|row| row["path"].as_str()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fork_is_checked_against_its_run_and_keeps_what_differs() {
    let world = World::new().await;
    let values = World::small_run(&[]);
    let (run, _) = world.run_to_end("/api/v1/runs", &json!({"values": values})).await;
    let form = json!({
        "values": World::small_run(&[("optimizer.learning_rate", "2"), ("limits.max_calls", "5")]),
        "origin": {"run": run, "version": 1},
    });
    let check = world.post("/api/v1/config/check", &form).await.json();
    assert_eq!(check["problems"], json!([]), "{check}");
    assert_eq!(
        paths(&check["differences"]),
        ["optimizer.learning_rate", "limits.max_calls", "skill"]
    );
    assert_eq!(check["differences"][0]["effect"], "results");
    assert_eq!(check["differences"][1]["effect"], "safe");
    let (fork, detail) = world.run_to_end("/api/v1/runs", &form).await;
    assert_ne!(fork, run);
    let origin = &detail["origin"];
    assert_eq!((&origin["kind"], &origin["version"]), (&json!("fork"), &json!(1)), "{origin}");
    assert_eq!(paths(&origin["differences"]).len(), 3);
    let config = world.get(&format!("/api/v1/runs/{fork}/config")).await.json();
    let row = |path: &str| {
        let rows = config["rows"].as_array().unwrap();
        rows.iter().find(|row| row["path"] == path).unwrap().clone()
    };
    assert_eq!(row("optimizer.learning_rate")["place"]["name"], "launch form");
    assert!(row("env.skill_init")["place"]["name"].as_str().unwrap().starts_with("v1 of run "));
    let audit = world.store.audit_log(20).await.unwrap();
    let row = audit.iter().find(|row| row.action == "fork_run").expect("an audit row");
    assert_eq!((row.actor.as_str(), row.subject.as_str()), ("local", fork.as_str()));

    let nothing = json!({"values": World::small_run(&[]), "origin": {"run": run}});
    let check = world.post("/api/v1/config/check", &nothing).await.json();
    assert_eq!(check["differences"], Value::Null, "the same form differs in nothing");
    let missing = json!({"values": {}, "origin": {"run": "0190a0c2-7b1e-7c33-8f00-0123456789ab"}});
    world.post("/api/v1/config/check", &missing).await.is_problem(404, "not_found");
    let wrong = json!({"values": World::small_run(&[]), "origin": {"run": run, "version": 99}});
    let problem = world.post("/api/v1/runs", &wrong).await.is_problem(422, "bad_config");
    assert_eq!(problem["problems"][0]["path"], "env.skill_init");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rerun_is_one_request_and_costs_nothing() {
    let world = World::new().await;
    let values = World::small_run(&[]);
    let (run, _) = world.run_to_end("/api/v1/runs", &json!({"values": values})).await;
    let route = format!("/api/v1/runs/{run}/rerun");
    let (again, detail) = world.run_to_end(&route, &json!({"name": "once more"})).await;
    assert_eq!(detail["summary"]["name"], "once more");
    assert_eq!(detail["summary"]["spend"]["target"]["calls"], 0);
    assert_eq!(detail["origin"]["kind"], "rerun");
    assert_eq!(detail["origin"]["run"], json!(run));
    assert_ne!(again, run);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_resume_takes_safe_settings_and_names_a_fork_for_others() {
    let world = World::new().await;
    let values = World::small_run(&[("limits.max_calls", "10")]);
    let (run, detail) = world.run_to_end("/api/v1/runs", &json!({"values": values})).await;
    assert_eq!(detail["summary"]["status"], "capped");
    let route = format!("/api/v1/runs/{run}/resume");
    let bold = json!({"values": {"limits.max_calls": "", "train.seed": "7"}});
    let problem = world.post(&route, &bold).await.is_problem(409, "needs_fork");
    assert_eq!(paths(&problem["differences"]), ["train.seed", "limits.max_calls"]);
    assert!(problem["detail"].as_str().unwrap().contains("skillopt runs fork"), "{problem}");
    let wrong = json!({"values": {"env.workers": "many"}});
    world.post(&route, &wrong).await.is_problem(422, "bad_config");
    let safe = json!({"values": {"limits.max_calls": "", "env.workers": "3"}});
    assert_eq!(world.post(&route, &safe).await.status, 200);
    // It is capped until its turn comes.
    world.wait_for(&run, |status| status == RunStatus::Done).await;
    let audit = world.store.audit_log(20).await.unwrap();
    let row = audit.iter().find(|row| row.action == "resume").expect("an audit row");
    assert!(row.detail.contains("env.workers: 24 → 3"), "{}", row.detail);
    let problem = world.post(&route, &safe).await.is_problem(409, "conflict");
    assert!(problem["detail"].as_str().unwrap().contains("fork it"), "{problem}");
}

#[tokio::test]
async fn a_run_folder_that_is_taken_is_a_problem_of_its_field() {
    let world = World::new().await;
    let taken = world.path().join("taken");
    std::fs::create_dir(&taken).unwrap();
    std::fs::write(taken.join("history.json"), "[]").unwrap();
    let folder = taken.display().to_string();
    let values = World::small_run(&[("env.out_root", &folder)]);
    let check = world.post("/api/v1/config/check", &json!({"values": values})).await.json();
    assert_eq!(check["problems"][0]["path"], "env.out_root", "{check}");
    let in_a_file = taken.join("history.json/run").display().to_string();
    let free = world.path().join("free").display().to_string();
    for (folder, n_problems) in [(in_a_file, 1), (free, 0)] {
        let values = World::small_run(&[("env.out_root", &folder)]);
        let check = world.post("/api/v1/config/check", &json!({"values": values})).await.json();
        assert_eq!(check["problems"].as_array().unwrap().len(), n_problems, "{check}");
        assert!(!world.path().join("free").exists(), "a check writes nothing");
    }
    let answer = world.post("/api/v1/runs", &json!({"values": values})).await;
    let problem = answer.is_problem(422, "bad_config");
    assert_eq!(problem["problems"][0]["path"], "env.out_root", "{problem}");
    assert!(problem["detail"].as_str().unwrap().contains(&folder), "{problem}");
}

#[rstest]
#[case::cancelled("cancel", 200, Some("cancelled"))]
#[case::resumed("resume", 200, None)]
#[case::not_paused("pause", 409, None)]
#[tokio::test]
async fn a_run_of_a_process_that_died_takes_commands_at_once(
    #[case] verb: &str,
    #[case] code: u16,
    #[case] status: Option<&str>,
) {
    let world = World::new().await;
    let values = World::small_run(&[]);
    let launched = world.post("/api/v1/runs", &json!({"values": values})).await.json();
    let run = RunId::parse(launched["id"].as_str().unwrap()).unwrap();
    // No process has this number, and its lease runs on for long.
    let gone = LeaseTerm { owner: "4294967295:gone".to_owned(), ttl_ms: u64::from(u32::MAX) };
    let now_ms = world.store.run_row(&run).await.unwrap().created_at_ms;
    world.store.acquire_lease(&run, &gone, now_ms).await.unwrap();
    let by = Author::Owner(&gone.owner);
    let start = Change { transition: RunTransition::Start, detail: None, by, at_ms: now_ms };
    world.store.transition(&run, start).await.unwrap();

    let answer = world.post(&format!("/api/v1/runs/{run}/{verb}"), &json!({})).await;
    assert_eq!(answer.status, code, "{}", String::from_utf8_lossy(&answer.body));
    if let Some(status) = status {
        assert_eq!(answer.json()["status"], status);
        let row = world.store.run_row(&run).await.unwrap();
        assert_eq!(row.status.as_str(), status);
    }
}
