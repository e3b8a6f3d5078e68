//! The loop against scripted models: what it accepts and what it costs.

use super::*;
use crate::ctx::RunControl;
use crate::ports::{Billed, ChatReply, ChatRequest, ModelError, ModelErrorKind, Purpose};
use crate::testing::{
    MemoryFolder, MemoryJournal, MemoryLedger, ScriptedModel, TickingClock, WordBenchmark, reply,
};
use rstest::rstest;
use skillopt_domain::config::{Origin, Place, Resolved, Setting, Value, resolve};
use skillopt_domain::edit::EditStatus;
use skillopt_domain::event::{EventKind, RunEvent};
use skillopt_domain::run::RunTransition;
use skillopt_domain::verdict::Action;
use skillopt_domain::view::RunView;

mod agents;
mod caps;
mod contexts;
mod epochs;
mod failing;
mod folder;
mod forecasts;
mod kills;
mod lapses;
mod merging;
mod modes;
mod optimizer;
mod prompts;
mod resume;
mod telling;

/// Task `x-N` passes when the skill holds "rule <N mod 4>", unless it holds "poison".
fn target_reply(request: &ChatRequest) -> Result<ChatReply, ModelError> {
    let skill = &request.messages[0].content;
    let number: usize =
        request.messages[1].content.rsplit('-').next().and_then(|n| n.parse().ok()).unwrap_or(0);
    let knows = skill.contains(&format!("rule {}", number % 4)) && !skill.contains("poison");
    Ok(reply(if knows { "pass" } else { "miss" }))
}

/// Proposes the first rule that the skill lacks; every second time with poison, unless poison was rejected.
fn optimizer_reply(request: &ChatRequest) -> Result<ChatReply, ModelError> {
    let user = &request.messages[1].content;
    let skill_end = user.find("</current_skill>").unwrap_or(user.len());
    let skill = &user[..skill_end];
    if request.purpose != Purpose::AnalystFailure {
        return Ok(reply(
            r#"{"batch_size": 1, "success_patterns": [], "patch": {"reasoning": "", "edits": []}}"#,
        ));
    }
    let missing = (0..4).find(|rule| !skill.contains(&format!("rule {rule}"))).unwrap_or(4);
    let content = if missing % 2 == 1 && !user.contains("poison") {
        "- poison everything".to_owned()
    } else {
        format!("- rule {missing}")
    };
    Ok(reply(&format!(
        r#"{{"batch_size": 4, "failure_summary": [{{"failure_type": "gap", "count": 3, "description": "lacks a rule"}}],
            "patch": {{"reasoning": "r", "edits": [{{"op": "append", "content": "{content}"}},
                                                   {{"op": "replace", "target": "no such line", "content": "x"}}]}}}}"#
    )))
}

fn config(changes: &[(&str, &str)]) -> RunConfig {
    let base = [
        ("model.backend", "mock"),
        ("env.split_dir", "unused"),
        ("train.num_epochs", "2"),
        ("train.batch_size", "4"),
        ("gradient.minibatch_size", "4"),
        ("optimizer.learning_rate", "2"),
    ];
    let settings: Vec<Setting> = base
        .iter()
        .chain(changes)
        .map(|(path, value)| Setting {
            path: (*path).to_owned(),
            value: Value::Text((*value).to_owned()),
            place: Place { origin: Origin::Flag, name: String::new(), line: None },
        })
        .collect();
    let resolved: Resolved = resolve(&settings).expect("valid settings");
    RunConfig::from_resolved(&resolved).expect("valid config")
}

fn input(changes: &[(&str, &str)]) -> TrainInput {
    TrainInput {
        config: config(changes),
        splits: Splits::try_new(
            WordBenchmark::tasks("train", 8),
            WordBenchmark::tasks("val", 8),
            WordBenchmark::tasks("test", 8),
        )
        .expect("disjoint"),
        skill: SkillDoc::parse("# Skill\n\n- Be kind.\n"),
        prompts: PromptSet::default(),
        fresh: None,
        prior: Prior::default(),
        known: Known::default(),
    }
}

/// Everything of a run but its journal, which tests replace.
struct World {
    target: Arc<ScriptedModel>,
    optimizer: Arc<ScriptedModel>,
    ledger: Arc<MemoryLedger>,
    folder: Arc<MemoryFolder>,
}

impl World {
    fn new() -> Self {
        Self::with(target_reply, optimizer_reply)
    }

    fn with(
        target: fn(&ChatRequest) -> Result<ChatReply, ModelError>,
        optimizer: fn(&ChatRequest) -> Result<ChatReply, ModelError>,
    ) -> Self {
        Self {
            target: ScriptedModel::new("target", move |request, _| target(request)),
            optimizer: ScriptedModel::new("optimizer", move |request, _| optimizer(request)),
            ledger: Arc::default(),
            folder: Arc::default(),
        }
    }

    async fn run(
        &self,
        input: &TrainInput,
        journal: Arc<MemoryJournal>,
    ) -> Result<TrainReport, TrainFailure> {
        let (_control, ctx) = RunControl::new();
        train(&ctx, input, &self.ports(journal)).await
    }

