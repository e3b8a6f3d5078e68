//! Nights over HTTP: lists, one night, its evidence, and what people decide. What a night does, and which files may be
//! written, is the business of [`crate::sleep`].

use super::curation::{seen_tasks, tasks_for_night};
use super::extract::{Json, Path, Query};
use super::problem::{ApiError, ApiResult};
use super::review::looked_at;
use super::state::{ACTOR, AppState};
use crate::sleep::{
    AdoptionOrder, DecisionError, NightCommand, NightOrder, NightRunError, NightSetup, OrderError,
    Rejection, adopt_keys, beside, foresee, keep, key, night_detail, places, preview_keys,
    reject_night, reopen_night, revert_night, staging_of_row,
};
use axum::extract::State;
use serde::Deserialize;
use serde_json::{Value, json};
use skillopt_domain::api::{
    NightAdoption, NightBegun, NightDetail, NightItem, NightPreview, NightRejection,
    NightReopening, NightRequest, Page, Problem, SleepPage,
};
use skillopt_domain::ids::NightId;
use skillopt_domain::night::forecast::NightForecast;
use skillopt_sleep::adopt::{AdoptError, ErrorKind, Places, Refusal};
use skillopt_sleep::evidence::{EvidenceQuery, read_evidence};
use skillopt_sleep::night::NightFailure;
use skillopt_sleep::plain::open_plain;
use skillopt_store::{AuditRow, BeginNightError, NightRow};
use std::io::{BufRead, BufReader, ErrorKind as IoKind};
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

/// Projects with nights, and the latest nights. Of those outside of the folders that may be read only the row is told.
#[utoipa::path(get, path = "/sleep", tag = "sleep", params(SleepQuery), responses((status = 200, body = SleepPage)))]
pub(crate) async fn page(
    State(state): State<AppState>,
    Query(query): Query<SleepQuery>,
) -> ApiResult<Json<SleepPage>> {
    let mut projects = state.store.night_projects().await?;
    let here = std::env::current_dir().map(|dir| dir.display().to_string());
    projects.extend(here.ok().filter(|here| !projects.contains(here)));
    let rows = state.store.nights(query.project.as_deref(), MOST_NIGHTS).await?;
    let nights = looked_at(&state, rows).await?.into_iter().map(|seen| seen.night).collect();
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
    let is_dry = request.dry_run;
    let shared = state.clone();
    let read = beside(move || {
        let order = order_of(&shared, &request)?;
        let tasks = request.tasks_version.as_deref().zip(order.project.as_deref());
        let tasks = tasks.map(|(seen, project)| tasks_for_night(&shared, project, seen));
        ApiResult::Ok((order, tasks.transpose()?))
    });
    let (order, tasks_file) = read.await?;
    let command = NightCommand {
        is_dry,
        order,
        tasks_file,
        cfg_options: Vec::new(),
        fresh: false,
        actor: ACTOR.to_owned(),
    };
    let night = state.nights.begin(&command).await?;
    let id = night.id.clone();
    state.nights.spawn(night);
    Ok(Json(NightBegun { id }))
}

/// What such a night can come to in calls, for a form. Makes none, and begins nothing.
#[utoipa::path(post, path = "/sleep/forecast", tag = "sleep", request_body = NightRequest,
    responses((status = 200, body = NightForecast), (status = 400, body = Problem),
        (status = 403, body = Problem, description = "`path_not_allowed`: outside of the folders that may be read."),
        (status = 409, body = Problem, description = "Somebody changed the curated tasks meanwhile.")))]
pub(crate) async fn forecast(
    State(state): State<AppState>,
    Json(request): Json<NightRequest>,
) -> ApiResult<Json<NightForecast>> {
    let told = beside(move || {
        let order = order_of(&state, &request)?;
        let setup = NightSetup::read(&order, state.hosting.environment())?;
        let tasks = request.tasks_version.as_deref().zip(order.project.as_deref());
        let tasks = tasks.map(|(seen, project)| seen_tasks(&state, project, seen)).transpose()?;
        let tasks = tasks.map(|(_, tasks)| tasks);
        ApiResult::Ok(foresee(&setup.config, tasks.as_deref()))
    });
    Ok(Json(told.await?))
}

