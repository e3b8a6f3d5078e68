//! Whole folders in the shape of the Python system, sound and broken ones, and one of our own.

mod epochs;
mod own;
mod python;

use super::*;
use crate::config::Environment;
use python::{BETTER, INITIAL, PythonRun, Version, WORSE};
use rstest::rstest;
use serde_json::json;
use skillopt_domain::api::{TrajectoryQuery, TrajectoryRow};
use skillopt_domain::config::Value;
use skillopt_domain::edit::EditStatus;
use skillopt_domain::epoch::{EpochAction, PairCategory};
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::outcome::RolloutPurpose;
use skillopt_domain::run::RunStatus;
use skillopt_domain::verdict::Action;
use std::collections::BTreeMap;
use std::fs;
use std::time::SystemTime;

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

/// Paths, contents and times of all files.
fn snapshot(root: &Path) -> BTreeMap<PathBuf, (Vec<u8>, SystemTime)> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("listed") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let changed = path.metadata().and_then(|meta| meta.modified()).expect("a time");
                found.insert(path.clone(), (fs::read(&path).expect("read"), changed));
            }
        }
    }
    found
}

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
async fn importing_twice_is_one_run_and_the_folder_stays_as_it_was() {
    let (scene, run) = (Scene::new().await, PythonRun::finished(Version::V02));
    let before = snapshot(run.path());
    let first = scene.import(&run).await;
    let seq = scene.store().max_seq(&first.run).await.expect("a number");
    let second = scene.import(&run).await;
    assert_eq!((second.run.clone(), second.change), (first.run, ImportChange::Unchanged));
    assert_eq!(scene.store().max_seq(&second.run).await.expect("a number"), seq);
    assert_eq!(scene.store().counts().await.expect("counts").runs, 1);
    assert_eq!(snapshot(run.path()), before);
    assert!(scene.dir.path().read_dir().expect("listed").next().is_none());
}

#[tokio::test]
async fn a_folder_that_has_grown_is_brought_up_to_date() {
    let (scene, mut run) = (Scene::new().await, PythonRun::started(Version::V02));
    let first = scene.import(&run).await;
    assert_eq!((first.status, first.n_steps), (RunStatus::Interrupted, 0));
    run.accept(1);
    run.reject(2);
    run.text("steps/step_0003/rollout/results.jsonl", "{\"id\": \"t1\"");
    let second = scene.import(&run).await;
    assert_eq!((second.run.clone(), second.change), (first.run.clone(), ImportChange::Updated));
    assert!(messages(&second).iter().any(|text| text.contains("step 3 had begun and not ended")));
    let view = scene.store().view(&first.run).await.expect("a view");
    assert_eq!((view.n_steps, view.status), (2, RunStatus::Interrupted));
    assert!(view.detail.expect("a detail").ends_with("2 of 4 steps were finished"));
    run.skip(3);
    run.reject_from_cache(4);
    run.end();
    let third = scene.import(&run).await;
    assert_eq!((third.run, third.change), (first.run.clone(), ImportChange::Updated));
    let view = scene.store().view(&first.run).await.expect("a view");
    assert_eq!((view.n_steps, view.n_accepted, view.status), (4, 1, RunStatus::Done));
    assert!(view.test_best.is_some());
    assert_eq!(scene.store().counts().await.expect("counts").runs, 1);
}

