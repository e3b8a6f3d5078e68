//! The gate, case by case.

use super::*;
use rstest::rstest;
use skillopt_domain::outcome::Outcome;
use skillopt_domain::score::{GateMetric, Score};

fn scored(task: usize, hard: f64, soft: f64) -> TaskOutcome {
    let score = |value| Score::try_new(value).expect("in range");
    outcome(
        task,
        Outcome::Scored {
            score: TaskScore { hard: score(hard), soft: score(soft) },
            predicted: String::new(),
            fail_reason: String::new(),
            truncated: false,
        },
    )
}

fn broken(task: usize) -> TaskOutcome {
    outcome(task, Outcome::InfraError { code: "timeout".into(), message: "no answer".into() })
}

fn outcome(task: usize, outcome: Outcome) -> TaskOutcome {
    TaskOutcome {
        task: format!("val-{task}").as_str().into(),
        title: String::new(),
        task_type: "qa".into(),
        outcome,
        call: None,
        cached: false,
    }
}

fn soft(scores: &[f64]) -> Vec<TaskOutcome> {
    scores
        .iter()
        .enumerate()
        .map(|(at, s)| scored(at, f64::from(u8::from(*s >= 1.0)), *s))
        .collect()
}

fn hard(scores: &[u8]) -> Vec<TaskOutcome> {
    scores.iter().enumerate().map(|(at, s)| scored(at, f64::from(*s), f64::from(*s))).collect()
}

fn settings(gate_metric: GateMetric, no_regression: bool) -> Evaluation {
    Evaluation {
        gate_metric,
        gate_mixed_weight: 0.5,
        no_regression,
        eval_test: true,
        use_gate: true,
        sel_env_num: 0,
        test_env_num: 0,
        density: None,
    }
}

fn decide(current: &[TaskOutcome], candidate: &[TaskOutcome], evaluation: &Evaluation) -> Verdict {
    gate(&GateInput {
        current,
        best: current,
        candidate,
        evaluation,
        error_share: 0.1,
        reused: false,
        bonus: Bonus::default(),
    })
}

#[rstest]
#[case(&[1, 0, 0, 0], &[1, 1, 0, 0], Action::AcceptNewBest)]
#[case(&[1, 0, 0, 0], &[0, 1, 0, 0], Action::Reject)]
#[case(&[1, 1, 0, 0], &[1, 0, 0, 0], Action::Reject)]
#[case(&[0, 0, 0, 0], &[0, 0, 0, 0], Action::Reject)]
fn only_a_strict_gain_stays(#[case] before: &[u8], #[case] after: &[u8], #[case] expect: Action) {
    let verdict = decide(&hard(before), &hard(after), &settings(GateMetric::Hard, false));
    assert_eq!(verdict.action, expect);
    assert!(!verdict.reason.is_empty());
}

#[test]
fn c55_a_tie_is_rejected_and_said_to_be_one() {
    let verdict = decide(&hard(&[1, 0]), &hard(&[0, 1]), &settings(GateMetric::Hard, false));
    assert_eq!(verdict.action, Action::Reject);
    assert_eq!(
        verdict.reason,
        "0.500 → 0.500 on 2 tasks: 1 fixed, 1 broke; rejected, a tie is no gain"
    );
}

#[test]
fn c55_the_same_scores_in_another_order_are_a_tie() {
    let before = soft(&[0.1, 0.2, 0.3, 0.7]);
    let after = soft(&[0.7, 0.3, 0.2, 0.1]);
    let verdict = decide(&before, &after, &settings(GateMetric::Soft, false));
    assert_eq!(verdict.action, Action::Reject);
}

#[rstest]
#[case(false, Action::AcceptNewBest)]
#[case(true, Action::Reject)]
fn c54_a_task_that_got_worse_is_named_and_may_forbid_the_candidate(
    #[case] no_regression: bool,
    #[case] expect: Action,
) {
    let (before, after) = (soft(&[0.5, 0.9, 1.0, 1.0]), soft(&[1.0, 0.8, 1.0, 1.0]));
    let verdict = decide(&before, &after, &settings(GateMetric::Soft, no_regression));
    assert_eq!(verdict.action, expect);
    let fell = verdict.changes.iter().find(|change| change.change == Change::Fell);
    assert_eq!(fell.map(|change| change.task.as_str()), Some("val-1"));
    let says =
        if no_regression { "no task may regress and val-1 did" } else { "though val-1 got worse" };
    assert!(verdict.reason.contains(says), "{}", verdict.reason);
}

