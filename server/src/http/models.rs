//! What this process knows of the model servers that its runs call. No call is made here.

use super::extract::Json;
use super::state::AppState;
use axum::extract::State;
use skillopt_domain::api::EndpointList;

/// The endpoints that runs and checks of this process have used: limits, refusals, outages, last errors.
#[utoipa::path(get, path = "/models/endpoints", tag = "models", responses((status = 200, body = EndpointList)))]
pub(crate) async fn endpoints(State(state): State<AppState>) -> Json<EndpointList> {
    Json(EndpointList { endpoints: state.hosting.endpoints() })
}
