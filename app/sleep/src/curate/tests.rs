//! What a person may do to tasks, and what is refused.

use super::*;
use crate::split::Fractions;
use crate::split::SplitRule;
use crate::task::{ReferenceKind, Split, TaskOutcome, TaskRecord};
use crate::tasks_file::{SplitChoice, TasksFile};
use rstest::rstest;
use serde_json::json;

fn task(id: &str, split: Split, session: &str) -> TaskRecord {
    TaskRecord {
        id: id.into(),
        intent: format!("Write the notes of {id}"),
        split,
        source_sessions: vec![session.into()],
        ..TaskRecord::default()
    }
}

fn file() -> TasksFile {
    let tasks = vec![
        task("a", Split::Train, "s1"),
        task("b", Split::Train, "s1"),
        task("c", Split::Val, "s2"),
    ];
    TasksFile { tasks, reviewed: true, ..TasksFile::default() }
}

fn choice() -> SplitChoice {
    SplitChoice { seed: 42, fractions: Fractions::default(), rule: SplitRule::Grouped }
}

fn ids(tasks: &[TaskRecord]) -> Vec<&str> {
    tasks.iter().map(|task| task.id.as_str()).collect()
}

fn names(ids: &[&str]) -> Vec<String> {
    ids.iter().map(|id| (*id).to_owned()).collect()
}

#[test]
fn a_muted_task_is_kept_and_comes_back() {
    let mut file = file();
    let words = change(&mut file, &Change::Mute(names(&["b"]))).expect("muted");
    assert_eq!(words, "Muted “Write the notes of b”");
    assert_eq!((ids(&file.tasks), ids(&file.muted)), (vec!["a", "c"], vec!["b"]));
    change(&mut file, &Change::Unmute(names(&["b"]))).expect("back");
    assert_eq!((ids(&file.tasks), file.muted.len()), (vec!["a", "c", "b"], 0));
}

#[test]
fn tasks_of_one_session_move_together_or_not_at_all() {
    let mut alone = file();
    let err = change(&mut alone, &Change::Move { ids: names(&["a"]), split: Split::Val });
    let text = err.expect_err("refused").to_string();
    assert!(text.contains("`b` (train) and `a` (val) come from the same session"), "{text}");
    let mut both = file();
    let moved = change(&mut both, &Change::Move { ids: names(&["a", "b"]), split: Split::Val });
    assert_eq!(moved.expect("moved"), "Moved 2 tasks to validation");
}

#[test]
fn a_muted_task_stands_in_nobodys_way_until_it_is_used_again() {
    let mut file = file();
    change(&mut file, &Change::Mute(names(&["b"]))).expect("muted");
    change(&mut file, &Change::Move { ids: names(&["a"]), split: Split::Val }).expect("moved");
    let err = change(&mut file, &Change::Unmute(names(&["b"]))).expect_err("refused");
    assert!(matches!(err, CurateError::Straddles(_)), "{err}");
}

#[test]
fn merged_tasks_are_one_with_all_sessions() {
    let mut file = file();
    file.tasks[0].outcome = TaskOutcome::Success;
    file.tasks[0].attempted_solution = "done so".into();
    file.tasks.push(TaskRecord { skill_hint: "x".into(), ..task("d", Split::Train, "s4") });
    let merge = Change::Merge { ids: names(&["a", "b", "d"]), keep: "b".into() };
    change(&mut file, &merge).expect("merged");
    assert_eq!(ids(&file.tasks), ["b", "c"]);
    let kept = &file.tasks[0];
    assert_eq!(kept.source_sessions, ["s1", "s4"]);
    assert_eq!(
        (kept.intent.as_str(), kept.outcome),
        ("Write the notes of b", TaskOutcome::Success)
    );
    assert_eq!((kept.attempted_solution.as_str(), kept.skill_hint.as_str()), ("done so", ""));
}

