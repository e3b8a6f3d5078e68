//! What it means when a program brought no answer: which kind of failure by its own words, and whether another attempt
//! may help. Pure.

use skillopt_engine::ports::ModelErrorKind;

/// An attempt that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    pub(super) kind: ModelErrorKind,
    pub(super) message: String,
    pub(super) again: Again,
}

/// Whether another attempt may help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Again {
    Never,
    /// As often as the config allows, after a wait.
    Wait,
    /// As often as empty answers are asked for again, at once.
    Amended,
}

impl Failure {
    pub(super) fn new(kind: ModelErrorKind, again: Again, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), again }
    }

    /// The provider takes fewer calls than it got.
    pub(super) fn is_one_too_many(&self) -> bool {
        self.kind == ModelErrorKind::RateLimited
    }
}

struct Rule {
    kind: ModelErrorKind,
    again: Again,
    words: &'static [&'static str],
}

const fn rule(kind: ModelErrorKind, again: Again, words: &'static [&'static str]) -> Rule {
    Rule { kind, again, words }
}

/// The first rule with a word in the text holds. Numbers count as whole words only.
const RULES: [Rule; 8] = [
    rule(
        ModelErrorKind::QuotaExhausted,
        Again::Never,
        &[
            "usage limit",
            "hit your limit",
            "session limit",
            "weekly limit",
            "5-hour limit",
            "monthly limit",
            "spending limit",
            "quota exceeded",
            "exceeded your current quota",
            "insufficient_quota",
            "quota_exceeded",
            "out of credits",
            "insufficient credits",
            "insufficient balance",
            "credit balance",
            "billing details",
            "premium requests",
            "no quota",
            "upgrade your plan",
            "402",
        ],
    ),
    rule(
        ModelErrorKind::Authentication,
        Again::Never,
        &[
            "not logged in",
            "please log in",
            "please login",
            "please run /login",
            "/login",
            "login required",
            "log in again",
            "not authenticated",
            "authentication required",
            "authentication_error",
            "authentication failed",
            "no authentication",
            "unauthorized",
            "unauthenticated",
            "invalid api key",
            "invalid_api_key",
            "incorrect api key",
            "missing api key",
            "no api key",
            "oauth token has expired",
            "token has expired",
            "token expired",
            "401",
            "403",
        ],
    ),
    rule(
        ModelErrorKind::RateLimited,
        Again::Wait,
        &["rate limit", "rate_limit", "ratelimit", "too many requests", "429"],
    ),
    rule(
        ModelErrorKind::BadRequest,
        Again::Never,
        &[
            "model not found",
            "unknown model",
            "invalid model",
            "model_not_found",
            "issue with the selected model",
            "is not supported when using",
            "not available for your",
            "unknown option",
            "unknown argument",
            "unknown flag",
            "unexpected argument",
            "unrecognized",
            "invalid value",
            "prompt is too long",
            "context length",
            "context window",
            "context_length_exceeded",
            "invalid_request_error",
        ],
    ),
    rule(
        ModelErrorKind::Server,
        Again::Wait,
        &[
            "overloaded",
            "internal server error",
            "bad gateway",
            "service unavailable",
            "gateway timeout",
            "stream disconnected",
            "stream ended unexpectedly",
            "api_error",
            "500",
            "502",
            "503",
            "504",
            "529",
        ],
    ),
    rule(
        ModelErrorKind::Timeout,
        Again::Wait,
        &["request timed out", "etimedout", "timed out waiting", "deadline exceeded"],
    ),
    rule(
        ModelErrorKind::Connection,
        Again::Wait,
        &[
            "econnrefused",
            "econnreset",
            "enotfound",
            "eai_again",
            "network error",
            "connection error",
            "connection refused",
            "connection reset",
            "fetch failed",
            "socket hang up",
            "could not resolve",
            "dns error",
        ],
    ),
    rule(ModelErrorKind::Server, Again::Never, &[""]),
];

/// Sorts what a program said about its failure.
pub(super) fn classify(words: &str, message: impl Into<String>) -> Failure {
    let words = words.to_lowercase();
    let found = RULES.iter().find(|rule| rule.words.iter().any(|word| holds(&words, word)));
    let (kind, again) =
        found.map_or((ModelErrorKind::Server, Again::Never), |rule| (rule.kind, rule.again));
    Failure::new(kind, again, message)
}

/// A number counts only where no letter or digit stands beside it.
fn holds(text: &str, word: &str) -> bool {
    if !word.starts_with(|c: char| c.is_ascii_digit()) || word.len() > 3 {
        return text.contains(word);
    }
    let inside = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_');
    text.match_indices(word).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + word.len()..]);
        !before.ends_with(inside) && !after.starts_with(|c: char| c.is_alphanumeric())
    })
}

/// Older versions of the program hand a used-up subscription out as if it were the answer.
pub(super) fn is_limit_notice(answer: &str) -> bool {
    const MOST_CHARS: usize = 200;
    let lower = answer.trim().to_lowercase();
    lower.len() <= MOST_CHARS
        && [
            "claude ai usage limit reached",
            "claude usage limit reached",
            "you've hit your usage limit",
        ]
        .iter()
        .any(|start| lower.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use skillopt_engine::ports::ModelErrorKind as Kind;

    #[rstest]
    #[case("Claude AI usage limit reached|1754395200", Kind::QuotaExhausted, Again::Never)]
    #[case("You've hit your usage limit. Try again in 4 days", Kind::QuotaExhausted, Again::Never)]
    #[case("ERROR: Quota exceeded. Check your plan", Kind::QuotaExhausted, Again::Never)]
    #[case("Invalid API key · Please run /login", Kind::Authentication, Again::Never)]
    #[case(
        "exceeded retry limit, last status: 401 Unauthorized",
        Kind::Authentication,
        Again::Never
    )]
    #[case("exceeded retry limit, last status: 429", Kind::RateLimited, Again::Wait)]
    #[case("API Error: Rate limit reached", Kind::RateLimited, Again::Wait)]
    #[case("API Error: 529 overloaded_error", Kind::Server, Again::Wait)]
    #[case("Error: ECONNREFUSED 127.0.0.1:443", Kind::Connection, Again::Wait)]
    #[case("error: unknown option '--json-schema'", Kind::BadRequest, Again::Never)]
    #[case("prompt is too long: 250000 tokens", Kind::BadRequest, Again::Never)]
    #[case("TypeError: x is undefined at line 1500:4291", Kind::Server, Again::Never)]
    #[case("", Kind::Server, Again::Never)]
    fn a_failure_is_sorted_by_the_programs_words(
        #[case] words: &str,
        #[case] kind: Kind,
        #[case] again: Again,
    ) {
        let failure = classify(words, "x");
        assert_eq!((failure.kind, failure.again), (kind, again), "{words}");
    }

    #[test]
    fn a_notice_that_stands_in_the_place_of_an_answer_is_found_and_an_answer_about_limits_is_not() {
        assert!(is_limit_notice("Claude AI usage limit reached|1754395200"));
        assert!(!is_limit_notice("The usage limit of the API is 5 per second."));
    }
}
