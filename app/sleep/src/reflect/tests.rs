use super::*;
use crate::backend::{
    Attempt, Attempted, Judged, Judging, Mock, Said, SlowQuestion, TextQuestion, rule_tag,
    sentence_of,
};
use crate::consolidate::GateRule;
use async_trait::async_trait;
use skillopt_domain::score::{Score, TaskScore};
use skillopt_domain::spend::SpendByRole;
use std::sync::Mutex;

/// Keeps what it was shown, and proposes nothing.
#[derive(Debug, Default)]
struct Reader {
    shown: Mutex<Vec<String>>,
}

#[async_trait]
impl Backend for Reader {
    fn label(&self) -> String {
        "reader".into()
    }
    fn is_simulated(&self) -> bool {
        true
    }
    async fn attempt(&self, attempt: &Attempt<'_>) -> Result<Attempted, BackendError> {
        Mock.attempt(attempt).await
    }
    async fn judge(&self, judging: &Judging<'_>) -> Result<Judged, BackendError> {
        Mock.judge(judging).await
    }
    async fn reflect(&self, reflection: &Reflection<'_>) -> Result<Proposed, BackendError> {
        self.shown.lock().expect("not poisoned").push(format!("{reflection:?}"));
        Ok(Proposed::default())
    }
    async fn guide(&self, question: &SlowQuestion<'_>) -> Result<Said, BackendError> {
        Mock.guide(question).await
    }
    async fn mine(&self, question: &TextQuestion<'_>) -> Result<Said, BackendError> {
        Mock.mine(question).await
    }
    fn spend(&self) -> SpendByRole {
        SpendByRole::default()
    }
}

fn task(id: &str) -> TaskRecord {
    TaskRecord { id: id.into(), intent: format!("intent of {id}"), ..TaskRecord::default() }
}

fn replayed(id: &str, hard: bool, rationale: &str) -> Replayed {
    let score = Score::from_bool(hard);
    Replayed {
        id: id.into(),
        outcome: Outcome::Scored {
            score: TaskScore { hard: score, soft: score },
            predicted: String::new(),
            fail_reason: rationale.into(),
            truncated: false,
        },
        response: format!("response to {id}"),
        rationale: rationale.into(),
        tools_called: Vec::new(),
        tokens: None,
        latency_ms: 0,
    }
}

fn order<'a>(tasks: &'a [TaskRecord], replayed: &'a [Replayed]) -> ReflectOrder<'a> {
    ReflectOrder {
        target: Target::Skill,
        docs: Docs { skill: "S", memory: "M" },
        tasks,
        replayed,
        budget: 4,
        preferences: "short words",
        rejected: &[],
    }
}

async fn shown(tasks: &[TaskRecord], replayed: &[Replayed]) -> String {
    let reader = Reader::default();
    reflect(&reader, &order(tasks, replayed)).await.expect("an answer");
    reader.shown.lock().expect("not poisoned").join("\n")
}

#[tokio::test]
async fn without_failures_nobody_is_asked() {
    let reader = Reader::default();
    let tasks = [task("a")];
    for (replayed, reason) in [
        (vec![replayed("a", true, "")], "all 1 scored training tasks pass already"),
        (vec![], "there is no training task"),
    ] {
        let tasks = &tasks[..replayed.len()];
        let proposed = reflect(&reader, &order(tasks, &replayed)).await.expect("no call");
        assert_eq!(proposed.reason, reason);
    }
    assert!(reader.shown.lock().expect("not poisoned").is_empty());
}

