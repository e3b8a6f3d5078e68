//! New runs: from the form, or the sample with one click; and the preflight before money is spent.

use super::config::resolve_form;
use super::extract::{Json, Path};
use super::problem::{ApiError, ApiResult};
use super::sample;
use super::state::{ACTOR, AppState};
use crate::config::form_changes;
use crate::host::{DeriveRequest, Derived, HostError, LeaseWish, Lineage, NewRunRequest};
use axum::extract::State;
use skillopt_domain::api::{ConfigCheck, LaunchRequest, Launched, Preflight, Problem};
use skillopt_domain::config::{ConfigProblem, Place, Resolved, Value};
use skillopt_domain::ids::RunId;
use skillopt_domain::origin::RerunRequest;

const OUT_ROOT: &str = "env.out_root";

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
    let name = "Sample run".to_owned();
    queue(&state, LaunchRequest { name, values, ..LaunchRequest::default() }).await
}

/// One cheap call a role, besides the checks of skill and data.
#[utoipa::path(post, path = "/preflight", tag = "launch", request_body = LaunchRequest,
    responses((status = 200, body = Preflight), (status = 422, body = Problem)))]
pub(crate) async fn preflight(
    State(state): State<AppState>,
    Json(request): Json<LaunchRequest>,
) -> ApiResult<Json<Preflight>> {
    let Wanted { resolved, lineage } = wanted(&state, &request).await?;
    let skill = lineage.and_then(|lineage| lineage.skill);
    Ok(Json(state.hosting.preflight(&resolved, skill, &state.stop).await))
}

/// Queues a run with the config, the data and the initial skill of another one.
#[utoipa::path(post, path = "/runs/{id}/rerun", tag = "launch", params(("id" = RunId, Path)),
    request_body = RerunRequest,
    responses((status = 200, body = Launched), (status = 404, body = Problem),
        (status = 409, body = Problem, description = "`needs_fork`: data or skill are not the same any more.")))]
pub(crate) async fn rerun(
    State(state): State<AppState>,
    Path(run): Path<RunId>,
    Json(request): Json<RerunRequest>,
) -> ApiResult<Json<Launched>> {
    let Derived { resolved, lineage, check } = state.hosting.derive_rerun(&run).await?;
    let wanted = Wanted { resolved, lineage: Some(lineage) };
    create(&state, check, (request.name, request.fresh), wanted).await
}

/// A config, and the run that it starts from.
pub(super) struct Wanted {
    pub(super) resolved: Resolved,
    pub(super) lineage: Option<Lineage>,
}

/// What the form asks for, before it is checked.
pub(super) async fn wanted(state: &AppState, request: &LaunchRequest) -> ApiResult<Wanted> {
    match derived(state, request).await? {
        Some(Derived { resolved, lineage, .. }) => Ok(Wanted { resolved, lineage: Some(lineage) }),
        None => Ok(Wanted { resolved: resolve_form(state, request)?, lineage: None }),
    }
}

/// The fork that the form asks for; `None` for a run of its own.
pub(super) async fn derived(
    state: &AppState,
    request: &LaunchRequest,
) -> Result<Option<Derived>, HostError> {
    let Some(origin) = &request.origin else { return Ok(None) };
    let source = state.store.run_row(&origin.run).await?;
    let changes = form_changes(&source.config, &request.values);
    let (from, version) = (origin.run.clone(), origin.version);
    state.hosting.derive(&DeriveRequest { from, version, changes }).await.map(Some)
}

async fn queue(state: &AppState, request: LaunchRequest) -> ApiResult<Json<Launched>> {
    let (check, wanted) = match derived(state, &request).await? {
        Some(Derived { resolved, lineage, check }) => {
            (check, Wanted { resolved, lineage: Some(lineage) })
        }
        None => {
            let resolved = resolve_form(state, &request)?;
            let check = state.hosting.check(&resolved).await;
            (check, Wanted { resolved, lineage: None })
        }
    };
    create(state, check, (request.name, request.fresh), wanted).await
}

async fn create(
    state: &AppState,
    ConfigCheck { problems, .. }: ConfigCheck,
    (name, fresh): (String, bool),
    Wanted { resolved, lineage }: Wanted,
) -> ApiResult<Json<Launched>> {
    if !problems.is_empty() {
        return Err(ApiError::BadConfig(problems));
    }
    let new = NewRunRequest {
        name,
        resolved,
        fresh,
        out_root: None,
        actor: ACTOR.to_owned(),
        lease: LeaseWish::Later,
        lineage,
    };
    let place = place_of_folder(&new.resolved);
    let id = state.hosting.create(new).await.map_err(|err| match err {
        // The form named the folder: it is no fault of the server.
        HostError::Folder { .. } if place.is_some() => {
            ApiError::BadConfig(vec![folder_problem(place, &err)])
        }
        err => err.into(),
    })?;
    state.supervisor.launch(id.clone());
    Ok(Json(Launched { id }))
}

/// Looks whether a new run can have the folder that the form names, and adds what is wrong with it to a check.
pub(super) async fn check_folder(
    state: &AppState,
    resolved: &Resolved,
    check: &mut ConfigCheck,
) -> Result<(), HostError> {
    let Value::Text(folder) = resolved.get(OUT_ROOT) else { return Ok(()) };
    if folder.is_empty() {
        return Ok(());
    }
    match state.hosting.former(std::path::Path::new(folder)).await {
        Ok(_) => Ok(()),
        Err(err @ HostError::Folder { .. }) => {
            check.problems.push(folder_problem(place_of_folder(resolved), &err));
            check.forecast = None;
            Ok(())
        }
        Err(err) => Err(err),
    }
}

fn folder_problem(place: Option<Place>, err: &HostError) -> ConfigProblem {
    ConfigProblem { path: OUT_ROOT.to_owned(), place, message: err.to_string() }
}

/// Where the folder was named; `None` when nobody did.
fn place_of_folder(resolved: &Resolved) -> Option<Place> {
    resolved.place(OUT_ROOT).filter(|place| !place.name.is_empty()).cloned()
}

impl From<HostError> for ApiError {
    fn from(err: HostError) -> Self {
        match err {
            HostError::BadConfig(problems) => problems.into(),
            HostError::Store(failure) => failure.into(),
            HostError::NeedsFork { ref differences, .. } => {
                let (detail, differences) = (err.to_string(), differences.clone());
                Self::NeedsFork { detail, differences }
            }
            HostError::Held { .. }
            | HostError::Forbidden(_)
            | HostError::Imported { .. }
            | HostError::Displaced { .. }
            | HostError::Changed { .. }
            | HostError::Lost { .. } => Self::Conflict(err.to_string()),
            HostError::Folder { .. } | HostError::Open(_) => Self::internal(err),
        }
    }
}
