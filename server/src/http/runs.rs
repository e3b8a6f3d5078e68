//! The run table and the actions on a run.

use super::extract::{Json, Path, Query};
use super::problem::{ApiError, ApiResult};
use super::state::{ACTOR, AppState};
use crate::config::{self, form_fields};
use crate::supervisor::ActionError;
use axum::extract::State;
use skillopt_domain::api::{About, Page, Problem, RunDetail, RunQuery, RunSummary, StatusChanged};
use skillopt_domain::ids::RunId;
use skillopt_domain::origin::ResumeRequest;
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
    // A process that died would never do what it is asked; here and below.
    state.hosting.take_if_dead(&run).await?;
    changed(state.supervisor.pause(&run, ACTOR).await)
}

/// Goes on after a pause, or takes up a run that ended before it was done, maybe with other settings.
#[utoipa::path(post, path = "/runs/{id}/resume", tag = "runs", params(("id" = RunId, Path)),
    request_body = ResumeRequest,
    responses((status = 200, body = StatusChanged), (status = 404, body = Problem),
        (status = 409, body = Problem, description = "`needs_fork`: config, data or skill differ in what changes results."),
        (status = 422, body = Problem)))]
pub(crate) async fn resume(
    State(state): State<AppState>,
    Path(run): Path<RunId>,
    Json(request): Json<ResumeRequest>,
) -> ApiResult<Json<StatusChanged>> {
    state.hosting.take_if_dead(&run).await?;
    let row = state.store.run_row(&run).await?;
    if row.status.is_resumable() {
        state.hosting.refuse_unresumable(&run).await?;
        let wanted = config::changed(&row.config, &form_fields(&request.values))?;
        let plan = state.hosting.plan_resume(&row, &wanted).await?;
        state.hosting.prepare_resume(&row, &plan, ACTOR).await?;
    } else if !request.values.is_empty() {
        let what_helps = if row.status == RunStatus::Done { "fork it" } else { "stop it first" };
        let detail = format!("a run that is {} keeps its settings; {what_helps}", row.status);
        return Err(ApiError::Conflict(detail));
    }
    changed(state.supervisor.resume(&run, ACTOR).await)
}

/// Ends a run; what was paid is kept, and it can be resumed.
#[utoipa::path(post, path = "/runs/{id}/cancel", tag = "runs", params(("id" = RunId, Path)),
    responses((status = 200, body = StatusChanged), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn cancel(
    State(state): State<AppState>,
    Path(run): Path<RunId>,
) -> ApiResult<Json<StatusChanged>> {
    state.hosting.take_if_dead(&run).await?;
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
