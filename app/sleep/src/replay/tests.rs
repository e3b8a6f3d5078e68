use super::*;
use crate::backend::{
    Judged, Mock, Proposed, Reflection, Said, SlowQuestion, TextQuestion, rule_tag, sentence_of,
};
use crate::consolidate::Silent;
use crate::task::ReferenceKind;
use async_trait::async_trait;
use skillopt_domain::outcome::OutcomeKind;
use skillopt_domain::score::Score;
use skillopt_domain::spend::SpendByRole;
use std::sync::Mutex;

/// Answers by the task's id: `fail`, `once` (fails the first time), `decline`, `judge`, `pending`; else fine.
#[derive(Debug, Default)]
struct Moody {
    seen: Mutex<Vec<String>>,
    at_once: AtomicU32,
    most_at_once: AtomicU32,
}

#[async_trait]
impl Backend for Moody {
    fn label(&self) -> String {
        "moody".into()
    }
    fn is_simulated(&self) -> bool {
        true
    }
    async fn attempt(&self, attempt: &Attempt<'_>) -> Result<Attempted, BackendError> {
        let id = attempt.task.id.clone();
        let is_first = {
            let mut seen = self.seen.lock().expect("not poisoned");
            seen.push(id.clone());
            seen.iter().filter(|other| **other == id).count() == 1
        };
        let now = self.at_once.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_at_once.fetch_max(now, Ordering::SeqCst);
        for _ in 0..3 {
            tokio::task::yield_now().await;
        }
        self.at_once.fetch_sub(1, Ordering::SeqCst);
        let failed = || BackendError::Failed { code: "timeout".into(), message: "slow".into() };
        let text = format!("answer to {id}");
        match id.as_str() {
            "fail" => Err(failed()),
            "once" if is_first => Err(failed()),
            "pending" => Err(BackendError::Pending),
            "decline" => Ok(Attempted { text, end: AnswerEnd::Declined, ..Attempted::default() }),
            _ => Ok(Attempted { text, tokens: Some(5), latency_ms: 7, ..Attempted::default() }),
        }
    }
    async fn judge(&self, judging: &Judging<'_>) -> Result<Judged, BackendError> {
        if judging.task.id == "judge" {
            return Err(BackendError::Unusable("no number".into()));
        }
        let score = TaskScore { hard: Score::ONE, soft: Score::ONE };
        Ok(Judged { score, rationale: "fine".into(), tokens: Some(2) })
    }
    async fn reflect(&self, _: &Reflection<'_>) -> Result<Proposed, BackendError> {
        Ok(Proposed::default())
    }
    async fn guide(&self, _: &SlowQuestion<'_>) -> Result<Said, BackendError> {
        Ok(Said::default())
    }
    async fn mine(&self, _: &TextQuestion<'_>) -> Result<Said, BackendError> {
        Ok(Said::default())
    }
    fn spend(&self) -> SpendByRole {
        SpendByRole::default()
    }
}

fn tasks(ids: &[&str]) -> Vec<TaskRecord> {
    let task = |id: &&str| TaskRecord {
        id: (*id).to_owned(),
        reference_kind: ReferenceKind::Rubric,
        reference: "r".into(),
        ..TaskRecord::default()
    };
    ids.iter().map(task).collect()
}

async fn replay(
    backend: &Moody,
    ids: &[&str],
    (workers, error_share): (u32, f64),
) -> Result<Vec<Replayed>, NightError> {
    let evidence = Evidence::off();
    let tools = NightTools { backend, evidence: &evidence, events: &Silent, workers, error_share };
    let docs = Docs { skill: "", memory: "" };
    replay_each(&tools, &tasks(ids), docs, Draw::first(Phase::Train)).await
}

#[tokio::test]
async fn results_stand_in_task_order_and_never_more_run_at_once_than_allowed() {
    let backend = Moody::default();
    let ids = ["a", "b", "c", "d", "e", "f", "g"];
    let replayed = replay(&backend, &ids, (3, 0.0)).await.expect("all fine");
    assert_eq!(replayed.iter().map(|r| r.id.as_str()).collect::<Vec<_>>(), ids);
    assert_eq!(backend.most_at_once.load(Ordering::SeqCst), 3);
    assert_eq!((replayed[0].tokens, replayed[0].latency_ms), (Some(7), 7), "judge included");
}

#[tokio::test]
async fn every_outcome_has_its_kind_and_only_scored_ones_enter_the_mean() {
    let ids = ["fine", "fail", "decline", "judge"];
    let replayed = replay(&Moody::default(), &ids, (1, 0.5)).await.expect("half may fail");
    let kinds: Vec<_> = replayed.iter().map(|replayed| replayed.outcome.kind()).collect();
    use OutcomeKind::{InfraError, JudgeError, Passed, Refused};
    assert_eq!(kinds, [Passed, InfraError, Refused, JudgeError]);
    let mean = aggregate(&replayed).expect("one was scored");
    assert_eq!((mean.n, mean.hard), (1, 1.0));
    assert_eq!(replayed[1].tokens, None, "unknown is not zero");
}

#[tokio::test]
async fn a_broken_system_gets_a_second_try() {
    let replayed = replay(&Moody::default(), &["once", "a"], (1, 0.0)).await.expect("in the end");
    assert_eq!(replayed[0].outcome.kind(), OutcomeKind::Passed);
    assert_eq!(replayed[0].id, "once");
}

#[tokio::test]
async fn too_many_errors_are_no_result() {
    let error =
        replay(&Moody::default(), &["fail", "a", "b"], (1, 0.3)).await.expect_err("a third");
    let NightError::TooManyErrors { n_errors, n_attempts, .. } = &error else {
        panic!("{error}");
    };
    assert_eq!((*n_errors, *n_attempts), (1, 3));
    assert!(error.to_string().contains("no result about the skill"), "{error}");
}

#[tokio::test]
async fn questions_that_wait_for_a_person_are_all_asked_before_the_night_stops() {
    let backend = Moody::default();
    let error = replay(&backend, &["pending", "a", "pending"], (1, 0.3)).await.expect_err("waits");
    assert_eq!(error, NightError::Backend(BackendError::Pending));
    assert_eq!(backend.seen.lock().expect("not poisoned").len(), 3);
}

#[tokio::test]
async fn a_judge_that_cannot_be_used_costs_no_call() {
    let task = TaskRecord {
        id: "t".into(),
        reference_kind: ReferenceKind::Rule,
        judge: json!({"kind": "rule", "checks": [{"op": "regex", "arg": "("}]}),
        ..TaskRecord::default()
    };
    let backend = Moody::default();
    let order = ReplayOrder { task: &task, draw: Draw::first(Phase::Train) };
    let replayed =
        replay_one(&backend, order, Docs { skill: "", memory: "" }).await.expect("typed");
    assert_eq!(replayed.outcome.kind(), OutcomeKind::JudgeError);
    assert!(backend.seen.lock().expect("not poisoned").is_empty());
}

#[tokio::test]
async fn checks_and_exact_answers_are_scored_without_a_judge() {
    let reference = "arXiv:2401.00001";
    let task = TaskRecord {
        id: "t".into(),
        reference_kind: ReferenceKind::Exact,
        reference: reference.into(),
        tags: vec![rule_tag("arxiv-id")],
        ..TaskRecord::default()
    };
    let skill = sentence_of("arxiv-id").expect("a rule");
    let order = ReplayOrder { task: &task, draw: Draw::first(Phase::Train) };
    let replayed = replay_one(&Mock, order, Docs { skill, memory: "" }).await.expect("scored");
    assert_eq!((replayed.response.as_str(), replayed.has_failed()), (reference, false));
}
