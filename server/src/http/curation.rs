//! Curated tasks over HTTP: find, look, change, try. What a change means is the business of `skillopt_sleep::curate`;
//! which projects may be read is that of the adoption roots. No model is called here.

use super::extract::{Json, Query};
use super::problem::{ApiError, ApiResult};
use super::sleep::{Staged, staged};
use super::state::{ACTOR, AppState};
use crate::sleep::{
    LookBack, NightOrder, NightSetup, beside, curated_file, curated_view, find_sessions, key,
    lib_change, note, read_tasks, split_choice, tasks_file_of, tasks_of, tried,
};
use axum::extract::State;
use serde::Deserialize;
use serde_json::json;
use skillopt_domain::api::{
    CuratedTasks, Problem, TaskChangeRequest, TaskSearch, TaskTrial, TaskTried, TasksFound,
};
use skillopt_domain::ids::NightId;
use skillopt_sleep::curate::{CurateError, add_tasks, change};
use skillopt_sleep::task::TaskRecord;
use skillopt_sleep::tasks_file::TasksFile;
use std::path::{Path, PathBuf};

/// Which project.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ProjectQuery {
    /// Absolute path of the project.
    project: String,
}

/// The curated tasks of a project; none while nobody has looked for them.
#[utoipa::path(get, path = "/sleep/tasks", tag = "sleep", params(ProjectQuery),
    responses((status = 200, body = CuratedTasks), (status = 403, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn list(
    State(state): State<AppState>,
    Query(query): Query<ProjectQuery>,
) -> ApiResult<Json<CuratedTasks>> {
    Ok(Json(beside(move || shown(&state, &project_of(&state, &query.project)?)).await?))
}

/// Finds tasks in sessions, by rules alone, or takes those of a night, and adds what is new.
#[utoipa::path(post, path = "/sleep/tasks", tag = "sleep", request_body = TaskSearch,
    responses((status = 200, body = TasksFound), (status = 400, body = Problem), (status = 403, body = Problem),
        (status = 404, body = Problem),
        (status = 409, body = Problem, description = "Somebody else changed the tasks meanwhile.")))]
pub(crate) async fn find(
    State(state): State<AppState>,
    Json(search): Json<TaskSearch>,
) -> ApiResult<Json<TasksFound>> {
    let folder = match &search.night {
        Some(id) => Some(folder_of(&state, id, &search.project).await?),
        None => None,
    };
    let shared = state.clone();
    let (project, found) = beside(move || add_found(&shared, &search, folder.as_deref())).await?;
    note(&state.hosting, "find_tasks", ACTOR, &project, format!("{} new", found.n_new)).await;
    Ok(Json(found))
}

/// Changes tasks, if they are still those that were seen.
#[utoipa::path(post, path = "/sleep/tasks/change", tag = "sleep", request_body = TaskChangeRequest,
    responses((status = 200, body = CuratedTasks), (status = 400, body = Problem), (status = 403, body = Problem),
        (status = 404, body = Problem),
        (status = 409, body = Problem, description = "Somebody else changed the tasks meanwhile, or a session would stand on two sides.")))]
pub(crate) async fn alter(
    State(state): State<AppState>,
    Json(request): Json<TaskChangeRequest>,
) -> ApiResult<Json<CuratedTasks>> {
    let shared = state.clone();
    let (project, words, tasks) = beside(move || altered(&shared, request)).await?;
    note(&state.hosting, "change_tasks", ACTOR, &project, words).await;
    Ok(Json(tasks))
}

/// What is wrong with the texts of a task, and how they score a reply.
#[utoipa::path(post, path = "/sleep/tasks/try", tag = "sleep", request_body = TaskTrial,
    responses((status = 200, body = TaskTried), (status = 400, body = Problem)))]
pub(crate) async fn attempt(Json(trial): Json<TaskTrial>) -> ApiResult<Json<TaskTried>> {
    let tried = beside(move || tried(trial.text, trial.reply.as_deref())).await;
    tried.map(Json).map_err(ApiError::BadRequest)
}

/// The file for a night with the curated tasks, if they are still those that were seen. Blocks.
pub(super) fn tasks_for_night(state: &AppState, project: &Path, seen: &str) -> ApiResult<PathBuf> {
    seen_tasks(state, project, seen).map(|(path, _)| path)
}

/// As [`tasks_for_night`], with the tasks that the file has for one. Blocks.
pub(super) fn seen_tasks(
    state: &AppState,
    project: &Path,
    seen: &str,
) -> ApiResult<(PathBuf, Vec<TaskRecord>)> {
    let curated = curated_file(&state.data_dir, project);
    let kept = curated.read()?;
    if kept.version != seen {
        return Err(CurateError::Changed.into());
    }
    if kept.file.tasks.is_empty() {
        let text = "there is no task to run with; find some, or use a muted one again";
        return Err(ApiError::BadRequest(text.to_owned()));
    }
    Ok((curated.path().to_owned(), kept.file.tasks))
}

/// Blocks.
fn project_of(state: &AppState, typed: &str) -> ApiResult<PathBuf> {
    Ok(state.adopter.readable_folder(typed)?)
}

