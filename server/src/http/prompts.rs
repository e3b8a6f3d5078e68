//! The prompts that a run was made with. All reads; texts are data, to be shown as they are.

use super::extract::{Json, Path};
use super::problem::{ApiError, ApiResult};
use super::state::AppState;
use crate::host::purpose_of;
use axum::extract::State;
use skillopt_domain::api::Problem;
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::ids::RunId;
use skillopt_domain::prompt::{PromptRow, PromptText};

/// Which prompts, where each came from, and its version; none for runs that are older than this record.
#[utoipa::path(get, path = "/runs/{id}/prompts", tag = "run", params(("id" = RunId, Path)),
    responses((status = 200, body = Vec<PromptRow>), (status = 404, body = Problem)))]
pub(crate) async fn list(
    State(state): State<AppState>,
    Path(run): Path<RunId>,
) -> ApiResult<Json<Vec<PromptRow>>> {
    let prompts = state.store.prompts(&run).await?.into_iter();
    Ok(Json(
        prompts
            .map(|prompt| PromptRow {
                purpose: purpose_of(&prompt.name).unwrap_or_default().to_owned(),
                name: prompt.name,
                origin: prompt.origin,
                hash: prompt.hash,
            })
            .collect(),
    ))
}

/// The text of one prompt of the run, its placeholders not filled in.
#[utoipa::path(get, path = "/runs/{id}/prompts/{hash}", tag = "run",
    params(("id" = RunId, Path), ("hash" = Sha256Hex, Path)),
    responses((status = 200, body = PromptText), (status = 404, body = Problem)))]
pub(crate) async fn text(
    State(state): State<AppState>,
    Path((run, hash)): Path<(RunId, Sha256Hex)>,
) -> ApiResult<Json<PromptText>> {
    let text = state.store.prompt_text(&run, &hash).await?;
    let missing = || ApiError::NotFound(format!("the run has no prompt {hash}"));
    Ok(Json(PromptText { text: text.ok_or_else(missing)? }))
}
