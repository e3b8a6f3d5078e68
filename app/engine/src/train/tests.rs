//! The loop against scripted models: what it accepts, what it costs, and that a killed run resumes to the
//! same bytes without paying twice.

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
mod folder;
mod forecasts;
mod kills;
mod lapses;
mod merging;
mod modes;
mod optimizer;
mod prompts;
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

#[rstest]
#[case::rollout("step/0002/rolled_out")]
#[case::reflect("step/0002/reflected")]
#[case::aggregate("step/0002/aggregated")]
#[case::select("step/0002/selected")]
#[case::update("step/0002/updated")]
#[case::evaluate("step/0002/gated")]
#[case::end_of_step("step/0002/finished")]
#[case::between_steps("step/0003/phase/rollout")]
#[case::baseline("step/0001/phase/rollout")]
#[case::final_test("tested/best")]
#[tokio::test]
async fn c48_a_killed_run_resumes_to_the_same_bytes_and_pays_nothing_twice(#[case] die_at: &str) {
    let whole = World::new();
    let expected = whole.run(&input(&[]), Arc::default()).await.expect("done");

    let world = World::new();
    let dying = Arc::new(MemoryJournal::dying_at(die_at));
    world.run(&input(&[]), dying.clone()).await.expect_err("killed");
    let reborn = Arc::new(dying.reborn());
    let resumed = world.run(&input(&[]), reborn.clone()).await.expect("resumed");

    assert_eq!(resumed.best_skill, expected.best_skill);
    assert_eq!(world.history(), whole.history());
    assert_eq!(world.requests().len(), whole.requests().len(), "a request was paid twice");
    assert_eq!(world.ledger.len(), whole.ledger.len());
    assert_eq!(RunView::of(&reborn.events()).best, best_of(&whole).await);
}

async fn best_of(whole: &World) -> Option<skillopt_domain::view::BestSkill> {
    let journal = Arc::new(MemoryJournal::default());
    whole.run(&input(&[]), journal.clone()).await.expect("done");
    RunView::of(&journal.events()).best
}

#[tokio::test]
async fn c48_a_run_that_dies_with_calls_in_flight_pays_no_answered_call_twice() {
    // One at a time, so that the request that is never answered is the only one on its way.
    let input = input(&[("env.workers", "1"), ("gradient.analyst_workers", "1")]);
    let whole = World::new();
    whole.run(&input, Arc::default()).await.expect("done");
    for k in 0..whole.target.seen().len() {
        let world = World::new();
        world.run_killed_at_call(&input, &world.target, k).await;
        assert_eq!(world.history(), whole.history(), "killed after {k} target calls");
        assert_eq!(
            world.requests().len(),
            whole.requests().len(),
            "paid twice after {k} target calls"
        );
    }
}

fn broken_for_one_evaluation(request: &ChatRequest) -> Result<ChatReply, ModelError> {
    if request.phase.contains("step_0001/selection_eval") && request.messages[1].content == "val-0"
    {
        let kind = ModelErrorKind::Timeout;
        return Err(ModelError {
            kind,
            message: "slow".into(),
            attempts: 6,
            billed: Billed::default(),
        });
    }
    target_reply(request)
}

#[tokio::test]
async fn c48_an_outcome_that_broke_is_taken_over_by_a_resumed_run() {
    let changes = [("limits.error_share", "0.2")];
    let whole = World::with(broken_for_one_evaluation, optimizer_reply);
    whole.run(&input(&changes), Arc::default()).await.expect("done");
    let world = World::with(broken_for_one_evaluation, optimizer_reply);
    let dying = Arc::new(MemoryJournal::dying_at("step/0003/phase/rollout"));
    world.run(&input(&changes), dying.clone()).await.expect_err("killed");
    // The target is healthy again, which must not change what the run decided before.
    let healed = World {
        target: ScriptedModel::new("target", |request, _| target_reply(request)),
        optimizer: world.optimizer.clone(),
        ledger: world.ledger.clone(),
        folder: world.folder.clone(),
    };
    healed.run(&input(&changes), Arc::new(dying.reborn())).await.expect("resumed");
    assert_eq!(healed.history(), whole.history());
}

