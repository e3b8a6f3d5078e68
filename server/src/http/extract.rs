//! Our own `Json`, `Path` and `Query`: the framework's, with rejections that speak `problem+json`.
//! Handlers use these and never the originals.

use super::problem::ApiError;
use axum::extract::rejection::{JsonRejection, PathRejection, QueryRejection};
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A JSON body, in or out.
#[derive(Debug)]
pub(crate) struct Json<T>(pub(crate) T);

/// The parts of the path.
#[derive(Debug)]
pub(crate) struct Path<T>(pub(crate) T);

/// The query.
#[derive(Debug)]
pub(crate) struct Query<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Json<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let body = axum::Json::<T>::from_request(request, state).await;
        body.map(|axum::Json(value)| Self(value)).map_err(|err| refuse_body(&err))
    }
}

impl<T: Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        axum::Json(self.0).into_response()
    }
}

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Path<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let path = axum::extract::Path::<T>::from_request_parts(parts, state).await;
        path.map(|axum::extract::Path(value)| Self(value))
            .map_err(|err: PathRejection| ApiError::BadRequest(err.body_text()))
    }
}

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let query = axum::extract::Query::<T>::from_request_parts(parts, state).await;
        query
            .map(|axum::extract::Query(value)| Self(value))
            .map_err(|err: QueryRejection| ApiError::BadRequest(err.body_text()))
    }
}

fn refuse_body(err: &JsonRejection) -> ApiError {
    match err.status() {
        StatusCode::PAYLOAD_TOO_LARGE => ApiError::TooLarge,
        StatusCode::UNSUPPORTED_MEDIA_TYPE => {
            ApiError::NotJson("send `content-type: application/json`".to_owned())
        }
        _ => ApiError::BadRequest(err.body_text()),
    }
}
