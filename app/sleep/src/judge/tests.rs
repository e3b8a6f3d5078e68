use super::*;
use crate::task::TaskRecord;
use rstest::rstest;
use serde_json::{Value, json};

fn rule(checks: impl Into<Value>) -> RuleJudge {
    let checks: Value = checks.into();
    inspect(&json!({"kind": "rule", "checks": checks})).into_judge().expect("usable checks")
}

#[test]
fn two_of_three_checks_are_two_thirds_and_no_pass() {
    let judge = rule(json!([
        {"op": "contains", "arg": "Hello"},
        {"op": "max_chars", "arg": 100},
        {"op": "regex", "arg": "^bye"},
    ]));
    let judged = judge.score("hello there", &[]);
    assert_eq!(judged.hard, Score::ZERO);
    assert!((judged.soft.get() - 2.0 / 3.0).abs() < 1e-12);
    assert_eq!(judged.rationale, "failed: regex=^bye");
}

#[test]
fn rationales_have_the_form_that_reflection_counts() {
    let judge = rule(json!([
        {"op": "min_chars", "arg": 10},
        {"op": "no_refusal", "arg": null},
        {"op": "tool_called", "arg": "search"},
    ]));
    assert_eq!(
        judge.score("", &[]).rationale,
        "failed: min_chars=10, no_refusal=None, tool_called=search"
    );
    let passed = judge.score("a long enough reply", &["Search".into()]);
    assert_eq!((passed.hard, passed.rationale.as_str()), (Score::ONE, "all checks passed"));
    assert_eq!(rule(json!([])).score("x", &[]).rationale, "no checks");
}

#[rstest]
#[case(json!([{"op": "regex", "arg": "(a"}]), "check 1 (`regex`)")]
#[case(json!([{"op": "regex", "arg": "(?=a)a"}]), "look-around")]
#[case(json!([{"op": "contians", "arg": "a"}]), "there is no operation `contians`")]
#[case(json!([{"op": "contains", "arg": " "}]), "needs a text")]
#[case(json!([{"op": "contains"}]), "needs a text")]
#[case(json!([{"op": "max_chars", "arg": true}]), "whole number")]
#[case(json!([{"op": "min_chars", "arg": -3}]), "whole number")]
#[case(json!([{"op": 7}]), "`op` is not a text")]
#[case(json!(["contains"]), "expected an object")]
#[case(json!({"op": "contains"}), "`checks` is not a list")]
#[case(json!([{"op": "tool_called", "arg": "../x"}]), "no name of a tool")]
fn c59_broken_checks_are_errors_at_load(#[case] checks: Value, #[case] message: &str) {
    let task = TaskRecord {
        id: "task_7".into(),
        reference_kind: ReferenceKind::Rule,
        judge: json!({"kind": "rule", "checks": checks}),
        ..TaskRecord::default()
    };
    let err = Judge::of(&task).expect_err("refused").to_string();
    assert!(err.starts_with("task `task_7`: ") && err.contains(message), "{err}");
}

#[test]
fn every_broken_check_is_told() {
    let found =
        inspect(&json!({"checks": [{"op": "a"}, {"op": "max_chars", "arg": 5}, {"op": "b"}]}));
    assert_eq!((found.errors.len(), found.judge.n_checks()), (2, 1));
}

#[rstest]
#[case(json!([{"op": "max_chars", "arg": 5}, {"op": "section_present", "arg": "A"}]), "form")]
#[case(json!([{"op": "min_chars", "arg": 0}, {"op": "contains", "arg": "x"}]), "at least 0")]
#[case(json!([]), "every reply scores 0")]
fn c59_weak_checks_are_warnings(#[case] checks: Value, #[case] message: &str) {
    let found = inspect(&json!({"kind": "rule", "checks": checks}));
    assert_eq!(found.errors, []);
    let [warning] = found.warnings.as_slice() else { panic!("{:?}", found.warnings) };
    assert!(warning.to_string().contains(message), "{warning}");
}

#[rstest]
#[case(ReferenceKind::Exact, "exact")]
#[case(ReferenceKind::Rubric, "rubric")]
#[case(ReferenceKind::Answer, "answer")]
#[case(ReferenceKind::None, "outcome")]
fn a_task_without_checks_is_judged_by_its_kind(#[case] kind: ReferenceKind, #[case] expect: &str) {
    let task = TaskRecord {
        reference_kind: kind,
        reference: "ref".into(),
        judge: json!({}),
        ..TaskRecord::default()
    };
    let name = match Judge::of(&task).expect("a judge") {
        Judge::Rule(_) => "rule",
        Judge::Exact { .. } => "exact",
        Judge::Rubric { .. } => "rubric",
        Judge::Answer => "answer",
        Judge::Outcome => "outcome",
    };
    assert_eq!(name, expect);
}

#[test]
fn required_tools_are_told_once_each() {
    let judge = Judge::Rule(rule(json!([
        {"op": "tool_called", "arg": "search"},
        {"op": "tool_called", "arg": "search"},
        {"op": "contains", "arg": "x"},
    ])));
    let names: Vec<&str> = judge.required_tools().into_iter().map(ToolName::as_str).collect();
    assert_eq!(names, ["search"]);
}
