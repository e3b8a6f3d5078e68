//! Nights over HTTP: lists, one night, its evidence, and what people decide. What a night does, and which files may be
//! written, is the business of [`crate::sleep`].

use super::extract::{Json, Path, Query};
use super::problem::{ApiError, ApiResult};
use super::state::{ACTOR, AppState};
use crate::sleep::{
    DecisionError, NightCommand, NightOrder, NightRunError, NightSetup, OrderError, adopt_keys,
    key, night_detail, night_item, places, reject_night, revert_night,
};
use axum::extract::State;
use serde::Deserialize;
use serde_json::{Value, json};
use skillopt_domain::api::{
    NightAdoption, NightBegun, NightDetail, NightItem, NightRejection, NightRequest, Page, Problem,
    SleepPage,
};
use skillopt_domain::ids::NightId;
use skillopt_sleep::adopt::{AdoptError, ErrorKind};
use skillopt_sleep::evidence::{EvidenceQuery, read_evidence};
use skillopt_sleep::night::NightFailure;
use skillopt_store::{AuditRow, BeginNightError, NightRow};
use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;

/// Nights of a list.
const MOST_NIGHTS: u32 = 200;
const MOST_EVIDENCE: u32 = 500;

/// Which nights.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct SleepQuery {
    /// Only those of this project.
    project: Option<String>,
}

/// Which part of the evidence.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct EvidencePart {
    /// Only rows after this number.
    after: Option<u64>,
    /// At most so many, 500 at most.
    limit: Option<u32>,
}

/// Projects with nights, and the latest nights.
#[utoipa::path(get, path = "/sleep", tag = "sleep", params(SleepQuery), responses((status = 200, body = SleepPage)))]
pub(crate) async fn page(
    State(state): State<AppState>,
    Query(query): Query<SleepQuery>,
) -> ApiResult<Json<SleepPage>> {
    let now_ms = state.hosting.clock().now_ms();
    state.store.reap_nights(now_ms).await?;
    let mut projects = state.store.night_projects().await?;
    let here = std::env::current_dir().map(|dir| dir.display().to_string());
    projects.extend(here.ok().filter(|here| !projects.contains(here)));
    let rows = state.store.nights(query.project.as_deref(), MOST_NIGHTS).await?;
    let nights = blocking(move || rows.iter().map(night_item).collect::<Vec<_>>()).await?;
    Ok(Json(SleepPage { projects, nights }))
}

/// Begins a night. It goes on when the one who asked has hung up.
#[utoipa::path(post, path = "/sleep/nights", tag = "sleep", request_body = NightRequest,
    responses((status = 200, body = NightBegun), (status = 400, body = Problem),
        (status = 403, body = Problem, description = "`path_not_allowed`: outside of the folders that may be read."),
        (status = 409, body = Problem, description = "Another night works on the project.")))]
pub(crate) async fn begin(
    State(state): State<AppState>,
    Json(request): Json<NightRequest>,
) -> ApiResult<Json<NightBegun>> {
    let project = state.adopter.readable_folder(&request.project)?;
    let command = NightCommand {
        is_dry: request.dry_run,
        order: order_of(&request, project),
        tasks_file: None,
        cfg_options: Vec::new(),
        fresh: false,
        actor: ACTOR.to_owned(),
    };
    let night = state.nights.begin(&command).await?;
    let id = night.id.clone();
    state.nights.spawn(night);
    Ok(Json(NightBegun { id }))
}

fn order_of(request: &NightRequest, project: PathBuf) -> NightOrder {
    let text = |text: &Option<String>| {
        text.as_ref().filter(|text| !text.trim().is_empty()).map(|text| json!(text.trim()))
    };
    let keys = [
        ("backend", text(&request.backend)),
        ("model", text(&request.model)),
        ("transcript_source", text(&request.source)),
        ("lookback_hours", request.lookback_hours.map(|hours| json!(hours))),
        ("max_tasks_per_night", request.max_tasks.map(|tasks| json!(tasks))),
        ("edit_budget", request.edit_budget.map(|edits| json!(edits))),
        ("target_skill_path", text(&request.target_skill_path)),
        ("preferences", text(&request.preferences)),
    ];
    let given = keys.into_iter().filter_map(|(name, value)| Some((name, value?)));
    NightOrder {
        project: Some(project),
        config_file: None,
        keys: given.map(|(name, value)| key("form", name, value)).collect(),
    }
}