/// What the form asks for, with its paths checked. Blocks.
pub(super) fn order_of(state: &AppState, request: &NightRequest) -> ApiResult<NightOrder> {
    let project = state.adopter.readable_folder(&request.project)?;
    let said = |text: &Option<String>| {
        text.as_deref().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
    };
    let text = |text: &Option<String>| said(text).map(|text| json!(text));
    let target = said(&request.target_skill_path)
        .map(|typed| state.adopter.night_target(&project, &typed))
        .transpose()?;
    let keys = [
        ("backend", text(&request.backend)),
        ("model", text(&request.model)),
        ("transcript_source", text(&request.source)),
        ("lookback_hours", request.lookback_hours.map(|hours| json!(hours))),
        ("max_tasks_per_night", request.max_tasks.map(|tasks| json!(tasks))),
        ("edit_budget", request.edit_budget.map(|edits| json!(edits))),
        ("target_skill_path", target.map(|path| json!(path.display().to_string()))),
        ("preferences", text(&request.preferences)),
    ];
    let given = keys.into_iter().filter_map(|(name, value)| Some((name, value?)));
    Ok(NightOrder {
        project: Some(project),
        config_file: None,
        keys: given.map(|(name, value)| key("form", name, value)).collect(),
    })
}

/// One night with its proposals.
#[utoipa::path(get, path = "/sleep/nights/{id}", tag = "sleep", params(("id" = NightId, Path)),
    responses((status = 200, body = NightDetail), (status = 403, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn detail(
    State(state): State<AppState>,
    Path(id): Path<NightId>,
) -> ApiResult<Json<NightDetail>> {
    let row = row(&state, &id).await?;
    let (shared, project) = (state.clone(), row.project.clone());
    beside(move || shared.adopter.readable_folder(&project)).await?;
    told(&state, row).await
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
    Ok(Json(looked_at(&state, vec![row]).await?.remove(0).night))
}

/// Writes proposals of a night into their live files, if these are still what the night read.
#[utoipa::path(post, path = "/sleep/nights/{id}/adopt", tag = "sleep", params(("id" = NightId, Path)),
    request_body = NightAdoption,
    responses((status = 200, body = NightDetail), (status = 403, body = Problem), (status = 404, body = Problem),
        (status = 409, body = Problem, description = "`file_changed`: a live file is not what the night read.")))]
pub(crate) async fn adopt(
    State(state): State<AppState>,
    Path(id): Path<NightId>,
    Json(request): Json<NightAdoption>,
) -> ApiResult<Json<NightDetail>> {
    let Staged { row, dir, places } = staged(&state, &id).await?;
    let hosting = state.hosting.clone();
    let deed = async move {
        let order = AdoptionOrder { keys: &request.keys, edits: &request.edits, actor: ACTOR };
        adopt_keys(&hosting, &dir, order, &places).await
    };
    state.nights.to_the_end(deed).await?;
    told(&state, row).await
}

