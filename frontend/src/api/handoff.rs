//! Prompts that wait for a person.

use super::query::Query;
use super::{ApiResult, delete, encode, get, post, put};
use skillopt_domain::api::{HandoffAnswer, HandoffContinue, HandoffPage, NightBegun};

pub(crate) async fn handoff(project: &str) -> ApiResult<HandoffPage> {
    get(&Query::default().with("project", Some(project)).on("sleep/handoff")).await
}

/// Fails with `conflict` when somebody else answered meanwhile.
pub(crate) async fn answer_prompt(id: &str, answer: &HandoffAnswer) -> ApiResult<HandoffPage> {
    put(&format!("sleep/handoff/{}", encode(id)), answer).await
}

pub(crate) async fn take_answer_back(id: &str, project: &str) -> ApiResult<HandoffPage> {
    let path = format!("sleep/handoff/{}", encode(id));
    delete(&Query::default().with("project", Some(project)).on(&path)).await
}

pub(crate) async fn continue_night(project: &str) -> ApiResult<NightBegun> {
    post("sleep/handoff/continue", &HandoffContinue { project: project.to_owned() }).await
}
