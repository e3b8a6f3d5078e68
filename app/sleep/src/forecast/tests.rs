//! What is forecast holds for nights that are run, and is exact where nothing is left to chance.

use super::*;
use crate::backend::{
    Attempt, Attempted, Backend, BackendError, Judged, Judging, Proposed, Reflection, Said,
    SlowQuestion, TextQuestion,
};
use crate::config::{Config, Override, Sources, load};
use crate::consolidate::{NightInput, Silent, consolidate_groups, consolidate_night, group_tasks};
use crate::evidence::Evidence;
use crate::mine::agreed_hints;
use crate::task::{ReferenceKind, Split};
use async_trait::async_trait;
use rstest::rstest;
use serde_json::{Value, json};
use skillopt_domain::night::edit::{EditOp, EditRecord, Target};
use skillopt_domain::score::{Score, TaskScore};
use skillopt_domain::spend::SpendByRole;
use skillopt_engine::ctx::RunControl;
use std::collections::HashSet;
use std::sync::{Arc, Mutex};

/// Counts different questions, as the ledger does. An entry `+0.1` of a document is worth what it says.
#[derive(Debug)]
struct Counter {
    asked: Mutex<HashSet<String>>,
    /// What each proposed edit is worth.
    worth: &'static str,
}

impl Counter {
    fn note(&self, question: String) {
        self.asked.lock().expect("not poisoned").insert(question);
    }
}

#[async_trait]
impl Backend for Counter {
    fn label(&self) -> String {
        "counter".into()
    }
    fn is_simulated(&self) -> bool {
        false
    }
    async fn attempt(&self, attempt: &Attempt<'_>) -> Result<Attempted, BackendError> {
        let known = format!("{}\n{}", attempt.docs.skill, attempt.docs.memory);
        self.note(format!("attempt {} {:?} {known}", attempt.task.id, attempt.draw));
        let words = known.split_whitespace().filter(|word| word.starts_with(['+', '-']));
        let worth: f64 = words.filter_map(|word| word.parse::<f64>().ok()).sum();
        // Draws differ, so that there is something to contrast.
        let luck = f64::from(attempt.draw.repeat % 2) * 0.05;
        let text = (0.3 + worth + luck).clamp(0.0, 1.0).to_string();
        Ok(Attempted { text, tokens: Some(1), ..Attempted::default() })
    }
    async fn judge(&self, judging: &Judging<'_>) -> Result<Judged, BackendError> {
        self.note(format!("judge {} {:?} {}", judging.task.id, judging.draw, judging.response));
        let soft = Score::try_new(judging.response.parse().expect("a number")).expect("a score");
        let score = TaskScore { hard: Score::ZERO, soft };
        Ok(Judged { score, rationale: "so so".into(), tokens: Some(1) })
    }
    async fn reflect(&self, reflection: &Reflection<'_>) -> Result<Proposed, BackendError> {
        let n = self.asked.lock().expect("not poisoned").len();
        self.note(format!("reflect {n}"));
        let edit = |at: u32| EditRecord {
            // Every second one is for the other document.
            target: if at.is_multiple_of(2) { reflection.target } else { Target::Skill },
            op: EditOp::Add,
            content: format!("{} rule {n} {at}", self.worth),
            anchor: String::new(),
            rationale: String::new(),
        };
        Ok(Proposed { edits: (0..reflection.budget).map(edit).collect(), ..Proposed::default() })
    }
    async fn guide(&self, _: &SlowQuestion<'_>) -> Result<Said, BackendError> {
        let n = self.asked.lock().expect("not poisoned").len();
        self.note(format!("guide {n}"));
        Ok(Said { text: format!("{} is guidance", self.worth), ..Said::default() })
    }
    async fn mine(&self, _: &TextQuestion<'_>) -> Result<Said, BackendError> {
        Ok(Said::default())
    }
    fn spend(&self) -> SpendByRole {
        SpendByRole::default()
    }
}

fn task(id: &str, split: Split, hint: &str) -> TaskRecord {
    TaskRecord {
        id: id.into(),
        intent: format!("the letter of {id}"),
        reference_kind: ReferenceKind::Rubric,
        reference: "kind".into(),
        skill_hint: hint.into(),
        split,
        ..TaskRecord::default()
    }
}

fn tasks() -> Vec<TaskRecord> {
    vec![
        task("a", Split::Train, "letters"),
        task("b", Split::Train, ""),
        task("c", Split::Val, "letters"),
        task("d", Split::Val, ""),
        task("e", Split::Test, "letters"),
    ]
}

fn input(options: &NightOptions, worth: &'static str) -> (Arc<Counter>, NightInput) {
    let counter = Arc::new(Counter { asked: Mutex::default(), worth });
    let (_control, ctx) = RunControl::new();
    let input = NightInput {
        tasks: tasks(),
        skill: "# Skill\n".into(),
        memory: "# Memory\n".into(),
        options: options.clone(),
        archive: vec![task("old", Split::Train, "letters")],
        rejected_before: Vec::new(),
        backend: Arc::clone(&counter) as _,
        evidence: Arc::new(Evidence::off()),
        events: Arc::new(Silent),
        ctx,
    };
    (counter, input)
}

fn n_asked(counter: &Counter) -> u64 {
    u64::from(count(counter.asked.lock().expect("not poisoned").len()))
}

