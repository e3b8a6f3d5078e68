//! Evidence of a run: its tasks by skills, two attempts beside each other, the origin of each line. All reads.

use super::extract::{Json, Path, Query};
use super::problem::ApiResult;
use super::state::AppState;
use axum::extract::State;
use skillopt_domain::api::{MatrixQuery, Problem, SkillBlame, TaskMatrix, TrajectoryPair};
use skillopt_domain::ids::RunId;

/// One page of the matrix of tasks by measured skills: what became of each task, and what each skill changed.
#[utoipa::path(get, path = "/runs/{id}/tasks", tag = "run", params(("id" = RunId, Path), MatrixQuery),
    responses((status = 200, body = TaskMatrix), (status = 404, body = Problem)))]
pub(crate) async fn tasks(
    State(state): State<AppState>,
    Path(run): Path<RunId>,
    Query(query): Query<MatrixQuery>,
) -> ApiResult<Json<TaskMatrix>> {
    Ok(Json(state.store.task_matrix(&run, &query).await?))
}

/// Two attempts at one task, with the difference of the skills in use.
#[utoipa::path(get, path = "/runs/{id}/trajectories/{number}/beside/{other}", tag = "run",
    params(("id" = RunId, Path), ("number" = u64, Path, description = "`id` of a row of the list of trajectories."),
        ("other" = u64, Path, description = "`id` of another attempt at the same task.")),
    responses((status = 200, body = TrajectoryPair), (status = 400, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn pair(
    State(state): State<AppState>,
    Path((run, number, other)): Path<(RunId, u64, u64)>,
) -> ApiResult<Json<TrajectoryPair>> {
    Ok(Json(state.store.trajectory_pair(&run, number, other).await?))
}

/// What brought each line of a version: the edit, the step, the update between epochs.
#[utoipa::path(get, path = "/runs/{id}/versions/{version}/blame", tag = "run",
    params(("id" = RunId, Path), ("version" = u32, Path, description = "From 0.")),
    responses((status = 200, body = SkillBlame), (status = 404, body = Problem)))]
pub(crate) async fn blame(
    State(state): State<AppState>,
    Path((run, version)): Path<(RunId, u32)>,
) -> ApiResult<Json<SkillBlame>> {
    Ok(Json(state.store.blame(&run, version).await?))
}
