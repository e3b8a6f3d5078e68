//! Schedules of nights over HTTP: listed, added, changed, removed, and run at once. When they run is the business of
//! [`crate::sleep`].

use super::extract::{Json, Path};
use super::problem::{ApiError, ApiResult};
use super::sleep::order_of;
use super::state::{ACTOR, AppState};
use crate::sleep::{
    BeginScheduledError, KeptNight, NightSetup, OrderError, ScheduleProblem, beside, daily,
    home_of, new_schedule_id, runs_twice, schedule_item, system_clocks, time_of,
};
use axum::extract::State;
use skillopt_domain::api::{
    NextNight, NightBegun, NightRequest, Problem, ScheduleChange, ScheduleItem, SchedulePage,
    ScheduleRequest, SystemJob,
};
use skillopt_domain::ids::{NightId, ScheduleId};
use skillopt_domain::night::ScheduleOutcomeKind;
use skillopt_sleep::schedule::{InstalledJob, Listing, Scheduler, SystemCommands};
use skillopt_store::{
    AddScheduleError, NewSchedule, OutcomeRow, ScheduleEdit, ScheduleRow, ScheduleTerms,
};

/// Outcomes that are shown of a schedule.
const MOST_OUTCOMES: u32 = 30;

/// What this server runs every day, and the jobs of the system's own schedulers.
#[utoipa::path(get, path = "/sleep/schedules", tag = "sleep", responses((status = 200, body = SchedulePage)))]
pub(crate) async fn list(State(state): State<AppState>) -> ApiResult<Json<SchedulePage>> {
    let mut rows = Vec::new();
    for row in state.store.schedules().await? {
        let outcomes = state.store.schedule_outcomes(&row.id, MOST_OUTCOMES).await?;
        rows.push((row, outcomes));
    }
    let page = beside(move || {
        let now_ms = state.hosting.clock().now_ms();
        let Listing { jobs, unread } = system_jobs(&state);
        let twice = runs_twice(&jobs, rows.iter().map(|(row, _)| row));
        let item = |(row, outcomes)| schedule_item(row, outcomes, &state.adopter, now_ms);
        SchedulePage {
            schedules: rows.into_iter().map(item).collect(),
            jobs: jobs.into_iter().map(job_item).collect(),
            unread,
            twice,
        }
    });
    Ok(Json(page.await))
}

/// The next night that the server begins by itself, and how many projects have one to come. A schedule that could not
/// begin one now does not count.
pub(super) async fn next_night(state: &AppState) -> ApiResult<Option<NextNight>> {
    let rows = state.store.schedules().await?;
    if rows.is_empty() {
        return Ok(None);
    }
    let shared = state.clone();
    let items = beside(move || {
        let now_ms = shared.hosting.clock().now_ms();
        let item = |row| schedule_item(row, Vec::new(), &shared.adopter, now_ms);
        rows.into_iter().map(item).collect::<Vec<_>>()
    });
    let mut to_come = items.await;
    to_come.retain(|item| item.next_ms.is_some() && item.problem.is_empty());
    let n_projects = u32::try_from(to_come.len()).unwrap_or(u32::MAX);
    let next = to_come.into_iter().min_by_key(|item| item.next_ms);
    Ok(next.and_then(|item| {
        Some(NextNight { at_ms: item.next_ms?, project: item.project, n_projects })
    }))
}

/// Runs a night of a project every day, while this server runs.
#[utoipa::path(post, path = "/sleep/schedules", tag = "sleep", request_body = ScheduleRequest,
    responses((status = 200, body = ScheduleItem), (status = 400, body = Problem),
        (status = 403, body = Problem, description = "`path_not_allowed`: outside of the folders that may be read."),
        (status = 409, body = Problem, description = "The project has a schedule.")))]
pub(crate) async fn add(
    State(state): State<AppState>,
    Json(request): Json<ScheduleRequest>,
) -> ApiResult<Json<ScheduleItem>> {
    let daily = daily(request.hour, request.minute, &request.zone)?;
    let (project, kept) = checked(&state, request.night).await?;
    let at_ms = state.hosting.clock().now_ms();
    let new = NewSchedule {
        id: new_schedule_id(),
        project,
        terms: ScheduleTerms {
            options_json: kept.text(),
            time: time_of(&daily),
            is_enabled: request.enabled,
        },
        served: daily.plan(None, at_ms).served,
        actor: ACTOR.to_owned(),
        at_ms,
    };
    state.store.add_schedule(&new).await?;
    state.clock.wake();
    told(&state, &new.id).await
}