#[rstest]
#[case(Change::Merge { ids: names(&["a"]), keep: "a".into() }, "two tasks")]
#[case(Change::Merge { ids: names(&["a", "b"]), keep: "c".into() }, "two tasks")]
#[case(Change::Merge { ids: names(&["a", "c"]), keep: "a".into() }, "come from the same session")]
#[case(Change::Delete(names(&["a", "x"])), "no task `x`")]
#[case(Change::Delete(Vec::new()), "one task")]
#[case(Change::Unmute(names(&["a"])), "no task `a`")]
fn what_cannot_be_is_refused_in_words(#[case] wanted: Change, #[case] words: &str) {
    let mut file = file();
    // A task of the same session as `c`, in the same split: merging `c` away would leave it on the other side.
    file.tasks.push(task("e", Split::Val, "s2"));
    let err = change(&mut file, &wanted).expect_err("refused").to_string();
    assert!(err.contains(words), "{err}");
}

#[test]
fn an_edit_is_checked_as_a_night_would_read_it() {
    let texts = |op: &str, arg: &str| Texts {
        intent: "Sum up".into(),
        kind: ReferenceKind::Rule,
        checks: vec![("contains".into(), "sum".into()), (op.into(), arg.into())],
        ..Texts::default()
    };
    let edit = |texts: Texts| Change::Edit { id: "a".into(), texts };
    let err = change(&mut file(), &edit(texts("regex", "(x"))).expect_err("refused");
    let CurateError::Broken(findings) = &err else { panic!("{err}") };
    assert_eq!(findings[0].field, "checks[1]");
    assert!(findings[0].message.contains("cannot be used"), "{findings:?}");

    let mut changed = file();
    change(&mut changed, &edit(texts("max_chars", "40"))).expect("changed");
    let checks = json!([{"op": "contains", "arg": "sum"}, {"op": "max_chars", "arg": 40}]);
    assert_eq!(changed.tasks[0].judge["checks"], checks, "a bound is a number");
    let (judged, passed) = score(&changed.tasks[0], "SUM of it all").expect("scored");
    assert!((judged.soft.get() - 1.0).abs() < 1e-12 && passed == [true, true]);
    let (judged, passed) = score(&changed.tasks[0], &"long ".repeat(20)).expect("scored");
    assert!(judged.soft.get() < 1e-12 && passed == [false, false], "{judged:?}");
}

#[test]
fn a_secret_that_is_typed_is_masked() {
    let mut file = file();
    let texts = Texts { intent: "log in with password=hunter2-hunter2".into(), ..Texts::default() };
    change(&mut file, &Change::Edit { id: "a".into(), texts }).expect("changed");
    assert!(!file.tasks[0].intent.contains("hunter2"), "{}", file.tasks[0].intent);
}

#[test]
fn texts_that_nobody_changed_change_nothing() {
    let judge = json!({"kind": "rule", "note": 1, "checks": [
        {"op": "max_chars", "arg": "50"}, {"op": "no_refusal"}, {"op": "contains", "arg": "x"},
    ]});
    let mut one = TaskRecord { judge, ..task("a", Split::Train, "s") };
    one.reference_kind = ReferenceKind::Rule;
    let mut again = one.clone();
    Texts::of(&one).put_into(&mut again);
    let shape = |task: &TaskRecord| (task.checks(), task.judge["note"].clone());
    assert_eq!(shape(&again), shape(&one));
}

#[test]
fn found_tasks_join_and_those_that_are_there_stay() {
    let mut file = file();
    change(&mut file, &Change::Mute(names(&["b"]))).expect("muted");
    file.tasks[0].intent = "my words".into();
    let found = [
        TaskRecord { intent: "their words".into(), ..task("a", Split::Train, "s1") },
        task("b", Split::Train, "s1"),
        task("n", Split::Train, "s2"),
    ];
    let added = add_tasks(&mut file, &found, choice());
    assert_eq!(added, Added { n_new: 1, n_known: 2 });
    assert_eq!((file.tasks[0].intent.as_str(), file.reviewed), ("my words", false));
    let new = file.tasks.iter().find(|task| task.id == "n").expect("added");
    assert_eq!(new.split, Split::Val, "it stands with the task of its session");
    assert_eq!(add_tasks(&mut file, &found, choice()).n_new, 0);
}

