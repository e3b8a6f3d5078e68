//! Models over HTTP: which there are, what is known of their servers, and test calls. A test call may cost money, so it is a write with an actor.

use super::extract::Json;
use super::problem::{ApiError, ApiResult};
use super::state::{ACTOR, AppState};
use crate::host::{TestFailure, TestScope};
use axum::extract::State;
use skillopt_domain::api::{EndpointList, ModelTest, ModelTestRequest, Models, Problem};

/// The models of new runs, of the latest runs, and the simulated ones. Calls none of them.
#[utoipa::path(get, path = "/models", tag = "models", responses((status = 200, body = Models)))]
pub(crate) async fn list(State(state): State<AppState>) -> ApiResult<Json<Models>> {
    Ok(Json(state.hosting.models().await?))
}

/// The endpoints that runs and checks of this process have used: limits, refusals, outages, last errors.
#[utoipa::path(get, path = "/models/endpoints", tag = "models", responses((status = 200, body = EndpointList)))]
pub(crate) async fn endpoints(State(state): State<AppState>) -> Json<EndpointList> {
    Json(EndpointList { endpoints: state.hosting.endpoints() })
}

/// Calls a model once, or a few times more to see what its endpoint accepts. What it says is the answer, errors too.
#[utoipa::path(post, path = "/models/test", tag = "models", request_body = ModelTestRequest,
    responses((status = 200, body = ModelTest), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn test(
    State(state): State<AppState>,
    Json(request): Json<ModelTestRequest>,
) -> ApiResult<Json<ModelTest>> {
    let scope = if request.probe { TestScope::Accepts } else { TestScope::Answer };
    Ok(Json(state.hosting.test_model(&request.id, scope, ACTOR, &state.stop).await?))
}

impl From<TestFailure> for ApiError {
    fn from(err: TestFailure) -> Self {
        match err {
            TestFailure::Unknown(_) => Self::NotFound(err.to_string()),
            TestFailure::Config(bad) => bad.into(),
            TestFailure::Store(failure) => failure.into(),
        }
    }
}
