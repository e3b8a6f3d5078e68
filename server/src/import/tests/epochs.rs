//! Guidance and memory between epochs, also of epochs that come again or that an earlier import did not tell.

use super::python::{BETTER, INITIAL, PythonRun, Version};
use super::{Scene, messages};
use serde_json::json;
use skillopt_domain::epoch::{EpochAction, PairCategory};
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

#[tokio::test]
async fn slow_updates_and_memory_are_told_as_what_they_are() {
    let (scene, run) = (Scene::new().await, PythonRun::finished(Version::V02));
    let report = scene.import(&run).await;
    let view = scene.store().view(&report.run).await.expect("a view");
    let [update] = view.slow_updates.as_slice() else { panic!("the first epoch has none") };
    assert_eq!((update.epoch, update.step, update.action), (2, 4, EpochAction::ForceAccept));
    assert_eq!((update.content.as_str(), update.candidate.as_ref()), ("Keep it short.", None));
    assert!(messages(&report).iter().any(|text| text.contains("no text with it is in the folder")));
    assert_eq!(view.meta_skills[0].content, "Prefer small edits.");
    assert_eq!(view.versions.len(), 2);
}

#[tokio::test]
async fn a_gated_slow_update_is_a_version_with_its_attempts_and_later_steps_go_on_from_it() {
    let (scene, mut run) = (Scene::new().await, PythonRun::started(Version::V02));
    let guided = format!(
        "{BETTER}\n\n<!-- SLOW_UPDATE_START -->\nKeep it short.\n<!-- SLOW_UPDATE_END -->\n"
    );
    run.reject(1);
    run.text("skills/skill_v0001.md", INITIAL);
    run.accept(2);
    run.text("skills/skill_v0002.md", &guided);
    run.text("slow_update/epoch_01/candidate_skill.md", &guided);
    let scores = [("v1", 1.0, 1.0), ("v2", 1.0, 0.5)];
    run.rollout("slow_update/epoch_01/selection_eval", &scores);
    run.json(
        "slow_update/epoch_01/slow_result.json",
        &json!({"action": "accept", "slow_update_content": "Keep it short.", "reasoning": "r",
            "candidate_hash": Sha256Hex::of(&guided).short(), "selection_hard": 1.0, "selection_soft": 0.75}),
    );
    let side =
        |hard: u8| json!({"hard": hard, "soft": hard, "predicted_answer": "a", "fail_reason": ""});
    run.json(
        "slow_update/epoch_01/comparison_pairs.json",
        &json!([{"id": "t1", "category": "improved", "prev": side(0), "curr": side(1)},
            {"id": "t2", "category": "stable_success", "prev": side(1), "curr": side(1)},
            {"id": "t3", "category": "odd"}]),
    );
    run.rollout("slow_update/epoch_01/rollout_prev", &[("t1", 0.0, 0.0), ("t2", 1.0, 1.0)]);
    run.rollout("slow_update/epoch_01/rollout_curr", &[("t1", 1.0, 1.0), ("t2", 1.0, 1.0)]);
    run.reject(3);
    run.text("skills/skill_v0003.md", &guided);
    let report = scene.import(&run).await;
    let view = scene.store().view(&report.run).await.expect("a view");
    let guided = Sha256Hex::of(&guided);
    let update = &view.slow_updates[0];
    assert_eq!((update.version, update.candidate.as_ref()), (2, Some(&guided)));
    assert_eq!((update.current_score, update.current_n), (Some(1.0), Some(2)));
    assert_eq!(update.verdict.as_ref().map(skillopt_domain::verdict::Verdict::n_broke), Some(0));
    let versions: Vec<(u32, u32, &Sha256Hex)> =
        view.versions.iter().map(|one| (one.version, one.step, &one.skill)).collect();
    let (initial, better) = (Sha256Hex::of(INITIAL), Sha256Hex::of(BETTER));
    assert_eq!(versions, [(0, 0, &initial), (1, 2, &better), (2, 2, &guided)]);
    assert_eq!(view.steps[1].skill, better, "a step ends before the guidance");
    assert_eq!(view.steps[2].current_n, Some(2), "the guided text was measured");
    let comparison = &view.comparisons[0];
    assert_eq!((comparison.n_tried, comparison.sets.len()), (3, 2));
    assert_eq!((&comparison.previous, &comparison.current), (&initial, &better));
    let counts = PairCategory::ALL.map(|category| comparison.count(category));
    assert_eq!(counts, [0, 0, 1, 1]);
    assert!(messages(&report).iter().any(|text| text.contains("comparison_pairs.json, row 3")));
    let attempts = scene.attempts(&report.run).await;
    assert!(attempts.iter().any(|row| row.skill == guided && row.step == 2));
    let detail = scene.store().step_detail(&report.run, 3).await.expect("a step");
    assert_eq!(detail.before, Some(guided));
}

#[tokio::test]
async fn an_empty_region_changes_no_result_and_guidance_does() {
    let region = |text: &str| {
        format!("{BETTER}\n\n<!-- SLOW_UPDATE_START -->\n{text}\n<!-- SLOW_UPDATE_END -->\n")
    };
    for (text, expect) in [("", (Some(2), Some(1))), ("Keep it short.", (None, None))] {
        let (scene, mut run) = (Scene::new().await, PythonRun::started(Version::V02));
        run.accept(1);
        run.skip(2);
        run.text("skills/skill_v0002.md", &region(text));
        run.reject(3);
        run.text("skills/skill_v0003.md", &region(text));
        let report = scene.import(&run).await;
        let view = scene.store().view(&report.run).await.expect("a view");
        assert_eq!((view.steps[2].current_n, view.steps[2].n_broke), expect);
        let detail = scene.store().step_detail(&report.run, 3).await.expect("a step");
        assert_eq!(detail.before, Some(Sha256Hex::of(region(text))));
    }
}
