//! More calls than a server takes, and servers that are away for a while: nothing is lost by it.

use crate::crowd::Rules;
use crate::fake_server::{FakeServer, Fault};
use crate::training::train_over_http;
use crate::two_runs::{errors, train_two};
use axum::http::StatusCode;
use rstest::rstest;
use serde_json::json;
use skillopt_domain::api::RunQuery;
use skillopt_domain::event::EventKind;
use skillopt_store::Store;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// One epoch of the sample.
const SHORT: [&str; 3] = ["train.num_epochs=1", "env.limit=28", "model.max_concurrency=16"];

#[rstest]
#[case::told_when(Some(1), 0)]
#[case::not_told_when(None, 0)]
#[case::and_some_by_chance(None, 5)]
fn two_runs_that_ask_for_more_than_a_server_takes_both_finish_and_lose_nothing(
    #[case] retry_after_s: Option<u64>,
    #[case] percent_refused: usize,
) -> anyhow::Result<()> {
    let rules = Rules { room: 3, retry_after_s, percent_refused };
    let server = FakeServer::crowded(Duration::from_millis(4), rules);
    let dir = tempfile::tempdir()?;
    let runtime = tokio::runtime::Runtime::new()?;
    let views = runtime.block_on(train_two(dir.path(), &server.url, &SHORT))?;
    for view in &views {
        let (n_errors, n_attempts) = errors(view);
        assert!(n_errors == 0 && n_attempts > 100, "{n_errors} of {n_attempts}");
    }
    let tally = server.tally();
    assert_eq!(tally.peak, 3, "the room was used");
    assert!(tally.refused > 0);
    assert!(tally.refused * 3 < tally.answered, "{tally:?}");
    Ok(())
}

/// A server that is away for a while from its hundredth request on.
fn away(how_long: Duration) -> FakeServer {
    let gone = Mutex::new(None::<Instant>);
    let fault: Fault = Arc::new(move |_, number| {
        let body = json!({"error": {"message": "the model is being loaded"}});
        let mut gone = gone.lock().unwrap_or_else(PoisonError::into_inner);
        let since = (number >= 100).then(|| *gone.get_or_insert_with(Instant::now))?;
        (since.elapsed() < how_long).then_some((StatusCode::SERVICE_UNAVAILABLE, body))
    });
    FakeServer::with(Duration::from_millis(2), fault)
}

#[test]
fn c46_a_server_that_is_away_for_a_how_longloses_no_rollout_and_each_run_tells_of_it()
-> anyhow::Result<()> {
    // The first call that tries, after a second, is in vain too.
    let server = away(Duration::from_millis(1500));
    let dir = tempfile::tempdir()?;
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(async {
        for view in train_two(dir.path(), &server.url, &SHORT).await? {
            let (n_errors, n_attempts) = errors(&view);
            assert!(n_errors == 0 && n_attempts > 100, "{n_errors} of {n_attempts}");
            assert!(view.outages.is_empty());
        }
        let store = Store::open(dir.path()).await?;
        let runs = store.list_runs(&RunQuery::default()).await?.items;
        assert_eq!(runs.len(), 2);
        for run in runs {
            let events = store.events_after(&run.id, 0, 1000).await?;
            let told: Vec<&EventKind> = events
                .iter()
                .map(|event| &event.kind)
                .filter(|kind| {
                    matches!(kind, EventKind::EndpointDown(_) | EventKind::EndpointUp { .. })
                })
                .collect();
            assert!(matches!(told.last(), Some(EventKind::EndpointUp { .. })), "{told:?}");
            let outages = told.iter().filter_map(|kind| match kind {
                EventKind::EndpointDown(outage) => Some(outage),
                _ => None,
            });
            let last = outages.last().expect("an outage");
            assert!(last.error.contains("the model is being loaded"), "{last:?}");
            assert!(last.next_try_ms > last.since_ms + 2000, "a try was in vain: {told:?}");
        }
        anyhow::Ok(())
    })
}

#[test]
fn c46_a_used_up_quota_stops_the_run_and_it_goes_on_when_it_is_filled_again() -> anyhow::Result<()>
{
    let used_up = Arc::new(AtomicBool::new(true));
    let is_used_up = Arc::clone(&used_up);
    let fault: Fault = Arc::new(move |_, number| {
        let body = json!({"error": {"message": "Insufficient Balance"}});
        (number > 40 && is_used_up.load(Ordering::SeqCst))
            .then_some((StatusCode::PAYMENT_REQUIRED, body))
    });
    let server = FakeServer::with(Duration::ZERO, fault);
    let dir = tempfile::tempdir()?;
    let (data, out) = (dir.path().join("data"), dir.path().join("out"));
    let stopped = train_over_http(&data, &server.url, &out, &["env.workers=1"])?;
    assert_eq!((stopped.code, &stopped.json()?["status"]), (1, &json!("capped")));
    assert!(stopped.err.contains("Insufficient Balance"), "{}", stopped.err);
    assert_eq!(server.seen().len(), 41, "no call is made after the first one that is refused");

    used_up.store(false, Ordering::SeqCst);
    let done = train_over_http(&data, &server.url, &out, &["env.workers=1"])?;
    assert_eq!((done.code, &done.json()?["status"]), (0, &json!("done")), "{}", done.err);
    let calls = done.json()?["calls"].clone();
    let made = calls["target"].as_u64().zip(calls["optimizer"].as_u64()).map(|(a, b)| a + b);
    assert_eq!(made, Some(server.seen().len() as u64 - 1), "what was answered is not asked again");
    Ok(())
}