#[tokio::test]
async fn c59_failures_are_told_without_the_source_of_their_checks() {
    let rule = TaskRecord {
        reference_kind: ReferenceKind::Rule,
        judge: serde_json::json!({"kind": "rule", "checks": [{"op": "contains", "arg": "xyzzy"}]}),
        ..task("a")
    };
    let rubric = TaskRecord {
        reference_kind: ReferenceKind::Rubric,
        reference: "the secret rubric".into(),
        ..task("b")
    };
    let replayed = [
        replayed("a", false, "failed: contains=xyzzy, max_chars=200"),
        replayed("b", false, "too vague"),
    ];
    let text = shown(&[rule, rubric], &replayed).await;
    assert!(text.contains("longer than 200 characters") && text.contains("too vague"), "{text}");
    assert!(text.contains("short words"), "{text}");
    // The simulation finds its rules on the tasks themselves; what a model reads is made of `Shown`.
    let shown = text.split("Shown {").skip(1).map(|part| part.split('}').next().unwrap_or(""));
    let shown: String = shown.collect();
    assert!(shown.contains("intent of a") && shown.contains("response to b"), "{shown}");
    assert!(!shown.contains("xyzzy") && !shown.contains("secret rubric"), "{shown}");
}

#[tokio::test]
async fn at_most_eight_failures_are_shown_and_what_passes_is_named() {
    let tasks: Vec<_> = (0..12).map(|at| task(&format!("t{at}"))).collect();
    let attempts: Vec<_> =
        (0..12).map(|at| replayed(&format!("t{at}"), at >= 10, "too long")).collect();
    let text = shown(&tasks, &attempts).await;
    assert_eq!(text.matches("Shown {").count(), 8);
    assert!(text.contains(r#"passed: ["intent of t10", "intent of t11"]"#), "{text}");
}

#[tokio::test]
async fn f30_a_contrast_reads_the_widest_differences_with_preferences() {
    let tasks = [task("a"), task("b"), task("c")];
    let rule = GateRule::default();
    let sets = [
        RolloutSet::new(&tasks[0], &rule, vec![replayed("a", true, ""), replayed("a", true, "")]),
        RolloutSet::new(
            &tasks[1],
            &rule,
            vec![replayed("b", true, ""), replayed("b", false, "vague")],
        ),
        RolloutSet::new(&tasks[2], &rule, vec![replayed("c", false, "x")]),
    ];
    let reader = Reader::default();
    contrast(&reader, &order(&tasks, &[]), &sets).await.expect("an answer");
    let text = reader.shown.lock().expect("not poisoned").join("");
    assert_eq!(text.matches("ContrastPair {").count(), 1);
    assert!(text.contains("intent of b") && text.contains("vague") && text.contains("short words"));
    let none = contrast(&reader, &order(&tasks, &[]), &sets[..1]).await.expect("no call");
    assert_eq!(none.reason, "no task went well once and badly another time");
}

#[tokio::test]
async fn a_benchmarks_form_of_answers_is_guarded() {
    let tasks = [TaskRecord { system: "Answer in one word.".into(), ..task("a") }];
    let text = shown(&tasks, &[replayed("a", false, "x")]).await;
    assert!(text.contains("Answer in one word.") && text.contains("No edit may change the form"));
}

#[tokio::test]
async fn the_simulation_learns_from_failures_alone() {
    let tasks = [TaskRecord { tags: vec![rule_tag("json-only")], ..task("a") }];
    let proposed =
        reflect(&Mock, &order(&tasks, &[replayed("a", false, "x")])).await.expect("edits");
    assert_eq!(Some(proposed.edits[0].content.as_str()), sentence_of("json-only"));
}

#[test]
fn what_is_shown_of_a_failure_is_cut() {
    let long = |letter: &str| letter.repeat(400);
    let long_task = TaskRecord {
        intent: long("i"),
        reference_kind: ReferenceKind::Exact,
        reference: long("e"),
        ..task("a")
    };
    let failed = Replayed { response: long("g"), ..replayed("a", false, &long("w")) };
    let told = super::shown(&long_task, &failed);
    let (intent, reference) = ("i".repeat(160), "e".repeat(160));
    assert_eq!(told.wanted, format!("{intent}\n(expected: {reference})"));
    assert_eq!((told.got, told.why), ("g".repeat(160), "w".repeat(160)));
}
