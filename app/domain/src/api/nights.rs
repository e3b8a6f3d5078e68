//! Nights on the wire: lists, one night with its proposals, what may be done with them, harvests and answers.

use crate::ids::NightId;
use crate::json::from_fields;
use crate::night::edit::{EditRecord, GuidanceRecord};
use crate::night::report::SleepReport;
use crate::night::{NightProgress, NightStatus};
use serde::{Deserialize, Serialize};

/// `GET /sleep`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SleepPage {
    /// Projects with nights, the latest first, and the folder that the server was started in.
    pub projects: Vec<String>,
    /// The latest nights of the project that was asked for, or of all; newest first.
    pub nights: Vec<NightItem>,
}

from_fields! { SleepPage { projects, nights } }

/// What a person has to do about the proposal of a night.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum NightDecision {
    /// There is nothing to decide.
    None,
    /// It waits for review.
    Waiting,
    /// It is live.
    Adopted,
    /// It was turned down.
    Rejected,
    /// It was live and was put back.
    Reverted,
    /// A live file changed since the night, so that it cannot be adopted.
    Stale,
}

/// A night in a list.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct NightItem {
    /// Its id.
    pub id: NightId,
    /// Absolute path of the project.
    pub project: String,
    /// The project's own count; `None` for dry runs and nights that did not come so far.
    pub night: Option<u32>,
    /// Nothing of it is kept.
    pub is_dry: bool,
    /// No real model answered.
    pub is_simulated: bool,
    /// Who answered.
    pub models: String,
    /// Who began it.
    pub actor: String,
    /// Its state.
    pub status: NightStatus,
    /// Why it ended so; may be empty.
    pub detail: String,
    /// What a person has to do about it.
    pub decision: NightDecision,
    /// In milliseconds since 1970-01-01 UTC.
    pub started_at_ms: u64,
    /// In milliseconds since 1970-01-01 UTC; `None` while it runs.
    pub ended_at_ms: Option<u64>,
    /// How far it is, or was.
    pub progress: NightProgress,
    /// Mean gate score before, 0 to 1; `None` when it was not measured.
    pub baseline_score: Option<f64>,
    /// Mean gate score after, 0 to 1; `None` when it was not measured.
    pub candidate_score: Option<f64>,
    /// The gate accepted.
    pub accepted: bool,
}

from_fields! { NightItem {
    id, project, night, is_dry, is_simulated, models, actor, status, detail, decision, started_at_ms,
    ended_at_ms, progress, baseline_score, candidate_score, accepted
} }

/// `GET /sleep/nights/{id}`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct NightDetail {
    /// As in the list.
    pub night: NightItem,
    /// Its folder; empty when it has none.
    pub staging: String,
    /// The harvest, source by source; empty before it is done, and when tasks were given.
    pub sources: Vec<SourceItem>,
    /// What it found; `None` before it is done.
    pub report: Option<SleepReport>,
    /// Its tasks with what became of them.
    pub tasks: Vec<NightTask>,
    /// Documents that it would change.
    pub proposals: Vec<NightProposal>,
    /// What was decided, oldest first.
    pub receipts: Vec<NightReceipt>,
    /// Why it cannot be adopted now; empty when it can.
    pub refusal: String,
}

from_fields! { NightDetail {
    night, staging, sources, report, tasks, proposals, receipts, refusal
} }

/// The harvest of one kind of agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SourceItem {
    /// The agent, such as `claude`.
    pub source: String,
    /// Where it was looked for.
    pub root: String,
    /// Why there is nothing, or what to mind; may be empty.
    pub words: String,
    /// Files or databases.
    pub n_files: u64,
    /// Sessions in them.
    pub n_sessions: u64,
    /// Sessions that were kept.
    pub n_kept: u64,
    /// Lines or records that were skipped, and why.
    pub skipped: Vec<ReasonCount>,
    /// Sessions that were left out, and why.
    pub dropped: Vec<ReasonCount>,
    /// Secrets that were masked, by kind.
    pub masked: Vec<ReasonCount>,
}

from_fields! { SourceItem {
    source, root, words, n_files, n_sessions, n_kept, skipped, dropped, masked
} }

/// How often something was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReasonCount {
    /// What, in a few words.
    pub reason: String,
    /// How often, from 1.
    pub n: u64,
}

from_fields! { ReasonCount { reason, n } }

/// A task of a night.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct NightTask {
    /// Stable over nights.
    pub id: String,
    /// What is asked.
    pub intent: String,
    /// `train`, `val` or `test`.
    pub split: String,
    /// How an answer is scored: `rule`, `rubric`, `exact`, `answer` or `none`.
    pub check: String,
    /// Sessions that it came from.
    pub sessions: Vec<String>,
    /// What became of it in the session: `success`, `fail`, `mixed` or `unknown`.
    pub outcome: String,
    /// Gate score with the live documents, 0 to 1; `None` when it was not measured.
    pub before: Option<f64>,
    /// Gate score with the proposal, 0 to 1; `None` when it was not measured.
    pub after: Option<f64>,
}

