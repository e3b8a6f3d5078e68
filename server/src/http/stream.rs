//! The two streams of server-sent events. What they carry is decided in [`crate::live`].

use super::extract::{Path, Query};
use super::problem::{ApiError, ApiResult};
use super::review::{looked_at, n_waiting};
use super::state::AppState;
use crate::live::{Frame, Row};
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::IntoResponse;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures::{StreamExt, stream};
use serde::{Deserialize, Serialize};
use skillopt_domain::api::{Problem, ReviewCount};
use skillopt_domain::ids::RunId;
use skillopt_domain::night::NightStatus;
use skillopt_store::NightRow;
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

/// Rows of runs (`event: run`) and nights (`event: night`) whenever they change, and how many nights wait for a decision
/// (`event: review`), at first and whenever that may have changed.
#[utoipa::path(get, path = "/stream", tag = "live",
    responses((status = 200, body = String, content_type = "text/event-stream")))]
pub(crate) async fn rows(State(state): State<AppState>) -> ApiResult<impl IntoResponse + use<>> {
    // Before the first count, so that nothing falls in between.
    let changes = state.live.rows();
    let first = named("review", &ReviewCount { n_waiting: n_waiting(&state).await? });
    let rows = changes.then(move |row| told(state.clone(), row)).flat_map(stream::iter);
    let events = greeting().chain(stream::iter([Ok(first)])).chain(rows.map(Ok));
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)))
}

/// What a viewer is told of a row. What cannot be read now is told by the next change, or by the next list.
async fn told(state: AppState, row: Row) -> Vec<Event> {
    let row = match row {
        Row::Run(json) => return vec![Event::default().event("run").data(&*json)],
        Row::Night(row) => row,
    };
    let is_running = row.status == NightStatus::Running;
    let mut events = Vec::new();
    match looked_at(&state, vec![NightRow::clone(&row)]).await {
        Ok(seen) => events.extend(seen.iter().map(|seen| named("night", &seen.night))),
        Err(err) => tracing::warn!(night.id = %row.id, "a night cannot be told: {err:?}"),
    }
    if !is_running {
        match state.waiting.after(row.changed, n_waiting(&state)).await {
            Ok(n_waiting) => events.push(named("review", &ReviewCount { n_waiting })),
            Err(err) => tracing::warn!("what waits cannot be counted: {err:?}"),
        }
    }
    events
}

fn named(name: &str, value: &impl Serialize) -> Event {
    Event::default().event(name).data(serde_json::to_string(value).unwrap_or_default())
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
