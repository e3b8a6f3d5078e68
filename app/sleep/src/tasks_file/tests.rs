use super::*;
use rstest::rstest;
use serde_json::json;

fn choice() -> SplitChoice {
    SplitChoice { seed: 42, fractions: Fractions::default(), rule: SplitRule::Grouped }
}

fn load(value: impl Into<Value>) -> Result<LoadedTasks, String> {
    parse_tasks(&value.into().to_string(), choice()).map_err(|problem| problem.to_string())
}

fn tasks(n: usize) -> Value {
    (0..n)
        .map(|at| json!({"id": format!("task_{at}"), "intent": format!("do thing {at}")}))
        .collect()
}

#[test]
fn an_object_and_a_bare_list_are_read() {
    let list = load(tasks(3)).expect("read");
    let object = load(
        json!({"format": FORMAT, "reviewed": true, "target_skill_path": null, "tasks": tasks(3)}),
    );
    let object = object.expect("read");
    assert_eq!(list.file.tasks, object.file.tasks);
    assert_eq!((list.file.reviewed, object.file.reviewed), (false, true));
}

#[rstest]
#[case(json!("true"))]
#[case(json!(1))]
#[case(json!(null))]
fn only_true_is_a_review(#[case] reviewed: Value) {
    assert!(!load(json!({"reviewed": reviewed, "tasks": tasks(1)})).expect("read").file.reviewed);
}

#[test]
fn splits_are_assigned_only_when_there_are_none() {
    let loaded = load(tasks(12)).expect("read");
    assert!(
        loaded.splits_assigned && loaded.file.tasks.iter().any(|task| task.split == Split::Val)
    );
    let mut given = tasks(12);
    given[0]["split"] = json!("holdout");
    let loaded = load(given).expect("read");
    let n_val = loaded.file.tasks.iter().filter(|task| task.split == Split::Val).count();
    assert_eq!((loaded.splits_assigned, n_val), (false, 1));
}

#[test]
fn muted_tasks_are_kept_and_no_night_sees_them() {
    let broken = json!({"kind": "rule", "checks": [{"op": "regex", "arg": "(x"}]});
    let muted = json!([{"id": "m", "intent": "do not", "judge": broken, "split": "val"}]);
    let loaded =
        load(json!({"tasks": tasks(3), "muted": muted})).expect("a muted judge is not used");
    assert_eq!((loaded.file.tasks.len(), loaded.file.muted.len()), (3, 1));
    assert!(loaded.splits_assigned, "a muted task validates nothing");
    let again = load(serde_json::from_str::<Value>(&print_tasks(&loaded.file)).expect("JSON"));
    assert_eq!(again.expect("read").file, loaded.file);
    let twice = json!({"tasks": tasks(1), "muted": tasks(1)});
    assert!(load(twice).expect_err("refused").contains("two tasks have the id"));
    assert!(
        !["muted", "merged"].iter().any(|key| print_tasks(&TasksFile::default()).contains(key)),
        "files without any are as before"
    );
}

#[rstest]
#[case(json!({"format": "skillopt_sleep.tasks.v2", "tasks": []}), "format")]
#[case(json!({"tasks": {}}), "list `tasks`")]
#[case(json!(7), "list of tasks")]
#[case(json!({"project": 7, "tasks": []}), "field `project` must be a text")]
#[case(json!({"merged": {"a": 7}, "tasks": []}), "field `merged` must be an object")]
#[case(json!(["x"]), "task 1 is not an object")]
#[case(json!([{"id": "a", "intent": "do it"}, {"id": "b", "intent": 7}]), "task 2 (`b`): field `intent`")]
#[case(json!([{"id": "a", "intent": " "}]), "task 1 (`a`): field `intent` is empty")]
#[case(json!([{"intent": "do it"}]), "task 1 (``): field `id` is empty")]
#[case(json!([{"id": "a", "intent": "x"}, {"id": "a", "intent": "y"}]), "two tasks have the id `a`")]
fn errors_name_the_task_and_the_field(#[case] value: Value, #[case] message: &str) {
    let err = load(value).expect_err("refused");
    assert!(err.contains(message), "{err}");
}

#[test]
fn c59_all_broken_judges_are_told_at_load() {
    let rule = |op: &str, arg: &str| json!({"kind": "rule", "checks": [{"op": op, "arg": arg}]});
    let err = load(json!([
        {"id": "a", "intent": "do it", "judge": rule("regex", "(x")},
        {"id": "b", "intent": "do more", "judge": rule("looks_like", "x")},
        {"id": "c", "intent": "do most", "judge": rule("contains", "x")},
    ]));
    let err = err.expect_err("refused");
    assert!(err.contains("task `a`: check 1 (`regex`)") && err.contains("`looks_like`"), "{err}");
    assert!(!err.contains("task `c`"), "{err}");
}

#[test]
fn weak_judges_and_overlaps_are_warnings() {
    let shape = json!({"kind": "rule", "checks": [{"op": "max_chars", "arg": 9}]});
    let loaded = load(json!([
        {"id": "a", "intent": "Do it!", "judge": shape},
        {"id": "b", "intent": "do it", "split": "val", "reference_kind": "answer"},
        {"id": "c", "intent": "do else", "reference_kind": "exact"},
    ]));
    let warnings = loaded.expect("read").warnings;
    for part in [
        "task `a`: judge: all checks look at the form",
        "task `b`: it needs",
        "task `c`: the reference",
        "say the same",
    ] {
        assert!(warnings.iter().any(|warning| warning.contains(part)), "{part} in {warnings:?}");
    }
}

#[test]
fn what_is_written_is_read_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("tasks.json");
    let file = load(tasks(3)).expect("read").file;
    write_tasks_file(&path, &file).expect("written");
    assert_eq!(read_tasks_file(&path, choice()).expect("read").file, file);
    let names: Vec<_> = std::fs::read_dir(folder.path()).expect("a folder").collect();
    assert_eq!(names.len(), 1);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = path.metadata().expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "it quotes sessions");
    }
}

#[test]
fn errors_of_files_name_the_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("tasks.json");
    let missing = read_tasks_file(&path, choice()).expect_err("missing").to_string();
    std::fs::write(&path, "{\"tasks\": [").expect("written");
    let broken = read_tasks_file(&path, choice()).expect_err("broken").to_string();
    for err in [missing, broken] {
        assert!(err.contains("tasks.json: "), "{err}");
    }
}
