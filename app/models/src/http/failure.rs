//! What an attempt that brought no answer means: which kind of failure, in whose words, and whether it is
//! worth another attempt. Pure.

use super::error_body::ErrorBody;
use skillopt_domain::spend::Usage;
use skillopt_engine::ports::ModelErrorKind;
use std::time::Duration;

/// An attempt that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) kind: ModelErrorKind,
    pub(crate) message: String,
    pub(crate) again: Again,
    /// Tokens that the provider counted although there is no answer.
    pub(crate) billed: Option<Box<Usage>>,
    /// What the provider said against the request, if a changed request might do.
    pub(crate) complaint: Option<Complaint>,
    /// Nobody was there to take the request, whatever was in it.
    pub(crate) is_outage: bool,
    /// When the first piece of a streamed reply came, from the beginning of the attempt.
    pub(crate) first_token: Option<Duration>,
}

/// Whether another attempt may help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Again {
    Never,
    /// After a wait of our own choice.
    Backoff,
    /// After the wait that the provider named.
    After(Duration),
    /// The model answered with nothing: worth two further calls, by those who count what they cost.
    Twice,
}

impl Again {
    /// The wait that the provider named.
    pub(crate) fn named_wait(self) -> Option<Duration> {
        match self {
            Self::After(wait) => Some(wait),
            Self::Never | Self::Backoff | Self::Twice => None,
        }
    }
}

impl Failure {
    /// The endpoint takes fewer calls than it got: a later one may be taken as it is.
    pub(crate) fn is_one_too_many(&self) -> bool {
        match self.again {
            Again::After(_) => true,
            Again::Backoff => self.kind == ModelErrorKind::RateLimited,
            Again::Never | Again::Twice => false,
        }
    }

    /// The endpoint failed and may do better later. Only with `is_outage` it is certain that another request would
    /// have failed as well.
    pub(crate) fn is_of_endpoint(&self) -> bool {
        let kinds = [ModelErrorKind::Connection, ModelErrorKind::Timeout, ModelErrorKind::Server];
        kinds.contains(&self.kind) && matches!(self.again, Again::Backoff | Again::After(_))
    }

    pub(crate) fn new(kind: ModelErrorKind, again: Again, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            again,
            billed: None,
            complaint: None,
            is_outage: false,
            first_token: None,
        }
    }
}

/// A provider's words against a request, in lower case, for recognition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Complaint {
    pub(crate) text: String,
}

impl Complaint {
    pub(crate) fn of(words: &str) -> Self {
        Self { text: words.to_lowercase() }
    }

    /// The field is named, as a word of its own.
    pub(crate) fn names(&self, field: &str) -> bool {
        let field = field.to_lowercase();
        let inside = |c: char| c.is_alphanumeric() || c == '_';
        !field.is_empty()
            && self.text.match_indices(&field).any(|(at, _)| {
                let (before, after) = (&self.text[..at], &self.text[at + field.len()..]);
                !before.ends_with(inside) && !after.starts_with(inside)
            })
    }

    /// The model is served by the Responses API alone, or as it was asked.
    pub(crate) fn wants_responses(&self) -> bool {
        ["v1/responses", "responses api"].iter().any(|words| self.text.contains(words))
    }

    /// Nothing about the request but the name of the model is wrong.
    pub(crate) fn is_about_the_model(&self) -> bool {
        ["model_not_found", "deploymentnotfound"].iter().any(|words| self.text.contains(words))
    }

    /// A field as such is refused, not its value.
    pub(crate) fn refuses_a_field(&self) -> bool {
        const WORDS: [&str; 18] = [
            "unavailable",
            "does not match any of",
            "invalid schema",
            "unsupported",
            "not supported",
            "not support",
            "unrecognized",
            "unrecognised",
            "unknown",
            "unexpected",
            "not permitted",
            "not allowed",
            "extra_forbidden",
            "extra fields",
            "no longer supported",
            "deprecated",
            "not available",
            "not recognized",
        ];
        WORDS.iter().any(|words| self.text.contains(words))
    }
}

/// What came back instead of an answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Refusal<'a> {
    pub(crate) status: u16,
    /// The status for people, such as `401 Unauthorized`.
    pub(crate) label: &'a str,
    pub(crate) body: &'a ErrorBody,
    pub(crate) retry_after: Option<Duration>,
    pub(crate) longest_wait: Duration,
}

