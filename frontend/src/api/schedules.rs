//! Schedules of nights: list, add, change, remove, run at once.

use super::{ApiResult, delete, get, patch, post, post_empty};
use skillopt_domain::api::{
    NightBegun, ScheduleChange, ScheduleItem, SchedulePage, ScheduleRequest,
};
use skillopt_domain::ids::ScheduleId;

pub(crate) async fn schedules() -> ApiResult<SchedulePage> {
    get("sleep/schedules").await
}

pub(crate) async fn add_schedule(request: &ScheduleRequest) -> ApiResult<ScheduleItem> {
    post("sleep/schedules", request).await
}

pub(crate) async fn change_schedule(
    id: &ScheduleId,
    change: &ScheduleChange,
) -> ApiResult<ScheduleItem> {
    patch(&format!("sleep/schedules/{id}"), change).await
}

/// Gives the schedule as it was.
pub(crate) async fn remove_schedule(id: &ScheduleId) -> ApiResult<ScheduleItem> {
    delete(&format!("sleep/schedules/{id}")).await
}

pub(crate) async fn run_schedule(id: &ScheduleId) -> ApiResult<NightBegun> {
    post_empty(&format!("sleep/schedules/{id}/run")).await
}