/// One night with its proposals.
#[utoipa::path(get, path = "/sleep/nights/{id}", tag = "sleep", params(("id" = NightId, Path)),
    responses((status = 200, body = NightDetail), (status = 404, body = Problem)))]
pub(crate) async fn detail(
    State(state): State<AppState>,
    Path(id): Path<NightId>,
) -> ApiResult<Json<NightDetail>> {
    state.store.reap_nights(state.hosting.clock().now_ms()).await?;
    let row = row(&state, &id).await?;
    Ok(Json(blocking(move || night_detail(&row)).await?))
}

/// Asks a running night to end. Calls in flight are finished and kept.
#[utoipa::path(post, path = "/sleep/nights/{id}/cancel", tag = "sleep", params(("id" = NightId, Path)),
    responses((status = 200, body = NightItem), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn cancel(
    State(state): State<AppState>,
    Path(id): Path<NightId>,
) -> ApiResult<Json<NightItem>> {
    let audit = AuditRow {
        at_ms: state.hosting.clock().now_ms(),
        actor: ACTOR.to_owned(),
        action: "cancel_night".to_owned(),
        subject: id.to_string(),
        detail: String::new(),
    };
    if !state.store.cancel_night(&id, &audit).await? {
        let row = row(&state, &id).await?;
        return Err(ApiError::Conflict(format!("the night is {} already", row.status)));
    }
    let row = row(&state, &id).await?;
    Ok(Json(blocking(move || night_item(&row)).await?))
}

/// Writes proposals of a night into their live files, if these are still what the night read.
#[utoipa::path(post, path = "/sleep/nights/{id}/adopt", tag = "sleep", params(("id" = NightId, Path)),
    request_body = NightAdoption,
    responses((status = 200, body = NightDetail), (status = 404, body = Problem), (status = 409, body = Problem,
        description = "`file_changed`: a live file is not what the night read.")))]
pub(crate) async fn adopt(
    State(state): State<AppState>,
    Path(id): Path<NightId>,
    Json(request): Json<NightAdoption>,
) -> ApiResult<Json<NightDetail>> {
    let (row, dir) = staged(&state, &id).await?;
    let setup = setup_of(&state, &row)?;
    adopt_keys(&state.hosting, &dir, &request.keys, &places(&setup), ACTOR).await?;
    Ok(Json(blocking(move || night_detail(&row)).await?))
}

/// Turns the proposals of a night down.
#[utoipa::path(post, path = "/sleep/nights/{id}/reject", tag = "sleep", params(("id" = NightId, Path)),
    request_body = NightRejection,
    responses((status = 200, body = NightDetail), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn reject(
    State(state): State<AppState>,
    Path(id): Path<NightId>,
    Json(request): Json<NightRejection>,
) -> ApiResult<Json<NightDetail>> {
    let (row, dir) = staged(&state, &id).await?;
    reject_night(&state.hosting, &dir, &request.reason, ACTOR).await?;
    Ok(Json(blocking(move || night_detail(&row)).await?))
}

/// Puts back what the adoption of a night replaced, if the live files are still what was adopted.
#[utoipa::path(post, path = "/sleep/nights/{id}/revert", tag = "sleep", params(("id" = NightId, Path)),
    responses((status = 200, body = NightDetail), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn revert(
    State(state): State<AppState>,
    Path(id): Path<NightId>,
) -> ApiResult<Json<NightDetail>> {
    let (row, dir) = staged(&state, &id).await?;
    let setup = setup_of(&state, &row)?;
    revert_night(&state.hosting, &dir, &places(&setup), ACTOR).await?;
    Ok(Json(blocking(move || night_detail(&row)).await?))
}

/// What led to the decision of a night, row by row.
#[utoipa::path(get, path = "/sleep/nights/{id}/evidence", tag = "sleep", params(("id" = NightId, Path), EvidencePart),
    responses((status = 200, body = Page<Value>), (status = 404, body = Problem)))]
