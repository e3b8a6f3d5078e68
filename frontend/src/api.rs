//! The API, typed. The only place that knows a URL; nothing here touches signals.

mod error;
mod query;
mod runs;
mod schema;
mod setup;

pub(crate) use error::ApiError;
pub(crate) use query::encode;
pub(crate) use runs::*;
pub(crate) use schema::{SchemaAvailability, SchemaKey, SchemaKind};
pub(crate) use setup::*;

use gloo_net::http::{Request, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;
use skillopt_domain::json;

/// Every answer of this API, or why there is none.
pub(crate) type ApiResult<T> = Result<T, ApiError>;

const BASE: &str = "/api/v1";

async fn get<T: DeserializeOwned>(path: &str) -> ApiResult<T> {
    let sent = Request::get(&format!("{BASE}/{path}")).header("accept", "application/json").send();
    read(sent.await.map_err(|err| ApiError::unreachable(&err.to_string()))?).await
}

async fn post<T: DeserializeOwned>(path: &str, body: &impl Serialize) -> ApiResult<T> {
    read(send_json(path, body).await?).await
}

/// For actions without a body: an empty object, so that the content type check of the server holds.
async fn post_empty<T: DeserializeOwned>(path: &str) -> ApiResult<T> {
    post(path, &serde_json::Map::new()).await
}

async fn send_json(path: &str, body: &impl Serialize) -> ApiResult<Response> {
    let request = Request::post(&format!("{BASE}/{path}"))
        .json(body)
        .map_err(|err| ApiError::unreadable(&err.to_string()))?;
    request.send().await.map_err(|err| ApiError::unreachable(&err.to_string()))
}

async fn read<T: DeserializeOwned>(response: Response) -> ApiResult<T> {
    let text = text_of(response).await?;
    json::from_str(&text).map_err(|err| ApiError::unreadable(&err.to_string()))
}

async fn text_of(response: Response) -> ApiResult<String> {
    let status = response.status();
    let text = response.text().await.map_err(|err| ApiError::unreachable(&err.to_string()))?;
    if response.ok() { Ok(text) } else { Err(ApiError::from_body(status, &text)) }
}
