use super::epochs::IN_THE_SKILL;
use super::*;
use skillopt_domain::skill::Region;

/// A folder with two finished steps and a third that is under way.
fn folder(dir: &Path) -> PathBuf {
    let run = dir.join("run");
    let row = |step: u32, score: f64| {
        json!({
            "step": step, "epoch": 1, "action": "accept_new_best", "current_score": score, "best_score": score,
            "best_step": step, "candidate_hash": "0123456789abcdef", "selection_hard": score,
            "selection_soft": score, "gate_metric": "hard", "lr_decision": null,
        })
    };
    let files = [
        ("config.json", "{}".to_owned()),
        ("history.json", json!([row(1, 0.0)]).to_string()),
        ("steps/step_0001/step_record.json", row(1, 0.0).to_string()),
        ("steps/step_0002/step_record.json", row(2, 0.0).to_string()),
        ("steps/step_0002/selection_eval/results.jsonl", "{}\n".to_owned()),
        ("steps/step_0003/selection_eval/results.jsonl", "{}\n".to_owned()),
        ("skills/skill_v0000.md", "start\n".to_owned()),
        ("skills/skill_v0001.md", "one\n".to_owned()),
        ("skills/skill_v0002.md", "two\n".to_owned()),
        ("best_skill.md", "two\n".to_owned()),
        ("test_eval/results.jsonl", "{}\n".to_owned()),
        ("summary.json", "{}".to_owned()),
    ];
    for (name, text) in files {
        put(&run.join(name), &text).expect("written");
    }
    run
}

fn json_of(path: &Path) -> Value {
    read_json(path).expect("readable").expect("there")
}

#[test]
fn finished_steps_are_copied_and_nothing_that_the_trainer_would_mix_in() {
    let dir = tempfile::tempdir().expect("a folder");
    let (run, copy) = (folder(dir.path()), dir.path().join("copy"));
    let done = write(&run, &copy, "train:\n  seed: 1\n").expect("written");
    assert_eq!(done.last_step, 2, "the history lags: the record of step 2 counts");
    assert!(copy.join("steps/step_0002/selection_eval/results.jsonl").exists());
    for left_out in ["steps/step_0003", "test_eval", "summary.json"] {
        assert!(!copy.join(left_out).exists(), "{left_out}");
    }
    let rows = json_of(&copy.join("history.json"));
    assert_eq!(rows.as_array().map(Vec::len), Some(2));
    assert!(rows[0].get("lr_decision").is_none(), "no value is no field: {rows}");
    assert!(copy.join("config.yaml").exists());
    assert!(run.join("steps/step_0003").exists(), "the run keeps everything");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| fs::metadata(path).expect("a folder").permissions().mode();
        assert_eq!(mode(&copy), mode(&copy.join("skills")), "a folder like any other");
    }
}

#[test]
fn each_attempt_has_a_folder_of_its_own_in_the_copy() {
    let dir = tempfile::tempdir().expect("a folder");
    let (run, copy) = (folder(dir.path()), dir.path().join("copy"));
    let set = run.join("steps/step_0002/selection_eval");
    let said = |role: &str, content: &str| json!({"role": role, "content": content});
    let line = |id: &str| {
        let reply = said("assistant", "Ada");
        let note = said("system", "[EVALUATION RESULT] right");
        let conversation = json!([said("system", "be brief"), said("user", "Who?"), reply, note]);
        format!("{}\n", json!({"id": id, "conversation": conversation}))
    };
    put(&set.join(FILE), &(line("a") + &line("../b"))).expect("written");
    write(&run, &copy, "").expect("written");
    let set_of_copy = copy.join("steps/step_0002/selection_eval");
    assert!(!set_of_copy.join(FILE).exists(), "once is enough");
    let names: Vec<_> = fs::read_dir(set_of_copy.join("predictions")).expect("listed").collect();
    assert_eq!(names.len(), 2, "an id is data: {names:?}");
    let attempt = set_of_copy.join("predictions/a");
    let text = |name: &str| fs::read_to_string(attempt.join(name)).expect("a file");
    let prompts = (text("target_system_prompt.txt"), text("target_user_prompt.txt"));
    assert_eq!(prompts, ("be brief".to_owned(), "Who?".to_owned()));
    assert_eq!(json_of(&attempt.join("conversation.json")).as_array().map(Vec::len), Some(4));

    fs::remove_dir_all(&copy).expect("removed");
    put(&set.join(FILE), &(line("a") + "{\"id\": 3}\n")).expect("written");
    let said = write(&run, &copy, "").expect_err("refused").to_string();
    assert!(said.contains("predictions.jsonl: line 2 is no attempt"), "{said}");
    assert!(!copy.exists());
}