/// Changes a schedule: its time, its zone, its options, or whether it runs. What was due before is not caught up.
#[utoipa::path(patch, path = "/sleep/schedules/{id}", tag = "sleep", params(("id" = ScheduleId, Path)),
    request_body = ScheduleChange,
    responses((status = 200, body = ScheduleItem), (status = 400, body = Problem), (status = 403, body = Problem),
        (status = 404, body = Problem), (status = 409, body = Problem, description = "It was changed meanwhile.")))]
pub(crate) async fn change(
    State(state): State<AppState>,
    Path(id): Path<ScheduleId>,
    Json(change): Json<ScheduleChange>,
) -> ApiResult<Json<ScheduleItem>> {
    let row = row(&state, &id).await?;
    if change.revision.is_some_and(|seen| seen != row.revision) {
        return Err(changed_meanwhile());
    }
    let before = &row.terms;
    let daily = daily(
        change.hour.unwrap_or(before.time.hour.into()),
        change.minute.unwrap_or(before.time.minute.into()),
        change.zone.as_deref().unwrap_or(&before.time.zone),
    );
    let is_enabled = change.enabled.unwrap_or(before.is_enabled);
    let is_moved = change.hour.is_some() || change.minute.is_some() || change.zone.is_some();
    // One that cannot run can still be switched off; a new time has to be one all the same.
    let daily = match daily {
        Err(_) if !is_enabled && !is_moved => None,
        daily => Some(daily?),
    };
    let options_json = match change.night {
        None => before.options_json.clone(),
        Some(night) => edited(&state, &row, night).await?.text(),
    };
    let at_ms = state.hosting.clock().now_ms();
    let time = daily.as_ref().map_or_else(|| before.time.clone(), time_of);
    let is_new = time != before.time || (is_enabled && !before.is_enabled);
    let edit = ScheduleEdit {
        revision: row.revision,
        terms: ScheduleTerms { options_json, time, is_enabled },
        served: daily.filter(|_| is_new).map(|daily| daily.plan(None, at_ms).served),
        actor: ACTOR.to_owned(),
        at_ms,
    };
    if !state.store.change_schedule(&id, &edit).await? {
        return Err(changed_meanwhile());
    }
    state.clock.wake();
    told(&state, &id).await
}

/// Removes a schedule. Nights that it began stay, and one that runs goes on.
#[utoipa::path(delete, path = "/sleep/schedules/{id}", tag = "sleep", params(("id" = ScheduleId, Path)),
    responses((status = 200, body = ScheduleItem, description = "As it was."), (status = 404, body = Problem)))]
pub(crate) async fn remove(
    State(state): State<AppState>,
    Path(id): Path<ScheduleId>,
) -> ApiResult<Json<ScheduleItem>> {
    let item = told(&state, &id).await?;
    let at_ms = state.hosting.clock().now_ms();
    if !state.store.remove_schedule(&id, ACTOR, at_ms).await? {
        return Err(missing(&id));
    }
    state.clock.wake();
    Ok(item)
}

/// Begins a night of a schedule now. Its next time stays as it is.
#[utoipa::path(post, path = "/sleep/schedules/{id}/run", tag = "sleep", params(("id" = ScheduleId, Path)),
    responses((status = 200, body = NightBegun), (status = 400, body = Problem), (status = 403, body = Problem),
        (status = 404, body = Problem), (status = 409, body = Problem, description = "Another night works on the project.")))]
pub(crate) async fn run_now(
    State(state): State<AppState>,
    Path(id): Path<ScheduleId>,
) -> ApiResult<Json<NightBegun>> {
    let row = row(&state, &id).await?;
    let shared = state.clone();
    let id = state.nights.to_the_end(async move { begin_by_hand(&shared, &row).await }).await?;
    Ok(Json(NightBegun { id }))
}

/// The night is begun, also when its schedule cannot tell of it.
async fn begin_by_hand(state: &AppState, row: &ScheduleRow) -> ApiResult<NightId> {
    let night = state.clock.begin(row, ACTOR).await?;
    let at_ms = state.hosting.clock().now_ms();
    let outcome = OutcomeRow {
        kind: ScheduleOutcomeKind::Begun,
        due_ms: at_ms,
        at_ms,
        night: Some(night.clone()),
        words: "by hand".to_owned(),
    };
    if let Err(err) = state.store.note_schedule(&row.id, &outcome).await {
        tracing::error!(schedule.id = %row.id, "a night begun by hand cannot be noted: {err}");
    }
    Ok(night)
}

