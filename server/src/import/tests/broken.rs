//! Folders with broken files, odd names and numbers, and folders that are no run.

use super::python::{PythonRun, Version};
use super::{Scene, messages};
use crate::import::{ImportError, ImportMode};
use rstest::rstest;
use serde_json::json;
use std::fs;

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
    let secret = skillopt_domain::hash::Sha256Hex::of("a secret");
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
