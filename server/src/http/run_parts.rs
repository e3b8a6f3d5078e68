//! What a run consists of: events, curves, steps, versions, rejected edits, trajectories, config. All reads.

use super::extract::{Json, Path, Query};
use super::markdown::render;
use super::problem::{ApiError, ApiResult};
use super::state::AppState;
use crate::config::to_yaml;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use skillopt_domain::api::{
    ConfigRow, ConfigView, CurveQuery, Curves, Page, Problem, RejectedPage, RejectedQuery,
    SkillText, StepDetail, Trajectory, TrajectoryPage, TrajectoryQuery,
};
use skillopt_domain::config::{Value, find_key};
use skillopt_domain::event::{RunEvent, StepSummary};
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::ids::RunId;
use skillopt_domain::skill::SkillDoc;
use skillopt_domain::view::SkillVersion;

const MAX_PAGE: u32 = 500;

/// Which events.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct EventQuery {
    /// Only events after this number.
    after: Option<u64>,
    /// 1 to 500, default 500.
    limit: Option<u32>,
}

/// Which steps.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct StepQuery {
    /// First step, default 1.
    from: Option<u32>,
    /// 1 to 500, default 100.
    limit: Option<u32>,
}

/// The journal, oldest first. `next` goes into `after`.
#[utoipa::path(get, path = "/runs/{id}/events", tag = "run", params(("id" = RunId, Path), EventQuery),
    responses((status = 200, body = Page<RunEvent>), (status = 404, body = Problem)))]
pub(crate) async fn events(
    State(state): State<AppState>,
    Path(run): Path<RunId>,
    Query(query): Query<EventQuery>,
) -> ApiResult<Json<Page<RunEvent>>> {
    let limit = query.limit.unwrap_or(MAX_PAGE).clamp(1, MAX_PAGE);
    let items = state.store.events_after(&run, query.after.unwrap_or(0), limit).await?;
    let total = state.store.max_seq(&run).await?;
    let next = items.last().filter(|last| last.seq < total).map(|last| last.seq.to_string());
    Ok(Json(Page { items, next, total }))
}

/// Steps for charts, thinned so that no extreme is lost.
#[utoipa::path(get, path = "/runs/{id}/curves", tag = "run", params(("id" = RunId, Path), CurveQuery),
    responses((status = 200, body = Curves), (status = 404, body = Problem)))]
pub(crate) async fn curves(
    State(state): State<AppState>,
    Path(run): Path<RunId>,
    Query(query): Query<CurveQuery>,
) -> ApiResult<Json<Curves>> {
    Ok(Json(state.store.curves(&run, &query).await?))
}

/// One page of the step list. `next` goes into `from`.
#[utoipa::path(get, path = "/runs/{id}/steps", tag = "run", params(("id" = RunId, Path), StepQuery),
    responses((status = 200, body = Page<StepSummary>), (status = 404, body = Problem)))]
pub(crate) async fn steps(
    State(state): State<AppState>,
    Path(run): Path<RunId>,
    Query(query): Query<StepQuery>,
) -> ApiResult<Json<Page<StepSummary>>> {
    let from = query.from.unwrap_or(1).max(1);
    let limit = query.limit.unwrap_or(100).clamp(1, MAX_PAGE);
    let to = from.saturating_add(limit - 1);
    // As many points as steps: nothing is thinned.
    let range = CurveQuery { from: Some(from), to: Some(to), max_points: Some(limit.max(4)) };
    let items = state.store.curves(&run, &range).await?.steps;
    let total = u64::from(state.store.view(&run).await?.n_steps);
    let next = (u64::from(to) < total).then(|| to.saturating_add(1).to_string());
    Ok(Json(Page { items, next, total }))
}

/// Everything about one step.
#[utoipa::path(get, path = "/runs/{id}/steps/{step}", tag = "run",
    params(("id" = RunId, Path), ("step" = u32, Path, description = "From 1.")),
    responses((status = 200, body = StepDetail), (status = 404, body = Problem)))]
pub(crate) async fn step(
    State(state): State<AppState>,
    Path((run, step)): Path<(RunId, u32)>,
) -> ApiResult<Json<StepDetail>> {
    let detail = state.store.step_detail(&run, step).await?;
    if detail.events.is_empty() {
        return Err(ApiError::NotFound(format!("the run has no step {step} yet")));
    }
    Ok(Json(detail))
}

/// The initial skill and each accepted candidate.
#[utoipa::path(get, path = "/runs/{id}/versions", tag = "run", params(("id" = RunId, Path)),
    responses((status = 200, body = Vec<SkillVersion>), (status = 404, body = Problem)))]