fn shown(state: &AppState, project: &Path) -> ApiResult<CuratedTasks> {
    let curated = curated_file(&state.data_dir, project);
    Ok(curated_view(project, curated.path(), curated.read()?))
}

/// The folder of a night of the project.
async fn folder_of(state: &AppState, id: &NightId, typed: &str) -> ApiResult<PathBuf> {
    let Staged { row, dir, .. } = staged(state, id).await?;
    let (shared, typed) = (state.clone(), typed.to_owned());
    let project = beside(move || project_of(&shared, &typed)).await?;
    if Path::new(&row.project) == project {
        return Ok(dir);
    }
    Err(ApiError::BadRequest(format!("night {id} is one of {}, not of this project", row.project)))
}

/// What a search came to, before it is added.
struct Search {
    file: TasksFile,
    notes: Vec<String>,
}

fn add_found(
    state: &AppState,
    asked: &TaskSearch,
    folder: Option<&Path>,
) -> ApiResult<(PathBuf, TasksFound)> {
    let project = project_of(state, &asked.project)?;
    let setup = setup_of(state, &project, asked)?;
    let choice = split_choice(&setup).map_err(|err| ApiError::BadRequest(err.to_string()))?;
    let found = match folder {
        Some(folder) => {
            let file = TasksFile { tasks: read_tasks(folder), ..tasks_file_of(&setup) };
            Search { file, notes: Vec::new() }
        }
        None => searched(state, &setup, asked)?,
    };
    let curated = curated_file(&state.data_dir, &project);
    let added = curated.change(&asked.version, |file| {
        let is_first = file.tasks.is_empty() && file.muted.is_empty();
        let added = add_tasks(file, &found.file.tasks, choice);
        if is_first && added.n_new > 0 {
            let tasks = std::mem::take(&mut file.tasks);
            *file = TasksFile { tasks, ..found.file.clone() };
        } else if added.n_new > 0 && folder.is_none() {
            file.transcript_source.clone_from(&found.file.transcript_source);
            file.n_sessions = found.file.n_sessions;
        }
        let word = if added.n_new == 1 { "task" } else { "tasks" };
        Ok((format!("Added {} {word}", added.n_new), added))
    })?;
    let small = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let tasks = shown(state, &project)?;
    let (n_new, n_known) = (small(added.n_new), small(added.n_known));
    Ok((project, TasksFound { tasks, n_new, n_known, notes: found.notes }))
}

fn searched(state: &AppState, setup: &NightSetup, asked: &TaskSearch) -> ApiResult<Search> {
    let look_back =
        if asked.lookback_hours.is_some() { LookBack::AsConfigured } else { LookBack::All };
    let now_ms = state.hosting.clock().now_ms();
    let harvest = find_sessions(setup, state.hosting.environment(), look_back, now_ms)?;
    let file = tasks_of(setup, &harvest).map_err(|err| ApiError::BadRequest(err.to_string()))?;
    let mut notes: Vec<String> = harvest.nothing_because().into_iter().collect();
    if file.tasks.is_empty() && !harvest.digests.is_empty() {
        let n = harvest.digests.len();
        notes.push(format!("{n} sessions were read, and none of them asks for something"));
    }
    Ok(Search { file, notes })
}

fn setup_of(state: &AppState, project: &Path, asked: &TaskSearch) -> ApiResult<NightSetup> {
    let source = asked.source.as_deref().map(str::trim).filter(|source| !source.is_empty());
    let keys = [
        ("transcript_source", source.map(|source| json!(source))),
        ("lookback_hours", asked.lookback_hours.map(|hours| json!(hours))),
        ("max_tasks_per_night", asked.max_tasks.map(|tasks| json!(tasks))),
    ];
    let given = keys.into_iter().filter_map(|(name, value)| Some((name, value?)));
    let order = NightOrder {
        project: Some(project.to_owned()),
        config_file: None,
        keys: given.map(|(name, value)| key("form", name, value)).collect(),
    };
    Ok(NightSetup::read(&order, state.hosting.environment())?)
}

fn altered(
    state: &AppState,
    request: TaskChangeRequest,
) -> ApiResult<(PathBuf, String, CuratedTasks)> {
    let project = project_of(state, &request.project)?;
    let curated = curated_file(&state.data_dir, &project);
    let words = match lib_change(request.change).map_err(ApiError::BadRequest)? {
        None => format!("Undid: {}", curated.undo(&request.version)?),
        Some(wanted) => curated.change(&request.version, |file| {
            let words = change(file, &wanted)?;
            Ok((words.clone(), words))
        })?,
    };
    let tasks = shown(state, &project)?;
    Ok((project, words, tasks))
}

impl From<CurateError> for ApiError {
    fn from(err: CurateError) -> Self {
        let text = err.to_string();
        match err {
            CurateError::Unknown(_) => Self::NotFound(text),
            CurateError::TooFew(_) | CurateError::Broken(_) => Self::BadRequest(text),
            CurateError::Changed
            | CurateError::Straddles(_)
            | CurateError::NothingToUndo
            | CurateError::File(_) => Self::Conflict(text),
            CurateError::Io { .. } => Self::internal(err),
        }
    }
}
