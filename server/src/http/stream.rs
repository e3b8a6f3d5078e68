//! The two streams of server-sent events. What they carry is decided in [`crate::live`].

use super::extract::{Path, Query};
use super::problem::{ApiError, ApiResult};
use super::state::AppState;
use crate::live::Frame;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::IntoResponse;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures::StreamExt;
use serde::Deserialize;
use skillopt_domain::api::Problem;
use skillopt_domain::ids::RunId;
use std::convert::Infallible;
use std::time::Duration;

const LAST_EVENT_ID: &str = "last-event-id";
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// How long a browser waits before it comes back.
const RETRY: Duration = Duration::from_secs(1);

/// Where a stream starts.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct StreamQuery {
    /// Only events after this number; the header `Last-Event-ID` wins.
    after: Option<u64>,
}

/// The events of a run from a given one on (`event: event`, its number as id) and live counts between them
/// (`event: progress`, no id).
#[utoipa::path(get, path = "/runs/{id}/stream", tag = "live", params(("id" = RunId, Path), StreamQuery),
    responses((status = 200, body = String, content_type = "text/event-stream"), (status = 404, body = Problem)))]
pub(crate) async fn run(
    State(state): State<AppState>,
    Path(run): Path<RunId>,
    Query(query): Query<StreamQuery>,
    headers: HeaderMap,
) -> ApiResult<impl IntoResponse + use<>> {
    let after = start(&query, &headers)?;
    let frames = state.live.run(run, after).await?;
    let events = frames.map(|frame| {
        Ok::<_, Infallible>(match frame {
            Frame::Event { seq, json } => {
                Event::default().event("event").id(seq.to_string()).data(&*json)
            }
            Frame::Progress(json) => Event::default().event("progress").data(&*json),
        })
    });
    Ok(Sse::new(greeting().chain(events)).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)))
}

/// Rows of the run table whenever they change (`event: run`).
#[utoipa::path(get, path = "/stream", tag = "live",
    responses((status = 200, body = String, content_type = "text/event-stream")))]
pub(crate) async fn rows(State(state): State<AppState>) -> impl IntoResponse + use<> {
    let rows = state
        .live
        .rows()
        .map(|json| Ok::<_, Infallible>(Event::default().event("run").data(&*json)));
    Sse::new(greeting().chain(rows)).keep_alive(KeepAlive::new().interval(KEEP_ALIVE))
}

/// Sent at once, so that the browser knows that the stream is open, and when to come back.
fn greeting() -> impl futures::Stream<Item = Result<Event, Infallible>> + Send {
    futures::stream::once(async { Ok(Event::default().comment("open").retry(RETRY)) })
}

fn start(query: &StreamQuery, headers: &HeaderMap) -> ApiResult<u64> {
    match headers.get(LAST_EVENT_ID) {
        Some(id) => id.to_str().ok().and_then(|id| id.trim().parse().ok()).ok_or_else(|| {
            ApiError::BadRequest("Last-Event-ID must be the number of an event".to_owned())
        }),
        None => Ok(query.after.unwrap_or(0)),
    }
}