#[rstest]
#[case(NightOptions::default())]
#[case(NightOptions { gate_per_edit: true, edit_budget: 3, ..NightOptions::default() })]
#[case(NightOptions { rollouts: 3, dream_factor: 2, recall_k: 2, ..NightOptions::default() })]
#[case(NightOptions { gate_repeats: 3, evolve_memory: false, ..NightOptions::default() })]
#[case(NightOptions { evolve_skill: false, gate_per_edit: true, ..NightOptions::default() })]
#[case(NightOptions { gate: GateMode::Off, ..NightOptions::default() })]
#[case(NightOptions { slow_update: true, ..NightOptions::default() })]
#[case(NightOptions { slow_update: true, evolve_memory: false, rollouts: 3, ..NightOptions::default() })]
#[case(NightOptions { evolve_skill: false, evolve_memory: false, ..NightOptions::default() })]
#[tokio::test]
async fn f51_no_night_makes_more_calls_than_was_forecast(
    #[case] options: NightOptions,
    #[values("+0.1", "-0.1")] worth: &'static str,
) {
    let (counter, input) = input(&options, worth);
    consolidate_night(input.clone()).await.expect("a night");
    let load = NightLoad::of(&input.tasks, &input.archive, options.recall_k);
    let most = planned_calls(&options, &load).total();
    let asked = n_asked(&counter);
    assert!(asked <= most, "{asked} of at most {most}");
    assert!(asked * 3 >= most, "{most} is no forecast of {asked}");
}

#[tokio::test]
async fn f51_a_night_whose_one_edit_wins_makes_exactly_the_calls_of_its_forecast() {
    let options = NightOptions { evolve_memory: false, edit_budget: 1, ..NightOptions::default() };
    let (counter, input) = input(&options, "+0.1");
    let outcome = consolidate_night(input.clone()).await.expect("a night");
    assert!(outcome.accepted);
    let planned = planned_calls(&options, &NightLoad::of(&input.tasks, &[], 0));
    // Two calls an attempt: two tasks train, two are measured before, with the edit and at the end, one tests.
    let expect = PlannedCalls { training: 4, validation: 12, reflection: 1, test: 2 };
    assert_eq!((planned, n_asked(&counter)), (expect, 19));
}

fn config(keys: &Value) -> Config {
    let overrides = keys.as_object().expect("an object").iter().map(|(key, value)| Override {
        flag: key.clone(),
        key: key.clone(),
        value: value.clone(),
    });
    let sources = Sources {
        home: "/home/ann".into(),
        cwd: "/home/ann/work".into(),
        file: None,
        overrides: overrides.collect(),
    };
    load(&sources).expect("a config")
}

#[tokio::test]
async fn f51_skills_of_their_own_and_test_tasks_are_told_apart() {
    let keys = json!({"backend": "claude", "multi_skill_fanout": true, "evolve_memory": false});
    let config = config(&keys);
    let forecast = night_forecast(&config, Some(&tasks()), &[]);
    assert!(forecast.is_bound && !forecast.is_simulated);
    assert_eq!((forecast.n_tasks, forecast.n_test, forecast.test), (5, 1, 2));
    let parts = [forecast.mining, forecast.training, forecast.validation, forecast.reflection];
    let sum: u64 = parts.iter().sum();
    assert_eq!(forecast.calls_max, sum + forecast.test + forecast.fan_out);
    let (counter, input) = input(&crate::night::night_options(&config), "-0.1");
    let groups = group_tasks(&input.tasks, &agreed_hints(&input.tasks));
    let skill = |_: &str| Ok("# Letters\n".to_owned());
    consolidate_groups(&input, &groups, skill).await.expect("groups");
    let asked = n_asked(&counter);
    assert!(asked > 0 && asked <= forecast.fan_out, "{asked} of {}", forecast.fan_out);
}

#[test]
fn f51_tasks_that_are_not_known_yet_are_those_that_a_night_takes() {
    let keys = json!({
        "backend": "claude", "max_tasks_per_night": 10, "max_sessions_per_night": 7,
        "val_fraction": 0.3, "test_fraction": 0.2, "evolve_memory": false, "gate_per_edit": false,
    });
    let forecast = night_forecast(&config(&keys), None, &[]);
    assert!(!forecast.is_bound && !forecast.assumptions.is_empty());
    assert_eq!((forecast.n_tasks, forecast.n_test), (10, 2));
    let parts = (forecast.mining, forecast.training, forecast.validation, forecast.test);
    assert_eq!((parts, forecast.reflection, forecast.fan_out), ((7, 10, 18, 4), 1, 0));
    assert_eq!(forecast.calls_max, 40);
    let simulated = night_forecast(&config(&json!({"backend": "mock"})), None, &[]);
    assert!(simulated.is_simulated);
    assert_eq!((simulated.calls_max, simulated.mining), (0, 0));
}

#[test]
fn a_task_with_tools_or_a_rubric_takes_more_calls() {
    let checks = |op: &str| TaskRecord {
        reference_kind: ReferenceKind::Rule,
        judge: json!({"kind": "rule", "checks": [{"op": op, "arg": "search"}]}),
        ..TaskRecord::default()
    };
    let broken = TaskRecord { judge: json!({"checks": [{"op": "nothing"}]}), ..checks("contains") };
    let calls = [checks("contains"), checks("tool_called"), task("a", Split::Val, ""), broken];
    assert_eq!(calls.map(|task| calls_of(&task)), [1, 5, 2, 0]);
}
