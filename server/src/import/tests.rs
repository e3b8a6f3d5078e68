//! Whole folders in the shape of the Python system, sound and broken ones, and one of our own.

mod again;
mod broken;
mod epochs;
mod own;
mod python;
mod whole;

use super::*;
use crate::config::Environment;
use python::{PythonRun, Version};
use skillopt_domain::api::{TrajectoryQuery, TrajectoryRow};

struct Scene {
    hosting: Hosting,
    dir: tempfile::TempDir,
}

impl Scene {
    async fn new() -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        let store = Store::in_memory().await.expect("a store");
        let hosting = Hosting::with_store(store, dir.path(), Environment::default());
        Self { hosting, dir }
    }

    fn store(&self) -> &Store {
        self.hosting.store()
    }

    async fn import(&self, run: &PythonRun) -> ImportReport {
        self.hosting.import(run.path(), "tester", ImportMode::Write).await.expect("imported")
    }

    async fn attempts(&self, run: &RunId) -> Vec<TrajectoryRow> {
        let query = TrajectoryQuery { limit: Some(500), ..TrajectoryQuery::default() };
        self.store().trajectories(run, &query).await.expect("attempts").page.items
    }
}

fn messages(report: &ImportReport) -> Vec<String> {
    report.findings.iter().map(ToString::to_string).collect()
}

#[tokio::test]
async fn one_folder_is_read_at_a_time() {
    let (scene, run) = (Scene::new().await, PythonRun::started(Version::V02));
    let turn = ONE_AT_A_TIME.acquire().await.expect("a turn");
    let mut waiting = Box::pin(scene.hosting.import(run.path(), "tester", ImportMode::Write));
    let early =
        std::future::poll_fn(|ctx| std::task::Poll::Ready(waiting.as_mut().poll(ctx))).await;
    assert!(early.is_pending());
    assert_eq!(ONE_AT_A_TIME.available_permits(), 0);
    drop(turn);
    assert_eq!(waiting.await.expect("imported").change, ImportChange::New);
}

#[tokio::test]
async fn an_imported_run_is_not_resumed_and_its_folder_is_not_trained_in() {
    let (scene, mut run) = (Scene::new().await, PythonRun::started(Version::V02));
    run.accept(1);
    let report = scene.import(&run).await;
    let leash = skillopt_engine::ctx::RunControl::new();
    let driven =
        scene.hosting.drive(&report.run, leash, tokio_util::sync::CancellationToken::new()).await;
    let refused = driven.expect_err("refused").to_string();
    assert!(refused.starts_with("an imported run cannot be resumed"), "{refused}");
    let existing = scene.hosting.existing(run.path()).await.expect("looked");
    assert!(matches!(existing, crate::host::Existing::Foreign), "{existing:?}");
    assert_eq!(run.row_at(0)["step"], 1);
}