pub(crate) async fn versions(
    State(state): State<AppState>,
    Path(run): Path<RunId>,
) -> ApiResult<Json<Vec<SkillVersion>>> {
    Ok(Json(state.store.versions(&run).await?))
}

/// A skill that belongs to the run: its text, and the same as a tree to be shown.
#[utoipa::path(get, path = "/runs/{id}/skills/{sha}", tag = "run",
    params(("id" = RunId, Path), ("sha" = Sha256Hex, Path)),
    responses((status = 200, body = SkillText), (status = 404, body = Problem)))]
pub(crate) async fn skill(
    State(state): State<AppState>,
    Path((run, sha)): Path<(RunId, Sha256Hex)>,
) -> ApiResult<Json<SkillText>> {
    let doc = SkillDoc::parse(text_of(&state, &run, &sha).await?);
    Ok(Json(SkillText {
        sha,
        eol: doc.eol(),
        tokens: doc.estimated_tokens(),
        warnings: doc.lint(),
        rendered: render(&doc),
        text: doc.text().to_owned(),
    }))
}

/// The exact bytes of a skill that belongs to the run, as a download.
#[utoipa::path(get, path = "/runs/{id}/skills/{sha}/raw", tag = "run",
    params(("id" = RunId, Path), ("sha" = Sha256Hex, Path)),
    responses((status = 200, body = String, content_type = "text/markdown"), (status = 404, body = Problem)))]
pub(crate) async fn raw_skill(
    State(state): State<AppState>,
    Path((run, sha)): Path<(RunId, Sha256Hex)>,
) -> ApiResult<Response> {
    let text = text_of(&state, &run, &sha).await?;
    let headers = [
        (header::CONTENT_TYPE, "text/markdown; charset=utf-8"),
        (header::CONTENT_DISPOSITION, "attachment; filename=\"SKILL.md\""),
    ];
    Ok((headers, text).into_response())
}

async fn text_of(state: &AppState, run: &RunId, sha: &Sha256Hex) -> ApiResult<String> {
    let missing = || ApiError::NotFound(format!("the run has no skill {sha}"));
    if !state.store.skill_belongs_to_run(run, sha).await? {
        return Err(missing());
    }
    state.store.skill_text(sha).await?.ok_or_else(missing)
}

/// One page of the edits that were proposed and are not in the skill, with the reason; the newest step first.
#[utoipa::path(get, path = "/runs/{id}/rejected", tag = "run", params(("id" = RunId, Path), RejectedQuery),
    responses((status = 200, body = RejectedPage), (status = 400, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn rejected(
    State(state): State<AppState>,
    Path(run): Path<RunId>,
    Query(query): Query<RejectedQuery>,
) -> ApiResult<Json<RejectedPage>> {
    Ok(Json(state.store.rejected_page(&run, &query).await?))
}

/// One page of attempts.
#[utoipa::path(get, path = "/runs/{id}/trajectories", tag = "run",
    params(("id" = RunId, Path), TrajectoryQuery),
    responses((status = 200, body = TrajectoryPage), (status = 400, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn trajectories(
    State(state): State<AppState>,
    Path(run): Path<RunId>,
    Query(query): Query<TrajectoryQuery>,
) -> ApiResult<Json<TrajectoryPage>> {
    Ok(Json(state.store.trajectories(&run, &query).await?))
}

/// One attempt with its messages.
#[utoipa::path(get, path = "/runs/{id}/trajectories/{number}", tag = "run",
    params(("id" = RunId, Path), ("number" = u64, Path, description = "`id` of a row of the list.")),
    responses((status = 200, body = Trajectory), (status = 404, body = Problem)))]
pub(crate) async fn trajectory(
    State(state): State<AppState>,
    Path((run, number)): Path<(RunId, u64)>,
) -> ApiResult<Json<Trajectory>> {
    Ok(Json(state.store.trajectory(&run, number).await?))
}

/// All values with their sources, as YAML too, and what goes on the wire. No secrets.
#[utoipa::path(get, path = "/runs/{id}/config", tag = "run", params(("id" = RunId, Path)),
    responses((status = 200, body = ConfigView), (status = 404, body = Problem)))]
pub(crate) async fn config(
    State(state): State<AppState>,
    Path(run): Path<RunId>,
) -> ApiResult<Json<ConfigView>> {
    let config = state.store.run_row(&run).await?.config;
    let rows = config.values.iter().map(|row| ConfigRow {
        path: row.path.clone(),
        value: (row.value != Value::Null).then(|| row.value.to_string()),
        place: row.place.clone(),
        default: find_key(&row.path).map_or("", |spec| spec.default).to_owned(),
    });
    Ok(Json(ConfigView {
        rows: rows.collect(),
        yaml: to_yaml(&config).map_err(ApiError::internal)?,
        wire: state.hosting.wire(&config),
    }))
}
