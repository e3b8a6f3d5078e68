//! One error for everything that can go wrong with a call: always a `Problem`, made here when the server gave none.

use skillopt_domain::api::{Problem, ProblemCode};
use skillopt_domain::json;
use std::fmt;

/// Why a call has no answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ApiError {
    /// What the server said, or what it would have said.
    pub(crate) problem: Box<Problem>,
    /// The server could not be reached at all.
    pub(crate) is_offline: bool,
}

impl ApiError {
    /// No answer came.
    pub(super) fn unreachable(cause: &str) -> Self {
        let detail = format!("Is skillopt still running? The browser says: {cause}.");
        Self { is_offline: true, ..Self::made("The server cannot be reached", 0, detail) }
    }

    /// The code of a part of the dashboard did not come.
    pub(crate) fn no_part() -> Self {
        Self {
            is_offline: true,
            ..Self::made("A part of the dashboard is missing", 0, String::new())
        }
    }

    /// An answer came that this dashboard does not understand.
    pub(super) fn unreadable(cause: &str) -> Self {
        let detail = format!(
            "The answer has another form than expected ({cause}). Reload the page if the server was updated."
        );
        Self::made("The answer could not be read", 0, detail)
    }

    /// An answer with an error status.
    pub(super) fn from_body(status: u16, body: &str) -> Self {
        match json::from_str::<Problem>(body) {
            Ok(problem) => Self { problem: Box::new(problem), is_offline: false },
            Err(_) => Self::made(
                "The server refused",
                status,
                format!("It answered with status {status}."),
            ),
        }
    }

    /// The address names something that cannot be.
    pub(crate) fn not_found() -> Self {
        Self::made("Not found", 404, "The address names nothing.".to_owned())
    }

    fn made(title: &str, status: u16, detail: String) -> Self {
        Self {
            problem: Box::new(Problem {
                kind: "about:blank".to_owned(),
                title: title.to_owned(),
                status,
                detail,
                instance: String::new(),
                code: if status == 404 { ProblemCode::NotFound } else { ProblemCode::Internal },
                problems: Vec::new(),
                differences: Vec::new(),
            }),
            is_offline: false,
        }
    }

    /// The stable word for programs and bug reports.
    pub(crate) fn code(&self) -> &'static str {
        if self.is_offline {
            return "unreachable";
        }
        match self.problem.code {
            ProblemCode::BadRequest => "bad_request",
            ProblemCode::Forbidden => "forbidden",
            ProblemCode::WrongHost => "wrong_host",
            ProblemCode::NotFound => "not_found",
            ProblemCode::Conflict => "conflict",
            ProblemCode::FileChanged => "file_changed",
            ProblemCode::BadConfig => "bad_config",
            ProblemCode::NeedsFork => "needs_fork",
            ProblemCode::PathNotAllowed => "path_not_allowed",
            ProblemCode::TooLarge => "too_large",
            ProblemCode::Internal => "internal",
        }
    }

    /// There is no such thing.
    pub(crate) fn is_not_found(&self) -> bool {
        self.problem.code == ProblemCode::NotFound
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.problem.title, self.problem.detail)
    }
}

impl std::error::Error for ApiError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_of_the_server_is_kept_whole() {
        let body = r#"{"type":"about:blank","title":"Not found","status":404,"detail":"No run.","instance":"r1","code":"not_found"}"#;
        let error = ApiError::from_body(404, body);
        assert!(error.is_not_found());
        assert_eq!(error.problem.detail, "No run.");
    }

    #[test]
    fn a_page_of_a_proxy_becomes_a_problem_too() {
        let error = ApiError::from_body(502, "<html>Bad gateway</html>");
        assert_eq!((error.code(), error.problem.status), ("internal", 502));
    }
}