/// The documents that a choice of edits makes. Nothing is written.
#[utoipa::path(post, path = "/sleep/nights/{id}/preview", tag = "sleep", params(("id" = NightId, Path)),
    request_body = NightAdoption,
    responses((status = 200, body = NightPreview),
        (status = 400, body = Problem, description = "The edits cannot be taken so; the words say why."),
        (status = 403, body = Problem), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn preview(
    State(state): State<AppState>,
    Path(id): Path<NightId>,
    Json(request): Json<NightAdoption>,
) -> ApiResult<Json<NightPreview>> {
    let Staged { dir, .. } = staged(&state, &id).await?;
    let documents = preview_keys(&dir, request).await?;
    Ok(Json(NightPreview { documents }))
}

/// Turns proposals of a night down.
#[utoipa::path(post, path = "/sleep/nights/{id}/reject", tag = "sleep", params(("id" = NightId, Path)),
    request_body = NightRejection,
    responses((status = 200, body = NightDetail), (status = 400, body = Problem), (status = 403, body = Problem),
        (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn reject(
    State(state): State<AppState>,
    Path(id): Path<NightId>,
    Json(request): Json<NightRejection>,
) -> ApiResult<Json<NightDetail>> {
    let Staged { row, dir, places } = staged(&state, &id).await?;
    let hosting = state.hosting.clone();
    let deed = async move {
        let rejection = Rejection { keys: &request.keys, reason: &request.reason, actor: ACTOR };
        reject_night(&hosting, &dir, rejection, &places).await
    };
    state.nights.to_the_end(deed).await?;
    told(&state, row).await
}

/// Lets proposals that were turned down wait for a decision again.
#[utoipa::path(post, path = "/sleep/nights/{id}/reopen", tag = "sleep", params(("id" = NightId, Path)),
    request_body = NightReopening,
    responses((status = 200, body = NightDetail), (status = 400, body = Problem), (status = 403, body = Problem),
        (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn reopen(
    State(state): State<AppState>,
    Path(id): Path<NightId>,
    Json(request): Json<NightReopening>,
) -> ApiResult<Json<NightDetail>> {
    let Staged { row, dir, places } = staged(&state, &id).await?;
    let hosting = state.hosting.clone();
    let deed = async move {
        let reopening = Rejection { keys: &request.keys, reason: &request.reason, actor: ACTOR };
        reopen_night(&hosting, &dir, reopening, &places).await
    };
    state.nights.to_the_end(deed).await?;
    told(&state, row).await
}

/// Puts back what the adoption of a night replaced, if the live files are still what was adopted.
#[utoipa::path(post, path = "/sleep/nights/{id}/revert", tag = "sleep", params(("id" = NightId, Path)),
    responses((status = 200, body = NightDetail), (status = 403, body = Problem), (status = 404, body = Problem),
        (status = 409, body = Problem)))]
pub(crate) async fn revert(
    State(state): State<AppState>,
    Path(id): Path<NightId>,
) -> ApiResult<Json<NightDetail>> {
    let Staged { row, dir, places } = staged(&state, &id).await?;
    let hosting = state.hosting.clone();
    let deed = async move { revert_night(&hosting, &dir, &places, ACTOR).await };
    state.nights.to_the_end(deed).await?;
    told(&state, row).await
}

/// What led to the decision of a night, row by row. `total` counts the rows of the whole log.
#[utoipa::path(get, path = "/sleep/nights/{id}/evidence", tag = "sleep", params(("id" = NightId, Path), EvidencePart),
    responses((status = 200, body = Page<Value>), (status = 403, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn evidence(
    State(state): State<AppState>,
    Path(id): Path<NightId>,
    Query(part): Query<EvidencePart>,
) -> ApiResult<Json<Page<Value>>> {
    let Staged { dir, .. } = staged(&state, &id).await?;
    let limit = usize::try_from(part.limit.unwrap_or(MOST_EVIDENCE).min(MOST_EVIDENCE));
    let query = EvidenceQuery {
        after: part.after.unwrap_or_default(),
        limit: limit.unwrap_or_default(),
        stage: None,
    };
    let path = dir.join("evidence.jsonl");
    let read = beside(move || {
        let n_lines = count_lines(BufReader::new(open_plain(&path)?))?;
        let page = read_evidence(BufReader::new(open_plain(&path)?), &query)?;
        std::io::Result::Ok((n_lines, page))
    });
    let (n_lines, page) = match read.await {
        Ok(read) => read,
        Err(err) if err.kind() == IoKind::NotFound => {
            return Err(ApiError::NotFound("the night has no evidence log".to_owned()));
        }
        Err(err) if err.kind() == IoKind::InvalidInput => {
            return Err(ApiError::Conflict(format!("the evidence log cannot be read: {err}")));
        }
        Err(err) => return Err(ApiError::internal(err)),
    };
    let last = page.lines.last().and_then(|line| line["seq"].as_u64());
    let next = last.filter(|_| page.has_more).map(|last| last.to_string());
    let total = n_lines.saturating_sub(page.n_unreadable);
    Ok(Json(Page { items: page.lines, next, total }))
}

/// Lines of a log, in constant memory. A last line without an end counts.
fn count_lines(mut log: impl BufRead) -> std::io::Result<u64> {
    let (mut n_lines, mut is_open) = (0, false);
    loop {
        let bytes = log.fill_buf()?;
        let Some(last) = bytes.last() else { return Ok(n_lines + u64::from(is_open)) };
        is_open = *last != b'\n';
        let n_ends = bytes.iter().filter(|byte| **byte == b'\n').count();
        n_lines += u64::try_from(n_ends).unwrap_or(u64::MAX);
        let n_read = bytes.len();
        log.consume(n_read);
    }
}

async fn row(state: &AppState, id: &NightId) -> ApiResult<NightRow> {
    let row = state.store.night(id).await?;
    row.ok_or_else(|| ApiError::NotFound(format!("there is no night {id}")))
}

/// A night as it is now. What its folder says is kept for lists.
async fn told(state: &AppState, mut row: NightRow) -> ApiResult<Json<NightDetail>> {
    if row.staging.is_some() {
        keep(&state.store, &mut row).await?;
    }
    let documents = state.store.night_documents(&row.id).await?;
    Ok(Json(beside(move || night_detail(&row, &documents)).await))
}

/// A night with a folder, and where its decisions may write.
pub(super) struct Staged {
    pub(super) row: NightRow,
    pub(super) dir: PathBuf,
    places: Places,
}

/// Its project must be one of this server's, its folder where nights of the project are. Its settings are those that it
/// was begun with; they open no folder that is closed to this server.
pub(super) async fn staged(state: &AppState, id: &NightId) -> ApiResult<Staged> {
    let row = row(state, id).await?;
    let state = state.clone();
    beside(move || {
        let project = state.adopter.readable_folder(&row.project)?;
        let dir = staging_of_row(&row)?
            .ok_or_else(|| ApiError::Conflict("the night laid nothing aside".to_owned()))?;
        let order = NightOrder::of_kept(project, &row.settings_json);
        let setup = NightSetup::read(&order, state.hosting.environment())?;
        let mut places = places(&setup);
        places.allowed = state.adopter.writable(places.allowed);
        Ok(Staged { row, dir, places })
    })
    .await
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
            NightRunError::Begin(BeginNightError::Running(_)) | NightRunError::LeaseLost => {
                Self::Conflict(text)
            }
            NightRunError::Handoff(err) | NightRunError::Night(NightFailure::Handoff(err)) => {
                err.into()
            }
            NightRunError::Night(NightFailure::Target(_)) => Self::Conflict(text),
            NightRunError::Night(_) => Self::internal(err),
        }
    }
}

impl From<DecisionError> for ApiError {
    fn from(err: DecisionError) -> Self {
        let text = err.to_string();
        match err {
            DecisionError::Adopt(err) => err.into(),
            DecisionError::Partly {
                cause: AdoptError::Refused(Refusal::Changed { .. }), ..
            } => Self::FileChanged(text),
            DecisionError::Partly { .. } => Self::Conflict(text),
        }
    }
}

impl From<AdoptError> for ApiError {
    fn from(err: AdoptError) -> Self {
        let text = err.to_string();
        match (&err, err.kind()) {
            (AdoptError::Refused(Refusal::Changed { .. }), _) => Self::FileChanged(text),
            (AdoptError::Refused(Refusal::NoReason), _) => Self::BadRequest(text),
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
