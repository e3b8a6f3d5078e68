//! The text of a skill on the wire, and its adoption from a run.

use crate::diff::Diff;
use crate::hash::Sha256Hex;
use crate::ids::{AdoptionId, RunId};
use crate::json::from_fields;
use crate::markdown::RenderedSkill;
use crate::skill::{Eol, SkillWarning};
use serde::{Deserialize, Serialize};

/// `GET /runs/{id}/skills/{sha}` and `/skills/{sha}`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SkillText {
    /// Its hash.
    pub sha: Sha256Hex,
    /// The exact text.
    pub text: String,
    /// Most of its line ends.
    pub eol: Eol,
    /// Size in tokens, estimated.
    pub tokens: u32,
    /// What to look at.
    pub warnings: Vec<SkillWarning>,
    /// The text as it is read.
    pub rendered: RenderedSkill,
}

from_fields! { SkillText { sha, text, eol, tokens, warnings, rendered } }

/// `POST /adoptions/preview`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AdoptPreviewRequest {
    /// The run.
    pub run: RunId,
    /// The version.
    pub skill: Sha256Hex,
    /// The live file: an absolute path that ends in `.md`, under an allowed directory. `~/` is understood.
    pub path: String,
}

/// What an adoption would write.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AdoptPreview {
    /// The file that would be written, symlinks followed.
    pub real_path: String,
    /// The path is a symlink, which stays.
    pub is_symlink: bool,
    /// Hash of the live file now; `None` when there is none.
    pub live: Option<Sha256Hex>,
    /// The live file has these bytes already.
    pub is_same: bool,
    /// From the live file to the version.
    pub diff: Diff,
    /// Permission bits of the live file in octal, which stay.
    pub mode: Option<String>,
    /// Where the backup would be written; `None` when there is no live file.
    pub backup: Option<String>,
    /// Why one-click adoption is not offered, such as an unverified score; empty when it is.
    pub blockers: Vec<String>,
}

from_fields! { AdoptPreview {
    real_path, is_symlink, live, is_same, diff, mode, backup, blockers
} }

/// `POST /adoptions`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AdoptRequest {
    /// The run.
    pub run: RunId,
    /// The version.
    pub skill: Sha256Hex,
    /// The live file.
    pub path: String,
    /// Hash of the live file as shown in the preview; `None` when there was none.
    pub expected_live: Option<Sha256Hex>,
    /// Repeating a request with the same key gives the same receipt.
    pub idempotency_key: String,
}

/// What an adoption wrote.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Receipt {
    /// Its id.
    pub id: AdoptionId,
    /// The run.
    pub run: RunId,
    /// The path as given.
    pub path: String,
    /// The file that was written.
    pub real_path: String,
    /// Hash before; `None` when there was no file.
    pub before: Option<Sha256Hex>,
    /// Hash after.
    pub after: Sha256Hex,
    /// The backup; `None` when there was no file.
    pub backup: Option<String>,
    /// Who did it.
    pub actor: String,
    /// When, in milliseconds since 1970-01-01 UTC.
    pub at_ms: u64,
    /// When it was reverted.
    pub reverted_at_ms: Option<u64>,
}

from_fields! { Receipt {
    id, run, path, real_path, before, after, backup, actor, at_ms, reverted_at_ms
} }