from_fields! { NightTask { id, intent, split, check, sessions, outcome, before, after } }

/// A document that a night would change.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct NightProposal {
    /// Names it in an adoption: `skill`, `memory`, or `skill:` and a name.
    pub key: String,
    /// The live file.
    pub live_path: String,
    /// The live text as the night read it; empty when there was no file.
    pub before: String,
    /// The proposed text.
    pub after: String,
    /// Edits that make it up, in the order in which they were made.
    pub edits: Vec<EditRecord>,
    /// Guidance that is part of it beside the edits.
    pub guidance: Option<GuidanceRecord>,
    /// What speaks against adopting without a look, such as a new address or a command.
    pub risks: Vec<String>,
    /// For each edit the numbers, from 1, of those that it builds on: it cannot be taken without them.
    pub needs: Vec<Vec<u32>>,
    /// Why its edits cannot be taken one by one; empty when they can.
    pub whole: String,
}

from_fields! { NightProposal {
    key, live_path, before, after, edits, risks; or default: guidance, needs, whole
} }

/// `POST /sleep/nights/{id}/preview`: the documents that chosen edits make. Nothing is written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct NightPreview {
    /// The documents that were asked about.
    pub documents: Vec<DerivedDocument>,
}

from_fields! { NightPreview { documents } }

/// What some of the edits make of a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DerivedDocument {
    /// As [`NightProposal::key`].
    pub key: String,
    /// The edits by number, from 1.
    pub edits: Vec<u32>,
    /// The text.
    pub after: String,
    /// As [`NightProposal::risks`], of this text.
    pub risks: Vec<String>,
    /// The gate measured this very text.
    pub is_measured: bool,
}

from_fields! { DerivedDocument { key, edits, after, risks, is_measured } }

/// Something that was decided about a night.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct NightReceipt {
    /// `adopted`, `rejected` or `reverted`.
    pub deed: String,
    /// What it was done to, as [`NightProposal::key`].
    pub key: String,
    /// The live file; empty for a rejection.
    pub live_path: String,
    /// Hash of the file before; empty when there was none.
    pub before: String,
    /// Hash of the file after.
    pub after: String,
    /// The copy of what was there; empty for none.
    pub backup: String,
    /// Who did it.
    pub actor: String,
    /// When: RFC 3339 in UTC; empty when that is not known.
    pub at: String,
    /// The reason of a rejection; may be empty.
    pub reason: String,
    /// The edits that were adopted, by number, when not all were; their combination was not measured.
    pub edits: Vec<u32>,
    /// Edits that were left out.
    pub n_left_out: u32,
}

from_fields! { NightReceipt {
    deed, key, live_path, before, after, backup, actor, at, reason; or default: edits, n_left_out
} }

/// `POST /sleep/nights`: what a night is to do. What is left out comes from the config of nights.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct NightRequest {
    /// Absolute path of the project.
    pub project: String,
    /// Keep nothing.
    pub dry_run: bool,
    /// Who answers.
    pub backend: Option<String>,
    /// The model of the backend.
    pub model: Option<String>,
    /// Whose sessions.
    pub source: Option<String>,
    /// Hours that a first harvest looks back; 0 for all.
    pub lookback_hours: Option<u32>,
    /// Most tasks.
    pub max_tasks: Option<u32>,
    /// Most edits.
    pub edit_budget: Option<u32>,
    /// The skill to improve.
    pub target_skill_path: Option<String>,
    /// What the person prefers.
    pub preferences: Option<String>,
    /// With the curated tasks of the project, if they are still this version of them; sessions are not read then.
    pub tasks_version: Option<String>,
}

/// The answer to a night that begins.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct NightBegun {
    /// Its id.
    pub id: NightId,
}

from_fields! { NightBegun { id } }

/// `POST /sleep/nights/{id}/adopt`, and `…/preview` of the same choice.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct NightAdoption {
    /// Documents by [`NightProposal::key`]; all of them when it is empty.
    pub keys: Vec<String>,
    /// Documents of which only some edits are taken; all edits of the others.
    pub edits: Vec<EditChoice>,
}

/// Some of the edits of a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct EditChoice {
    /// As [`NightProposal::key`].
    pub key: String,
    /// The edits that are taken, by number, from 1.
    pub edits: Vec<u32>,
}

/// `POST /sleep/nights/{id}/reject`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct NightRejection {
    /// Why.
    pub reason: String,
    /// Documents by [`NightProposal::key`]; all that are not adopted when it is empty.
    #[serde(default)]
    pub keys: Vec<String>,
}

/// `POST /sleep/nights/{id}/reopen`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct NightReopening {
    /// Why; may be left out.
    #[serde(default)]
    pub reason: String,
    /// Documents by [`NightProposal::key`]; all that were turned down when it is empty.
    #[serde(default)]
    pub keys: Vec<String>,
}
