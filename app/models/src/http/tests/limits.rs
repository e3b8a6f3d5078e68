//! Calls of many tasks at once: how many are in flight, who waits for whom, and how a call is cancelled.

use super::*;
use futures::future::join_all;

#[tokio::test]
async fn runs_of_one_endpoint_share_its_limit() {
    let world = World::scripted(vec![says("Paris")]).await;
    let (first, second) = (world.model(|_| {}), world.model(|_| {}));
    assert!(Arc::ptr_eq(&first.limiter, &second.limiter));
    let other = world.model(|config| config.model = "large".to_owned());
    assert!(!Arc::ptr_eq(&first.limiter, &other.limiter));
}

#[tokio::test]
async fn the_server_never_sees_more_calls_than_the_limit() {
    let server = super::connections::CountingServer::start(8).await;
    let endpoints = Endpoints::new();
    let model = build(&config(&server.base_url), &endpoints).unwrap();
    let replies = join_all((0..60).map(|_| ask(&model))).await;
    assert!(replies.iter().all(Result::is_ok));
    assert_eq!(server.peak(), 8);
}

#[tokio::test]
async fn c44_one_refusal_holds_its_own_call_and_no_other() {
    let busy = fails(429, "slow down").insert_header("retry-after", "20");
    let world = World::scripted(vec![busy, says("Paris")]).await;
    let model = world.model(|config| config.max_retries = 0);
    assert_eq!(ask(&model).await.unwrap_err().kind, ModelErrorKind::RateLimited);
    ask(&model).await.unwrap();
    assert!(world.waits().is_empty(), "{:?}", world.waits());
}

#[tokio::test]
async fn c44_refusals_in_a_row_hold_the_other_calls_of_their_endpoint_only() {
    let busy = fails(429, "slow down").insert_header("retry-after", "20");
    let world = World::scripted(vec![busy.clone(), busy, says("Paris")]).await;
    let elsewhere = World::scripted(vec![says("Paris")]).await;
    let model = world.model(|config| config.max_retries = 0);
    for _ in 0..2 {
        assert_eq!(ask(&model).await.unwrap_err().kind, ModelErrorKind::RateLimited);
    }

    let other_server = elsewhere.server.uri();
    let free = build(&config(&other_server), &world.endpoints).unwrap();
    ask(&free).await.unwrap();
    assert!(world.waits().is_empty(), "another endpoint is not held up");

    ask(&model).await.unwrap();
    assert!(world.waits()[0] >= Duration::from_secs(20), "{:?}", world.waits());
}

#[tokio::test]
async fn a_call_outlasts_its_retries_while_its_endpoint_answers_others() {
    let busy = fails(429, "slow down").insert_header("retry-after", "1");
    let world = World::answering(move |request: &Request| {
        let text = String::from_utf8_lossy(&request.body).into_owned();
        if text.contains("unlucky") { busy.clone() } else { says("Paris") }
    })
    .await;
    let model = world.model(|config| config.max_retries = 1);
    let unlucky = ChatRequest { messages: vec![Message::user("unlucky")], ..question(Purpose::Qa) };
    let (cancel, sample) = (CancellationToken::new(), sample());
    let refused = model.chat(&unlucky, &sample, &cancel);
    let others = async {
        // Far more refusals than retries, each with an answer to somebody else before the next one.
        while world.requests().await.len() < 40 {
            ask(&model).await.unwrap();
        }
        cancel.cancel();
    };
    let error = tokio::join!(refused, others).0.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Cancelled);
    assert!(error.attempts > 2, "{error:?}");
}

#[tokio::test]
async fn a_cancelled_call_ends_at_once_wherever_it_waits() {
    let world = World::scripted(vec![says("Paris").set_delay(Duration::from_secs(600))]).await;
    let model = world.model(|config| config.timeout_s = 600.0);
    let cancel = CancellationToken::new();
    let (request, sample) = (question(Purpose::Qa), sample());
    let call = model.chat(&request, &sample, &cancel);
    let stop = async {
        while world.requests().await.is_empty() {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
    };
    let error = tokio::join!(call, stop).0.unwrap_err();
    assert_eq!((error.kind, error.attempts), (ModelErrorKind::Cancelled, 1));

    let late = model.chat(&request, &sample, &cancel).await.unwrap_err();
    assert_eq!((late.kind, late.attempts), (ModelErrorKind::Cancelled, 0));
}