    /// Runs until `model` is to answer its request after `k`, is killed there, and resumes to the end.
    async fn run_killed_at_call(&self, input: &TrainInput, model: &ScriptedModel, k: usize) {
        let journal = Arc::new(MemoryJournal::default());
        let stalled = Arc::new(tokio::sync::Notify::new());
        model.stall_after(k, stalled.clone());
        tokio::select! {
            _ = self.run(input, journal.clone()) => panic!("it cannot finish"),
            () = stalled.notified() => {}
        }
        model.recover();
        self.run(input, Arc::new(journal.reborn())).await.expect("resumed");
    }

    fn ports(&self, journal: Arc<MemoryJournal>) -> Ports {
        Ports {
            target: self.target.clone(),
            optimizer: self.optimizer.clone(),
            ledger: self.ledger.clone(),
            journal,
            folder: self.folder.clone(),
            benchmark: Arc::new(WordBenchmark),
            clock: Arc::new(TickingClock::default()),
            flights: Arc::default(),
        }
    }

    /// History without times and spend, which a resumed run cannot repeat.
    fn history(&self) -> serde_json::Value {
        let text = self.folder.file("history.json").expect("written");
        let mut rows: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        for row in rows.as_array_mut().into_iter().flatten() {
            let row = row.as_object_mut().expect("object");
            for key in ["timing", "tokens", "wall_time_s"] {
                row.remove(key);
            }
        }
        rows
    }

    fn requests(&self) -> Vec<ChatRequest> {
        [self.target.seen(), self.optimizer.seen()].concat()
    }
}

fn actions(events: &[RunEvent]) -> Vec<Action> {
    RunView::of(events).steps.iter().map(|step| step.action).collect()
}

#[tokio::test]
async fn rules_that_help_are_kept_and_poison_is_not() {
    let world = World::new();
    let journal = Arc::new(MemoryJournal::default());
    let report = world.run(&input(&[]), journal.clone()).await.expect("done");
    assert_eq!(
        actions(&journal.events()),
        [Action::AcceptNewBest, Action::Reject, Action::AcceptNewBest, Action::AcceptNewBest]
    );
    assert_eq!(report.best_skill, "# Skill\n\n- Be kind.\n- rule 0\n- rule 1\n- rule 2\n");
    assert_eq!(world.folder.file("best_skill.md"), Some(report.best_skill));
    let view = RunView::of(&journal.events());
    assert_eq!(view.test_initial.and_then(|m| m.score).map(|s| s.hard), Some(0.0));
    assert_eq!(view.test_best.and_then(|m| m.score).map(|s| (s.hard, s.n)), Some((0.75, 8)));
}

#[tokio::test]
async fn c26_the_rejected_edit_and_its_reason_reach_the_next_prompt() {
    let world = World::new();
    world.run(&input(&[]), Arc::default()).await.expect("done");
    let after_reject = world
        .optimizer
        .seen()
        .into_iter()
        .find(|request| request.messages[1].content.contains("### Step 2 - REJECT"))
        .expect("a prompt that tells of the rejected step");
    let user = &after_reject.messages[1].content;
    assert!(user.contains("poison everything") && user.contains("0.2500 -> 0.0000"), "{user}");
    assert!(user.contains("anchor not found"), "unmatched edits are told as well: {user}");
}

fn says_nothing_new(request: &ChatRequest) -> Result<ChatReply, ModelError> {
    if request.purpose == Purpose::Preflight {
        return Ok(reply("OK"));
    }
    Ok(reply(
        r#"{"patch": {"reasoning": "", "edits": [{"op": "append", "content": "* be kind!"}]}}"#,
    ))
}

#[tokio::test]
async fn c23_c55_a_candidate_that_equals_its_parent_costs_no_rollout() {
    let world = World::with(target_reply, says_nothing_new);
    let journal = Arc::new(MemoryJournal::default());
    world.run(&input(&[]), journal.clone()).await.expect("done");
    assert_eq!(actions(&journal.events()), [Action::SkipNoChange; 4]);
    let selection =
        world.target.seen().iter().filter(|r| r.phase.contains("selection_eval")).count();
    assert_eq!(selection, 8, "only the baseline was measured");
    let duplicate = journal.events().iter().any(|event| {
        matches!(&event.kind, EventKind::Updated { edits, .. }
            if edits.iter().all(|report| report.status == EditStatus::Duplicate))
    });
    assert!(duplicate);
}

#[tokio::test]
async fn failure_only_and_accumulation_pool_batches_into_one_step() {
    let world = World::new();
    let journal = Arc::new(MemoryJournal::default());
    let changes = [("train.accumulation", "2"), ("gradient.failure_only", "true")];
    world.run(&input(&changes), journal.clone()).await.expect("done");
    assert_eq!(RunView::of(&journal.events()).steps.len(), 2);
    assert!(
        world.optimizer.seen().iter().all(|request| request.purpose != Purpose::AnalystSuccess)
    );
    let merges =
        world.optimizer.seen().iter().filter(|r| r.purpose == Purpose::MergeFailure).count();
    assert!(merges > 0, "patches of both batches were merged");
}

#[tokio::test]
async fn c53_a_run_without_selection_tasks_is_refused_before_any_call() {
    let world = World::new();
    let splits = Splits::try_new(WordBenchmark::tasks("train", 8), vec![], vec![]).expect("splits");
    let failure =
        world.run(&TrainInput { splits, ..input(&[]) }, Arc::default()).await.expect_err("refused");
    assert!(failure.error.to_string().contains("val split is empty"), "{}", failure.error);
    assert!(world.requests().is_empty());
}