#[tokio::test]
async fn a_rerun_in_the_same_folder_is_another_run_and_a_changed_row_is_told() {
    let (scene, mut run) = (Scene::new().await, PythonRun::started(Version::V02));
    let empty = scene.import(&run).await;
    run.accept(1);
    run.reject(2);
    let one = scene.import(&run).await;
    assert_eq!(one.run, empty.run);
    run.set_row(1, |row| row["action"] = json!("skip_no_patches"));
    let changed = scene.import(&run).await;
    assert_ne!(changed.run, one.run, "what the first one tells is no longer in the folder");
    run.set_row(1, |row| row["action"] = json!("accept"));
    let again = scene.import(&run).await;
    assert_eq!(again.run, changed.run);
    assert!(
        messages(&again).iter().any(|text| text.contains("what was imported stays")),
        "{again:?}"
    );
    let view = scene.store().view(&changed.run).await.expect("a view");
    assert_eq!(view.steps[1].action, Action::SkipNoPatches);
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
async fn a_note_that_is_not_true_any_more_goes_with_the_next_import() {
    let (scene, mut run) = (Scene::new().await, PythonRun::started(Version::V02));
    run.accept(1);
    let summary = "{\"version\": ";
    run.text("summary.json", summary);
    let first = scene.import(&run).await;
    let origin = async || {
        let origin = scene.store().import_origin(&first.run).await.expect("read");
        origin.expect("an origin").findings
    };
    let says = |findings: &[Finding]| findings.iter().any(|one| one.file == "summary.json");
    assert!(says(&origin().await));
    fs::remove_file(run.file("summary.json")).expect("removed");
    scene.import(&run).await;
    assert!(!says(&origin().await), "{:?}", origin().await);
    let view = scene.store().view(&first.run).await.expect("a view");
    assert_eq!(view.warnings, Vec::<String>::new(), "what was found is no event");
}

#[tokio::test]
async fn a_dry_run_says_what_would_be_and_writes_nothing() {
    let (scene, mut run) = (Scene::new().await, PythonRun::started(Version::V02));
    run.accept(1);
    let dry = async |run: &PythonRun| {
        scene.hosting.import(run.path(), "tester", ImportMode::DryRun).await.expect("read")
    };
    let report = dry(&run).await;
    assert_eq!((report.change, report.is_dry_run), (ImportChange::New, true));
    assert_eq!(scene.store().counts().await.expect("counts").runs, 0);
    let real = scene.import(&run).await;
    assert_eq!((&real.run, &real.findings), (&report.run, &report.findings));
    assert_eq!(dry(&run).await.change, ImportChange::Unchanged);
    run.reject(2);
    assert_eq!(dry(&run).await.change, ImportChange::Updated);
    let view = scene.store().view(&real.run).await.expect("a view");
    assert_eq!(view.n_steps, 1);
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

#[rstest]
#[case::history_cut(
    "history.json",
    "[{\"step\": 1, \"action\": \"reject\"}, {\"st",
    "history.json, line 1",
    4
)]
#[case::history_gone("history.json", "", "cut short; the 0 rows", 4)]
#[case::history_no_list("history.json", "{}", "history.json: expected a list", 4)]
#[case::summary_broken("summary.json", "{", "summary.json, line 1", 4)]
#[case::best_gone("best_skill.md", "\u{0}", "best_skill.md", 4)]
#[case::candidate_changed(
    "steps/step_0001/candidate_skill.md",
    "other",
    "is not the text with the hash",
    4
)]
#[case::patch_broken(
    "steps/step_0001/merged_patch.json",
    "{\"edits\": 3}",
    "merged_patch.json, edits: expected a list",
    4
)]
#[case::report_broken(
    "steps/step_0001/edit_apply_report.json",
    "{}",
    "edit_apply_report.json: expected a list",
    4
)]
#[case::config_broken("config.json", "{\"seed\": 1,", "config.json, line 1", 4)]
#[case::said_broken(
    "steps/step_0001/rollout/predictions.jsonl",
    "{\"id\": \"t1\"}\n",
    "predictions.jsonl, line 1: no attempt with a list of messages",
    4
)]
#[case::conversation_broken(
    "steps/step_0001/rollout/predictions/t1/conversation.json",
    "{\"a\": 1}",
    "no list of messages",
    4
)]
#[tokio::test]
async fn a_broken_file_is_named_and_the_rest_is_imported(
    #[case] file: &str,
    #[case] text: &str,
    #[case] expect: &str,
    #[case] n_steps: u32,
) {
    let (scene, run) = (Scene::new().await, PythonRun::finished(Version::V02));
    run.text(file, text);
    let report = scene.import(&run).await;
    let told = messages(&report);
    assert!(told.iter().any(|text| text.contains(expect)), "{told:#?}");
    assert_eq!(report.n_steps, n_steps);
    let origin = scene.store().import_origin(&report.run).await.expect("read").expect("an origin");
    let kept = origin.findings.iter().any(|one| one.to_string().contains(expect));
    assert!(kept, "kept with the run");
}

