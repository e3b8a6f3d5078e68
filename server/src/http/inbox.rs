//! Prompts that wait for a person, over HTTP. Files and their form are the business of `skillopt_sleep::handoff`; which
//! projects may be read is that of the adoption roots.

use super::extract::{Json, Path, Query};
use super::problem::{ApiError, ApiResult};
use super::state::{ACTOR, AppState};
use crate::sleep::{
    NightCommand, NightOrder, NightSetup, Shown, beside, curated_file, handoff, inbox_page, key,
    kind_shown, note, waiting,
};
use axum::extract::State;
use serde::Deserialize;
use skillopt_domain::api::{HandoffAnswer, HandoffContinue, HandoffPage, NightBegun, Problem};
use skillopt_domain::night::NightStatus;
use skillopt_sleep::handoff::{HandoffError, HandoffErrorKind, NightKind, Replaces};
use skillopt_store::NightRow;
use std::path::{Path as FilePath, PathBuf};

/// Nights that are looked at for the one that waits.
const MOST_NIGHTS: u32 = 50;

/// Which prompts.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct InboxQuery {
    /// Absolute path of the project.
    project: String,
    /// Those of a dry run, or those of the night; without it, those of whichever began to wait last.
    dry: Option<bool>,
}

/// A project with what waits in it.
struct Inbox {
    project: PathBuf,
    shown: Shown,
    rows: Vec<NightRow>,
}

/// What the last round of a project's night asked, with the answers so far.
#[utoipa::path(get, path = "/sleep/handoff", tag = "sleep", params(InboxQuery),
    responses((status = 200, body = HandoffPage), (status = 403, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn list(
    State(state): State<AppState>,
    Query(query): Query<InboxQuery>,
) -> ApiResult<Json<HandoffPage>> {
    inbox(&state, &query.project, query.dry).await?.page().await
}

/// Answers a prompt. An answer that is there already is replaced only by who saw it.
#[utoipa::path(put, path = "/sleep/handoff/{id}", tag = "sleep", params(("id" = String, Path)),
    request_body = HandoffAnswer,
    responses((status = 200, body = HandoffPage), (status = 400, body = Problem), (status = 403, body = Problem),
        (status = 404, body = Problem), (status = 409, body = Problem, description = "It was answered meanwhile.")))]
pub(crate) async fn answer(
    State(state): State<AppState>,
    Path(id): Path<String>,
    Json(request): Json<HandoffAnswer>,
) -> ApiResult<Json<HandoffPage>> {
    let inbox = inbox(&state, &request.project, request.dry).await?;
    if request.overwrite || !request.replaces.is_empty() {
        inbox.refuse_while_running()?;
    }
    let (handoff, asked) = (inbox.shown.handoff.clone(), id.clone());
    beside(move || {
        let replaces = match (request.overwrite, request.replaces.as_str()) {
            (true, _) => Replaces::Anything,
            (false, "") => Replaces::Nothing,
            (false, seen) => Replaces::Answer(seen),
        };
        handoff.give(&asked, &request.text, replaces)
    })
    .await?;
    note(&state.hosting, "answer_handoff", ACTOR, &inbox.project, id).await;
    inbox.page().await
}

/// Takes an answer back that the night has not used yet.
#[utoipa::path(delete, path = "/sleep/handoff/{id}", tag = "sleep", params(("id" = String, Path), InboxQuery),
    responses((status = 200, body = HandoffPage), (status = 403, body = Problem), (status = 404, body = Problem),
        (status = 409, body = Problem)))]
pub(crate) async fn take_back(
    State(state): State<AppState>,
    Path(id): Path<String>,
    Query(query): Query<InboxQuery>,
) -> ApiResult<Json<HandoffPage>> {
    let inbox = inbox(&state, &query.project, query.dry).await?;
    inbox.refuse_while_running()?;
    let (handoff, asked) = (inbox.shown.handoff.clone(), id.clone());
    beside(move || handoff.take_back(&asked)).await?;
    note(&state.hosting, "take_back_answer", ACTOR, &inbox.project, id).await;
    inbox.page().await
}

/// Goes on with the night that waits: another night with the same settings, which takes the answers and what the first
/// round read.
#[utoipa::path(post, path = "/sleep/handoff/continue", tag = "sleep", request_body = HandoffContinue,
    responses((status = 200, body = NightBegun), (status = 403, body = Problem), (status = 404, body = Problem),
        (status = 409, body = Problem, description = "Prompts have no answer yet, none is asked, or a night runs.")))]
