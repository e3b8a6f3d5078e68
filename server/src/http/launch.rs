//! New runs: from the form, or the sample with one click; and the preflight before money is spent.

use super::config::resolve_form;
use super::extract::Json;
use super::problem::{ApiError, ApiResult};
use super::sample;
use super::state::{ACTOR, AppState};
use crate::host::{HostError, LeaseWish, NewRunRequest};
use axum::extract::State;
use skillopt_domain::api::{ConfigCheck, LaunchRequest, Launched, Preflight, Problem};

/// Checks a config, and queues a run of it.
#[utoipa::path(post, path = "/runs", tag = "launch", request_body = LaunchRequest,
    responses((status = 200, body = Launched), (status = 422, body = Problem)))]
pub(crate) async fn launch(
    State(state): State<AppState>,
    Json(request): Json<LaunchRequest>,
) -> ApiResult<Json<Launched>> {
    queue(&state, request).await
}

/// Queues the sample run: simulated models, built-in data, no key.
#[utoipa::path(post, path = "/runs/sample", tag = "launch", responses((status = 200, body = Launched)))]
pub(crate) async fn sample(State(state): State<AppState>) -> ApiResult<Json<Launched>> {
    let values = sample::values(&state.data_dir).await.map_err(ApiError::internal)?;
    queue(&state, LaunchRequest { name: "Sample run".to_owned(), values, fresh: false }).await
}

/// One cheap call a role, besides the checks of skill and data.
#[utoipa::path(post, path = "/preflight", tag = "launch", request_body = LaunchRequest,
    responses((status = 200, body = Preflight), (status = 422, body = Problem)))]
pub(crate) async fn preflight(
    State(state): State<AppState>,
    Json(request): Json<LaunchRequest>,
) -> ApiResult<Json<Preflight>> {
    let resolved = resolve_form(&state, &request)?;
    Ok(Json(state.hosting.preflight(&resolved, &state.stop).await))
}

async fn queue(state: &AppState, request: LaunchRequest) -> ApiResult<Json<Launched>> {
    let resolved = resolve_form(state, &request)?;
    let ConfigCheck { problems, .. } = state.hosting.check(&resolved).await;
    if !problems.is_empty() {
        return Err(ApiError::BadConfig(problems));
    }
    let new = NewRunRequest {
        name: request.name,
        resolved,
        fresh: request.fresh,
        out_root: None,
        actor: ACTOR.to_owned(),
        lease: LeaseWish::Later,
    };
    let id = state.hosting.create(new).await?;
    state.supervisor.launch(id.clone());
    Ok(Json(Launched { id }))
}

impl From<HostError> for ApiError {
    fn from(err: HostError) -> Self {
        match err {
            HostError::BadConfig(problems) => problems.into(),
            HostError::Store(failure) => failure.into(),
            HostError::Held { .. }
            | HostError::Forbidden(_)
            | HostError::Imported { .. }
            | HostError::Lost { .. } => Self::Conflict(err.to_string()),
            HostError::Folder { .. } | HostError::Open(_) => Self::internal(err),
        }
    }
}
