//! What an error is on the wire.

use crate::config::{ConfigDifference, ConfigProblem};
use serde::{Deserialize, Serialize};

/// An error: `application/problem+json` (RFC 9457) with a stable `code`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Problem {
    /// Always `about:blank`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Short and the same for each code.
    pub title: String,
    /// The HTTP status.
    pub status: u16,
    /// What happened this time and what to do.
    pub detail: String,
    /// The request id, to find the log line.
    pub instance: String,
    /// For programs.
    pub code: ProblemCode,
    /// Problems of single fields, for forms.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<ConfigProblem>,
    /// What differs from the run that was asked for, with what each difference means.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<ConfigDifference>,
}

/// Stable words for errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum ProblemCode {
    /// The request is not well formed.
    BadRequest,
    /// Host, origin or content type is not allowed.
    Forbidden,
    /// The name in the `Host` header is not served here.
    WrongHost,
    /// No such thing.
    NotFound,
    /// The state does not allow it.
    Conflict,
    /// The live file is not what was shown.
    FileChanged,
    /// The config has problems, listed one by one.
    BadConfig,
    /// The run cannot go on with what differs, listed one by one; a fork can.
    NeedsFork,
    /// The path may not be read or written.
    PathNotAllowed,
    /// The body is too large.
    TooLarge,
    /// Our fault; the log has it under the request id.
    Internal,
}
