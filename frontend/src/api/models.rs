//! Models: which there are, what is known of their servers, and test calls.

use super::{ApiResult, get, post};
use skillopt_domain::api::{EndpointList, ModelTest, ModelTestRequest, Models};

pub(crate) async fn models() -> ApiResult<Models> {
    get("models").await
}

pub(crate) async fn endpoints() -> ApiResult<EndpointList> {
    get("models/endpoints").await
}

pub(crate) async fn test_model(request: &ModelTestRequest) -> ApiResult<ModelTest> {
    post("models/test", request).await
}
