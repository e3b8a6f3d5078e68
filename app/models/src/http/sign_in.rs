//! Tokens of Azure for calls without a key: from the program `az`, or from the machine. A token is fetched once for all
//! runs and kept until shortly before it expires.

use super::address::Transport;
use super::endpoints::{Endpoints, causes};
use super::error_body::ErrorBody;
use super::failure::{Again, Failure};
use crate::program::{NoOutput, output_of};
use crate::secret::Secret;
use reqwest::Url;
use serde_json::Value;
use skillopt_engine::ports::ModelErrorKind;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering};
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
    current: Mutex<Current>,
    /// Fetches that have ended.
    fetches: AtomicU64,
    /// The latest token, for masking.
    shown: std::sync::Mutex<Option<Secret>>,
}

#[derive(Debug, Default)]
struct Current {
    token: Option<Token>,
    /// Why the last fetch brought none.
    failure: Option<Failure>,
}

#[derive(Clone, Debug)]
struct Token {
    secret: Secret,
    end: SystemTime,
}

impl Tokens {
    pub(crate) fn new(source: TokenSource, scope: &str) -> Self {
        let resource = scope.trim().trim_end_matches("/.default").to_owned();
        Self {
            source,
            resource,
            current: Mutex::default(),
            fetches: AtomicU64::default(),
            shown: std::sync::Mutex::default(),
        }
    }

    pub(crate) fn is_for_same(&self, other: &Self) -> bool {
        (&self.source, &self.resource) == (&other.source, &other.resource)
    }

    /// A token that is good for a while. Calls that wait for the same fetch share its failure. Safe to drop.
    pub(crate) async fn get(&self, endpoints: &Endpoints) -> Result<Secret, Failure> {
        let now = endpoints.timer().wall();
        let fetches_before = self.fetches.load(Ordering::SeqCst);
        let mut current = self.current.lock().await;
        if let Some(token) = current.token.as_ref().filter(|token| now + BEFORE_END < token.end) {
            return Ok(token.secret.clone());
        }
        if let Some(failure) = &current.failure
            && self.fetches.load(Ordering::SeqCst) > fetches_before
        {
            return Err(failure.clone());
        }
        let fetched = self.fetch(endpoints, now).await;
        self.fetches.fetch_add(1, Ordering::SeqCst);
        match fetched {
            Ok(token) => {
                let secret = token.secret.clone();
                *self.shown.lock().unwrap_or_else(PoisonError::into_inner) = Some(secret.clone());
                *current = Current { token: Some(token), failure: None };
                Ok(secret)
            }
            Err(failure) => {
                current.failure = Some(failure.clone());
                Err(failure)
            }
        }
    }

    async fn fetch(&self, endpoints: &Endpoints, now: SystemTime) -> Result<Token, Failure> {
        let ask = async {
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
        let answer = tokio::time::timeout(LONGEST_FETCH * 2, ask).await.unwrap_or_else(|_| {
            let message = format!("{} gave no token in time", self.name());
            Err(Failure::new(ModelErrorKind::Timeout, Again::Backoff, message))
        })?;
        read_token(&answer, now).ok_or_else(|| {
            self.refused(&format!("{} gave something else than a token", self.name()))
        })
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
        let output = output.map_err(|why| why_no_token(&why))?;
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

/// Words in which `az` and the libraries under it say that the network or the service failed, and not the sign-in.
const PASSING: [&str; 19] = [
    "connection aborted",
    "connection broken",
    "connection error",
    "connection refused",
    "connection reset",
    "connecttimeout",
    "readtimeout",
    "timed out",
    "max retries exceeded",
    "failed to establish a new connection",
    "failed to resolve",
    "name resolution",
    "getaddrinfo",
    "network is unreachable",
    "remote end closed connection",
    "temporarily unavailable",
    "service unavailable",
    "too many requests",
    "transient error",
];

/// What it means that `az` gave no token: who is not signed in stays so, while a network comes back.
fn why_no_token(why: &NoOutput) -> Failure {
    let words = ErrorBody::parse(why.to_string().as_bytes()).words();
    let message = format!("az gave no token ({words})");
    let passing = |kind| Failure::new(kind, Again::Backoff, message.clone());
    match why {
        NoOutput::TimedOut(_) => passing(ModelErrorKind::Timeout),
        NoOutput::NotNow(_) => passing(ModelErrorKind::Connection),
        NoOutput::Failed(said) if is_passing(said) => passing(ModelErrorKind::Connection),
        NoOutput::Failed(_) | NoOutput::NotRunnable(_) | NoOutput::TooMuch => Failure::new(
            ModelErrorKind::Authentication,
            Again::Never,
            format!("{message}; try `az login`"),
        ),
    }
}

fn is_passing(said: &str) -> bool {
    let said = said.to_lowercase();
    // A certificate that is not trusted is told as a failed connection, and stays so.
    !said.contains("certificate") && PASSING.iter().any(|words| said.contains(words))
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

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::slow(NoOutput::TimedOut(LONGEST_FETCH), ModelErrorKind::Timeout)]
    #[case::being_replaced(NoOutput::NotNow("az: busy".into()), ModelErrorKind::Connection)]
    #[case::no_network(
        NoOutput::Failed(
            "exit status: 1: ERROR: HTTPSConnectionPool(host='login.microsoftonline.com', port=443): Max retries \
             exceeded with url: /x (Caused by NewConnectionError('Failed to establish a new connection'))"
                .into()
        ),
        ModelErrorKind::Connection
    )]
    #[case::reset(
        NoOutput::Failed("('Connection aborted.', ConnectionResetError(104))".into()),
        ModelErrorKind::Connection
    )]
    fn a_failure_of_the_network_is_none_of_the_sign_in(
        #[case] why: NoOutput,
        #[case] kind: ModelErrorKind,
    ) {
        let failure = why_no_token(&why);
        assert_eq!((failure.kind, failure.again), (kind, Again::Backoff));
        assert!(!failure.message.contains("az login"), "{}", failure.message);
    }

    #[rstest]
    #[case(NoOutput::Failed("ERROR: Please run 'az login' to setup account.".into()))]
    #[case(NoOutput::Failed("ERROR: AADSTS700082: The refresh token has expired".into()))]
    #[case(NoOutput::Failed(
        "Max retries exceeded (Caused by SSLError: CERTIFICATE_VERIFY_FAILED)".into()
    ))]
    #[case(NoOutput::NotRunnable("az: permission denied".into()))]
    #[case(NoOutput::TooMuch)]
    fn what_time_does_not_mend_is_told_at_once(#[case] why: NoOutput) {
        let failure = why_no_token(&why);
        assert_eq!((failure.kind, failure.again), (ModelErrorKind::Authentication, Again::Never));
        assert!(failure.message.ends_with("try `az login`"));
    }
}
