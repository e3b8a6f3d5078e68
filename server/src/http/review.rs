//! What waits for a person: the queue, its number, and nights as all lists show them. Reads; what may be decided, and what
//! is written then, is the business of [`super::sleep`].

mod waiting;

pub(crate) use waiting::WaitingCount;

use super::extract::{Json, Query};
use super::problem::{ApiError, ApiResult};
use super::schedules::next_night;
use super::state::AppState;
use crate::sleep::{LiveFiles, beside, keep, night_head, seen};
use axum::extract::State;
use skillopt_domain::api::{
    NightDecision, NightsOverview, Overview, ReviewItem, ReviewPage, ReviewQuery, RunQuery,
};
use skillopt_domain::ids::NightId;
use skillopt_store::{NightRow, OpenNights};
use std::collections::BTreeSet;
use std::path::Path;

const DEFAULT_ITEMS: u32 = 50;
const MOST_ITEMS: u32 = 100;
/// Waiting nights that are read at once.
const AT_ONCE: u32 = 500;
/// Folders of nights that were staged by an older version are looked into once, so many at a time.
const MOST_UNSEEN: u32 = 200;
const MOST_RUNS: u32 = 10;
const NEWEST_RUNS: u32 = 40;
const WAITING_SHOWN: usize = 3;
const ASKING_SHOWN: usize = 3;

/// Nights whose proposals wait for a decision, newest first, and runs with a better skill that is not adopted. Nights
/// outside of the folders that may be read are left out.
#[utoipa::path(get, path = "/review", tag = "review", params(ReviewQuery), responses((status = 200, body = ReviewPage)))]
pub(crate) async fn page(
    State(state): State<AppState>,
    Query(query): Query<ReviewQuery>,
) -> ApiResult<Json<ReviewPage>> {
    let before = query.cursor.as_deref().map(parse_cursor).transpose()?;
    let is_first = before.is_none();
    let limit = query.limit.unwrap_or(DEFAULT_ITEMS).clamp(1, MOST_ITEMS);
    let open = open_after_a_look(&state).await?;
    let n_waiting = count(&open);
    let is_wanted = |item: &ReviewItem| {
        before.as_ref().is_none_or(|(at_ms, id)| {
            (item.night.started_at_ms, item.night.id.as_str()) < (*at_ms, id.as_str())
        })
    };
    let mut items: Vec<ReviewItem> = open.into_iter().filter(is_wanted).collect();
    let shown = usize::try_from(limit).unwrap_or(usize::MAX);
    let has_more = items.len() > shown;
    items.truncate(shown);
    let next = items.last().filter(|_| has_more).map(cursor_of);
    let runs = match is_first {
        true => state.store.runs_to_adopt(MOST_RUNS).await?,
        false => Vec::new(),
    };
    Ok(Json(ReviewPage { items, next, n_waiting, runs }))
}

/// What the first page shows: the newest runs, and of nights what goes on, what waits, what was and what comes.
#[utoipa::path(get, path = "/overview", tag = "review", responses((status = 200, body = Overview)))]
pub(crate) async fn overview(State(state): State<AppState>) -> ApiResult<Json<Overview>> {
    let newest = RunQuery { limit: Some(NEWEST_RUNS), ..RunQuery::default() };
    let runs = state.store.list_runs(&newest).await?;
    let running = looked_at(&state, state.store.running_nights().await?).await?;
    let asking = asking(&state).await?;
    let mut waiting = open_after_a_look(&state).await?;
    let n_waiting = count(&waiting);
    waiting.retain(is_waiting);
    waiting.truncate(WAITING_SHOWN);
    let last = state.store.last_night().await?.into_iter().collect();
    let last = looked_at(&state, last).await?.into_iter().next();
    let nights = NightsOverview {
        running: running.into_iter().map(|seen| seen.night).collect(),
        asking: asking.into_iter().map(|seen| seen.night).collect(),
        waiting,
        n_waiting,
        last: last.map(|seen| seen.night),
        next: next_night(&state).await?,
    };
    Ok(Json(Overview { runs, nights }))
}

/// How many nights wait and can be adopted.
pub(super) async fn n_waiting(state: &AppState) -> ApiResult<u64> {
    Ok(count(&open(state, &projects(state).await?).await?))
}

fn count(open: &[ReviewItem]) -> u64 {
    let n_waiting = open.iter().filter(|item| is_waiting(item)).count();
    u64::try_from(n_waiting).unwrap_or(u64::MAX)
}

