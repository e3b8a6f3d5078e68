//! Caps hold to the call, also where a call has to be made more than once, and a capped run goes on.

use super::*;
use skillopt_domain::spend::Usage;
use std::sync::atomic::{AtomicUsize, Ordering};

#[tokio::test]
async fn c47_no_cap_on_calls_is_passed_wherever_it_stops_the_run() {
    let whole = World::new();
    whole.run(&input(&[]), Arc::default()).await.expect("done");
    let all = whole.requests().len();
    let (world, journal) = (World::new(), Arc::new(MemoryJournal::default()));
    let mut prior = Prior::default();
    // One store, raised caps: the run stops at each of them and goes on at the next.
    for cap in (1..all).step_by(3) {
        let capped = TrainInput { prior, ..input(&[("limits.max_calls", &cap.to_string())]) };
        let failure = world.run(&capped, journal.clone()).await.expect_err("capped");
        assert_eq!(failure.error.transition(), RunTransition::Cap, "{}", failure.error);
        prior.spend += failure.spend;
        prior.active_ms += failure.active_ms;
        assert_eq!(world.requests().len(), cap, "cap {cap}");
        assert_eq!(prior.spend.total().calls, cap as u64);
    }
    let last = TrainInput { prior, ..input(&[("limits.max_calls", &all.to_string())]) };
    world.run(&last, journal).await.expect("done");
    assert_eq!(world.requests().len(), all, "nothing was paid for twice");
}

/// A target that answers nothing at every other call. Each of its answers has 20 tokens and costs 20 millionths.
fn absent_minded() -> Arc<ScriptedModel> {
    let calls = AtomicUsize::new(0);
    ScriptedModel::new("target", move |request, _| {
        if request.purpose == Purpose::Preflight || calls.fetch_add(1, Ordering::Relaxed) % 2 == 1 {
            return target_reply(request);
        }
        let usage = Usage::new(10, 10);
        let mut billed = Billed { worth_another: true, ..Billed::default() };
        billed.add(Some(usage), Some(20));
        Err(ModelError {
            kind: ModelErrorKind::Empty,
            message: "nothing".into(),
            attempts: 1,
            billed,
        })
    })
}

#[rstest]
#[case::calls("limits.max_calls", |cap: u64| cap.to_string())]
#[case::tokens("limits.max_tokens", |cap: u64| (cap * 20 + 80).to_string())]
#[case::money("limits.max_cost_usd", |cap: u64| format!("0.{:06}", cap * 20 + 80))]
#[tokio::test]
async fn c47_answers_without_an_answer_cannot_pass_a_cap(
    #[case] key: &str,
    #[case] value: fn(u64) -> String,
) {
    for cap in 1..24 {
        let world = World { target: absent_minded(), ..World::new() };
        let value = value(cap);
        let failure =
            world.run(&input(&[(key, &value)]), Arc::default()).await.expect_err("capped");
        assert_eq!(failure.error.transition(), RunTransition::Cap, "{}", failure.error);
        let made = world.requests().len() as u64;
        // At worst a call takes five times what it takes here; for that the caps have room beside the last one.
        assert_eq!(made, cap, "{key} {value}");
        assert_eq!(failure.spend.total().calls, made, "each answer is counted");
        assert_eq!(failure.spend.total().tokens(), made * 20);
    }
}

#[tokio::test]
async fn c29_a_model_that_answers_with_nothing_is_asked_twice_more() {
    let world = World { target: absent_minded(), ..World::new() };
    let report = world.run(&input(&[]), Arc::default()).await.expect("done");
    let plain = World::new();
    let expected = plain.run(&input(&[]), Arc::default()).await.expect("done");
    assert_eq!(report.best_skill, expected.best_skill, "no attempt was lost");
    assert!(report.spend.target.calls > expected.spend.target.calls);

    let mute = World::with(
        |request| match request.purpose {
            Purpose::Preflight => target_reply(request),
            _ => {
                let billed = Billed { answers: 1, worth_another: true, ..Billed::default() };
                Err(ModelError {
                    kind: ModelErrorKind::Empty,
                    message: "nothing".into(),
                    attempts: 1,
                    billed,
                })
            }
        },
        optimizer_reply,
    );
    mute.run(&input(&[]), Arc::default()).await.expect_err("nothing was answered");
    // The preflight, and eight tasks of the baseline: three calls each, and the same once more at the end.
    assert_eq!(mute.target.seen().len(), 1 + 8 * 3 * 2);
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
    let why = failure.error.to_string();
    assert!(why.contains("20 of 20 calls"), "{why}");
    assert!(why.ends_with("raise limits.max_calls and resume"), "{why}");
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
#[case::time(&[("limits.max_minutes", "0.0001")], "of 0.0001 minutes are used")]
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
