//! Runs beside each other.

use super::query::Query;
use super::{ApiResult, get};
use skillopt_domain::compare::{Compared, SkillPair};
use skillopt_domain::ids::RunId;

/// `runs` are ids between commas; the others are held against `base`.
pub(crate) async fn compare(runs: &str, base: Option<&str>) -> ApiResult<Compared> {
    let query = Query::default().with("runs", Some(runs)).with("base", base);
    get(&query.on("compare")).await
}

/// The best skills of two runs.
pub(crate) async fn compare_skills(left: &RunId, right: &RunId) -> ApiResult<SkillPair> {
    let query = Query::default().with("left", Some(left)).with("right", Some(right));
    get(&query.on("compare/skills")).await
}
