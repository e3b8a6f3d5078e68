use super::*;
use crate::ports::Message;
use crate::testing::WordBenchmark;
use skillopt_domain::score::{Score, TaskScore};

#[test]
fn tasks_are_drawn_with_the_seed_and_two_thousand_an_epoch_as_cpython_shuffles() {
    let tasks = WordBenchmark::tasks("train", 8);
    let order = |epoch| -> Vec<String> {
        drawn(&tasks, 42, epoch).iter().map(|task| task.id.to_string()).collect()
    };
    let expect = |numbers: [u32; 8]| numbers.map(|number| format!("train-{number}")).to_vec();
    // random.Random(42 + epoch * 2000).shuffle of CPython.
    assert_eq!(order(2), expect([3, 2, 7, 1, 6, 5, 4, 0]));
    assert_eq!(order(3), expect([7, 5, 6, 1, 3, 4, 0, 2]));
}

fn attempt(hard: Option<f64>) -> RolloutRecord {
    let outcome = match hard {
        Some(hard) => {
            let score = Score::try_from(hard).expect("a score");
            Outcome::Scored {
                score: TaskScore { hard: score, soft: score },
                predicted: String::new(),
                fail_reason: String::new(),
                truncated: false,
            }
        }
        None => Outcome::Refused { reason: "no".into() },
    };
    RolloutRecord {
        outcome: TaskOutcome {
            task: "t".into(),
            title: "title".into(),
            task_type: "qa".into(),
            outcome,
            call: None,
            cached: false,
        },
        messages: vec![Message::system("s"), Message::user("question")],
        steps: Vec::new(),
        reply: "reply".into(),
        evaluation_note: "note".into(),
    }
}

#[test]
fn only_a_whole_point_passes_and_a_pair_needs_both_scores() {
    let category =
        |before, after| Pair::of(attempt(before), attempt(after), false).map(|pair| pair.category);
    assert_eq!(category(Some(0.5), Some(1.0)), Some(PairCategory::Improved));
    assert_eq!(category(Some(1.0), Some(0.9)), Some(PairCategory::Regressed));
    assert_eq!(category(Some(0.9), Some(0.1)), Some(PairCategory::PersistentFail));
    assert_eq!(category(Some(1.0), Some(1.0)), Some(PairCategory::StableSuccess));
    assert_eq!(category(None, Some(1.0)), None);
    assert_eq!(category(Some(1.0), None), None);
}

fn pairs(n: usize) -> Pairs {
    let one = |at: usize| {
        let mut pair = Pair::of(attempt(Some(0.0)), attempt(Some(0.0)), false).expect("scored");
        for record in [&mut pair.previous, &mut pair.current] {
            record.outcome.task = format!("t{at}").as_str().into();
            record.reply = "word ".repeat(800);
        }
        pair
    };
    let skill = skillopt_domain::hash::Sha256Hex::of("s");
    let comparison = Comparison {
        epoch: 2,
        previous: skill.clone(),
        current: skill,
        policy: PairPolicy::Mixed,
        groups: Vec::new(),
        n_tried: 0,
        n_topped_up: 0,
        n_unsteady: 0,
        n_unscored: 0,
        sets: Vec::new(),
    };
    Pairs { pairs: (0..n).map(one).collect(), comparison }
}

#[test]
fn with_little_room_the_first_pairs_are_shown_and_all_are_named() {
    let pairs = pairs(20);
    let whole = pairs.text(usize::MAX, Feedback::Shown);
    assert!(!whole.contains(NO_ROOM) && whole.matches("[reply of the target]").count() == 40);
    for room in [20_000, 40_000] {
        let text = pairs.text(room, Feedback::Shown);
        assert!(weight(&text) <= room, "{} of {room}", weight(&text));
        assert!((0..20).all(|at| text.contains(&format!("### Task id t{at}\n"))));
        let shown = text.matches("[reply of the target]").count();
        assert!(shown >= 2 && shown + text.matches(NO_ROOM).count() == 40, "{shown}");
        let first_left_out = text.find(NO_ROOM).unwrap_or(text.len());
        assert!(text.rfind("[reply of the target]").is_some_and(|last| last < first_left_out));
    }
}

#[test]
fn hidden_grading_is_in_no_pair() {
    let pairs = pairs(2);
    assert!(pairs.text(usize::MAX, Feedback::Shown).contains("| note"));
    for room in [usize::MAX, 9000] {
        assert!(!pairs.text(room, Feedback::Hidden).contains("note"));
    }
}
