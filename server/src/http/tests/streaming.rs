//! Server-sent events.

use super::{World, get};
use crate::testing::{LiveRun, live_run};
use axum::http::HeaderValue;
use axum::response::Response;
use futures::StreamExt;
use rstest::rstest;
use skillopt_domain::event::EventKind;
use skillopt_engine::ports::Journal;
use std::time::Duration;

async fn warn(run: &LiveRun, n: u32) {
    let kind = EventKind::Warning { code: "test".to_owned(), message: format!("number {n}") };
    run.journal.append(&format!("warning/{n}"), kind).await.unwrap();
}

/// Reads until the text contains `end`.
async fn read_until(response: Response, end: &str) -> String {
    let mut body = response.into_body().into_data_stream();
    let mut text = String::new();
    let reading = async {
        while !text.contains(end) {
            text.push_str(std::str::from_utf8(&body.next().await.unwrap().unwrap()).unwrap());
        }
    };
    tokio::time::timeout(Duration::from_secs(20), reading).await.expect("the stream ends early");
    text
}

#[rstest]
#[case("", Some("3"))]
#[case("?after=3", None)]
#[case("?after=1", Some("3"))]
#[tokio::test]
async fn a_stream_goes_on_after_the_last_event_that_was_seen(
    #[case] query: &str,
    #[case] last_event_id: Option<&str>,
) {
    let world = World::new().await;
    let run = live_run(&world.store).await;
    for n in 1..=4 {
        warn(&run, n).await;
    }
    let newest = world.store.max_seq(&run.id).await.unwrap();
    let mut request = get(&format!("/api/v1/runs/{}/stream{query}", run.id));
    if let Some(id) = last_event_id {
        request.headers_mut().insert("last-event-id", HeaderValue::from_str(id).unwrap());
    }
    let response = world.send(request).await;
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    assert_eq!(response.headers()["cache-control"], "no-cache");
    let text = read_until(response, &format!("id: {newest}\n")).await;
    let ids: Vec<u64> = text
        .lines()
        .filter_map(|line| line.strip_prefix("id: "))
        .map(|id| id.parse().unwrap())
        .collect();
    assert_eq!(ids, (4..=newest).collect::<Vec<_>>());
    assert!(text.contains("event: event\n") && text.contains("\"message\":\"number 4\""), "{text}");
    world.stop.cancel();
}

#[tokio::test]
async fn a_last_event_id_that_is_no_number_is_refused() {
    let world = World::new().await;
    let run = live_run(&world.store).await;
    let mut request = get(&format!("/api/v1/runs/{}/stream", run.id));
    request.headers_mut().insert("last-event-id", HeaderValue::from_static("x"));
    world.answer(request).await.is_problem(400, "bad_request");
}

#[tokio::test]
async fn the_stream_of_an_unknown_run_is_not_found() {
    let world = World::new().await;
    let path = "/api/v1/runs/0190a0c2-7b1e-7c33-8f00-0123456789ab/stream";
    world.get(path).await.is_problem(404, "not_found");
}

#[tokio::test]
async fn rows_of_the_run_table_are_sent_when_they_change() {
    let world = World::new().await;
    let response = world.send(get("/api/v1/stream")).await;
    let run = live_run(&world.store).await;
    let text = read_until(response, "\n\nevent: run").await;
    assert!(text.contains(": open"), "{text}");
    drop(run);
}

#[tokio::test]
async fn streams_end_when_the_server_stops() {
    let world = World::new().await;
    let run = live_run(&world.store).await;
    let path = format!("/api/v1/runs/{}/stream", run.id);
    let stop = async { world.stop.cancel() };
    let answers = async { tokio::join!(world.get(&path), world.get("/api/v1/stream")) };
    let ((one, all), ()) = tokio::join!(answers, stop);
    assert_eq!((one.status.as_u16(), all.status.as_u16()), (200, 200));
}