fn no_connection(request: &ChatRequest) -> Result<ChatReply, ModelError> {
    if request.purpose == Purpose::Preflight {
        return Ok(reply("OK"));
    }
    let kind = ModelErrorKind::Connection;
    Err(ModelError { kind, message: "refused".into(), attempts: 6, billed: Billed::default() })
}

#[tokio::test]
async fn c37_a_dead_optimizer_is_a_failure_and_never_no_improvement() {
    let world = World::with(target_reply, no_connection);
    let journal = Arc::new(MemoryJournal::default());
    let failure = world.run(&input(&[]), journal.clone()).await.expect_err("failed");
    assert!(
        failure.error.to_string().contains("optimizer: connection: refused"),
        "{}",
        failure.error
    );
    let healed =
        World { optimizer: ScriptedModel::new("optimizer", |r, _| optimizer_reply(r)), ..world };
    healed.run(&input(&[]), journal).await.expect("resumed when it is back");
}

#[tokio::test]
async fn a_run_is_not_resumed_on_another_skill_or_other_data() {
    let world = World::new();
    let journal = Arc::new(MemoryJournal::default());
    world.run(&input(&[("limits.max_calls", "20")]), journal.clone()).await.expect_err("capped");
    let other = TrainInput { skill: SkillDoc::parse("# Other\n"), ..input(&[]) };
    let failure = world.run(&other, journal).await.expect_err("refused");
    assert!(failure.error.to_string().contains("the initial skill changed"), "{}", failure.error);
}

#[tokio::test]
async fn c48_a_finished_run_run_again_makes_no_call() {
    let world = World::new();
    world.run(&input(&[]), Arc::default()).await.expect("done");
    let before = world.requests().len();
    let again = world.run(&input(&[]), Arc::default()).await.expect("done");
    assert_eq!(world.requests().len(), before);
    assert_eq!(again.spend.total().calls, 0);
    assert!(again.spend.total().cached > 0);
}

#[tokio::test]
async fn another_seed_and_fresh_draw_anew_while_the_same_seed_does_not() {
    let world = World::new();
    world.run(&input(&[]), Arc::default()).await.expect("done");
    let first = world.requests().len();
    world.run(&input(&[("train.seed", "7")]), Arc::default()).await.expect("done");
    assert!(world.requests().len() >= first + 24, "every selection and test task is drawn anew");
    let second = world.requests().len();
    let fresh = TrainInput { fresh: Some("word".into()), ..input(&[]) };
    world.run(&fresh, Arc::default()).await.expect("done");
    assert_eq!(world.requests().len(), second + first);
}

#[tokio::test]
async fn c49_a_baseline_of_zero_survives_resume() {
    let world = World::new();
    let dying = Arc::new(MemoryJournal::dying_at("step/0001/gated"));
    world.run(&input(&[]), dying.clone()).await.expect_err("killed");
    let baseline_calls = world.target.seen().len();
    let reborn = Arc::new(dying.reborn());
    world.run(&input(&[]), reborn.clone()).await.expect("resumed");
    let view = RunView::of(&reborn.events());
    assert_eq!(view.baseline.as_ref().and_then(|measured| measured.gate_score), Some(0.0));
    assert_eq!(view.versions[0].score, Some(0.0));
    assert!(world.target.seen().len() > baseline_calls);
    let baselines = world
        .target
        .seen()
        .iter()
        .filter(|request| request.phase == "selection_eval_baseline")
        .count();
    assert_eq!(baselines, 8, "the baseline was measured once");
}

#[tokio::test]
async fn c50_a_cap_in_the_middle_of_an_evaluation_keeps_what_was_paid_and_a_higher_cap_goes_on() {
    let whole = World::new();
    whole.run(&input(&[]), Arc::default()).await.expect("done");
    let all = whole.requests().len() as u64;

    let world = World::new();
    let journal = Arc::new(MemoryJournal::default());
    let failure = world
        .run(&input(&[("limits.max_calls", "20")]), journal.clone())
        .await
        .expect_err("capped");
    assert_eq!(failure.error.transition(), RunTransition::Cap);
    assert!(failure.error.to_string().contains("20 of 20 calls"), "{}", failure.error);
    assert_eq!(failure.spend.total().calls, 20);
    assert_eq!(world.ledger.len(), 20);

    let prior = Prior { spend: failure.spend, active_ms: failure.active_ms };
    let higher = TrainInput { prior, ..input(&[("limits.max_calls", "1000")]) };
    let report = world.run(&higher, journal).await.expect("done");
    assert_eq!(report.spend.total().calls, all - 20);
}

