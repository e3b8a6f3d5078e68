//! Endpoints that fail again and again: who waits, for how long, and what is told of it.

use super::*;
use skillopt_domain::outage::BreakerState;

fn outage(tries: usize) -> Vec<ResponseTemplate> {
    let mut script = vec![fails(503, "restarting"); tries];
    script.push(says("Paris"));
    script
}

#[tokio::test]
async fn c46_an_outage_that_ends_in_time_loses_no_call_whatever_max_retries_says() {
    let world = World::scripted(outage(12)).await;
    let model = world.model(|config| config.max_retries = 2);
    let reply = ask(&model).await.unwrap();
    assert_eq!((reply.text.as_str(), reply.attempts), ("Paris", 13));
    // Three failures opened the breaker, nine tries were in vain.
    let waited: Duration = world.waits().iter().sum();
    let pauses = Duration::from_secs(1 + 2 + 4 + 8 + 16 + 32 + 60 * 4);
    assert!(waited >= pauses && waited < pauses + Duration::from_secs(5), "{waited:?}");
    assert_eq!(world.endpoints.states()[0].breaker, BreakerState::Closed);
}

#[tokio::test]
async fn c46_an_outage_that_lasts_ends_the_call_after_its_total_time() {
    let world = World::scripted(vec![fails(503, "restarting")]).await;
    let model = world.model(|config| config.total_timeout_s = 100.0);
    let error = ask(&model).await.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Connection);
    for words in ["has not answered for 100 s", "model.total_timeout_seconds", "restarting"] {
        assert!(error.message.contains(words), "{}", error.message);
    }
    let sent = world.requests().await.len();
    let late = ask(&model).await.unwrap_err();
    assert_eq!((late.kind, late.attempts), (ModelErrorKind::Connection, 0));
    assert_eq!(world.requests().await.len(), sent, "nobody waits for what has lasted so long");
}

#[tokio::test]
async fn c46_a_failure_that_the_request_may_be_the_reason_of_ends_after_its_retries() {
    for status in [500, 501] {
        let world = World::scripted(vec![fails(status, "cannot do that")]).await;
        let error = world.ask().await.unwrap_err();
        assert_eq!((error.kind, error.attempts), (ModelErrorKind::Server, 6));
    }
}

#[tokio::test]
async fn no_retry_is_made_where_none_is_allowed() {
    let world = World::scripted(vec![fails(503, "restarting")]).await;
    let model = world.model(|config| config.max_retries = 0);
    for _ in 0..4 {
        assert_eq!(ask(&model).await.unwrap_err().attempts, 1);
    }
}

#[tokio::test]
async fn an_outage_holds_its_own_endpoint_and_is_told_until_it_is_over() {
    let world = World::scripted(outage(4)).await;
    let model = world.model(|config| config.max_retries = 0);
    let told = model.outages().unwrap();
    for _ in 0..3 {
        assert!(told.borrow().is_none());
        ask(&model).await.unwrap_err();
    }
    let state = world.endpoints.states().remove(0);
    let now_ms =
        u64::try_from(a_wednesday().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis());
    let now_ms = now_ms.unwrap();
    let known = told.borrow().clone().unwrap();
    assert_eq!((state.breaker, state.outage.as_ref()), (BreakerState::Open, Some(&known)));
    assert_eq!((known.since_ms, known.next_try_ms), (now_ms, now_ms + 1000));
    assert_eq!((known.model.as_str(), &known.endpoint), ("small", &model.address.public));
    assert!(known.error.contains("restarting"), "{known:?}");

    let elsewhere = World::scripted(vec![says("Paris")]).await;
    let free = build(&config(&elsewhere.server.uri()), &world.endpoints).unwrap();
    ask(&free).await.unwrap();
    assert!(world.waits().is_empty(), "another endpoint is not held up");

    ask(&model).await.unwrap_err();
    assert_eq!(world.waits(), [Duration::from_secs(1)]);
    assert_eq!(told.borrow().as_ref().map(|outage| outage.next_try_ms), Some(now_ms + 3000));
    ask(&model).await.unwrap();
    assert!(told.borrow().is_none());
}

#[tokio::test]
async fn a_preflight_asks_at_once_and_ends_an_outage_when_it_is_answered() {
    let world = World::scripted(outage(3)).await;
    let model = world.model(|config| config.max_retries = 0);
    for _ in 0..3 {
        ask(&model).await.unwrap_err();
    }
    ask_for(&model, Purpose::Preflight).await.unwrap();
    ask(&model).await.unwrap();
    assert!(world.waits().is_empty(), "{:?}", world.waits());
}

#[tokio::test]
async fn refusals_and_bad_requests_are_no_outage() {
    for status in [400, 429] {
        let world = World::scripted(vec![fails(status, "no")]).await;
        let model = world.model(|config| config.max_retries = 0);
        for _ in 0..5 {
            ask(&model).await.unwrap_err();
        }
        assert_eq!(world.endpoints.states()[0].breaker, BreakerState::Closed, "{status}");
    }
}

#[tokio::test]
async fn c46_waits_and_attempts_of_a_call_end_with_its_total_time() {
    let busy = fails(429, "slow down").insert_header("retry-after", "20");
    let world = World::scripted(vec![busy]).await;
    let model = world.model(|config| config.total_timeout_s = 50.0);
    let error = ask(&model).await.unwrap_err();
    assert_eq!((error.kind, error.attempts), (ModelErrorKind::RateLimited, 3));
    assert!(error.message.contains("50 s in all (model.total_timeout_seconds)"), "{error}");
    let waited: Duration = world.waits().iter().sum();
    assert!(waited <= Duration::from_secs(50), "{waited:?}");
}

#[tokio::test]
async fn the_state_of_an_endpoint_tells_its_errors_and_changes_and_no_key() {
    let unknown = fails(400, "Unsupported parameter: 'max_completion_tokens'");
    let busy = fails(429, "slow down");
    let mut script = vec![unknown, says("Paris"), busy.clone(), busy];
    script.extend((0..12).map(|n| fails(500, &format!("error {n} of sk-geheim-123"))));
    let world = World::scripted(script).await;
    let model = world.model(|config| config.max_retries = 0);
    ask(&model).await.unwrap();
    for _ in 0..14 {
        ask(&model).await.unwrap_err();
    }
    let states = world.endpoints.states();
    assert_eq!(states.len(), 1);
    let state = &states[0];
    assert_eq!((state.address.as_str(), state.model.as_str()), (&*model.address.public, "small"));
    assert_eq!((state.answers, state.refusals, state.in_flight, state.waiting), (1, 2, 0, 0));
    assert_eq!((state.limit_now, state.limit_configured), (7, 8));
    assert_eq!(state.adaptations, ["sends max_tokens"]);
    assert_eq!(state.key.as_ref().map(String::len), Some(16));
    assert_eq!(state.errors.len(), 10);
    assert!(state.errors[0].message.contains("error 11 of ***"), "{:?}", state.errors[0]);
    assert_eq!(state.errors[0].kind, "server");
    assert!(!format!("{state:?}").contains("geheim"));
}
