//! A run that goes on, or is run again: to the same bytes, without paying twice, and on nothing else than before.

use super::*;

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