#[test]
fn a_task_that_was_merged_away_is_not_found_again_until_the_merge_is_undone() {
    let dir = tempfile::tempdir().expect("a folder");
    let curated = CuratedFile::new(dir.path().join("p.json"));
    let fill = |new: &mut TasksFile| {
        *new = file();
        Ok((String::new(), ()))
    };
    curated.change("", fill).expect("written");
    let first = curated.read().expect("read");
    let merge = Change::Merge { ids: names(&["a", "b"]), keep: "a".into() };
    let merged = |file: &mut TasksFile| change(file, &merge).map(|words| (words, ()));
    curated.change(&first.version, merged).expect("merged");
    let second = curated.read().expect("the ids are read again");
    assert_eq!(second.file.merged["b"], "a");
    let mut again = second.file.clone();
    let added = add_tasks(&mut again, &file().tasks, choice());
    assert_eq!(added, Added { n_new: 0, n_known: 3 });
    assert_eq!((ids(&again.tasks), again.reviewed), (vec!["a", "c"], true));
    change(&mut again, &Change::Delete(names(&["a"]))).expect("deleted");
    let added = add_tasks(&mut again, &file().tasks, choice());
    assert_eq!(added.n_new, 2, "what it was part of is gone");
    curated.undo(&second.version).expect("undone");
    assert_eq!(curated.read().expect("read").file, first.file);
}

#[test]
fn a_change_is_made_from_what_was_seen_and_can_be_undone() {
    let dir = tempfile::tempdir().expect("a folder");
    let curated = CuratedFile::new(dir.path().join("tasks/p.json"));
    let empty = curated.read().expect("read");
    assert_eq!((empty.version.as_str(), empty.file.tasks.len()), ("", 0));
    let add = |file: &mut TasksFile| {
        *file = super::tests::file();
        Ok(("Found 3 tasks".to_owned(), ()))
    };
    curated.change("", add).expect("written");
    let first = curated.read().expect("read");
    assert!(matches!(curated.change("", add), Err(CurateError::Changed)));
    let delete = |file: &mut TasksFile| {
        change(file, &Change::Delete(names(&["c"]))).map(|words| (words, ()))
    };
    curated.change(&first.version, delete).expect("deleted");
    let second = curated.read().expect("read");
    assert_eq!(
        (second.file.tasks.len(), second.can_undo.as_str()),
        (2, "Deleted “Write the notes of c”")
    );
    assert!(matches!(curated.undo(&first.version), Err(CurateError::Changed)));
    curated.undo(&second.version).expect("undone");
    assert_eq!(curated.read().expect("read").file, first.file);
    let again = curated.undo(&first.version);
    assert!(matches!(again, Err(CurateError::NothingToUndo)), "{again:?}");
}

#[test]
fn a_refused_change_leaves_the_file_as_it_was() {
    let dir = tempfile::tempdir().expect("a folder");
    let curated = CuratedFile::new(dir.path().join("p.json"));
    curated
        .change("", |new| {
            *new = file();
            Ok((String::new(), ()))
        })
        .expect("written");
    let before = curated.read().expect("read");
    let refused = curated.change(&before.version, |file| {
        let split = Change::Move { ids: names(&["a"]), split: Split::Test };
        change(file, &split).map(|words| (words, ()))
    });
    assert!(matches!(refused, Err(CurateError::Straddles(_))));
    assert_eq!(curated.read().expect("read"), before);
}

#[test]
fn a_person_is_told_what_the_tasks_cannot_do() {
    let mut one_sided = file();
    assert_eq!(warnings(&one_sided), Vec::<String>::new());
    one_sided.tasks[2].split = Split::Train;
    assert!(warnings(&one_sided)[0].contains("splits them anew"));
    one_sided.tasks.iter_mut().for_each(|task| task.split = Split::Test);
    let words = warnings(&one_sided).join(" ");
    assert!(words.contains("No task validates") && words.contains("No task trains"), "{words}");
    let exact = TaskRecord { reference_kind: ReferenceKind::Exact, ..task("a", Split::Train, "s") };
    assert_eq!(look_at(&exact)[0].field, "reference");
}