#[tokio::test]
async fn wrong_types_and_numbers_are_named_with_row_and_field() {
    let (scene, mut run) = (Scene::new().await, PythonRun::finished(Version::V02));
    run.set_row(0, |row| {
        row["rollout_n"] = json!("two");
        row["current_score"] = json!("NAN-HERE");
        row["selection_hard"] = json!(7);
        row["tokens"] = json!([]);
    });
    let text = fs::read_to_string(run.file("history.json")).expect("read");
    run.text("history.json", &text.replace("\"NAN-HERE\"", "NaN"));
    let report = scene.import(&run).await;
    let told = messages(&report);
    for expect in [
        "history.json, row 1, rollout_n: expected a whole number, got `\"two\"`",
        "history.json, row 1, selection_hard: expected a number from 0 to 1, got `7.0`",
        "history.json, row 1, tokens: expected an object",
        "a number that is not finite; left out",
    ] {
        assert!(told.iter().any(|text| text.contains(expect)), "{expect}: {told:#?}");
    }
    let view = scene.store().view(&report.run).await.expect("a view");
    assert_eq!(view.steps[0].current_score, None);
    assert_eq!(view.n_steps, 4);
}

#[tokio::test]
async fn a_baseline_that_is_still_measured_is_left_out_until_it_is_whole() {
    let ids: Vec<String> = (0..10).map(|at| format!("v{at}")).collect();
    let rows: Vec<(&str, f64, f64)> = ids.iter().map(|id| (id.as_str(), 1.0, 1.0)).collect();
    let (scene, mut run) = (Scene::new().await, PythonRun::started(Version::V02));
    run.rollout("selection_eval_baseline", &rows[..3]);
    let early = scene.import(&run).await;
    assert!(messages(&early).iter().any(|text| text.contains("may still be measured")));
    let view = scene.store().view(&early.run).await.expect("a view");
    assert_eq!((view.baseline, view.plan), (None, None));
    run.rollout("selection_eval_baseline", &rows);
    run.accept(1);
    let late = scene.import(&run).await;
    assert_eq!(late.run, early.run);
    let view = scene.store().view(&late.run).await.expect("a view");
    let n = view.baseline.and_then(|measured| measured.score).map(|mean| mean.n);
    assert_eq!((n, view.plan.map(|plan| plan.n_selection)), (Some(10), Some(10)));
    let sets = scene.store().rollout_sets(&late.run).await.expect("sets");
    assert!(sets.iter().any(|set| set.step == 0 && set.purpose == RolloutPurpose::Selection));
}

#[tokio::test]
async fn a_baseline_that_has_other_numbers_than_before_is_told_and_stays() {
    let (scene, mut run) = (Scene::new().await, PythonRun::started(Version::V02));
    run.accept(1);
    let first = scene.import(&run).await;
    run.rollout("selection_eval_baseline", &[("v1", 1.0, 1.0), ("v2", 0.0, 0.0), ("v3", 1.0, 1.0)]);
    let second = scene.import(&run).await;
    assert_eq!(second.run, first.run);
    let told = messages(&second);
    let expect =
        "tasks of the baseline: 2 when it was imported before, 3 now; what was imported stays";
    assert!(told.iter().any(|text| text.contains(expect)), "{told:#?}");
}

