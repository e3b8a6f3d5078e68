//! Nights of Sleep: list, start, one night, what is decided about it, and its evidence.

use super::query::Query;
use super::{ApiResult, get, post, post_empty};
use skillopt_domain::api::{
    NightAdoption, NightBegun, NightDetail, NightItem, NightPreview, NightRejection, NightRequest,
    Page, SleepPage,
};
use skillopt_domain::ids::NightId;
use skillopt_domain::json::Json;

/// Nights of one project, or of all.
pub(crate) async fn sleep(project: Option<&str>) -> ApiResult<SleepPage> {
    get(&Query::default().with("project", project).on("sleep")).await
}

pub(crate) async fn begin_night(request: &NightRequest) -> ApiResult<NightBegun> {
    post("sleep/nights", request).await
}

pub(crate) async fn night(id: &NightId) -> ApiResult<NightDetail> {
    get(&format!("sleep/nights/{id}")).await
}

pub(crate) async fn cancel_night(id: &NightId) -> ApiResult<NightItem> {
    post_empty(&format!("sleep/nights/{id}/cancel")).await
}

/// The documents that a choice of edits makes. Nothing is written.
pub(crate) async fn preview_night(
    id: &NightId,
    adoption: &NightAdoption,
) -> ApiResult<NightPreview> {
    post(&format!("sleep/nights/{id}/preview"), adoption).await
}

/// Fails with `file_changed` when a live file is not what the night read.
pub(crate) async fn adopt_night(id: &NightId, adoption: &NightAdoption) -> ApiResult<NightDetail> {
    post(&format!("sleep/nights/{id}/adopt"), adoption).await
}

pub(crate) async fn reject_night(
    id: &NightId,
    rejection: &NightRejection,
) -> ApiResult<NightDetail> {
    post(&format!("sleep/nights/{id}/reject"), rejection).await
}

pub(crate) async fn revert_night(id: &NightId) -> ApiResult<NightDetail> {
    post_empty(&format!("sleep/nights/{id}/revert")).await
}

/// Rows of evidence after a number, oldest first.
pub(crate) async fn night_evidence(id: &NightId, after: u64, limit: u32) -> ApiResult<Page<Json>> {
    let query = Query::default().with("after", Some(after)).with("limit", Some(limit));
    get(&query.on(&format!("sleep/nights/{id}/evidence"))).await
}
