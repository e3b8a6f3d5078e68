//! The price table of the data directory. A change names the version that it was made from.

use super::extract::Json;
use super::problem::{ApiError, ApiResult};
use super::state::{ACTOR, AppState};
use axum::extract::State;
use skillopt_domain::api::{PriceUpdate, Problem};
use skillopt_domain::config::ConfigProblem;
use skillopt_domain::price::PriceTable;

/// The price table as it is now.
#[utoipa::path(get, path = "/prices", tag = "settings", responses((status = 200, body = PriceTable)))]
pub(crate) async fn list(State(state): State<AppState>) -> ApiResult<Json<PriceTable>> {
    Ok(Json(state.store.prices().await?))
}

/// Puts other rows in the place of those of a version. Runs that were made before keep their prices.
#[utoipa::path(put, path = "/prices", tag = "settings", request_body = PriceUpdate,
    responses((status = 200, body = PriceTable), (status = 422, body = Problem),
        (status = 409, body = Problem, description = "Somebody else changed the table meanwhile.")))]
pub(crate) async fn replace(
    State(state): State<AppState>,
    Json(update): Json<PriceUpdate>,
) -> ApiResult<Json<PriceTable>> {
    match state.hosting.replace_prices(update.version, &update.rows, ACTOR).await? {
        Ok(Some(table)) => Ok(Json(table)),
        Ok(None) => Err(ApiError::Conflict(
            "somebody else changed the prices meanwhile; load them again, and make your changes there".to_owned(),
        )),
        Err(problems) => Err(ApiError::BadConfig(
            problems
                .into_iter()
                .map(|one| ConfigProblem {
                    path: format!("rows[{}].{}", one.row, one.field),
                    place: None,
                    message: one.message,
                })
                .collect(),
        )),
    }
}
