//! The API, typed. The only place that knows a URL; nothing here touches signals.

mod compare;
mod curation;
mod error;
mod handoff;
mod models;
mod nights;
mod query;
mod review;
mod runs;
mod schedules;
mod schema;
mod setup;

pub(crate) use compare::*;
pub(crate) use curation::*;
pub(crate) use error::ApiError;
pub(crate) use handoff::*;
pub(crate) use models::*;
pub(crate) use nights::*;
pub(crate) use query::encode;
pub(crate) use review::*;
pub(crate) use runs::*;
pub(crate) use schedules::*;
pub(crate) use schema::{SchemaAvailability, SchemaKey, SchemaKind};
pub(crate) use setup::*;

use gloo_net::http::{Request, RequestBuilder, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;
use skillopt_domain::json::Json;
use std::future::Future;
use std::pin::Pin;

/// Every answer of this API, or why there is none.
pub(crate) type ApiResult<T> = Result<T, ApiError>;

const BASE: &str = "/api/v1";

async fn get<T: DeserializeOwned>(path: &str) -> ApiResult<T> {
    read(ask(Request::get(&format!("{BASE}/{path}")), None).await?)
}

async fn post<T: DeserializeOwned>(path: &str, body: &impl Serialize) -> ApiResult<T> {
    let body = serde_json::to_string(body).map_err(|err| ApiError::unreadable(&err.to_string()))?;
    post_text(path, body).await
}

async fn put<T: DeserializeOwned>(path: &str, body: &impl Serialize) -> ApiResult<T> {
    let body = serde_json::to_string(body).map_err(|err| ApiError::unreadable(&err.to_string()))?;
    read(ask(Request::put(&format!("{BASE}/{path}")), Some(body)).await?)
}

async fn patch<T: DeserializeOwned>(path: &str, body: &impl Serialize) -> ApiResult<T> {
    let body = serde_json::to_string(body).map_err(|err| ApiError::unreadable(&err.to_string()))?;
    read(ask(Request::patch(&format!("{BASE}/{path}")), Some(body)).await?)
}

async fn delete<T: DeserializeOwned>(path: &str) -> ApiResult<T> {
    read(ask(Request::delete(&format!("{BASE}/{path}")), None).await?)
}

/// For actions without a body: an empty object, so that the content type check of the server holds.
async fn post_empty<T: DeserializeOwned>(path: &str) -> ApiResult<T> {
    post_text(path, "{}".to_owned()).await
}

async fn post_text<T: DeserializeOwned>(path: &str, body: String) -> ApiResult<T> {
    read(ask(Request::post(&format!("{BASE}/{path}")), Some(body)).await?)
}

/// Sends a request, with JSON text as its body, and waits for its answer. Boxed and the same for all calls: a
/// state machine of its own for each type that is asked for would be compiled many times.
fn ask(
    request: RequestBuilder,
    body: Option<String>,
) -> Pin<Box<dyn Future<Output = ApiResult<Json>>>> {
    Box::pin(async move {
        let request = request.header("accept", "application/json");
        let request = match body {
            Some(body) => request.header("content-type", "application/json").body(body),
            None => request.build(),
        };
        let request = request.map_err(|err| ApiError::unreadable(&err.to_string()))?;
        let sent = request.send().await;
        let text = text_of(sent.map_err(|err| ApiError::unreachable(&err.to_string()))?).await?;
        Json::parse(&text).map_err(|err| ApiError::unreadable(&err.to_string()))
    })
}

fn read<T: DeserializeOwned>(answer: Json) -> ApiResult<T> {
    T::deserialize(answer).map_err(|err| ApiError::unreadable(&err.to_string()))
}

async fn text_of(response: Response) -> ApiResult<String> {
    let status = response.status();
    let text = response.text().await.map_err(|err| ApiError::unreachable(&err.to_string()))?;
    if response.ok() { Ok(text) } else { Err(ApiError::from_body(status, &text)) }
}