/// What could not run at night is refused by day. Gives the real place of the project.
async fn checked(state: &AppState, night: NightRequest) -> ApiResult<(String, KeptNight)> {
    if night.tasks_version.is_some() {
        let words = "the nights of a schedule read sessions, not one version of the curated tasks; leave \
                     `tasks_version` out";
        return Err(ApiError::BadRequest(words.to_owned()));
    }
    let state = state.clone();
    beside(move || {
        let order = order_of(&state, &night)?;
        let setup = NightSetup::read(&order, state.hosting.environment())?;
        Ok((setup.project(), KeptNight::new(&order, night.dry_run)))
    })
    .await
}

/// The options of a schedule after an edit of the form.
async fn edited(
    state: &AppState,
    row: &ScheduleRow,
    mut night: NightRequest,
) -> ApiResult<KeptNight> {
    if night.project.trim().is_empty() {
        night.project.clone_from(&row.project);
    }
    let (project, form) = checked(state, night).await?;
    if project != row.project {
        return Err(ApiError::BadRequest(format!(
            "this is the schedule of {}; delete it and add one for the other project",
            row.project
        )));
    }
    // What cannot be read is replaced as a whole.
    Ok(KeptNight::parse(&row.terms.options_json).map_or(form.clone(), |kept| kept.with_form(&form)))
}

async fn row(state: &AppState, id: &ScheduleId) -> ApiResult<ScheduleRow> {
    state.store.schedule(id).await?.ok_or_else(|| missing(id))
}

fn changed_meanwhile() -> ApiError {
    ApiError::Conflict("the schedule was changed or deleted meanwhile; load it again".to_owned())
}

fn missing(id: &ScheduleId) -> ApiError {
    ApiError::NotFound(format!("there is no schedule {id}"))
}

/// A schedule as it is now.
async fn told(state: &AppState, id: &ScheduleId) -> ApiResult<Json<ScheduleItem>> {
    let row = row(state, id).await?;
    let outcomes = state.store.schedule_outcomes(id, MOST_OUTCOMES).await?;
    let state = state.clone();
    let now_ms = state.hosting.clock().now_ms();
    Ok(Json(beside(move || schedule_item(row, outcomes, &state.adopter, now_ms)).await))
}

/// Jobs of ours in the schedulers of the person's home. Runs their programs.
fn system_jobs(state: &AppState) -> Listing {
    let env = state.hosting.environment();
    let Some(home) = home_of(env) else {
        let unread = vec![format!(
            "it is not known whether nights are scheduled in this system: {}",
            OrderError::NoHome
        )];
        return Listing { unread, ..Listing::default() };
    };
    system_clocks(&home, env).installed(Scheduler::of_this_system(), &SystemCommands::LOOKING)
}

fn job_item(job: InstalledJob) -> SystemJob {
    let with = job.scheduler.word();
    let project = job.project.unwrap_or_default();
    let of = match project.as_str() {
        "" => "--project DIR".to_owned(),
        project => format!("--project {}", job.scheduler.quoted(project)),
    };
    SystemJob {
        scheduler: with.to_owned(),
        project,
        at: job.at.map(|at| at.to_string()).unwrap_or_default(),
        name: job.name,
        remove: format!("skillopt sleep unschedule --with {with} {of}"),
    }
}

impl From<ScheduleProblem> for ApiError {
    fn from(err: ScheduleProblem) -> Self {
        Self::BadRequest(err.to_string())
    }
}

impl From<AddScheduleError> for ApiError {
    fn from(err: AddScheduleError) -> Self {
        match err {
            AddScheduleError::Taken(_) => Self::Conflict(err.to_string()),
            AddScheduleError::Store(failure) => failure.into(),
        }
    }
}

impl From<BeginScheduledError> for ApiError {
    fn from(err: BeginScheduledError) -> Self {
        match err {
            BeginScheduledError::Options(_) => Self::Conflict(err.to_string()),
            BeginScheduledError::Models(problems) => Self::BadConfig(problems.0),
            BeginScheduledError::Folder(err) => err.into(),
            BeginScheduledError::Night(err) => err.into(),
        }
    }
}
