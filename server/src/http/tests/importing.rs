//! Imports over HTTP: which folders may be read, what is answered, and that nothing is resumed.

use super::World;
use serde_json::json;
use std::fs;
use std::path::Path;

fn write_run(folder: &Path) {
    fs::create_dir_all(folder).unwrap();
    let row = json!([{"step": 1, "epoch": 1, "action": "reject", "current_score": 0.5, "best_score": 0.5,
        "rollout_hard": 0.5, "rollout_soft": 0.5, "rollout_n": 2, "candidate_hash": "0123456789abcdef",
        "selection_hard": 0.25, "selection_soft": 0.25}]);
    fs::write(folder.join("history.json"), row.to_string()).unwrap();
}

async fn import(world: &World, path: &Path) -> super::Answer {
    world.post("/api/v1/imports", &json!({"path": path})).await
}

#[tokio::test]
async fn a_folder_under_an_allowed_root_is_imported_and_shown() {
    let world = World::new().await;
    let folder = world.path().join("python");
    write_run(&folder);
    let report = import(&world, &folder).await.json();
    assert_eq!((&report["change"], &report["n_steps"]), (&json!("new"), &json!(1)), "{report}");
    assert!(!report["findings"].as_array().unwrap().is_empty());
    let run = report["run"].as_str().unwrap();
    let detail = world.get(&format!("/api/v1/runs/{run}")).await.json();
    assert_eq!(detail["imported"]["system"], "Python SkillOpt 0.1");
    assert_eq!(detail["view"]["n_rejected"], 1);
    assert_eq!(detail["summary"]["status"], "interrupted");
    let resumed = world.post(&format!("/api/v1/runs/{run}/resume"), &json!({})).await;
    let problem = resumed.is_problem(409, "conflict");
    assert!(problem["detail"].as_str().unwrap().contains("cannot be resumed"), "{problem}");
    assert_eq!(import(&world, &folder).await.json()["change"], "unchanged");
}

#[tokio::test]
async fn folders_elsewhere_and_folders_without_a_run_are_refused() {
    let world = World::new().await;
    let outside = tempfile::tempdir().unwrap();
    write_run(outside.path());
    let refused = import(&world, outside.path()).await.is_problem(403, "path_not_allowed");
    assert_eq!(refused["title"], "The path is not allowed");
    assert!(refused["detail"].as_str().unwrap().contains("may read"), "{refused}");
    let missing = import(&world, &world.path().join("missing")).await;
    let missing = missing.is_problem(403, "path_not_allowed");
    assert!(missing["detail"].as_str().unwrap().ends_with("does not exist"), "{missing}");
    #[cfg(unix)]
    {
        let link = world.path().join("link");
        std::os::unix::fs::symlink(outside.path(), &link).unwrap();
        import(&world, &link).await.is_problem(403, "path_not_allowed");
    }
    let dots = world.path().join("a/../b");
    import(&world, &dots).await.is_problem(403, "path_not_allowed");
    import(&world, Path::new("relative")).await.is_problem(403, "path_not_allowed");
    let empty = world.path().join("empty");
    fs::create_dir(&empty).unwrap();
    import(&world, &empty).await.is_problem(400, "bad_request");
    assert_eq!(world.store.counts().await.unwrap().runs, 0);
}
