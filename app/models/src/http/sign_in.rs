//! Tokens of Azure for calls without a key: from the program `az`, or from the machine. A token is fetched once for all
//! runs and kept until shortly before it expires.

use super::address::Transport;
use super::endpoints::{Endpoints, causes};
use super::error_body::ErrorBody;
use super::failure::{Again, Failure};
use crate::program::output_of;
use crate::secret::Secret;
use reqwest::Url;
use serde_json::Value;
use skillopt_engine::ports::ModelErrorKind;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::sync::Mutex;

/// A token is not used within so much of its end.
const BEFORE_END: Duration = Duration::from_secs(300);
/// What a token is good for when nobody says.
const UNTOLD: Duration = Duration::from_secs(600);
const LONGEST_FETCH: Duration = Duration::from_secs(30);

/// Where tokens come from. Handed in by the host, which alone knows the environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokenSource {
    /// The program `az`, which the user has signed in to.
    AzureCli {
        /// The program.
        program: PathBuf,
        /// All that it sees of the environment.
        environment: Vec<(String, String)>,
    },
    /// The machine's own identity.
    ManagedIdentity {
        /// Address of the service that gives tokens.
        address: String,
        /// The header that an app has to send, with its value; a virtual machine needs none.
        header: Option<Secret>,
        /// Client id of a user-assigned identity; empty for the system's own.
        client_id: String,
    },
}

/// A token, kept.
#[derive(Debug)]
pub(crate) struct Tokens {
    source: TokenSource,
    /// What the token is for, without the `/.default` at its end.
    resource: String,
    /// Held while a token is fetched, so that calls that start together fetch one.
    current: Mutex<Option<Token>>,
    /// The latest token, for masking.
    shown: std::sync::Mutex<Option<Secret>>,
}

#[derive(Clone, Debug)]
struct Token {
    secret: Secret,
    end: SystemTime,
}

impl Tokens {
    pub(crate) fn new(source: TokenSource, scope: &str) -> Self {
        let resource = scope.trim().trim_end_matches("/.default").to_owned();
        Self { source, resource, current: Mutex::default(), shown: std::sync::Mutex::default() }
    }

    pub(crate) fn is_for_same(&self, other: &Self) -> bool {
        (&self.source, &self.resource) == (&other.source, &other.resource)
    }

    /// A token that is good for a while. Safe to drop.
    pub(crate) async fn get(&self, endpoints: &Endpoints) -> Result<Secret, Failure> {
        let now = endpoints.timer().wall();
        let mut current = self.current.lock().await;
        if let Some(token) = current.as_ref().filter(|token| now + BEFORE_END < token.end) {
            return Ok(token.secret.clone());
        }
        let fetch = async {
            match &self.source {
                TokenSource::AzureCli { program, environment } => {
                    self.ask_program(program, environment).await
                }
                TokenSource::ManagedIdentity { address, header, client_id } => {
                    self.ask_machine(endpoints, address, header.as_ref(), client_id).await
                }
            }
        };
        // A program has a limit of its own, within which it is ended.
        let answer = tokio::time::timeout(LONGEST_FETCH * 2, fetch).await.unwrap_or_else(|_| {
            let message = format!("{} gave no token in time", self.name());
            Err(Failure::new(ModelErrorKind::Timeout, Again::Backoff, message))
        })?;
        let token = read_token(&answer, now).ok_or_else(|| {
            self.refused(&format!("{} gave something else than a token", self.name()))
        })?;
        *self.shown.lock().unwrap_or_else(PoisonError::into_inner) = Some(token.secret.clone());
        Ok(current.insert(token).secret.clone())
    }

    /// Words without the token.
    pub(crate) fn mask(&self, words: &str) -> String {
        let shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        shown.as_ref().map_or_else(|| words.to_owned(), |token| token.mask(words))
    }

    /// An answer without the token.
    pub(crate) fn mask_answer(&self, answer: String) -> String {
        let shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        match shown.as_ref() {
            Some(token) => token.mask_answer(answer),
            None => answer,
        }
    }

    fn name(&self) -> &'static str {
        match self.source {
            TokenSource::AzureCli { .. } => "the Azure CLI (az)",
            TokenSource::ManagedIdentity { .. } => "the identity service of this machine",
        }
    }

    fn refused(&self, message: &str) -> Failure {
        Failure::new(ModelErrorKind::Authentication, Again::Never, message)
    }

    async fn ask_program(
        &self,
        program: &Path,
        environment: &[(String, String)],
    ) -> Result<Value, Failure> {
        let words = ["account", "get-access-token", "--output", "json", "--resource"];
        let mut arguments: Vec<String> = words.map(str::to_owned).to_vec();
        arguments.push(self.resource.clone());
        let output = output_of(program, &arguments, environment, LONGEST_FETCH).await;
        let output = output.map_err(|why| {
            let words = ErrorBody::parse(why.as_bytes()).words();
            self.refused(&format!("az gave no token ({words}); try `az login`"))
        })?;
        serde_json::from_slice(&output)
            .map_err(|_| self.refused("az gave something else than JSON"))
    }

    async fn ask_machine(
        &self,
        endpoints: &Endpoints,
        address: &str,
        header: Option<&Secret>,
        client_id: &str,
    ) -> Result<Value, Failure> {
        let mut url = Url::parse(address)
            .map_err(|err| self.refused(&format!("the identity service has no address: {err}")))?;
        // The service is on the machine or next to it: no proxy, and often no encryption.
        let transport = Transport { loopback: true, tls: url.scheme() == "https" };
        let client = endpoints.client(transport).map_err(|err| self.refused(&err.to_string()))?;
        let version = if header.is_some() { "2019-08-01" } else { "2018-02-01" };
        url.query_pairs_mut()
            .append_pair("api-version", version)
            .append_pair("resource", &self.resource);
        if !client_id.is_empty() {
            url.query_pairs_mut().append_pair("client_id", client_id);
        }
        let request = match header {
            Some(secret) => client.get(url).header("x-identity-header", secret.expose()),
            None => client.get(url).header("metadata", "true"),
        };
        let broken = |err: reqwest::Error| {
            let words = causes(&err.without_url());
            let message = format!(
                "{} does not answer, as on machines outside of Azure: {words}",
                self.name()
            );
            Failure::new(ModelErrorKind::Connection, Again::Backoff, message)
        };
        let response = request.send().await.map_err(broken)?;
        let status = response.status();
        let body = response.bytes().await.map_err(broken)?;
        if status.is_success() {
            return serde_json::from_slice(&body)
                .map_err(|_| self.refused("the identity service gave something else than JSON"));
        }
        let words = ErrorBody::parse(&body).words();
        let message = format!("{} says {status}: {words}", self.name());
        if status.is_server_error() || matches!(status.as_u16(), 404 | 410 | 429) {
            return Err(Failure::new(ModelErrorKind::Server, Again::Backoff, message));
        }
        Err(self.refused(&message))
    }
}

/// Either spelling of the two sources.
fn read_token(answer: &Value, now: SystemTime) -> Option<Token> {
    let text = |name: &str| answer[name].as_str();
    let number = |name: &str| match &answer[name] {
        Value::String(text) => text.parse().ok(),
        other => other.as_u64(),
    };
    let secret = Secret::new(text("accessToken").or_else(|| text("access_token"))?)?;
    let at = number("expires_on").map(|seconds| UNIX_EPOCH + Duration::from_secs(seconds));
    let after = number("expires_in").map(|seconds| now + Duration::from_secs(seconds));
    Some(Token { secret, end: at.or(after).unwrap_or(now + UNTOLD) })
}