#[test]
fn a_score_of_zero_does_not_read_as_unknown_and_is_said() {
    let dir = tempfile::tempdir().expect("a folder");
    let (run, copy) = (folder(dir.path()), dir.path().join("copy"));
    let done = write(&run, &copy, "").expect("written");
    let state = json_of(&copy.join("runtime_state.json"));
    for key in ["current_score", "best_score"] {
        assert_eq!(state[key], json!(TINY_SCORE), "{state}");
        assert!(done.notes.iter().any(|note| note.contains(key)), "{:?}", done.notes);
    }
    assert_eq!(state["current_skill_path"], json!(copy.join("skills/skill_v0002.md")));
}

#[test]
fn guidance_in_the_middle_of_a_skill_is_not_moved_to_its_end() {
    let dir = tempfile::tempdir().expect("a folder");
    let (run, copy) = (folder(dir.path()), dir.path().join("copy"));
    let row = |step: u32, epoch: u32| json!({"step": step, "epoch": epoch, "current_score": 0.5, "best_score": 0.5});
    put(&run.join("history.json"), &json!([row(1, 1), row(2, 2), row(3, 3)]).to_string())
        .expect("written");
    let (start, end) = Region::SlowUpdate.markers();
    let result =
        json!({"action": "accept_new_best", "slow_update_content": "Mind units.", "epoch": 2})
            .to_string();
    let name = "slow_update/epoch_02/slow_result.json";
    put(&run.join(name), &result).expect("written");
    for (after, action) in [("", "accept_new_best"), ("\n## Later\n", IN_THE_SKILL)] {
        let text = format!("head\n\n{start}\nMind units.\n{end}\n{after}");
        put(&run.join("skills/skill_v0003.md"), &text).expect("written");
        write(&run, &copy, "").expect("written");
        assert_eq!(json_of(&copy.join(name))["action"], action, "text after the region: {after:?}");
        assert_eq!(
            json_of(&copy.join("slow_update/epoch_01/slow_result.json"))["action"],
            "not_run"
        );
        fs::remove_dir_all(&copy).expect("removed");
    }
    assert_eq!(json_of(&run.join(name))["action"], "accept_new_best", "the run is as it was");
}

#[test]
fn what_cannot_be_handed_over_is_said_and_leaves_nothing_behind() {
    let dir = tempfile::tempdir().expect("a folder");
    let run = folder(dir.path());
    let said = |target: &Path| write(&run, target, "").expect_err("refused").to_string();
    assert!(said(&run.join("copy")).contains("lies in the folder of the run"));
    assert!(said(&run).contains("lies in the folder of the run"));
    assert!(said(&dir.path().join("run/skills/../copy")).contains("lies in the folder of the run"));
    assert!(said(&dir.path().join("none/../run/copy")).contains("leads back out of a folder"));
    #[cfg(unix)]
    {
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&run, &link).expect("linked");
        assert!(said(&link.join("copy")).contains("lies in the folder of the run"));
        fs::remove_file(link).expect("removed");
    }
    let taken = dir.path().join("taken");
    put(&taken.join("mine.txt"), "mine").expect("written");
    assert!(said(&taken).contains("is not empty"));
    let copy = dir.path().join("copy");
    put(&run.join("history.json"), "[{\"step\": 2}]").expect("written");
    assert!(said(&copy).contains("step 1 does not stand in its place"));
    put(&run.join("history.json"), "[{").expect("written");
    assert!(said(&copy).contains("history.json: is no JSON"));
    put(&run.join("history.json"), "[]").expect("written");
    fs::remove_dir_all(run.join("steps")).expect("removed");
    assert!(said(&copy).contains("no finished step"));
    let mut left: Vec<_> = fs::read_dir(dir.path())
        .expect("listed")
        .map(|entry| entry.expect("an entry").file_name())
        .collect();
    left.sort();
    assert_eq!(left, ["run", "taken"]);
}
