//! What waits for a person, and the first page.

use super::query::Query;
use super::{ApiResult, get};
use skillopt_domain::api::{Overview, ReviewPage};

/// Nights that wait for a decision, from a cursor on.
pub(crate) async fn review(cursor: Option<&str>) -> ApiResult<ReviewPage> {
    get(&Query::default().with("cursor", cursor).on("review")).await
}

pub(crate) async fn overview() -> ApiResult<Overview> {
    get("overview").await
}
