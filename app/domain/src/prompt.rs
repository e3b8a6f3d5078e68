//! Which prompts a run was made with: where each text came from, and its hash. The texts are kept by their hash.

use crate::hash::Sha256Hex;
use serde::{Deserialize, Serialize};

/// Where the text of a prompt came from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum PromptOrigin {
    /// The program's own.
    #[default]
    Default,
    /// The benchmark's.
    Benchmark,
    /// A file in the folder that `optimizer.prompts_dir` names.
    User,
}

impl PromptOrigin {
    /// The stable word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Benchmark => "benchmark",
            Self::User => "user",
        }
    }
}

/// One prompt of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PromptUse {
    /// Its name, such as `analyst_failure`, `parts/rules` or `target`.
    pub name: String,
    /// Where the text came from.
    pub origin: PromptOrigin,
    /// Hash of the text with its placeholders: its version.
    pub hash: Sha256Hex,
}

/// A row of `GET /runs/{id}/prompts`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PromptRow {
    /// Its name.
    pub name: String,
    /// What it is for, one sentence; empty for one that this version does not know.
    pub purpose: String,
    /// Where the text came from.
    pub origin: PromptOrigin,
    /// Hash of the text: its version.
    pub hash: Sha256Hex,
}

/// `GET /runs/{id}/prompts/{hash}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PromptText {
    /// The text with its placeholders.
    pub text: String,
}
