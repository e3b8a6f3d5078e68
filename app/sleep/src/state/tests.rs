//! The state against files of the reference system, damage and neighbours.

use super::*;
use std::fs;

const PYTHON: &str = r#"{"version": 1, "night": 7, "last_harvest": {"/p": "2026-05-28T22:26:40"}, "slow_memory": "s",
 "history": [{"night": 3, "accepted": true, "baseline": 0.5, "candidate": 1.0, "n_tasks": 4, "staging": "/p/.skillopt-sleep/staging/x"},
             {"night": 4, "accepted": false, "n_tasks": 0}],
 "task_archive": [{"id": "t1", "intent": "a", "of_theirs": 1}], "last_model_key": "k", "last_model_key_format": 2,
 "of_theirs": [1]}"#;

fn task(id: &str, intent: &str) -> TaskRecord {
    TaskRecord { id: id.to_owned(), intent: intent.to_owned(), ..TaskRecord::default() }
}

#[test]
fn a_file_of_the_reference_system_is_read_and_keeps_what_we_do_not_know() {
    let dir = tempfile::tempdir().unwrap();
    let file = StateFile::new(dir.path());
    fs::write(file.path(), PYTHON).unwrap();
    let zone = TimeZone::fixed(jiff::tz::offset(2));
    let state = file.read().unwrap();
    assert_eq!(state.last_harvest_ms("/p", &zone), Some(1_780_000_000_000));
    assert_eq!(state.history_of("/p").len(), 1);
    assert_eq!((state.history().len(), state.archive()[0].id.as_str()), (2, "t1"));

    let night = file.update(|state| state.begin_night("/p")).unwrap();
    assert_eq!(night, 2, "the project's second night");
    let written: Value = serde_json::from_slice(&fs::read(file.path()).unwrap()).unwrap();
    assert_eq!((&written["night"], &written["of_theirs"]), (&json!(8), &json!([1])));
    assert_eq!(written["task_archive"][0]["of_theirs"], json!(1));
    assert_eq!(written["last_harvest"]["/p"], "2026-05-28T22:26:40");
}

#[test]
fn f37_a_damaged_file_is_refused_and_copied_and_not_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let file = StateFile::new(dir.path());
    fs::write(file.path(), "{\"night\": 3").unwrap();
    let err = file.update(|state| state.begin_night("/p")).unwrap_err();
    let StateError::Corrupt { copy, .. } = &err else { panic!("{err}") };
    assert_eq!(fs::read_to_string(copy).unwrap(), "{\"night\": 3");
    assert_eq!(fs::read_to_string(file.path()).unwrap(), "{\"night\": 3");
    assert!(file.read().is_err());
}

#[test]
fn a_file_of_a_newer_program_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let file = StateFile::new(dir.path());
    fs::write(file.path(), "{\"version\": 2}").unwrap();
    assert!(matches!(file.read(), Err(StateError::Newer { version: 2, .. })));
}

#[test]
fn f17_an_archived_task_stands_once_and_the_newest_stay() {
    let mut state = State::default();
    let tasks: Vec<TaskRecord> =
        (0..ARCHIVE_CAP + 5).map(|n| task(&format!("t{n}"), "a")).collect();
    state.archive_tasks(&tasks);
    state.archive_tasks(&tasks);
    state.archive_tasks(&[task("t9", "b")]);
    let kept = state.archive();
    assert_eq!(kept.len(), ARCHIVE_CAP);
    assert_eq!(kept.iter().filter(|task| task.id == "t9").count(), 1);
    assert_eq!(
        (kept[ARCHIVE_CAP - 1].id.as_str(), kept[ARCHIVE_CAP - 1].intent.as_str()),
        ("t9", "b")
    );
    assert!(kept.iter().all(|task| task.id != "t0"), "the oldest go");
}

#[test]
fn f37_updates_of_many_threads_are_all_kept() {
    let dir = tempfile::tempdir().unwrap();
    let file = StateFile::new(dir.path());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..5 {
                    file.update(|state| state.begin_night("/p")).unwrap();
                }
            });
        }
    });
    assert_eq!(file.read().unwrap().nights(), 20);
}

#[test]
fn f37_nights_cursors_and_models_are_kept_by_project() {
    let mut state = State::default();
    assert_eq!(
        (state.begin_night("/a"), state.begin_night("/b"), state.begin_night("/a")),
        (1, 1, 2)
    );
    state.set_harvest_cursor("/a", json!({"x": 1}));
    assert_eq!(state.harvest_cursor("/a"), json!({"x": 1}));
    assert_eq!(state.harvest_cursor("/b"), Value::Null);
    state.set_waiting_tasks("/a", vec![task("t", "wait")]);
    let read: State = serde_json::from_value(json!(state)).unwrap();
    assert_eq!(read.waiting_tasks("/a"), [task("t", "wait")]);
    assert!(read.waiting_tasks("/b").is_empty());
    assert_eq!(state.note_model("/a", "one"), None);
    assert_eq!(state.note_model("/b", "two"), None, "another project");
    let change = state.note_model("/a", "two").unwrap();
    assert_eq!((change.before.as_str(), change.now.as_str()), ("one", "two"));
}