fn is_waiting(item: &ReviewItem) -> bool {
    item.night.decision == NightDecision::Waiting
}

/// Projects that have something to review and may be read. Others are left out before anything of them is read, so that
/// however many nights they have, they stand in nobody's way.
async fn projects(state: &AppState) -> ApiResult<Vec<String>> {
    let projects = state.store.projects_to_review().await?;
    Ok(readable_of(state, projects.into_iter().collect()).await.into_iter().collect())
}

/// Of these projects those that may be read.
async fn readable_of(state: &AppState, mut projects: BTreeSet<String>) -> BTreeSet<String> {
    let shared = state.clone();
    beside(move || {
        projects.retain(|project| shared.adopter.readable_folder(project).is_ok());
        projects
    })
    .await
}

/// The newest nights whose prompts can be answered here.
async fn asking(state: &AppState) -> ApiResult<Vec<ReviewItem>> {
    let mut rows = state.store.nights_that_ask().await?;
    let projects = rows.iter().map(|row| row.project.clone()).collect();
    let readable = readable_of(state, projects).await;
    rows.retain(|row| readable.contains(&row.project));
    rows.truncate(ASKING_SHOWN);
    looked_at(state, rows).await
}

/// As [`open`], after a look into folders of older versions.
async fn open_after_a_look(state: &AppState) -> ApiResult<Vec<ReviewItem>> {
    let projects = projects(state).await?;
    let unseen = state.store.unseen_nights(&projects, MOST_UNSEEN).await?;
    if !unseen.is_empty() {
        looked_at(state, unseen).await?;
    }
    open(state, &projects).await
}

/// All nights that nobody decided about, newest first, each looked at once.
async fn open(state: &AppState, projects: &[String]) -> ApiResult<Vec<ReviewItem>> {
    let mut open = Vec::new();
    let mut before = None;
    loop {
        let wanted = OpenNights { before, projects, limit: AT_ONCE };
        let rows = state.store.open_nights(&wanted).await?;
        let Some(last) = rows.last() else { return Ok(open) };
        before = Some((last.started_at_ms, last.id.clone()));
        open.extend(looked_at(state, rows).await?.into_iter().filter(|item| {
            matches!(item.night.decision, NightDecision::Waiting | NightDecision::Stale)
        }));
    }
}

/// Nights as lists show them. A folder that nobody looked into yet is read; of those outside of the folders that may be
/// read only the row is told.
pub(super) async fn looked_at(
    state: &AppState,
    mut rows: Vec<NightRow>,
) -> ApiResult<Vec<ReviewItem>> {
    let readable = readable_of(state, rows.iter().map(|row| row.project.clone()).collect()).await;
    for row in &mut rows {
        let is_new = row.decision.is_none() && row.staging.is_some();
        if is_new && readable.contains(&row.project) {
            keep(&state.store, row).await?;
        }
    }
    let (mut rows, items) = beside(move || {
        let mut live = LiveFiles::default();
        let mut item = |row: &NightRow| match readable.contains(&row.project) {
            true => seen(row, &mut live),
            false => ReviewItem {
                night: night_head(row),
                documents: Vec::new(),
                n_tasks: None,
                why: String::new(),
            },
        };
        let items: Vec<ReviewItem> = rows.iter().map(&mut item).collect();
        // Folders that were cleared away wait for nobody.
        let mut shown = items.iter();
        rows.retain(|row| shown.next().is_some_and(|item| is_gone(row, item)));
        (rows, items)
    })
    .await;
    for row in &mut rows {
        keep(&state.store, row).await?;
    }
    Ok(items)
}

/// It waited when it was looked into last, and its folder is not there any more.
fn is_gone(row: &NightRow, item: &ReviewItem) -> bool {
    matches!(row.decision, Some(NightDecision::Waiting | NightDecision::Stale))
        && item.night.decision == NightDecision::None
        && row.staging.as_deref().is_some_and(|dir| !Path::new(dir).is_dir())
}

/// Where a page ended.
fn cursor_of(item: &ReviewItem) -> String {
    format!("{}_{}", item.night.started_at_ms, item.night.id)
}

fn parse_cursor(text: &str) -> ApiResult<(u64, NightId)> {
    let parsed = text
        .split_once('_')
        .and_then(|(at_ms, id)| Some((at_ms.parse().ok()?, NightId::parse(id).ok()?)));
    parsed.ok_or_else(|| ApiError::BadRequest("the cursor does not belong to this list".to_owned()))
}
