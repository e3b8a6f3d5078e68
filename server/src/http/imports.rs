//! Imports over HTTP. What is read, and what becomes of it, is the business of [`crate::import`]; which folders
//! may be read is that of the adoption roots.

use super::extract::Json;
use super::problem::{ApiError, ApiResult};
use super::state::{ACTOR, AppState};
use crate::import::{ImportError, ImportMode};
use axum::extract::State;
use skillopt_domain::api::Problem;
use skillopt_domain::import::{ImportReport, ImportRequest};

/// Imports a run folder of the Python system, or brings its run up to date; a dry run only says what it would do.
/// Writes nothing into the folder.
#[utoipa::path(post, path = "/imports", tag = "runs", request_body = ImportRequest,
    responses((status = 200, body = ImportReport), (status = 400, body = Problem),
        (status = 403, body = Problem, description = "`path_not_allowed`: outside of the folders that may be read."),
        (status = 404, body = Problem)))]
pub(crate) async fn import(
    State(state): State<AppState>,
    Json(request): Json<ImportRequest>,
) -> ApiResult<Json<ImportReport>> {
    let folder = state.adopter.readable_folder(&request.path)?;
    let mode = if request.dry_run { ImportMode::DryRun } else { ImportMode::Write };
    Ok(Json(state.hosting.import(&folder, ACTOR, mode).await?))
}

impl From<ImportError> for ApiError {
    fn from(err: ImportError) -> Self {
        match err {
            ImportError::Open { .. } => Self::NotFound(err.to_string()),
            ImportError::NoRun(_) => Self::BadRequest(err.to_string()),
            ImportError::Store(failure) => failure.into(),
            ImportError::Interrupted => Self::internal(err),
        }
    }
}
