use super::*;
use crate::ports::Message;
use proptest::prelude::*;
use skillopt_domain::outcome::{Outcome, TaskOutcome};
use skillopt_domain::score::{Score, TaskScore};

/// A room that everything fits in.
const LARGE: usize = 1_000_000;

fn record(id: usize, hard: f64, reply: &str) -> RolloutRecord {
    let score = |number| Score::try_from(number).expect("a score");
    RolloutRecord {
        outcome: TaskOutcome {
            task: format!("t{id}").as_str().into(),
            title: format!("task {id}"),
            task_type: "qa".into(),
            outcome: Outcome::Scored {
                score: TaskScore { hard: score(hard), soft: score(hard) },
                predicted: String::new(),
                fail_reason: if hard < 1.0 { "wrong".into() } else { String::new() },
                truncated: false,
            },
            call: None,
            cached: false,
        },
        messages: vec![Message::system("s"), Message::user("q")],
        steps: Vec::new(),
        reply: reply.into(),
        evaluation_note: "note".into(),
    }
}

fn grouping(size: usize, room: usize) -> Grouping {
    Grouping { size, failure_only: false, feedback: Feedback::Shown, room: [room; 2], has_passed }
}

fn batch(records: Vec<RolloutRecord>) -> ScoredBatch {
    ScoredBatch { seed: 42, dir: "steps/step_0001".into(), records }
}

fn ids(minibatch: &Minibatch<'_>) -> Vec<String> {
    minibatch.records.iter().map(|record| record.outcome.task.to_string()).collect()
}

fn made<'a>(batch: &'a ScoredBatch, grouping: &Grouping) -> Minibatches<'a> {
    let mut minibatches = Minibatches::default();
    minibatches.add(batch, grouping);
    minibatches
}

#[test]
fn failures_are_shuffled_with_the_seed_and_successes_with_the_next_in_groups_of_the_size() {
    let records = (0..14).map(|id| record(id, if id < 7 { 0.0 } else { 1.0 }, "r")).collect();
    let batch = batch(records);
    let minibatches = made(&batch, &grouping(3, LARGE));
    // random.Random(42) and random.Random(43) of CPython over lists of seven.
    let orders = [[1, 3, 4, 2, 6, 0, 5], [12, 13, 11, 10, 8, 9, 7]];
    let mut expected: Vec<Vec<String>> = Vec::new();
    for order in orders {
        expected.extend(order.chunks(3).map(|ids| ids.iter().map(|id| format!("t{id}")).collect()));
    }
    assert_eq!(minibatches.all.iter().map(ids).collect::<Vec<_>>(), expected);
    let files: Vec<&str> = minibatches.all.iter().map(|one| one.file.as_str()).collect();
    assert_eq!(files[2], "steps/step_0001/patches/minibatch_fail_002.json");
    assert_eq!(files[3], "steps/step_0001/patches/minibatch_succ_000.json");
    assert_eq!((minibatches.n_split, minibatches.n_cut), (0, 0));
    let only = made(&batch, &Grouping { failure_only: true, ..grouping(3, LARGE) });
    assert!(only.all.len() == 3 && only.all.iter().all(|one| one.source == SourceType::Failure));
}

#[test]
fn a_task_that_is_right_in_part_is_a_failure_and_one_without_a_score_is_nothing() {
    let mut refused = record(2, 0.0, "r");
    refused.outcome.outcome = Outcome::Refused { reason: "no".into() };
    let batch = batch(vec![record(0, 0.5, "r"), record(1, 1.0, "r"), refused]);
    let minibatches = made(&batch, &grouping(8, LARGE));
    let all: Vec<(SourceType, Vec<String>)> =
        minibatches.all.iter().map(|one| (one.source, ids(one))).collect();
    assert_eq!(
        all,
        [(SourceType::Failure, vec!["t0".into()]), (SourceType::Success, vec!["t1".into()])]
    );
}

#[test]
fn one_huge_trajectory_among_small_ones_has_a_call_of_its_own_and_none_is_dropped() {
    let long = format!("begin {} end", "word ".repeat(4000));
    let records: Vec<RolloutRecord> =
        (0..8).map(|id| record(id, 0.0, if id == 3 { &long } else { "short" })).collect();
    let batch = batch(records);
    let minibatches = made(&batch, &grouping(8, 4000));
    assert_eq!((minibatches.n_split, minibatches.n_cut), (1, 1));
    let alone = minibatches.all.iter().find(|one| ids(one) == ["t3"]).expect("a call of its own");
    assert!(weight(&alone.text) <= 4000 && alone.text.contains("characters left out"));
    assert!(alone.text.contains("| begin ") && alone.text.contains(" end\n"));
    let mut all: Vec<String> = minibatches.all.iter().flat_map(ids).collect();
    let whole = made(&batch, &grouping(8, LARGE));
    assert_eq!(all, ids(&whole.all[0]), "in the order of the group");
    all.sort();
    assert_eq!(all.len(), 8);
    for minibatch in &minibatches.all {
        assert!(minibatch.text.starts_with("### Trajectory 1, id "), "{}", minibatch.text);
    }
    let numbers: Vec<&str> =
        minibatches.all.iter().map(|one| &one.file[one.file.len() - 8..]).collect();
    assert_eq!(numbers[0], "000.json");
    assert_eq!(numbers.len(), numbers.iter().collect::<std::collections::BTreeSet<_>>().len());
}

#[test]
fn with_less_room_than_one_trajectory_each_has_a_call_and_is_cut() {
    let long = "word ".repeat(1000);
    let batch = batch((0..5).map(|id| record(id, 0.0, &long)).collect());
    for room in [0, 1, LEAST_WEIGHT] {
        let minibatches = made(&batch, &grouping(2, room));
        assert_eq!(minibatches.all.len(), 5);
        assert_eq!((minibatches.n_split, minibatches.n_cut), (2, 5));
        assert!(minibatches.all.iter().all(|one| weight(&one.text) <= LEAST_WEIGHT));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn no_trajectory_is_lost_or_doubled_and_every_call_keeps_to_its_room(
        lengths in proptest::collection::vec(0usize..6000, 1..24),
        size in 1usize..9,
        room in LEAST_WEIGHT..20_000,
    ) {
        let records: Vec<RolloutRecord> =
            lengths.iter().enumerate().map(|(id, n)| record(id, 0.0, &"x".repeat(*n))).collect();
        let batch = batch(records);
        let minibatches = made(&batch, &grouping(size, room));
        let whole = made(&batch, &grouping(size, usize::MAX));
        let all = |minibatches: &Minibatches<'_>| -> Vec<String> {
            minibatches.all.iter().flat_map(ids).collect()
        };
        prop_assert_eq!(all(&minibatches), all(&whole));
        for minibatch in &minibatches.all {
            prop_assert!(weight(&minibatch.text) <= room);
            prop_assert!(!minibatch.records.is_empty() && minibatch.records.len() <= size);
        }
        prop_assert_eq!(minibatches.n_split == 0, minibatches.all.len() == whole.all.len());
    }
}
