//! The one error of the HTTP side and how it becomes `application/problem+json`.
//! Causes go to the log here, once; a client never sees them.

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use skillopt_domain::api::{Problem, ProblemCode};
use skillopt_domain::config::{ConfigDifference, ConfigProblem};
use skillopt_store::{StoreFailure, TransitionError};
use std::sync::Arc;

/// The header that carries the request id of every answer.
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Why a request was not answered as asked. The texts are for people and say what to do.
#[derive(Clone, Debug)]
pub(crate) enum ApiError {
    /// The request is not well formed.
    BadRequest(String),
    /// Another site, or another content type, than is allowed.
    Forbidden(String),
    /// A write whose body is not JSON.
    NotJson(String),
    /// The name in `Host` is not served here.
    WrongHost(String),
    /// No such thing.
    NotFound(String),
    /// The route exists, the method does not.
    WrongMethod,
    /// The state does not allow it.
    Conflict(String),
    /// The live file is not what was shown.
    FileChanged(String),
    /// The config has problems.
    BadConfig(Vec<ConfigProblem>),
    /// The run cannot go on with what differs.
    NeedsFork {
        /// What to do.
        detail: String,
        /// All differences, the safe ones too.
        differences: Vec<ConfigDifference>,
    },
    /// The path may not be read or written.
    PathNotAllowed(String),
    /// The body is too large.
    TooLarge,
    /// Our fault.
    Internal(Arc<anyhow::Error>),
}

pub(crate) type ApiResult<T> = Result<T, ApiError>;

impl ApiError {
    /// A fault of ours, whose chain goes to the log only.
    pub(crate) fn internal(err: impl Into<anyhow::Error>) -> Self {
        Self::Internal(Arc::new(err.into()))
    }

    fn status(&self) -> StatusCode {
        match self {
            Self::BadRequest(_) => StatusCode::BAD_REQUEST,
            Self::Forbidden(_) | Self::PathNotAllowed(_) => StatusCode::FORBIDDEN,
            Self::NotJson(_) => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::WrongHost(_) => StatusCode::MISDIRECTED_REQUEST,
            Self::NotFound(_) => StatusCode::NOT_FOUND,
            Self::WrongMethod => StatusCode::METHOD_NOT_ALLOWED,
            Self::Conflict(_) | Self::FileChanged(_) | Self::NeedsFork { .. } => {
                StatusCode::CONFLICT
            }
            Self::BadConfig(_) => StatusCode::UNPROCESSABLE_ENTITY,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    fn code_and_title(&self) -> (ProblemCode, &'static str) {
        match self {
            Self::BadRequest(_) => (ProblemCode::BadRequest, "The request is not well formed"),
            Self::WrongMethod => (ProblemCode::BadRequest, "This address has no such method"),
            Self::Forbidden(_) => (ProblemCode::Forbidden, "The request is not allowed"),
            Self::NotJson(_) => (ProblemCode::Forbidden, "Writes need a JSON body"),
            Self::WrongHost(_) => (ProblemCode::WrongHost, "This host name is not served here"),
            Self::NotFound(_) => (ProblemCode::NotFound, "Not found"),
            Self::Conflict(_) => (ProblemCode::Conflict, "Not possible in this state"),
            Self::FileChanged(_) => (ProblemCode::FileChanged, "The live file has changed"),
            Self::BadConfig(_) => (ProblemCode::BadConfig, "The config has problems"),
            Self::NeedsFork { .. } => (ProblemCode::NeedsFork, "This needs a run of its own"),
            Self::PathNotAllowed(_) => (ProblemCode::PathNotAllowed, "The path is not allowed"),
            Self::TooLarge => (ProblemCode::TooLarge, "The body is too large"),
            Self::Internal(_) => (ProblemCode::Internal, "Something went wrong in the server"),
        }
    }

    fn detail(&self, request_id: &str) -> String {
        match self {
            Self::BadRequest(text)
            | Self::Forbidden(text)
            | Self::NotJson(text)
            | Self::WrongHost(text)
            | Self::NotFound(text)
            | Self::Conflict(text)
            | Self::FileChanged(text)
            | Self::NeedsFork { detail: text, .. }
            | Self::PathNotAllowed(text) => text.clone(),
            Self::WrongMethod => "see /api/v1/openapi.json for what exists".to_owned(),
            Self::BadConfig(problems) => {
                problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
            }
            Self::TooLarge => "a body may have 4 MB at most".to_owned(),
            Self::Internal(_) => format!("the log has the cause under the request id {request_id}"),
        }
    }

    fn into_problem(self, request_id: &str) -> Problem {
        let (code, title) = self.code_and_title();
        Problem {
            kind: "about:blank".to_owned(),
            title: title.to_owned(),
            status: self.status().as_u16(),
            detail: self.detail(request_id),
            instance: request_id.to_owned(),
            code,
            differences: match &self {
                Self::NeedsFork { differences, .. } => differences.clone(),
                _ => Vec::new(),
            },
            problems: if let Self::BadConfig(problems) = self { problems } else { Vec::new() },
        }
    }
}

impl From<StoreFailure> for ApiError {
    fn from(err: StoreFailure) -> Self {
        match err {
            StoreFailure::NotFound { .. } => Self::NotFound(err.to_string()),
            StoreFailure::BadQuery { .. } => Self::BadRequest(err.to_string()),
            StoreFailure::Corrupt { .. } | StoreFailure::Sql { .. } | StoreFailure::Closed => {
                Self::internal(err)
            }
        }
    }
}

impl From<TransitionError> for ApiError {
    fn from(err: TransitionError) -> Self {
        match err {
            TransitionError::Forbidden(_) | TransitionError::LeaseLost { .. } => {
                Self::Conflict(err.to_string())
            }
            TransitionError::Store(failure) => failure.into(),
        }
    }
}

/// The body is written by [`answer_with_problems`], which knows the request id.
impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = self.status().into_response();
        response.extensions_mut().insert(self);
        response
    }
}

