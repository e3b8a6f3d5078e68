//! One attempt: a request is sent, and what comes back is read within limits of time and size. Retries are
//! not decided here.

use super::HttpModel;
use super::dialect::{Api, Assembly, Completion};
use super::endpoints::causes;
use super::error_body::ErrorBody;
use super::failure::{Again, Failure, Refusal, classify};
use super::request::Body;
use super::sse::EventReader;
use crate::retry::retry_after;
use crate::secret::Secret;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION};
use reqwest::{Method, Request, Response, StatusCode};
use skillopt_engine::ports::{ChatRequest, Finish, ModelErrorKind};
use std::time::{Duration, Instant};

/// Replies beyond this are refused.
const MOST_REPLY_BYTES: usize = 16 * 1024 * 1024;
/// More of an error is not read.
const MOST_ERROR_BYTES: usize = 64 * 1024;

/// A stream that has said all may take so long to close; else its connection is not used again.
const TO_CLOSE: Duration = Duration::from_secs(1);

impl HttpModel {
    /// Makes one attempt, which may take as long as the model's time-out; in a stream each wait for the next piece may.
    /// In all it takes no longer than `left`. Safe to drop: the connection is closed, nothing else is held.
    pub(crate) async fn attempt(
        &self,
        request: &ChatRequest,
        body: &Body<'_>,
        left: Duration,
    ) -> Result<Completion, Failure> {
        let within = self.timeout.min(left);
        let start = Instant::now();
        let exchange = self.exchange(self.request(request, body).await?, body);
        let late = |within: Duration| {
            let message = format!("no complete answer within {} s", within.as_secs_f64());
            Failure::new(ModelErrorKind::Timeout, Again::Backoff, message)
        };
        match tokio::time::timeout(within, exchange).await.map_err(|_| late(within))?? {
            Exchanged::Whole(completion) => Ok(completion),
            Exchanged::Stream(response) => {
                let left = left.saturating_sub(start.elapsed());
                let mut first_token = None;
                let stream = self.read_stream(response, body.api, || {
                    first_token.get_or_insert_with(|| start.elapsed());
                });
                let end = tokio::time::timeout(left, stream).await.map_err(|_| late(left))?;
                end.map(|completion| Completion { first_token, ..completion })
                    .map_err(|failure| Failure { first_token, ..failure })
            }
        }
    }

    async fn request(&self, chat: &ChatRequest, body: &Body<'_>) -> Result<Request, Failure> {
        let mut request = Request::new(Method::POST, self.address.url(body.api));
        let headers = request.headers_mut();
        *headers = self.headers.clone();
        if let Some(tokens) = &self.tokens {
            let token = tokens.get(&self.endpoints).await?;
            headers.insert(AUTHORIZATION, bearer(&token)?);
        }
        if body.is_streamed() {
            headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        }
        if self.send_headers {
            headers.insert("x-skillopt-purpose", HeaderValue::from_static(chat.purpose.as_str()));
            if let Ok(phase) = HeaderValue::from_str(&chat.phase) {
                headers.insert("x-skillopt-phase", phase);
            }
        }
        *request.body_mut() = Some(body.to_bytes().into());
        Ok(request)
    }

    async fn exchange(&self, request: Request, body: &Body<'_>) -> Result<Exchanged, Failure> {
        let mut response = self.client.execute(request).await.map_err(|err| self.broken(err))?;
        let status = response.status();
        if status.is_success() {
            if body.is_streamed() && is_event_stream(response.headers()) {
                return Ok(Exchanged::Stream(response));
            }
            return match self.read(&mut response, MOST_REPLY_BYTES).await? {
                Read::Whole(bytes) => body.api.read(&bytes).map(Exchanged::Whole),
                Read::Cut(_) => Err(too_large()),
            };
        }
        if status.is_redirection() {
            return Err(self.redirected(status, response.headers()));
        }
        self.refused(status, response).await.map(Exchanged::Whole)
    }

