//! What a sound folder tells, and what it cannot tell.

use super::python::{BETTER, INITIAL, PythonRun, Version, WORSE};
use super::{Scene, messages};
use crate::import::ImportMode;
use serde_json::json;
use skillopt_domain::config::Value;
use skillopt_domain::edit::EditStatus;
use skillopt_domain::event::EventKind;
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::import::ImportChange;
use skillopt_domain::outcome::RolloutPurpose;
use skillopt_domain::run::RunStatus;
use skillopt_domain::verdict::Action;
use std::fs;

#[tokio::test]
async fn a_finished_run_of_version_0_2_shows_all_that_its_folder_knows() {
    let (scene, run) = (Scene::new().await, PythonRun::finished(Version::V02));
    let report = scene.import(&run).await;
    assert_eq!((report.change, report.status), (ImportChange::New, RunStatus::Done));
    assert_eq!((report.system.as_str(), report.n_steps), ("Python SkillOpt 0.2", 4));
    assert_eq!((report.n_attempts, report.n_conversations), (18, 18));
    let detail = scene.store().run_detail(&report.run).await.expect("a run");
    let view = &detail.view;
    let actions: Vec<Action> = view.steps.iter().map(|step| step.action).collect();
    assert_eq!(
        actions,
        [Action::AcceptNewBest, Action::Reject, Action::SkipNoPatches, Action::Reject]
    );
    let best = view.best.as_ref().expect("a best skill");
    assert_eq!((best.step, best.version, best.score, best.n), (1, 1, Some(1.0), Some(2)));
    assert_eq!(scene.store().skill_text(&best.skill).await.expect("read").as_deref(), Some(BETTER));
    assert_eq!(view.versions.len(), 2);
    assert_eq!(view.versions[0].skill, Sha256Hex::of(INITIAL));
    let baseline = view.baseline.as_ref().expect("a baseline");
    assert_eq!((baseline.gate_score, baseline.counts.passed), (Some(0.5), 1));
    let tests = [&view.test_initial, &view.test_best].map(|test| {
        test.as_ref().and_then(|measured| measured.score).map(|mean| (mean.hard, mean.n))
    });
    assert_eq!(tests, [Some((0.5, 2)), Some((1.0, 2))]);
    let first = &view.steps[0];
    assert_eq!((first.n_fixed, first.n_broke, first.n_selection), (Some(1), Some(0), Some(2)));
    assert_eq!((first.epoch, first.edit_budget, first.n_applied), (1, 4, 1));
    assert_eq!(first.rollout.map(|mean| mean.n), Some(2));
    let plan = view.plan.as_ref().expect("a plan");
    assert_eq!((plan.total_steps, plan.n_selection, plan.n_test), (4, 2, 2));
    assert_eq!((plan.target_model.as_str(), plan.target_simulated), ("target-1", false));
    let origin = detail.imported.expect("an origin");
    assert_eq!(origin.folder, run.path().canonicalize().expect("a path").display().to_string());
    let shown = detail.summary.detail.expect("a detail");
    assert!(shown.starts_with("imported from /"), "{shown}");
}

#[tokio::test]
async fn what_a_folder_does_not_know_is_unknown_and_not_zero() {
    let (scene, run) = (Scene::new().await, PythonRun::finished(Version::V02));
    let report = scene.import(&run).await;
    let view = scene.store().view(&report.run).await.expect("a view");
    assert_eq!(view.spend.target.calls, 100, "the summary counts more than the steps");
    assert_eq!(view.spend.optimizer.calls, 3);
    assert_eq!(view.spend.total().known_cost_usd_micros(), None);
    assert_eq!(view.started_at_ms, None);
    for step in &view.steps {
        assert_eq!((step.n_errors, step.n_attempts), (0, 0), "errors were not counted");
        assert_eq!(step.spend.total().known_cost_usd_micros(), None);
    }
    assert_eq!(view.steps[2].candidate_score, None);
    let attempts = scene.attempts(&report.run).await;
    let one = scene.store().trajectory(&report.run, attempts[0].id).await.expect("one");
    assert_eq!((one.prompt_tokens, one.latency_ms, one.attempts), (None, None, None));
}

