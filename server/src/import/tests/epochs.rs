//! Epochs that come again, and guidance that an earlier import did not tell.

use super::python::{BETTER, PythonRun, Version};
use super::{Scene, messages};
use serde_json::json;
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::import::ImportChange;

/// Guidance after the second step, the last of its epoch.
fn guide(run: &PythonRun) -> String {
    let guided = format!(
        "{BETTER}\n\n<!-- SLOW_UPDATE_START -->\nKeep it short.\n<!-- SLOW_UPDATE_END -->\n"
    );
    run.text("skills/skill_v0002.md", &guided);
    run.text("slow_update/epoch_01/candidate_skill.md", &guided);
    run.json(
        "slow_update/epoch_01/slow_result.json",
        &json!({"action": "force_accept", "slow_update_content": "Keep it short.", "reasoning": "r",
            "candidate_hash": Sha256Hex::of(&guided).short()}),
    );
    guided
}

#[tokio::test]
async fn guidance_that_an_earlier_import_went_past_is_left_out_and_named() {
    let (scene, mut run) = (Scene::new().await, PythonRun::started(Version::V02));
    run.reject(1);
    run.accept(2);
    run.accept(3);
    // As a program tells it that does not know of slow updates.
    let before = scene.import(&run).await;
    let versions = scene.store().view(&before.run).await.expect("a view").versions;
    assert_eq!(versions.iter().map(|one| one.step).collect::<Vec<_>>(), [0, 2, 3]);
    guide(&run);
    for _ in 0..2 {
        let report = scene.import(&run).await;
        assert_eq!((&report.run, report.change), (&before.run, ImportChange::Unchanged));
        let told = messages(&report);
        assert!(told.iter().any(|text| text.contains("a new data directory")), "{told:?}");
        let view = scene.store().view(&report.run).await.expect("a view");
        assert_eq!((view.slow_updates.len(), &view.versions), (0, &versions));
    }
}

#[tokio::test]
async fn guidance_that_came_after_the_last_import_is_told_with_the_next() {
    let (scene, mut run) = (Scene::new().await, PythonRun::started(Version::V02));
    run.reject(1);
    run.accept(2);
    scene.import(&run).await;
    let guided = guide(&run);
    run.accept(3);
    let report = scene.import(&run).await;
    let view = scene.store().view(&report.run).await.expect("a view");
    assert_eq!((view.slow_updates.len(), view.slow_updates[0].version), (1, 2));
    let versions: Vec<(u32, u32)> =
        view.versions.iter().map(|one| (one.version, one.step)).collect();
    assert_eq!(versions, [(0, 0), (1, 2), (2, 2), (3, 3)]);
    assert_eq!(view.versions[2].skill, Sha256Hex::of(&guided));
}

#[tokio::test]
async fn an_epoch_that_comes_again_ends_once_and_is_named() {
    let (scene, mut run) = (Scene::new().await, PythonRun::finished(Version::V02));
    for (at, epoch) in [2, 3, 2, 2].into_iter().enumerate() {
        run.set_row(at, |row| row["epoch"] = json!(epoch));
    }
    let report = scene.import(&run).await;
    let view = scene.store().view(&report.run).await.expect("a view");
    assert_eq!((view.n_steps, view.meta_skills.len()), (4, 1));
    let updates: Vec<_> = view.slow_updates.iter().map(|one| (one.epoch, one.step)).collect();
    assert_eq!(updates, [(2, 1)]);
    let again = messages(&report).into_iter().filter(|text| text.contains("is 2 again"));
    assert_eq!(again.count(), 1, "{:?}", messages(&report));
}