#[test]
fn c32_a_skill_cannot_win_by_making_the_target_decline() {
    let refused = |task| outcome(task, Outcome::Refused { reason: "I cannot help".into() });
    let before = hard(&[0, 1, 1, 1, 1, 1, 1, 1, 1, 1]);
    let after: Vec<TaskOutcome> =
        (0..10).map(|task| if task == 0 { scored(0, 1.0, 1.0) } else { refused(task) }).collect();
    let verdict = decide(&before, &after, &settings(GateMetric::Hard, false));
    assert_eq!(verdict.action, Action::Reject);
    assert!(verdict.reason.contains("9 newly refused"), "{}", verdict.reason);
}

#[test]
fn c38_broken_attempts_are_left_out_on_both_sides() {
    let before = hard(&[1, 1, 1, 1, 1, 1, 1, 0, 0, 0]);
    let mut after = hard(&[1, 1, 1, 1, 1, 1, 1, 1, 1, 1]);
    for at in [0, 1, 2] {
        after[at] = broken(at);
    }
    let input = GateInput {
        current: &before,
        best: &before,
        candidate: &after,
        evaluation: &settings(GateMetric::Hard, false),
        error_share: 0.5,
        reused: false,
        bonus: Bonus::default(),
    };
    let verdict = gate(&input);
    assert_eq!(verdict.candidate.map(|mean| mean.n), Some(7));
    assert_eq!(verdict.n_not_compared, 3);
    assert_eq!(verdict.action, Action::AcceptNewBest);
    assert!((verdict.current_score.expect("scored") - 4.0 / 7.0).abs() < 1e-9);
    let strict = gate(&GateInput { error_share: 0.1, ..input });
    assert_eq!(strict.action, Action::Inconclusive);
    assert!(strict.reason.contains("3 of 10 attempts ended in errors"), "{}", strict.reason);
}

#[test]
fn c38_nothing_in_common_decides_nothing() {
    let verdict = decide(&[broken(0)], &[broken(0)], &settings(GateMetric::Hard, false));
    assert_eq!(verdict.action, Action::Inconclusive);
    assert_eq!(verdict.candidate_score, None);
}

#[test]
fn a_gain_over_current_that_does_not_reach_the_best_is_plainly_accepted() {
    let (current, best, candidate) = (hard(&[0, 0, 1]), hard(&[1, 1, 1]), hard(&[0, 1, 1]));
    let evaluation = settings(GateMetric::Hard, false);
    let verdict = gate(&GateInput {
        current: &current,
        best: &best,
        candidate: &candidate,
        evaluation: &evaluation,
        error_share: 0.1,
        reused: false,
        bonus: Bonus::default(),
    });
    assert_eq!(verdict.action, Action::Accept);
}

#[test]
fn without_the_gate_a_worse_candidate_stays_and_the_best_is_still_the_best() {
    let open = Evaluation { use_gate: false, ..settings(GateMetric::Hard, false) };
    for (candidate, expect) in [
        (hard(&[0, 0, 0]), Action::ForceAccept),
        (hard(&[1, 0, 0]), Action::ForceAccept),
        (hard(&[1, 1, 0]), Action::AcceptNewBest),
    ] {
        let verdict = decide(&hard(&[1, 0, 0]), &candidate, &open);
        assert_eq!(verdict.action, expect);
        let says = verdict.reason.contains("the gate is off");
        assert_eq!(says, expect == Action::ForceAccept, "{}", verdict.reason);
    }
}

#[test]
fn a_forced_current_skill_that_is_beaten_does_not_lower_the_best() {
    let evaluation = settings(GateMetric::Hard, false);
    let (current, best, candidate) = (hard(&[0, 0, 0]), hard(&[1, 1, 0]), hard(&[1, 0, 0]));
    let input = GateInput {
        current: &current,
        best: &best,
        candidate: &candidate,
        evaluation: &evaluation,
        error_share: 0.1,
        reused: false,
        bonus: Bonus::default(),
    };
    assert_eq!(gate(&input).action, Action::Accept);
    let (best, last, is_better) = compare_last(&input).expect("compared");
    assert!(last < best && !is_better);
}

#[test]
fn emphatic_words_can_tip_the_scales_only_when_they_are_rewarded() {
    let words = vec!["must".to_owned()];
    let loud = SkillDoc::parse("You must");
    let plain = settings(GateMetric::Hard, false);
    assert!(bonus_of(&plain, &loud).abs() < 1e-12);
    let density = Some(skillopt_domain::config::Density { weight: 0.1, words });
    let rewarding = Evaluation { density, ..plain };
    assert!((bonus_of(&rewarding, &loud) - 0.05).abs() < 1e-12);
    let same = hard(&[1, 0]);
    let input = GateInput {
        current: &same,
        best: &same,
        candidate: &same,
        evaluation: &rewarding,
        error_share: 0.1,
        reused: false,
        bonus: Bonus { current: 0.0, best: 0.0, candidate: 0.05 },
    };
    let verdict = gate(&input);
    assert_eq!(verdict.action, Action::AcceptNewBest);
    assert_eq!(verdict.candidate_score, Some(0.55));
}
