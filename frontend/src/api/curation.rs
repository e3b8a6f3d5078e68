//! Tasks that a person looks through.

use super::query::Query;
use super::{ApiResult, get, post};
use skillopt_domain::api::{
    CuratedTasks, TaskChangeRequest, TaskSearch, TaskTrial, TaskTried, TasksFound,
};

pub(crate) async fn curated_tasks(project: &str) -> ApiResult<CuratedTasks> {
    get(&Query::default().with("project", Some(project)).on("sleep/tasks")).await
}

pub(crate) async fn find_tasks(search: &TaskSearch) -> ApiResult<TasksFound> {
    post("sleep/tasks", search).await
}

/// Fails with `conflict` when somebody else changed the tasks meanwhile.
pub(crate) async fn change_tasks(change: &TaskChangeRequest) -> ApiResult<CuratedTasks> {
    post("sleep/tasks/change", change).await
}

pub(crate) async fn try_task(trial: &TaskTrial) -> ApiResult<TaskTried> {
    post("sleep/tasks/try", trial).await
}