#[tokio::test]
async fn rejected_edits_conversations_and_config_rows_are_there() {
    let (scene, run) = (Scene::new().await, PythonRun::finished(Version::V02));
    let report = scene.import(&run).await;
    let rejected = scene.store().rejected_edits(&report.run).await.expect("rejected");
    let steps: Vec<u32> = rejected.iter().map(|row| row.step).collect();
    assert_eq!(steps, [4, 2]);
    assert_eq!(rejected[1].report.status, EditStatus::Applied);
    assert_eq!(
        (rejected[1].before, rejected[1].after, rejected[1].n),
        (Some(1.0), Some(0.5), Some(2))
    );
    assert_eq!((rejected[1].n_fixed, rejected[1].n_broke), (Some(0), Some(1)));
    assert_eq!(rejected[0].proposed_again_in, [2]);
    let attempts = scene.attempts(&report.run).await;
    let of_step: Vec<&str> = attempts
        .iter()
        .filter(|row| row.purpose == RolloutPurpose::Train && row.step == 1)
        .map(|row| row.outcome.task.as_str())
        .collect();
    assert_eq!(of_step, ["t1", "t2"], "in the order of tasks, not of arrival");
    let one = scene.store().trajectory(&report.run, attempts[0].id).await.expect("one");
    let said: Vec<(&str, &str)> =
        one.messages.iter().map(|one| (one.role.as_str(), one.content.as_str())).collect();
    assert_eq!(said[0], ("system", "You answer."));
    assert_eq!(
        said[2..],
        [("assistant", "an answer"), ("verification", "[EVALUATION RESULT] looked at")]
    );
    let row = scene.store().run_row(&report.run).await.expect("a row");
    assert_eq!(row.config.get("optimizer.learning_rate"), &Value::Int(4));
    assert_eq!(row.config.get("model.target_backend"), &Value::Text("openai_chat".into()));
    assert_eq!(
        row.config.place("train.seed").map(ToString::to_string).as_deref(),
        Some("config.json:3")
    );
    let detail = scene.store().step_detail(&report.run, 2).await.expect("a step");
    assert_eq!(detail.before, Some(Sha256Hex::of(BETTER)));
    assert_eq!(detail.events.len(), 7);
}

#[tokio::test]
async fn secrets_of_the_folder_are_told_and_kept_nowhere() {
    let (scene, run) = (Scene::new().await, PythonRun::finished(Version::V02));
    let report = scene.import(&run).await;
    assert!(
        messages(&report).iter().any(|text| text.contains("azure_openai_api_key")),
        "{report:?}"
    );
    let events = scene.store().events_after(&report.run, 0, 1000).await.expect("events");
    let row = scene.store().run_row(&report.run).await.expect("a row");
    assert!(!format!("{events:?} {row:?} {report:?}").contains("sk-in-clear"));
}

#[tokio::test]
async fn rows_of_version_0_1_fall_back_to_the_hard_score() {
    let (scene, run) = (Scene::new().await, PythonRun::finished(Version::V01));
    let report = scene.import(&run).await;
    assert_eq!(report.system, "Python SkillOpt 0.1");
    let view = scene.store().view(&report.run).await.expect("a view");
    let scores: Vec<Option<f64>> = view.steps.iter().map(|step| step.candidate_score).collect();
    assert_eq!(scores, [Some(1.0), Some(0.5), None, Some(0.5)]);
    assert_eq!(view.steps[0].n_applied, 1, "the record says that every edit applied");
}