/// Sorts an error by what has to happen next.
pub(crate) fn classify(refusal: Refusal<'_>) -> Failure {
    let message = format!("{}: {}", refusal.label, refusal.body.words());
    let again = refusal.retry_after.map_or(Again::Backoff, Again::After);
    let fail = |kind, again| Failure::new(kind, again, message.clone());
    match refusal.status {
        400 | 402 | 403 | 429 if refusal.body.says_no_money() => {
            fail(ModelErrorKind::QuotaExhausted, Again::Never)
        }
        401 | 403 => fail(ModelErrorKind::Authentication, Again::Never),
        402 => fail(ModelErrorKind::QuotaExhausted, Again::Never),
        429 => within_limit(fail(ModelErrorKind::RateLimited, again), refusal.longest_wait),
        408 => within_limit(fail(ModelErrorKind::Timeout, again), refusal.longest_wait),
        409 | 425 | 500.. => {
            let failure = Failure {
                is_outage: matches!(refusal.status, 502..=504 | 520..=530),
                ..fail(ModelErrorKind::Server, again)
            };
            within_limit(failure, refusal.longest_wait)
        }
        _ => Failure {
            complaint: matches!(refusal.status, 400 | 404 | 422)
                .then(|| Complaint::of(&refusal.body.raw)),
            ..fail(ModelErrorKind::BadRequest, Again::Never)
        },
    }
}

/// A longer wait than allowed is a used-up quota.
fn within_limit(failure: Failure, longest: Duration) -> Failure {
    match failure.again {
        Again::After(wait) if wait > longest => Failure::new(
            ModelErrorKind::QuotaExhausted,
            Again::Never,
            format!(
                "asked to wait {} s, more than the allowed {} s; {}",
                wait.as_secs_f64().ceil(),
                longest.as_secs_f64(),
                failure.message
            ),
        ),
        _ => failure,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use skillopt_engine::ports::ModelErrorKind as Kind;

    fn fail(status: u16, body: &str, retry_after_s: Option<u64>) -> Failure {
        classify(Refusal {
            status,
            label: "status",
            body: &ErrorBody::parse(body.as_bytes()),
            retry_after: retry_after_s.map(Duration::from_secs),
            longest_wait: Duration::from_secs(300),
        })
    }

    #[rstest]
    #[case(401, "{}", Kind::Authentication, Again::Never)]
    #[case(403, "{}", Kind::Authentication, Again::Never)]
    #[case(
        402,
        r#"{"error":{"message":"Insufficient Balance"}}"#,
        Kind::QuotaExhausted,
        Again::Never
    )]
    #[case(429, r#"{"error":{"code":"insufficient_quota"}}"#, Kind::QuotaExhausted, Again::Never)]
    #[case(
        400,
        r#"{"error":{"message":"Your credit balance is too low"}}"#,
        Kind::QuotaExhausted,
        Again::Never
    )]
    #[case(429, r#"{"error":{"message":"slow down"}}"#, Kind::RateLimited, Again::Backoff)]
    #[case(400, "{}", Kind::BadRequest, Again::Never)]
    #[case(404, "{}", Kind::BadRequest, Again::Never)]
    #[case(422, "{}", Kind::BadRequest, Again::Never)]
    #[case(405, "{}", Kind::BadRequest, Again::Never)]
    #[case(408, "{}", Kind::Timeout, Again::Backoff)]
    #[case(409, "{}", Kind::Server, Again::Backoff)]
    #[case(425, "{}", Kind::Server, Again::Backoff)]
    #[case(500, "{}", Kind::Server, Again::Backoff)]
    #[case(502, "<html><body>Bad gateway</body></html>", Kind::Server, Again::Backoff)]
    #[case(529, "{}", Kind::Server, Again::Backoff)]
    fn c46_only_what_may_pass_is_tried_again(
        #[case] status: u16,
        #[case] body: &str,
        #[case] kind: Kind,
        #[case] again: Again,
    ) {
        let failure = fail(status, body, None);
        assert_eq!((failure.kind, failure.again), (kind, again));
    }

    #[test]
    fn c44_a_wait_beyond_the_limit_is_a_used_up_quota() {
        assert_eq!(fail(429, "{}", Some(300)).again, Again::After(Duration::from_secs(300)));
        let failure = fail(429, r#"{"error":{"message":"daily limit"}}"#, Some(86_400));
        assert_eq!((failure.kind, failure.again), (Kind::QuotaExhausted, Again::Never));
        assert_eq!(
            failure.message,
            "asked to wait 86400 s, more than the allowed 300 s; status: daily limit"
        );
    }

    #[test]
    fn a_field_is_named_only_as_a_whole_word() {
        let complaint = Complaint::of("Unsupported: 'Max_Completion_Tokens'");
        assert!(complaint.names("max_completion_tokens"));
        assert!(!complaint.names("completion_tokens"));
    }
}
