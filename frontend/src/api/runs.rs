//! Runs: list, detail, evidence, actions and adoptions.

use super::query::{Query, encode};
use super::{ApiResult, get, post, post_empty};
use skillopt_domain::api::{
    About, AdoptPreview, AdoptPreviewRequest, AdoptRequest, ConfigView, CurveQuery, Curves,
    LaunchRequest, Launched, MatrixQuery, Page, Receipt, RejectedPage, RejectedQuery, RejectedWhy,
    RunDetail, RunQuery, RunSummary, SkillBlame, SkillText, StatusChanged, StepDetail, TaskMatrix,
    Trajectory, TrajectoryPage, TrajectoryPair, TrajectoryQuery,
};
use skillopt_domain::event::{RunEvent, StepSummary};
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::ids::{AdoptionId, RunId};
use skillopt_domain::import::{ImportReport, ImportRequest};
use skillopt_domain::json::Json;
use skillopt_domain::matrix::{TaskFilter, TaskOrder};
use skillopt_domain::origin::{RerunRequest, ResumeRequest};
use skillopt_domain::outcome::{OutcomeFilter, RolloutPurpose};
use skillopt_domain::run::RunStatus;

pub(crate) async fn about() -> ApiResult<About> {
    get("about").await
}

pub(crate) async fn runs(query: &RunQuery) -> ApiResult<Page<RunSummary>> {
    let query = Query::default()
        .with("status", query.status)
        .with("q", query.q.as_deref())
        .with("sort", query.sort.as_deref())
        .with("cursor", query.cursor.as_deref())
        .with("limit", query.limit);
    get(&query.on("runs")).await
}

pub(crate) async fn start_run(request: &LaunchRequest) -> ApiResult<Launched> {
    post("runs", request).await
}

pub(crate) async fn start_sample_run() -> ApiResult<Launched> {
    post_empty("runs/sample").await
}

pub(crate) async fn run(id: &RunId) -> ApiResult<RunDetail> {
    get(&format!("runs/{id}")).await
}

/// Events after a number, oldest first.
pub(crate) async fn events(id: &RunId, after: u64, limit: u32) -> ApiResult<Page<RunEvent>> {
    let query = Query::default().with("after", Some(after)).with("limit", Some(limit));
    get(&query.on(&format!("runs/{id}/events"))).await
}

/// One row of the journal in its own words.
pub(crate) async fn event_row(id: &RunId, seq: u64) -> ApiResult<Page<Json>> {
    let query = Query::default().with("after", Some(seq.saturating_sub(1))).with("limit", Some(1));
    get(&query.on(&format!("runs/{id}/events"))).await
}

/// What a person can ask of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunAction {
    Pause,
    Resume,
    Cancel,
}

/// Goes on with a run that ended before it was done, with other settings.
pub(crate) async fn resume_with(id: &RunId, request: &ResumeRequest) -> ApiResult<RunStatus> {
    let changed: StatusChanged = post(&format!("runs/{id}/resume"), request).await?;
    Ok(changed.status)
}

/// The same run once more.
pub(crate) async fn rerun(id: &RunId, request: &RerunRequest) -> ApiResult<Launched> {
    post(&format!("runs/{id}/rerun"), request).await
}

pub(crate) async fn import_folder(request: &ImportRequest) -> ApiResult<ImportReport> {
    post("imports", request).await
}

pub(crate) async fn act(id: &RunId, action: RunAction) -> ApiResult<RunStatus> {
    let word = match action {
        RunAction::Pause => "pause",
        RunAction::Resume => "resume",
        RunAction::Cancel => "cancel",
    };
    let changed: StatusChanged = post_empty(&format!("runs/{id}/{word}")).await?;
    Ok(changed.status)
}

pub(crate) async fn curves(id: &RunId, query: &CurveQuery) -> ApiResult<Curves> {
    let query = Query::default()
        .with("from", query.from)
        .with("to", query.to)
        .with("max_points", query.max_points);
    get(&query.on(&format!("runs/{id}/curves"))).await
}

pub(crate) async fn step(id: &RunId, step: u32) -> ApiResult<StepDetail> {
    get(&format!("runs/{id}/steps/{step}")).await
}