#[rstest]
#[case::tokens(&[("limits.max_tokens", "395")], "of 395 tokens")]
#[case::money(&[("limits.max_cost_usd", "0.00039")], "$0.000300 of $0.000390")]
#[case::time(&[("limits.max_minutes", "0.0001")], "minutes are used")]
#[tokio::test]
async fn c47_every_cap_stops_before_the_call_that_could_pass_it(
    #[case] caps: &[(&str, &str)],
    #[case] expect: &str,
) {
    let world = World::new();
    let failure = world.run(&input(caps), Arc::default()).await.expect_err("capped");
    assert!(failure.error.to_string().contains(expect), "{}", failure.error);
    assert!(failure.spend.total().tokens() <= 395);
    assert!(failure.spend.total().cost_usd_micros <= 390 || caps[0].0 != "limits.max_cost_usd");
    assert_eq!(world.ledger.len() as u64, failure.spend.total().calls);
}

fn authentication(_: &ChatRequest) -> Result<ChatReply, ModelError> {
    let kind = ModelErrorKind::Authentication;
    Err(ModelError {
        kind,
        message: "Incorrect API key provided".into(),
        attempts: 1,
        billed: Billed::default(),
    })
}

#[tokio::test]
async fn c37_a_wrong_key_ends_in_preflight_with_the_providers_words() {
    let world = World::with(authentication, optimizer_reply);
    let failure = world.run(&input(&[]), Arc::default()).await.expect_err("failed");
    assert_eq!(failure.error.transition(), RunTransition::Fail);
    assert!(failure.error.to_string().contains("Incorrect API key"), "{}", failure.error);
    assert_eq!(world.requests().len(), 1, "no rollout was made");
    assert_eq!(failure.spend.total().calls, 0);
}

fn half_broken(request: &ChatRequest) -> Result<ChatReply, ModelError> {
    if request.messages[1].content.ends_with(['1', '3', '5', '7']) {
        let kind = ModelErrorKind::Timeout;
        return Err(ModelError {
            kind,
            message: "no answer in 300 s".into(),
            attempts: 6,
            billed: Billed::default(),
        });
    }
    target_reply(request)
}

#[tokio::test]
async fn c38_a_run_with_too_many_broken_attempts_fails_and_never_says_no_gain() {
    let world = World::with(half_broken, optimizer_reply);
    let failure = world.run(&input(&[]), Arc::default()).await.expect_err("failed");
    assert!(
        failure.error.to_string().contains("4 of 8 attempts ended in errors"),
        "{}",
        failure.error
    );
}

#[tokio::test]
async fn c38_broken_attempts_are_neither_scored_nor_reflected_on() {
    let world = World::with(half_broken, optimizer_reply);
    let journal = Arc::new(MemoryJournal::default());
    world.run(&input(&[("limits.error_share", "0.6")]), journal.clone()).await.expect("done");
    let view = RunView::of(&journal.events());
    assert_eq!(view.baseline.and_then(|measured| measured.score).map(|score| score.n), Some(4));
    for request in world.optimizer.seen() {
        assert!(
            !request.messages[1].content.contains("id train-1\n"),
            "a broken attempt was shown"
        );
    }
}

fn flaky_once(request: &ChatRequest) -> Result<ChatReply, ModelError> {
    use std::sync::atomic::{AtomicBool, Ordering};
    static FAILED: AtomicBool = AtomicBool::new(false);
    if request.messages[1].content == "val-5" && !FAILED.swap(true, Ordering::SeqCst) {
        let kind = ModelErrorKind::Server;
        return Err(ModelError {
            kind,
            message: "503".into(),
            attempts: 6,
            billed: Billed::default(),
        });
    }
    target_reply(request)
}