pub(crate) async fn evidence(
    State(state): State<AppState>,
    Path(id): Path<NightId>,
    Query(part): Query<EvidencePart>,
) -> ApiResult<Json<Page<Value>>> {
    let (_, dir) = staged(&state, &id).await?;
    let limit = usize::try_from(part.limit.unwrap_or(MOST_EVIDENCE).min(MOST_EVIDENCE));
    let query = EvidenceQuery {
        after: part.after.unwrap_or_default(),
        limit: limit.unwrap_or_default(),
        stage: None,
    };
    let path = dir.join("evidence.jsonl");
    let read = blocking(move || read_evidence(BufReader::new(File::open(path)?), &query)).await?;
    let page = match read {
        Ok(page) => page,
        Err(err) if err.kind() == std::io::ErrorKind::NotFound => {
            return Err(ApiError::NotFound("the night has no evidence log".to_owned()));
        }
        Err(err) => return Err(ApiError::internal(err)),
    };
    let last = page.lines.last().and_then(|line| line["seq"].as_u64());
    let next = last.filter(|_| page.has_more).map(|last| last.to_string());
    let total = u64::try_from(page.lines.len()).unwrap_or(u64::MAX);
    Ok(Json(Page { items: page.lines, next, total }))
}

async fn row(state: &AppState, id: &NightId) -> ApiResult<NightRow> {
    let row = state.store.night(id).await?;
    row.ok_or_else(|| ApiError::NotFound(format!("there is no night {id}")))
}

/// A night with a folder.
async fn staged(state: &AppState, id: &NightId) -> ApiResult<(NightRow, PathBuf)> {
    let row = row(state, id).await?;
    match row.staging.clone() {
        Some(dir) => Ok((row, PathBuf::from(dir))),
        None => Err(ApiError::Conflict("the night laid nothing aside".to_owned())),
    }
}

/// The settings of the night's project as they are now.
fn setup_of(state: &AppState, row: &NightRow) -> ApiResult<NightSetup> {
    let order = NightOrder { project: Some(PathBuf::from(&row.project)), ..NightOrder::default() };
    Ok(NightSetup::read(&order, state.hosting.environment())?)
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> ApiResult<T> {
    tokio::task::spawn_blocking(work).await.map_err(ApiError::internal)
}

impl From<OrderError> for ApiError {
    fn from(err: OrderError) -> Self {
        Self::BadRequest(err.to_string())
    }
}

impl From<NightRunError> for ApiError {
    fn from(err: NightRunError) -> Self {
        let text = err.to_string();
        match err {
            NightRunError::Order(err) => err.into(),
            NightRunError::Models(problems) => Self::BadConfig(problems.0),
            NightRunError::Tasks(_) | NightRunError::NotReviewed(_) => Self::BadRequest(text),
            NightRunError::Begin(BeginNightError::Store(failure))
            | NightRunError::Store(failure) => failure.into(),
            NightRunError::Begin(BeginNightError::Running(_)) => Self::Conflict(text),
            NightRunError::Night(NightFailure::Target(_)) | NightRunError::Handoff(_) => {
                Self::Conflict(text)
            }
            NightRunError::Night(_) => Self::internal(err),
        }
    }
}

impl From<DecisionError> for ApiError {
    fn from(err: DecisionError) -> Self {
        match err {
            DecisionError::Store(failure) => failure.into(),
            DecisionError::Adopt(err) => err.into(),
        }
    }
}

impl From<AdoptError> for ApiError {
    fn from(err: AdoptError) -> Self {
        use skillopt_sleep::adopt::Refusal;
        let text = err.to_string();
        match (&err, err.kind()) {
            (AdoptError::Refused(Refusal::Changed { .. }), _) => Self::FileChanged(text),
            (_, ErrorKind::NoStaging) => Self::NotFound(text),
            (_, ErrorKind::InvalidSelection | ErrorKind::SelectionRequired) => {
                Self::BadRequest(text)
            }
            (
                _,
                ErrorKind::InvalidStaging
                | ErrorKind::AdoptionRefused
                | ErrorKind::AdoptionFailed
                | ErrorKind::NoStagedSkills,
            ) => Self::Conflict(text),
        }
    }
}
