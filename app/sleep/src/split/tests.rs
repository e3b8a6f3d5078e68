use super::*;
use crate::task::TaskOrigin;
use proptest::prelude::*;

fn task(id: &str, intent: &str, session: &str) -> TaskRecord {
    TaskRecord {
        id: id.into(),
        intent: intent.into(),
        source_sessions: vec![session.into()],
        ..TaskRecord::default()
    }
}

/// Tasks `task_0` …, each with words and a session of its own.
fn distinct(n: usize) -> Vec<TaskRecord> {
    (0..n).map(|i| task(&format!("task_{i}"), &format!("do thing {i}"), &format!("s{i}"))).collect()
}

fn ids(tasks: &[TaskRecord], split: Split) -> Vec<&str> {
    tasks.iter().filter(|task| task.split == split).map(|task| task.id.as_str()).collect()
}

#[test]
fn splits_are_those_of_the_reference_system_for_a_seed() {
    for rule in [SplitRule::Python, SplitRule::Grouped] {
        let mut tasks = distinct(12);
        assign_splits(&mut tasks, 42, Fractions::default(), rule);
        assert_eq!(ids(&tasks, Split::Val), ["task_2", "task_9", "task_10"]);
    }
}

#[test]
fn without_validation_the_smallest_hash_is_promoted() {
    let mut tasks = distinct(12);
    let none = Fractions::try_new(0.0, 0.0).expect("fractions");
    let counts = assign_splits(&mut tasks, 42, none, SplitRule::Python);
    assert_eq!((counts.n_val, counts.n_train), (1, 11));
    assert_eq!(ids(&tasks, Split::Val), ["task_7"]);
}

#[test]
fn without_training_one_validation_task_is_demoted() {
    let mut tasks = distinct(12);
    let all = Fractions::try_new(0.999, 0.0).expect("fractions");
    let counts = assign_splits(&mut tasks, 42, all, SplitRule::Python);
    assert_eq!((counts.n_val, counts.n_train), (11, 1));
    assert_eq!(ids(&tasks, Split::Train), ["task_7"]);
}

#[test]
fn test_tasks_are_never_borrowed() {
    let mut tasks = distinct(12);
    let all = Fractions::try_new(0.0, 0.999).expect("fractions");
    let counts = assign_splits(&mut tasks, 42, all, SplitRule::Grouped);
    assert_eq!((counts.n_test, counts.n_val, counts.n_train), (12, 0, 0));
}

#[test]
fn dreams_always_train() {
    let mut tasks = distinct(12);
    for task in &mut tasks {
        task.origin = TaskOrigin::Dream;
        task.split = Split::Val;
    }
    let counts = assign_splits(&mut tasks, 42, Fractions::default(), SplitRule::Python);
    assert_eq!((counts.n_train, counts.n_units), (12, 0));
}

#[test]
fn f26_tasks_of_one_session_never_stand_on_two_sides() {
    let mut tasks = distinct(12);
    for (at, task) in tasks.iter_mut().enumerate() {
        task.source_sessions = vec![format!("s{}", at / 3)];
    }
    let by_task = assign_splits(&mut tasks.clone(), 42, Fractions::default(), SplitRule::Python);
    let counts = assign_splits(&mut tasks, 42, Fractions::default(), SplitRule::Grouped);
    assert_eq!((by_task.n_units, counts.n_units), (12, 4));
    assert!(counts.n_val > 0 && counts.n_train > 0);
    assert_eq!(overlaps(&tasks), []);
}

#[test]
fn f26_equal_contents_never_stand_on_two_sides() {
    let mut tasks = distinct(12);
    tasks[0].intent = "Write the weekly report!".into();
    tasks[5].intent = "write the  weekly report".into();
    assign_splits(&mut tasks, 42, Fractions::default(), SplitRule::Grouped);
    assert_eq!(tasks[0].split, tasks[5].split);
}

#[test]
fn c53_what_cannot_be_parted_is_not_parted_to_get_a_validation_set() {
    let mut tasks = distinct(2);
    tasks[1].source_sessions = tasks[0].source_sessions.clone();
    let none = Fractions::try_new(0.0, 0.0).expect("fractions");
    let counts = assign_splits(&mut tasks, 42, none, SplitRule::Grouped);
    assert_eq!((counts.n_units, counts.n_train, counts.n_val), (1, 2, 0));
}

#[test]
fn c53_overlap_by_id_and_by_content_is_told() {
    let mut tasks =
        vec![task("a", "Do it", "s1"), task("a", "Do that", "s2"), task("b", "do it!", "s3")];
    tasks[1].split = Split::Val;
    tasks[2].split = Split::Test;
    let found = overlaps(&tasks);
    let kinds: Vec<OverlapKind> = found.iter().map(|overlap| overlap.kind).collect();
    assert_eq!(kinds, [OverlapKind::Id, OverlapKind::Content]);
    assert_eq!(found[1].to_string(), "`a` (train) and `b` (test) say the same");
    assert!(found.iter().all(Overlap::is_leak));
}

#[test]
fn c53_a_variant_of_a_validation_task_must_not_train() {
    let mut tasks = vec![task("a", "Do it", "s1"), task("a_dream1", "(quick one) do it", "")];
    tasks[0].split = Split::Val;
    tasks[1].derived_from = "a".into();
    tasks[1].source_sessions.clear();
    assert_eq!(overlaps(&tasks)[0].kind, OverlapKind::Derived);
}

proptest! {
    #[test]
    fn grouped_splits_never_overlap(
        picks in proptest::collection::vec((0usize..12, 0usize..8, 0usize..12), 1..40),
        seed in 0i64..1000,
    ) {
        let mut tasks: Vec<TaskRecord> = picks
            .iter()
            .map(|(id, session, words)| {
                task(&format!("t{id}"), &format!("words {words}"), &format!("s{session}"))
            })
            .collect();
        let fractions = Fractions::try_new(0.4, 0.2).expect("fractions");
        assign_splits(&mut tasks, seed, fractions, SplitRule::Grouped);
        prop_assert_eq!(overlaps(&tasks), vec![]);
    }

    #[test]
    fn order_of_tasks_does_not_matter(seed in 0i64..1000, rotate in 0usize..12) {
        let mut tasks = distinct(12);
        let mut others = distinct(12);
        others.rotate_left(rotate);
        for batch in [&mut tasks, &mut others] {
            assign_splits(batch, seed, Fractions::default(), SplitRule::Grouped);
        }
        let mut right = ids(&others, Split::Val);
        right.sort_unstable();
        let mut left = ids(&tasks, Split::Val);
        left.sort_unstable();
        prop_assert_eq!(left, right);
    }
}