#[tokio::test]
async fn c39_a_short_outage_in_an_evaluation_is_tried_again_and_nothing_is_lost() {
    let world = World::with(flaky_once, optimizer_reply);
    let journal = Arc::new(MemoryJournal::default());
    world.run(&input(&[]), journal.clone()).await.expect("done");
    let view = RunView::of(&journal.events());
    assert_eq!(view.baseline.and_then(|measured| measured.score).map(|score| score.n), Some(8));
    assert_eq!(world.ledger.failures().len(), 1);
}

fn cut_once(request: &ChatRequest) -> Result<ChatReply, ModelError> {
    if request.purpose == Purpose::AnalystFailure && request.messages.len() == 2 {
        let cut = r#"{"patch": {"edits": [{"op": "append", "content": "- ru"#;
        return Ok(ChatReply { finish: crate::ports::Finish::Length, ..reply(cut) });
    }
    optimizer_reply(request)
}

#[tokio::test]
async fn c28_a_truncated_optimizer_reply_is_asked_for_again_with_more_room_and_never_used() {
    let world = World::with(target_reply, cut_once);
    let journal = Arc::new(MemoryJournal::default());
    world.run(&input(&[]), journal.clone()).await.expect("done");
    let reasked: Vec<_> =
        world.optimizer.seen().into_iter().filter(|request| request.messages.len() == 3).collect();
    assert!(
        !reasked.is_empty() && reasked.iter().all(|request| request.max_tokens == Some(32_768))
    );
    let lost = journal.events().iter().any(
        |event| matches!(&event.kind, EventKind::Reflected { reflection, .. } if !reflection.lost.is_empty()),
    );
    assert!(!lost, "the second reply was usable");
}

fn cut_always(request: &ChatRequest) -> Result<ChatReply, ModelError> {
    if request.purpose == Purpose::Preflight {
        return Ok(reply("OK"));
    }
    Ok(ChatReply { finish: crate::ports::Finish::Length, ..reply(r#"{"patch": {"edits": []}}"#) })
}

#[tokio::test]
async fn c28_a_reply_that_is_always_cut_is_named_and_asked_for_once_more_only() {
    let world = World::with(target_reply, cut_always);
    let journal = Arc::new(MemoryJournal::default());
    world.run(&input(&[]), journal.clone()).await.expect("done");
    assert_eq!(actions(&journal.events()), [Action::SkipNoPatches; 4]);
    let reasons: Vec<String> =
        RunView::of(&journal.events()).steps.into_iter().map(|step| step.reason).collect();
    assert!(reasons[0].contains("truncated"), "{reasons:?}");
    assert_eq!(world.optimizer.seen().len(), 1 + 4 * 2);
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
async fn cancel_stops_and_resume_goes_on() {
    let world = World::new();
    let (control, ctx) = RunControl::new();
    control.cancel();
    let journal = Arc::new(MemoryJournal::default());
    let failure =
        train(&ctx, &input(&[]), &world.ports(journal.clone())).await.expect_err("cancelled");
    assert_eq!(failure.error.transition(), RunTransition::ConfirmCancel);
    assert!(world.requests().is_empty());
    world.run(&input(&[]), journal).await.expect("resumed");
}

#[tokio::test]
async fn c48_a_cancel_lets_calls_in_flight_be_answered_and_recorded() {
    let world = World::new();
    let (control, ctx) = RunControl::new();
    let cancelling = control.clone();
    let target = ScriptedModel::new("target", move |request, _| {
        if request.phase.contains("selection_eval_baseline") {
            cancelling.cancel();
        }
        target_reply(request)
    });
    let ports = Ports { target: target.clone(), ..world.ports(Arc::default()) };
    train(&ctx, &input(&[]), &ports).await.expect_err("cancelled");
    let paid = target.seen().iter().filter(|request| request.purpose == Purpose::Qa).count();
    assert!(paid > 1, "several calls were in flight");
    assert_eq!(world.ledger.len(), paid + 2, "all of them are recorded, and both preflights");
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
