//! Prompts that wait for a person.

use super::query::Query;
use super::{ApiResult, delete, encode, get, post, put};
use skillopt_domain::api::{HandoffAnswer, HandoffContinue, HandoffPage, NightBegun};

/// `dry` is whose prompts: those of a dry run or of the night; `None` is whichever began to wait last.
pub(crate) async fn handoff(project: &str, dry: Option<bool>) -> ApiResult<HandoffPage> {
    get(&query(project, dry).on("sleep/handoff")).await
}

/// Fails with `conflict` when somebody else answered meanwhile.
pub(crate) async fn answer_prompt(id: &str, answer: &HandoffAnswer) -> ApiResult<HandoffPage> {
    put(&format!("sleep/handoff/{}", encode(id)), answer).await
}

pub(crate) async fn take_answer_back(
    id: &str,
    project: &str,
    dry: Option<bool>,
) -> ApiResult<HandoffPage> {
    delete(&query(project, dry).on(&format!("sleep/handoff/{}", encode(id)))).await
}

pub(crate) async fn continue_night(project: &str, dry: Option<bool>) -> ApiResult<NightBegun> {
    post("sleep/handoff/continue", &HandoffContinue { project: project.to_owned(), dry }).await
}

fn query(project: &str, dry: Option<bool>) -> Query {
    Query::default().with("project", Some(project)).with("dry", dry)
}