/// Finished steps from a number on.
pub(crate) async fn steps(id: &RunId, from: u32, limit: u32) -> ApiResult<Page<StepSummary>> {
    let query = Query::default().with("from", Some(from)).with("limit", Some(limit));
    get(&query.on(&format!("runs/{id}/steps"))).await
}

pub(crate) async fn skill(id: &RunId, sha: &Sha256Hex) -> ApiResult<SkillText> {
    get(&format!("runs/{id}/skills/{sha}")).await
}

/// Where the bytes of a skill can be downloaded.
pub(crate) fn skill_raw_href(id: &RunId, sha: &Sha256Hex) -> String {
    format!("{}/runs/{id}/skills/{sha}/raw", super::BASE)
}

pub(crate) async fn rejected(id: &RunId, query: &RejectedQuery) -> ApiResult<RejectedPage> {
    let query = Query::default()
        .with("why", query.why.map(RejectedWhy::as_str))
        .with("q", query.q.as_deref())
        .with("again", query.again)
        .with("cursor", query.cursor.as_deref())
        .with("limit", query.limit);
    get(&query.on(&format!("runs/{id}/rejected"))).await
}

/// A page of the matrix of tasks by skills.
pub(crate) async fn tasks(id: &RunId, query: &MatrixQuery) -> ApiResult<TaskMatrix> {
    let query = Query::default()
        .with("purpose", query.purpose.map(RolloutPurpose::as_str))
        .with("kept", query.kept)
        .with("show", query.show.map(TaskFilter::as_str))
        .with("sort", query.sort.map(TaskOrder::as_str))
        .with("q", query.q.as_deref())
        .with("row", query.row)
        .with("rows", query.rows)
        .with("column", query.column)
        .with("columns", query.columns);
    get(&query.on(&format!("runs/{id}/tasks"))).await
}

/// Two attempts at one task.
pub(crate) async fn trajectory_pair(
    id: &RunId,
    left: u64,
    right: u64,
) -> ApiResult<TrajectoryPair> {
    get(&format!("runs/{id}/trajectories/{left}/beside/{right}")).await
}

/// What brought each line of a version.
pub(crate) async fn blame(id: &RunId, version: u32) -> ApiResult<SkillBlame> {
    get(&format!("runs/{id}/versions/{version}/blame")).await
}

pub(crate) async fn trajectories(id: &RunId, query: &TrajectoryQuery) -> ApiResult<TrajectoryPage> {
    let query = Query::default()
        .with("outcome", query.outcome.map(OutcomeFilter::as_str))
        .with("purpose", query.purpose.map(RolloutPurpose::as_str))
        .with("step", query.step)
        .with("set", query.set.as_deref())
        .with("task", query.task.as_deref())
        .with("q", query.q.as_deref())
        .with("cursor", query.cursor.as_deref())
        .with("limit", query.limit);
    get(&query.on(&format!("runs/{id}/trajectories"))).await
}

pub(crate) async fn trajectory(id: &RunId, number: u64) -> ApiResult<Trajectory> {
    get(&format!("runs/{id}/trajectories/{number}")).await
}

pub(crate) async fn run_config(id: &RunId) -> ApiResult<ConfigView> {
    get(&format!("runs/{id}/config")).await
}

pub(crate) async fn adopt_preview(request: &AdoptPreviewRequest) -> ApiResult<AdoptPreview> {
    post("adoptions/preview", request).await
}

pub(crate) async fn adopt(request: &AdoptRequest) -> ApiResult<Receipt> {
    post("adoptions", request).await
}

pub(crate) async fn adoptions(run: &RunId) -> ApiResult<Vec<Receipt>> {
    get(&Query::default().with("run", Some(run)).on("adoptions")).await
}

pub(crate) async fn revert(id: &AdoptionId) -> ApiResult<Receipt> {
    post_empty(&format!("adoptions/{id}/revert")).await
}

/// Address of the stream of one run, continued after an event.
pub(crate) fn run_stream_url(id: &RunId, after: u64) -> String {
    format!("{}/runs/{}/stream?after={after}", super::BASE, encode(id.as_str()))
}

/// Address of the stream of all runs.
pub(crate) fn runs_stream_url() -> String {
    format!("{}/stream", super::BASE)
}
