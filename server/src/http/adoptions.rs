//! Adoption over HTTP. The rules live in [`crate::adopt`].

use super::extract::{Json, Path, Query};
use super::problem::{ApiError, ApiResult};
use super::state::{ACTOR, AppState};
use crate::adopt::AdoptError;
use axum::extract::State;
use serde::Deserialize;
use skillopt_domain::api::{AdoptPreview, AdoptPreviewRequest, AdoptRequest, Problem, Receipt};
use skillopt_domain::ids::{AdoptionId, RunId};
use skillopt_store::AdoptionState;

/// Which adoptions.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct AdoptionQuery {
    /// Only those of this run.
    #[param(value_type = Option<String>)]
    run: Option<RunId>,
}

/// What an adoption would write. Changes nothing.
#[utoipa::path(post, path = "/adoptions/preview", tag = "adoption", request_body = AdoptPreviewRequest,
    responses((status = 200, body = AdoptPreview), (status = 403, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn preview(
    State(state): State<AppState>,
    Json(request): Json<AdoptPreviewRequest>,
) -> ApiResult<Json<AdoptPreview>> {
    Ok(Json(state.adopter.preview(&request).await?))
}

/// Writes a version into the live file, if that is still what was shown.
#[utoipa::path(post, path = "/adoptions", tag = "adoption", request_body = AdoptRequest,
    responses((status = 200, body = Receipt), (status = 403, body = Problem), (status = 404, body = Problem),
        (status = 409, body = Problem, description = "`file_changed`: the live file is not what was shown.")))]
pub(crate) async fn adopt(
    State(state): State<AppState>,
    Json(request): Json<AdoptRequest>,
) -> ApiResult<Json<Receipt>> {
    Ok(Json(state.adopter.adopt(request, ACTOR).await?))
}

/// Adoptions that were written, newest first.
#[utoipa::path(get, path = "/adoptions", tag = "adoption", params(AdoptionQuery),
    responses((status = 200, body = Vec<Receipt>)))]
pub(crate) async fn list(
    State(state): State<AppState>,
    Query(query): Query<AdoptionQuery>,
) -> ApiResult<Json<Vec<Receipt>>> {
    let adoptions = state.store.list_adoptions(query.run.as_ref()).await?;
    let written = |state| matches!(state, AdoptionState::Done | AdoptionState::Reverted);
    Ok(Json(
        adoptions.into_iter().filter(|one| written(one.state)).map(|one| one.receipt).collect(),
    ))
}

/// Restores what was there before, if the live file is still what was adopted.
#[utoipa::path(post, path = "/adoptions/{id}/revert", tag = "adoption", params(("id" = AdoptionId, Path)),
    responses((status = 200, body = Receipt), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn revert(
    State(state): State<AppState>,
    Path(id): Path<AdoptionId>,
) -> ApiResult<Json<Receipt>> {
    Ok(Json(state.adopter.revert(id, ACTOR).await?))
}

impl From<AdoptError> for ApiError {
    fn from(err: AdoptError) -> Self {
        let text = err.to_string();
        match err {
            AdoptError::Path(_) => Self::PathNotAllowed(text),
            AdoptError::NotFound(_) => Self::NotFound(text),
            AdoptError::BadRequest(_) => Self::BadRequest(text),
            AdoptError::FileChanged { .. } => Self::FileChanged(text),
            // The file system's refusal is the person's to mend, so they read its words.
            AdoptError::Refused(_) | AdoptError::Io { .. } => Self::Conflict(text),
            AdoptError::Store(failure) => failure.into(),
            AdoptError::Interrupted => Self::internal(err),
        }
    }
}