pub(crate) async fn go_on(
    State(state): State<AppState>,
    Json(request): Json<HandoffContinue>,
) -> ApiResult<Json<NightBegun>> {
    let inbox = inbox(&state, &request.project, request.dry).await?;
    let handoff = inbox.shown.handoff.clone();
    let prompts = beside(move || handoff.round()).await?.prompts;
    // The files of a night that is done are put aside; going on would begin another one from the start.
    if prompts.is_empty() {
        let text = "no prompt waits in the project; its night is done, or none was begun";
        return Err(ApiError::Conflict(text.to_owned()));
    }
    let n_missing = prompts.iter().filter(|prompt| prompt.answer.is_none()).count();
    if n_missing > 0 {
        let prompts = match n_missing {
            1 => "1 prompt has".to_owned(),
            n => format!("{n} prompts have"),
        };
        let text = format!("{prompts} no answer yet; every prompt needs one first");
        return Err(ApiError::Conflict(text));
    }
    let shared = state.clone();
    let command = beside(move || command_of(&shared, &inbox)).await?;
    let night = state.nights.begin(&command).await?;
    let id = night.id.clone();
    state.nights.spawn(night);
    Ok(Json(NightBegun { id }))
}

/// The night that waits, once more. Its settings open no folder that is closed to this server. Blocks.
fn command_of(state: &AppState, inbox: &Inbox) -> ApiResult<NightCommand> {
    let row = waiting(&inbox.rows, inbox.shown.kind).ok_or_else(|| {
        ApiError::NotFound(
            "no night of this server waits for answers; go on with the command that began it"
                .to_owned(),
        )
    })?;
    let mut order = NightOrder::of_kept(inbox.project.clone(), &row.settings_json);
    for one in order.keys.iter().filter(|one| one.key == "target_skill_path") {
        if let Some(path) = one.value.as_str().filter(|path| !path.is_empty()) {
            state.adopter.night_target(&inbox.project, path)?;
        }
    }
    // Who answers here reviews here.
    order.keys.retain(|one| one.key != "auto_adopt");
    order.keys.push(key("form", "auto_adopt", false));
    let tasks_file = NightOrder::kept_tasks_file(&row.settings_json)
        .map(|path| allowed_tasks(state, &inbox.project, path))
        .transpose()?;
    let cfg_options = NightOrder::kept_cfg_options(&row.settings_json)
        .map_err(|err| ApiError::Conflict(err.to_string()))?;
    Ok(NightCommand {
        is_dry: row.is_dry,
        order,
        tasks_file,
        cfg_options,
        fresh: false,
        actor: ACTOR.to_owned(),
    })
}

/// Curated tasks of the project, or a file in a folder that may be read.
fn allowed_tasks(state: &AppState, project: &FilePath, path: PathBuf) -> ApiResult<PathBuf> {
    if path == curated_file(&state.data_dir, project).path() {
        return Ok(path);
    }
    let folder = path.parent().map(|folder| folder.display().to_string()).unwrap_or_default();
    let folder = state.adopter.readable_folder(&folder)?;
    Ok(folder.join(path.file_name().unwrap_or_default()))
}

async fn inbox(state: &AppState, typed: &str, dry: Option<bool>) -> ApiResult<Inbox> {
    let (shared, typed) = (state.clone(), typed.to_owned());
    let project = beside(move || shared.adopter.readable_folder(&typed)).await?;
    let name = project.display().to_string();
    let rows = state.store.nights(Some(&name), MOST_NIGHTS).await?;
    let (shared, kind) = (state.clone(), dry.map_or_else(|| kind_shown(&rows), NightKind::of));
    let order = NightOrder { project: Some(project.clone()), ..NightOrder::default() };
    let read = beside(move || {
        let setup = NightSetup::read(&order, shared.hosting.environment())?;
        let other = handoff(&setup, kind.other());
        ApiResult::Ok(Shown { kind, handoff: handoff(&setup, kind), other })
    });
    Ok(Inbox { shown: read.await?, project, rows })
}

impl Inbox {
    async fn page(self) -> ApiResult<Json<HandoffPage>> {
        let Self { project, shown, rows } = self;
        let page = beside(move || inbox_page(project.display().to_string(), &shown, &rows));
        Ok(Json(page.await?))
    }

    /// A night at work may have read the answer already.
    fn refuse_while_running(&self) -> ApiResult<()> {
        if self.rows.iter().any(|row| row.status == NightStatus::Running) {
            let text =
                "a night works on the project and may have used the answer; wait until it is done";
            return Err(ApiError::Conflict(text.to_owned()));
        }
        Ok(())
    }
}

impl From<HandoffError> for ApiError {
    fn from(err: HandoffError) -> Self {
        let text = err.to_string();
        match err.kind() {
            HandoffErrorKind::FileSystem => Self::internal(err),
            HandoffErrorKind::NotThere => Self::NotFound(text),
            HandoffErrorKind::BadAnswer => Self::BadRequest(text),
            HandoffErrorKind::Refused => Self::Conflict(text),
        }
    }
}