#[tokio::test]
async fn accumulated_batches_are_sets_of_their_own() {
    let (scene, mut run) = (Scene::new().await, PythonRun::started(Version::V02));
    run.accept(1);
    fs::rename(run.file("steps/step_0001/rollout"), run.file("steps/moved")).expect("moved");
    fs::remove_dir_all(run.file("steps/moved")).expect("removed");
    for at in 0..11 {
        run.rollout(&format!("steps/step_0001/batch_{at}/rollout"), &[("t1", 1.0, 1.0)]);
    }
    let report = scene.import(&run).await;
    let detail = scene.store().step_detail(&report.run, 1).await.expect("a step");
    let sets = detail.events.iter().find_map(|event| match &event.kind {
        EventKind::RolledOut { sets, counts, .. } => Some((sets.clone(), counts.passed)),
        _ => None,
    });
    let (sets, passed) = sets.expect("a rollout");
    assert_eq!((sets.len(), passed), (11, 11));
    assert_eq!(sets[10], "step/0001/batch/10");
}

#[tokio::test]
async fn an_autonomous_budget_and_other_update_modes_are_told_as_they_are() {
    let (scene, mut run) = (Scene::new().await, PythonRun::started(Version::V02));
    run.accept(1);
    run.set_row(0, |row| {
        row["edit_budget"] = serde_json::Value::Null;
        row["lr_decision"] = json!({"learning_rate": 3, "confidence": "low"});
        row["action"] = json!("force_accept");
    });
    run.json(
        "steps/step_0001/ranked_edits.json",
        &json!({"reasoning": "", "revise_suggestions": [{"type": "clarify", "title": "T", "instruction": "I"}]}),
    );
    run.text("lr_history.jsonl", "{\"step\": 1, \"learning_rate\": 3}\n");
    let report = scene.import(&run).await;
    let view = scene.store().view(&report.run).await.expect("a view");
    assert_eq!((view.steps[0].edit_budget, view.n_accepted), (3, 1));
    assert!(view.steps[0].reason.contains("force_accept"), "{}", view.steps[0].reason);
    assert_eq!(view.steps[0].action, Action::AcceptNewBest, "its record names it as the best");
    let best = view.best.as_ref().expect("a best skill");
    assert_eq!((best.step, &best.skill), (1, &Sha256Hex::of(BETTER)));
    let detail = scene.store().step_detail(&report.run, 1).await.expect("a step");
    let shown = detail.events.iter().any(|event| {
        matches!(&event.kind, EventKind::Selected { edits, .. } if edits[0].op.as_str() == "suggest_clarify")
    });
    assert!(shown);
}

#[tokio::test]
async fn a_folder_with_only_a_history_still_has_its_curves() {
    let (scene, whole) = (Scene::new().await, PythonRun::finished(Version::V02));
    let bare = tempfile::tempdir().expect("a folder");
    fs::copy(whole.file("history.json"), bare.path().join("history.json")).expect("copied");
    let report =
        scene.hosting.import(bare.path(), "tester", ImportMode::Write).await.expect("imported");
    let view = scene.store().view(&report.run).await.expect("a view");
    assert_eq!((view.n_steps, view.baseline), (4, None));
    assert_eq!(view.steps[1].candidate_score, Some(0.5));
    let candidate = view.steps[1].candidate.as_ref().expect("a hash");
    assert_eq!(candidate.short(), Sha256Hex::of(WORSE).short());
    assert_eq!(scene.store().skill_text(candidate).await.expect("looked"), None);
}

#[tokio::test]
async fn sizes_come_from_a_split_manifest_and_a_state_ahead_of_the_history_is_told() {
    let (scene, mut run) = (Scene::new().await, PythonRun::started(Version::V02));
    run.accept(1);
    run.json("runtime_state.json", &json!({"last_completed_step": 3}));
    run.json(
        "_generated_splits/searchqa_2-1-7_seed42/split_manifest.json",
        &json!({"counts": {"train": 4, "val": 2, "test": 14}}),
    );
    let report = scene.import(&run).await;
    assert!(messages(&report).iter().any(|text| text.contains("says that step 3 was finished")));
    let plan = scene.store().view(&report.run).await.expect("a view").plan.expect("a plan");
    assert_eq!((plan.n_train, plan.n_selection, plan.n_test), (4, 2, 14));
}
