//! Folders that are imported more than once, and while they grow.

use super::python::{PythonRun, Version};
use super::{Scene, messages};
use crate::import::ImportMode;
use serde_json::json;
use skillopt_domain::import::{Finding, ImportChange};
use skillopt_domain::outcome::RolloutPurpose;
use skillopt_domain::run::RunStatus;
use skillopt_domain::verdict::Action;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

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