/// Outermost layer: gives each request an id and turns every error under `/api` into a problem, also those
/// of the framework.
pub(crate) async fn answer_with_problems(request: Request, next: Next) -> Response {
    let request_id = uuid::Uuid::now_v7().to_string();
    let route = format!("{} {}", request.method(), request.uri().path());
    let is_api = request.uri().path().starts_with("/api");
    let mut response = next.run(request).await;
    if let Some(err) = response.extensions_mut().remove::<ApiError>().or_else(|| {
        let unexplained = is_api && is_error(response.status());
        unexplained.then(|| of_framework(response.status(), &route))
    }) {
        response = render(err, &request_id, &route);
    }
    let status = response.status().as_u16();
    tracing::debug!(request.id = request_id, route, status, "answered");
    if let Ok(value) = HeaderValue::from_str(&request_id) {
        response.headers_mut().insert(REQUEST_ID, value);
    }
    response
}

fn is_error(status: StatusCode) -> bool {
    status.is_client_error() || status.is_server_error()
}

fn of_framework(status: StatusCode, route: &str) -> ApiError {
    match status {
        StatusCode::NOT_FOUND => ApiError::NotFound(format!("there is no {route}")),
        StatusCode::METHOD_NOT_ALLOWED => ApiError::WrongMethod,
        StatusCode::PAYLOAD_TOO_LARGE => ApiError::TooLarge,
        other if other.is_client_error() => ApiError::BadRequest(other.to_string()),
        other => ApiError::internal(anyhow::anyhow!("a handler ended with {other}")),
    }
}

fn render(err: ApiError, request_id: &str, route: &str) -> Response {
    if let ApiError::Internal(cause) = &err {
        tracing::error!(request.id = request_id, route, "request failed: {cause:#}");
    }
    let problem = err.into_problem(request_id);
    let body = serde_json::to_vec(&problem).unwrap_or_default();
    let status = StatusCode::from_u16(problem.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
