//! One attempt: a request is sent, and what comes back is read within limits of time and size. Retries are
//! not decided here.

use super::HttpModel;
use super::endpoints::causes;
use super::error_body::ErrorBody;
use super::failure::{Again, Failure, Refusal, classify};
use super::request::Body;
use super::response::{self, Completion};
use crate::retry::retry_after;
use reqwest::header::{HeaderMap, HeaderValue, LOCATION};
use reqwest::{Method, Request, Response, StatusCode};
use skillopt_engine::ports::{ChatRequest, Finish, ModelErrorKind};
use std::time::Duration;

/// Replies beyond this are refused.
const MOST_REPLY_BYTES: usize = 16 * 1024 * 1024;
/// More of an error is not read.
const MOST_ERROR_BYTES: usize = 64 * 1024;

impl HttpModel {
    /// Makes one attempt. Safe to drop: the connection is closed, nothing else is held.
    pub(crate) async fn attempt(
        &self,
        request: &ChatRequest,
        body: &Body<'_>,
        within: Duration,
    ) -> Result<Completion, Failure> {
        let bytes = serde_json::to_vec(body).map_err(|err| {
            Failure::new(ModelErrorKind::BadRequest, Again::Never, err.to_string())
        })?;
        let exchange = self.exchange(self.request(request, bytes));
        tokio::time::timeout(within, exchange).await.unwrap_or_else(|_| {
            let message = format!("no complete answer within {} s", within.as_secs_f64());
            Err(Failure::new(ModelErrorKind::Timeout, Again::Backoff, message))
        })
    }

    fn request(&self, chat: &ChatRequest, body: Vec<u8>) -> Request {
        let mut request = Request::new(Method::POST, self.address.chat.clone());
        *request.headers_mut() = self.headers.clone();
        if self.send_headers {
            let headers = request.headers_mut();
            headers.insert("x-skillopt-purpose", HeaderValue::from_static(chat.purpose.as_str()));
            if let Ok(phase) = HeaderValue::from_str(&chat.phase) {
                headers.insert("x-skillopt-phase", phase);
            }
        }
        *request.body_mut() = Some(body.into());
        request
    }

    async fn exchange(&self, request: Request) -> Result<Completion, Failure> {
        let mut response = self.client.execute(request).await.map_err(|err| self.broken(err))?;
        let status = response.status();
        if status.is_success() {
            return match self.read(&mut response, MOST_REPLY_BYTES).await? {
                Read::Whole(body) => response::read(&body),
                Read::Cut(_) => Err(too_large()),
            };
        }
        if status.is_redirection() {
            return Err(self.redirected(status, response.headers()));
        }
        let wait = retry_after(response.headers(), self.endpoints.timer().wall());
        let (Read::Whole(bytes) | Read::Cut(bytes)) =
            self.read(&mut response, MOST_ERROR_BYTES).await?;
        let body = ErrorBody::parse(&bytes);
        if status == StatusCode::BAD_REQUEST && body.is_content_filter() {
            // These words are kept as the answer, so they are masked like those of an error.
            let words = body.words();
            let text = self.secret.as_ref().map_or_else(|| words.clone(), |key| key.mask(&words));
            return Ok(Completion { text, finish: Finish::Refused, usage: None });
        }
        if status == StatusCode::BAD_REQUEST && body.says_limit_was_reached() {
            let message = body.words();
            return Err(Failure::new(ModelErrorKind::ReasoningOnly, Again::Never, message));
        }
        Err(classify(Refusal {
            status: status.as_u16(),
            label: &status.to_string(),
            body: &body,
            retry_after: wait,
            longest_wait: self.max_retry_after,
        }))
    }

    async fn read(&self, response: &mut Response, most: usize) -> Result<Read, Failure> {
        const MOST_RESERVED: usize = 1024 * 1024;
        let announced = response.content_length().and_then(|length| usize::try_from(length).ok());
        let mut bytes = Vec::with_capacity(announced.unwrap_or(0).min(MOST_RESERVED));
        while let Some(chunk) = response.chunk().await.map_err(|err| self.broken(err))? {
            let room = most - bytes.len();
            if chunk.len() > room {
                bytes.extend_from_slice(&chunk[..room]);
                return Ok(Read::Cut(bytes));
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(Read::Whole(bytes))
    }

    fn broken(&self, error: reqwest::Error) -> Failure {
        let is_outage = error.is_connect();
        let what = if is_outage { "cannot connect to" } else { "lost the connection to" };
        let error = error.without_url();
        let words = causes(&error);
        let message = format!("{what} {}: {words}", self.address.host);
        // A certificate that does not fit now will not fit in a second either.
        let again = if words.contains("certificate") { Again::Never } else { Again::Backoff };
        match error {
            _ if error.is_builder() => {
                Failure::new(ModelErrorKind::BadRequest, Again::Never, message)
            }
            _ if error.is_timeout() => Failure::new(ModelErrorKind::Timeout, again, message),
            _ => Failure { is_outage, ..Failure::new(ModelErrorKind::Connection, again, message) },
        }
    }

    fn redirected(&self, status: StatusCode, headers: &HeaderMap) -> Failure {
        let target = headers
            .get(LOCATION)
            .and_then(|location| location.to_str().ok())
            .and_then(|location| self.address.chat.join(location).ok())
            .and_then(|target| target.host_str().map(str::to_owned))
            .unwrap_or_else(|| "an unnamed place".to_owned());
        let message = format!(
            "{status}: {} redirects to {target}. Redirects are not followed, so that the key reaches \
             no other host: set the base URL to the final address",
            self.address.host
        );
        Failure::new(ModelErrorKind::BadRequest, Again::Never, message)
    }
}

enum Read {
    Whole(Vec<u8>),
    Cut(Vec<u8>),
}

fn too_large() -> Failure {
    let message = format!("the reply is larger than {} MB", MOST_REPLY_BYTES / 1024 / 1024);
    Failure::new(ModelErrorKind::Server, Again::Never, message)
}