#[tokio::test]
async fn gaps_between_steps_are_ranges_and_absurd_numbers_are_refused() {
    let (scene, mut run) = (Scene::new().await, PythonRun::finished(Version::V02));
    run.set_row(1, |row| row["step"] = json!(900_000));
    run.set_row(2, |row| row["step"] = json!(900_002));
    run.set_row(3, |row| row["step"] = json!(3_000_000_000_u32));
    fs::remove_dir_all(run.file("steps")).expect("removed");
    fs::create_dir_all(run.file("steps/step_3000000001")).expect("made");
    let report = scene.import(&run).await;
    let told = messages(&report);
    for expect in [
        "history.json: steps 2 to 899999 have no records; they are not shown",
        "history.json: step 900001 has no record; it is not shown",
        "history.json, row 4 step: is 3000000000, and no step has a number above 1000000",
        "steps/step_3000000001: no step has a number above 1000000",
    ] {
        assert!(told.iter().any(|text| text.contains(expect)), "{expect}: {told:#?}");
    }
    assert_eq!((report.n_steps, report.n_findings_more), (3, 0), "{told:#?}");
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

#[rstest]
#[case("a/b")]
#[case("train:0000")]
#[case("../../../../outside")]
#[case("..")]
#[tokio::test]
async fn c71_ids_are_data_and_lead_nowhere(#[case] id: &str) {
    let (scene, mut run) = (Scene::new().await, PythonRun::started(Version::V02));
    run.accept(1);
    run.rollout("steps/step_0001/rollout", &[(id, 1.0, 1.0)]);
    run.json(
        "outside/conversation.json",
        &json!([{"role": "user", "content": "not of this attempt"}]),
    );
    let report = scene.import(&run).await;
    let attempts = scene.attempts(&report.run).await;
    let row = attempts.iter().find(|row| row.outcome.task.as_str() == id).expect("the attempt");
    let one = scene.store().trajectory(&report.run, row.id).await.expect("one");
    assert_eq!(one.messages.is_empty(), id.contains(".."), "{:?}", one.messages);
    assert!(one.messages.iter().all(|message| !message.content.contains("not of this attempt")));
}

#[cfg(unix)]
#[tokio::test]
async fn symlinks_in_a_folder_are_named_and_not_followed() {
    let (scene, run) = (Scene::new().await, PythonRun::finished(Version::V02));
    let outside = tempfile::tempdir().expect("a folder");
    fs::write(outside.path().join("SKILL.md"), "a secret").expect("written");
    fs::remove_file(run.file("best_skill.md")).expect("removed");
    std::os::unix::fs::symlink(outside.path().join("SKILL.md"), run.file("best_skill.md"))
        .expect("link");
    let report = scene.import(&run).await;
    assert!(messages(&report).iter().any(|text| text.contains("best_skill.md: is a symlink")));
    let secret = Sha256Hex::of("a secret");
    assert_eq!(scene.store().skill_text(&secret).await.expect("looked"), None);
}

#[tokio::test]
async fn what_is_no_run_folder_is_refused_and_nothing_is_written() {
    let scene = Scene::new().await;
    let empty = tempfile::tempdir().expect("a folder");
    let refused =
        scene.hosting.import(empty.path(), "tester", ImportMode::Write).await.expect_err("refused");
    assert!(matches!(refused, ImportError::NoRun(_)), "{refused}");
    let missing =
        scene.hosting.import(&empty.path().join("none"), "tester", ImportMode::Write).await;
    assert!(matches!(missing, Err(ImportError::Open { .. })));
    assert_eq!(scene.store().counts().await.expect("counts").runs, 0);
}

#[tokio::test]
async fn a_config_of_another_program_is_no_run_folder() {
    let scene = Scene::new().await;
    let other = tempfile::tempdir().expect("a folder");
    let config = json!({"auths": {"host": {"auth": "sk-in-clear"}}, "credsStore": "desktop", "psFormat": "table"});
    fs::write(other.path().join("config.json"), config.to_string()).expect("written");
    let refused =
        scene.hosting.import(other.path(), "tester", ImportMode::Write).await.expect_err("refused");
    assert!(matches!(refused, ImportError::NoRun(_)), "{refused}");
    assert!(refused.to_string().contains("no config.json with a setting of a run"), "{refused}");
    assert_eq!(scene.store().counts().await.expect("counts").runs, 0);
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
