//! The run table and the actions on a run.

use super::extract::{Json, Path, Query};
use super::problem::{ApiError, ApiResult};
use super::state::{ACTOR, AppState};
use crate::supervisor::ActionError;
use axum::extract::State;
use skillopt_domain::api::{About, Page, Problem, RunDetail, RunQuery, RunSummary, StatusChanged};
use skillopt_domain::ids::RunId;
use skillopt_domain::run::RunStatus;

/// Version, data directory and size of the store.
#[utoipa::path(get, path = "/about", tag = "server", responses((status = 200, body = About)))]
pub(crate) async fn about(State(state): State<AppState>) -> ApiResult<Json<About>> {
    Ok(Json(About {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        data_dir: state.data_dir.display().to_string(),
        adopt_roots: state.adopter.shown_roots(),
        n_runs: state.store.counts().await?.runs,
    }))
}

/// One page of the run table.
#[utoipa::path(get, path = "/runs", tag = "runs", params(RunQuery),
    responses((status = 200, body = Page<RunSummary>), (status = 400, body = Problem)))]
pub(crate) async fn list(
    State(state): State<AppState>,
    Query(query): Query<RunQuery>,
) -> ApiResult<Json<Page<RunSummary>>> {
    Ok(Json(state.store.list_runs(&query).await?))
}

/// A run with its folded journal.
#[utoipa::path(get, path = "/runs/{id}", tag = "runs", params(("id" = RunId, Path)),
    responses((status = 200, body = RunDetail), (status = 404, body = Problem)))]
pub(crate) async fn detail(
    State(state): State<AppState>,
    Path(run): Path<RunId>,
) -> ApiResult<Json<RunDetail>> {
    Ok(Json(state.store.run_detail(&run).await?))
}

/// Makes no new call until resumed.
#[utoipa::path(post, path = "/runs/{id}/pause", tag = "runs", params(("id" = RunId, Path)),
    responses((status = 200, body = StatusChanged), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn pause(
    State(state): State<AppState>,
    Path(run): Path<RunId>,
) -> ApiResult<Json<StatusChanged>> {
    changed(state.supervisor.pause(&run, ACTOR).await)
}

/// Goes on after a pause, or takes up a run that ended before it was done.
#[utoipa::path(post, path = "/runs/{id}/resume", tag = "runs", params(("id" = RunId, Path)),
    responses((status = 200, body = StatusChanged), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn resume(
    State(state): State<AppState>,
    Path(run): Path<RunId>,
) -> ApiResult<Json<StatusChanged>> {
    changed(state.supervisor.resume(&run, ACTOR).await)
}

/// Ends a run; what was paid is kept, and it can be resumed.
#[utoipa::path(post, path = "/runs/{id}/cancel", tag = "runs", params(("id" = RunId, Path)),
    responses((status = 200, body = StatusChanged), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn cancel(
    State(state): State<AppState>,
    Path(run): Path<RunId>,
) -> ApiResult<Json<StatusChanged>> {
    changed(state.supervisor.cancel(&run, ACTOR).await)
}

fn changed(status: Result<RunStatus, ActionError>) -> ApiResult<Json<StatusChanged>> {
    Ok(Json(StatusChanged { status: status? }))
}

impl From<ActionError> for ApiError {
    fn from(err: ActionError) -> Self {
        match err {
            ActionError::WrongState { .. } | ActionError::Imported { .. } => {
                Self::Conflict(err.to_string())
            }
            ActionError::Transition(refused) => refused.into(),
            ActionError::Store(failure) => failure.into(),
        }
    }
}