    async fn refused(
        &self,
        status: StatusCode,
        mut response: Response,
    ) -> Result<Completion, Failure> {
        let label = match status {
            // Most often the base URL lacks a part, such as `/v1`.
            StatusCode::NOT_FOUND => {
                format!("{status} for {}{}", self.address.host, response.url().path())
            }
            _ => status.to_string(),
        };
        let wait = retry_after(response.headers(), self.endpoints.timer().wall());
        let (Read::Whole(bytes) | Read::Cut(bytes)) =
            self.read(&mut response, MOST_ERROR_BYTES).await?;
        let body = ErrorBody::parse(&bytes);
        if status == StatusCode::BAD_REQUEST && body.is_content_filter() {
            // These words are kept as the answer, so they are masked like those of an error.
            let text = self.mask(&body.words());
            return Ok(Completion { text, finish: Finish::Refused, ..Completion::default() });
        }
        if status == StatusCode::BAD_REQUEST && body.says_limit_was_reached() {
            let message = body.words();
            return Err(Failure::new(ModelErrorKind::ReasoningOnly, Again::Never, message));
        }
        Err(classify(Refusal {
            status: status.as_u16(),
            label: &label,
            body: &body,
            retry_after: wait,
            longest_wait: self.max_retry_after,
        }))
    }

    /// Reads a reply that comes in pieces. Comments show that the server lives, not that it gets on: only events end the
    /// wait. `begun` is told with each event once the model writes.
    async fn read_stream(
        &self,
        mut response: Response,
        api: Api,
        mut begun: impl FnMut(),
    ) -> Result<Completion, Failure> {
        let (mut reader, mut assembly) = (EventReader::default(), Assembly::new(api));
        let (mut latest, mut room) = (Instant::now(), MOST_REPLY_BYTES);
        loop {
            let patience = if assembly.has_ended() { TO_CLOSE } else { self.timeout };
            let left = patience.saturating_sub(latest.elapsed());
            let chunk = match tokio::time::timeout(left, response.chunk()).await {
                _ if assembly.has_ended() && left.is_zero() => break,
                Ok(Ok(Some(chunk))) => chunk,
                Ok(Ok(None)) => break,
                Ok(Err(_)) | Err(_) if assembly.has_ended() => break,
                Ok(Err(err)) => return Err(self.broken(err)),
                Err(_) => {
                    let seconds = self.timeout.as_secs_f64();
                    let message = format!("the stream stood still for {seconds} s");
                    return Err(Failure::new(ModelErrorKind::Timeout, Again::Backoff, message));
                }
            };
            room = room.checked_sub(chunk.len()).ok_or_else(too_large)?;
            for data in reader.feed(&chunk) {
                assembly.push(&data)?;
                latest = Instant::now();
                if assembly.has_begun() {
                    begun();
                }
            }
        }
        if let Some(data) = reader.finish().filter(|_| !assembly.has_ended()) {
            assembly.push(&data)?;
        }
        assembly.finish()
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
            .and_then(|location| self.address.url(Api::Chat).join(location).ok())
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

enum Exchanged {
    Whole(Completion),
    Stream(Response),
}

fn is_event_stream(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.trim().to_ascii_lowercase().starts_with("text/event-stream")
}

fn bearer(token: &Secret) -> Result<HeaderValue, Failure> {
    let mut value = HeaderValue::from_str(&format!("Bearer {}", token.expose())).map_err(|_| {
        let message = "the token contains characters that no header can carry";
        Failure::new(ModelErrorKind::Authentication, Again::Never, message)
    })?;
    value.set_sensitive(true);
    Ok(value)
}

enum Read {
    Whole(Vec<u8>),
    Cut(Vec<u8>),
}

fn too_large() -> Failure {
    let message = format!("the reply is larger than {} MB", MOST_REPLY_BYTES / 1024 / 1024);
    Failure::new(ModelErrorKind::Server, Again::Never, message)
}
