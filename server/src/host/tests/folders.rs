//! Whose a run folder is: one run's at a time, and that of a new one when the old one did nothing.

use super::*;

fn request(resolved: Resolved, folder: &Path) -> NewRunRequest {
    NewRunRequest {
        name: String::new(),
        resolved,
        fresh: false,
        out_root: Some(folder.to_owned()),
        actor: "tester".into(),
        lease: LeaseWish::Now,
        lineage: None,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_did_nothing_gives_its_folder_to_the_next_one_and_stays_in_the_list() {
    let scene = Scene::new().await;
    let folder = scene.dir.path().join("mine");
    let wrong = scene.config(&["env.split_dir=/no/such/folder"]);
    let old = scene.create(wrong, Some(folder.clone())).await;
    assert_eq!(scene.drive(&old).await, RunStatus::Failed);
    let new = scene.create(scene.config(&[]), Some(folder.clone())).await;
    let Existing::Known(row) = scene.hosting.existing(&folder).await.expect("read") else {
        panic!("a known run")
    };
    assert_eq!(row.id, new);

    let leash = RunControl::new();
    let refused = scene.hosting.drive(&old, leash, CancellationToken::new()).await;
    let refused = refused.expect_err("its folder is another's").to_string();
    assert!(refused.contains(&format!("belongs to run {} now", new.short())), "{refused}");
    // Also when it was in the queue already.
    let (leash, stop) = (RunControl::new(), CancellationToken::new());
    crate::supervisor::Driver::drive(&scene.hosting, &old, RunStatus::Failed, leash, stop).await;
    let row = scene.hosting.store().run_row(&old).await.expect("row");
    assert_eq!(row.status, RunStatus::Failed);
    assert!(row.detail.unwrap_or_default().contains("belongs to run"));

    assert_eq!(scene.drive(&new).await, RunStatus::Done);
    assert!(folder.join("best_skill.md").is_file());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_measured_anything_keeps_its_folder() {
    let scene = Scene::new().await;
    let folder = scene.dir.path().join("mine");
    let run = scene.create(scene.config(&["limits.max_calls=10"]), Some(folder.clone())).await;
    assert_eq!(scene.drive(&run).await, RunStatus::Capped);
    let row = scene.hosting.store().run_row(&run).await.expect("row");
    assert!(!scene.hosting.gives_way(&row).await.expect("read"));
    let refused = scene.hosting.create(request(scene.config(&["train.seed=7"]), &folder)).await;
    let refused = refused.expect_err("taken").to_string();
    assert!(refused.contains("holds a run already"), "{refused}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_runs_that_are_made_at_once_in_one_folder_there_is_one() {
    let scene = Scene::new().await;
    let folder = scene.dir.path().join("mine");
    let new = || scene.hosting.create(request(scene.config(&[]), &folder));
    let (one, two) = tokio::join!(new(), new());
    assert_ne!(one.is_ok(), two.is_ok(), "{one:?} and {two:?}");
    let refused = one.as_ref().err().or(two.as_ref().err()).expect("one is refused");
    assert!(matches!(refused, HostError::Folder { .. }), "{refused}");
    assert_eq!(scene.hosting.store().counts().await.expect("read").runs, 1);
    // Who was refused is not in the way of the other one.
    let run = one.ok().or(two.ok()).expect("one is made");
    assert_eq!(scene.drive(&run).await, RunStatus::Done);
}
