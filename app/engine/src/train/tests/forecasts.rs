//! What was foreseen against what the run then did, in all modes.

use super::optimizer::able;
use super::*;
use crate::forecast::forecast;
use skillopt_domain::cost::CostPart;
use skillopt_domain::forecast::RunForecast;
use skillopt_domain::spend::Role;

fn foreseen(input: &TrainInput) -> RunForecast {
    forecast(input.into(), &WordBenchmark).expect("a forecast")
}

#[test]
fn what_the_plan_fixes_has_no_range() {
    let all = foreseen(&input(&[]));
    let calls = |part| {
        let row = all.parts.iter().find(|row| row.part == part).expect("a part");
        (row.target.calls.low, row.target.calls.likely, row.target.calls.high)
    };
    assert_eq!(calls(CostPart::Baseline), (8, 8, 8));
    assert_eq!(calls(CostPart::Rollout), (16, 16, 16), "two epochs over eight tasks");
    assert_eq!(calls(CostPart::FinalTest), (8, 16, 16));
    let evaluate = calls(CostPart::Evaluate);
    assert!(evaluate.0 < evaluate.1 && evaluate.2 == 4 * 8, "{evaluate:?}");
}

#[test]
fn minibatches_that_do_not_fit_are_counted_as_the_calls_that_they_become() {
    let analysts = |changes: &[(&str, &str)]| {
        let all = foreseen(&input(changes));
        let row = all.parts.iter().find(|row| row.part == CostPart::Reflect).expect("a part");
        row.optimizer.calls.likely
    };
    let small = [("gradient.minibatch_size", "1")];
    assert!(analysts(&small) > analysts(&[]));
    let no_success = [("gradient.minibatch_size", "1"), ("gradient.failure_only", "true")];
    assert!(analysts(&no_success) < analysts(&small));
}

#[rstest]
#[case::patch(&[])]
#[case::small(&[("gradient.minibatch_size", "1"), ("gradient.merge_batch_size", "2"), ("train.accumulation", "2")])]
#[case::autonomous(&[("optimizer.lr_control_mode", "autonomous")])]
#[case::rewrite(&[("optimizer.skill_update_mode", "rewrite_from_suggestions")])]
#[case::full(&[("optimizer.skill_update_mode", "full_rewrite_minibatch")])]
#[case::between(&[("optimizer.use_slow_update", "true"), ("optimizer.use_meta_skill", "true"), ("train.num_epochs", "3")])]
#[case::no_test(&[("evaluation.eval_test", "false")])]
#[case::python(&[("train.compat", "python"), ("optimizer.use_slow_update", "true"), ("train.num_epochs", "3")])]
#[tokio::test]
async fn calls_of_a_run_lie_in_the_range_that_was_foreseen(#[case] changes: &[(&str, &str)]) {
    let world = World::with(target_reply, able);
    let input = input(changes);
    let all = foreseen(&input);
    let journal = Arc::new(MemoryJournal::default());
    let report = world.run(&input, journal.clone()).await.expect("done");
    for role in Role::ALL {
        let (calls, range) = (report.spend.of(role).calls, all.of(role).calls);
        assert!(range.holds(calls), "{role}: {calls} of {range:?}");
    }
    let view = RunView::of(&journal.events());
    let plan = view.plan.as_ref().and_then(|plan| plan.forecast.as_ref());
    assert_eq!(plan, Some(&all), "the run's plan holds it");
    assert_eq!(view.fate_rows().iter().map(|row| row.n_steps).sum::<u32>(), view.n_steps);
}

#[tokio::test]
async fn what_is_left_shrinks_to_nothing_as_the_run_goes_on() {
    let world = World::new();
    let journal = Arc::new(MemoryJournal::default());
    world.run(&input(&[]), journal.clone()).await.expect("done");
    let events = journal.events();
    let forecast = RunView::of(&events).plan.and_then(|plan| plan.forecast).expect("a forecast");
    let mut view = RunView::default();
    let mut left = Vec::new();
    for event in &events {
        view.apply(event);
        if matches!(event.kind, EventKind::StepFinished(_)) {
            view.status = skillopt_domain::run::RunStatus::Running;
            view.spend = skillopt_domain::cost::total_of(&view.cost_rows());
            left.push(forecast.remaining(&view).total().calls);
        }
    }
    assert_eq!(left.len(), 4);
    assert!(left.windows(2).all(|pair| pair[1].likely < pair[0].likely), "{left:?}");
    assert!(left[3].holds(16), "only the test is left: {:?}", left[3]);
}

#[test]
fn money_is_foreseen_with_a_price_and_unknown_without() {
    let real = |prices: &[(&str, &str)]| {
        let changes = [
            ("model.backend", "openai_compatible"),
            ("model.target", "t"),
            ("model.optimizer", "o"),
            ("model.openai_compatible_base_url", "http://127.0.0.1:1/v1"),
        ];
        foreseen(&input(&[&changes, prices].concat()))
    };
    let priced = [
        ("model.target_price_in", "1"),
        ("model.target_price_out", "2"),
        ("model.optimizer_price_in", "3"),
        ("model.optimizer_price_out", "4"),
    ];
    let total = real(&priced).total();
    let cost = total.cost_usd_micros.expect("known");
    assert!(cost.low > 0 && cost.low < cost.likely && cost.likely < cost.high, "{cost:?}");
    let partly = real(&priced[..2]);
    assert_eq!(partly.total().cost_usd_micros, None);
    assert!(partly.of(Role::Target).cost_usd_micros.is_some());
    assert!(partly.assumptions.iter().any(|one| one.contains("no price of o is known")));
}
