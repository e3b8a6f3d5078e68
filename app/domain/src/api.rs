//! What crosses HTTP, under `/api/v1`. Requests refuse unknown fields; answers may grow new ones.

mod curation;
mod endpoints;
mod evidence;
mod handoff;
mod models;
mod nights;
mod review;
mod schedules;

pub use curation::*;
pub use endpoints::*;
pub use evidence::*;
pub use handoff::*;
pub use models::*;
pub use nights::*;
pub use review::*;
pub use schedules::*;

use crate::config::{ConfigDifference, ConfigProblem, Place};
use crate::diff::Diff;
use crate::event::{RunEvent, StepSummary};
use crate::forecast::RunForecast;
use crate::hash::Sha256Hex;
use crate::ids::{AdoptionId, RunId};
use crate::import::ImportOrigin;
use crate::json::{Fields, FromFields, JsonError, from_fields};
use crate::markdown::RenderedSkill;
use crate::origin::{LaunchOrigin, RunOrigin};
use crate::outcome::{Outcome, OutcomeFilter, RolloutPurpose};
use crate::price::PriceRow;
use crate::run::{Phase, RunStatus};
use crate::score::MeanScore;
use crate::skill::{Eol, SkillWarning};
use crate::spend::SpendByRole;
use crate::view::RunView;
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
    /// The path may not be written.
    PathNotAllowed,
    /// The body is too large.
    TooLarge,
    /// Our fault; the log has it under the request id.
    Internal,
}

/// `GET /about`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct About {
    /// Version of this program.
    pub version: String,
    /// The data directory.
    pub data_dir: String,
    /// Directories under which skills may be adopted.
    pub adopt_roots: Vec<String>,
    /// Runs in the store.
    pub n_runs: u64,
}

/// A row of the run table.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RunSummary {
    /// Its id.
    pub id: RunId,
    /// Its name.
    pub name: String,
    /// The state.
    pub status: RunStatus,
    /// Why, where there is something to say.
    pub detail: Option<String>,
    /// The benchmark.
    pub benchmark: String,
    /// Model of the target.
    pub target_model: String,
    /// Model of the optimizer.
    pub optimizer_model: String,
    /// The target is a simulation.
    pub target_simulated: bool,
    /// The optimizer is a simulation.
    pub optimizer_simulated: bool,
    /// When it was created, in milliseconds since 1970-01-01 UTC.
    pub created_at_ms: u64,
    /// When an engine took it first.
    pub started_at_ms: Option<u64>,
    /// When it ended.
    pub ended_at_ms: Option<u64>,
    /// Where a live run is.
    pub phase: Option<Phase>,
    /// Finished steps.
    pub n_steps: u32,
    /// Planned steps.
    pub total_steps: Option<u32>,
    /// Accepted steps.
    pub n_accepted: u32,
    /// Rejected steps.
    pub n_rejected: u32,
    /// Initial skill on the selection split, in the gate's metric.
    pub baseline_score: Option<f64>,
    /// Best skill on the selection split, in the gate's metric.
    pub best_score: Option<f64>,
    /// Selection tasks behind the best score.
    pub n_selection: Option<u32>,
    /// Initial skill on the test split.
    pub test_initial: Option<MeanScore>,
    /// Best skill on the test split.
    pub test_best: Option<MeanScore>,
    /// Best score after each step, thinned to 40 points that keep the extremes.
    pub spark: Vec<f64>,
    /// Spend so far.
    pub spend: SpendByRole,
    /// Where the run folder is.
    pub out_root: String,
    /// Who started it.
    pub actor: String,
}

from_fields! { RunSummary {
    id, name, status, detail, benchmark, target_model, optimizer_model, target_simulated,
    optimizer_simulated, created_at_ms, started_at_ms, ended_at_ms, phase, n_steps,
    total_steps, n_accepted, n_rejected, baseline_score, best_score, n_selection,
    test_initial, test_best, spark, spend, out_root, actor
} }

/// A page of rows; `next` goes into `cursor` for the next one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Page<T> {
    /// The rows.
    pub items: Vec<T>,
    /// Cursor of the next page; `None` at the end.
    pub next: Option<String>,
    /// Rows in all that match.
    pub total: u64,
}

/// Query of `GET /runs`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema, utoipa::IntoParams), into_params(parameter_in = Query))]
pub struct RunQuery {
    /// Only this state.
    pub status: Option<RunStatus>,
    /// Only names, models and benchmarks that contain this text.
    pub q: Option<String>,
    /// `created` (default), `name`, `best`, `steps`, `status`, `cost`; with `-` in front: falling.
    pub sort: Option<String>,
    /// From the page before.
    pub cursor: Option<String>,
    /// 1 to 500, default 100.
    pub limit: Option<u32>,
}

/// `GET /runs/{id}`: the row and the folded journal. `view.steps` holds the last 100 steps at most, without their stages.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RunDetail {
    /// The row.
    pub summary: RunSummary,
    /// The fold.
    pub view: RunView,
    /// Metric of the gate: `hard`, `soft` or `mixed`.
    pub gate_metric: String,
    /// Caps, to be shown beside the spend.
    pub caps: Caps,
    /// Where it came from, for a run that was imported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported: Option<ImportOrigin>,
    /// The run that it was made from, for a re-run or a fork.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<RunOrigin>,
}

from_fields! { RunDetail { summary, view, gate_metric, caps, imported, origin } }

/// The hard caps of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Caps {
    /// Calls.
    pub max_calls: Option<u64>,
    /// Tokens.
    pub max_tokens: Option<u64>,
    /// Millionths of a dollar.
    pub max_cost_usd_micros: Option<u64>,
    /// Working time in milliseconds.
    pub max_ms: Option<u64>,
}

from_fields! { Caps { max_calls, max_tokens, max_cost_usd_micros, max_ms } }

/// `POST /runs` and `POST /config/check`: values by `section.key`, as typed in a form.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LaunchRequest {
    /// A name for people; made from the benchmark and the seed when empty.
    #[serde(default)]
    pub name: String,
    /// Values as text, by key. Keys that are left out keep their defaults.
    #[serde(default)]
    pub values: std::collections::BTreeMap<String, String>,
    /// Draw anew, whatever the ledger holds.
    #[serde(default)]
    pub fresh: bool,
    /// The run from which this one starts: keys that are left out have their defaults, as in a new run, and what
    /// differs from that run is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<LaunchOrigin>,
}

/// Answer of `POST /runs`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Launched {
    /// The new run.
    pub id: RunId,
}

/// Answer of `POST /config/check`: everything that can be said before a call is made.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ConfigCheck {
    /// What must be mended; empty when the run can start.
    pub problems: Vec<ConfigProblem>,
    /// What to look at.
    pub warnings: Vec<ConfigProblem>,
    /// Checks of skill and data.
    pub checks: Vec<Check>,
    /// What the run will do; `None` while there are problems.
    pub forecast: Option<Forecast>,
    /// What differs from the run that this one starts from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<ConfigDifference>,
}

/// `PUT /prices`: other rows in the place of those of a version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PriceUpdate {
    /// The version that was changed.
    pub version: u64,
    /// All rows.
    pub rows: Vec<PriceRow>,
}

/// One line of a preflight.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Check {
    /// What was checked.
    pub label: String,
    /// How it went.
    pub state: CheckState,
    /// A figure at the right, such as `168 tasks`.
    pub figure: String,
    /// One sentence, where there is something to say.
    pub detail: String,
}

/// How a check went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum CheckState {
    /// Fine.
    Ok,
    /// Look before you go on.
    Warning,
    /// The run would fail.
    Failed,
}

/// A count of what a run does at most. Calls that the ledger knows already cost nothing.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Forecast {
    /// Tasks in the splits.
    pub n_train: u32,
    /// Tasks of the selection split.
    pub n_selection: u32,
    /// Tasks of the test split.
    pub n_test: u32,
    /// Steps of an epoch.
    pub steps_per_epoch: u32,
    /// Steps in all.
    pub total_steps: u32,
    /// Target calls at most.
    pub target_calls_max: u64,
    /// Optimizer calls at most.
    pub optimizer_calls_max: u64,
    /// What it will likely come to.
    #[serde(default)]
    pub estimate: RunForecast,
}

from_fields! { Forecast {
    n_train, n_selection, n_test, steps_per_epoch, total_steps, target_calls_max,
    optimizer_calls_max; or default: estimate
} }

/// `POST /preflight`: one test call a role, besides the checks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Preflight {
    /// One line a check.
    pub checks: Vec<Check>,
}

/// A key of the config schema with its default, for the launch form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Preset {
    /// Name for people.
    pub name: String,
    /// One sentence.
    pub about: String,
    /// Values by key.
    pub values: std::collections::BTreeMap<String, String>,
}

/// Body of `POST /config/import`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct YamlText {
    /// The YAML.
    pub yaml: String,
}

/// A config value with its source, for the Config tab.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ConfigRow {
    /// `section.key`.
    pub path: String,
    /// The value as text; `None` when it is not set.
    pub value: Option<String>,
    /// Where it came from.
    pub place: Place,
    /// The default as text; empty for none.
    pub default: String,
}

/// `GET /runs/{id}/config`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ConfigView {
    /// All values.
    pub rows: Vec<ConfigRow>,
    /// The same as YAML, without secrets, to be trained from again.
    pub yaml: String,
    /// What goes on the wire, by role.
    pub wire: Vec<WireRow>,
}

/// What a backend sends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WireRow {
    /// `target` or `optimizer`.
    pub role: String,
    /// Its identity as JSON text; no secrets.
    pub identity: String,
}

/// Curves of a run: steps without their stages, thinned so that no extreme is lost.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Curves {
    /// The steps that were kept, rising.
    pub steps: Vec<StepSummary>,
    /// Steps in the asked range before thinning.
    pub n_steps: u64,
}

from_fields! { Curves { steps, n_steps } }

/// Query of `GET /runs/{id}/curves`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema, utoipa::IntoParams), into_params(parameter_in = Query))]
pub struct CurveQuery {
    /// First step.
    pub from: Option<u32>,
    /// Last step.
    pub to: Option<u32>,
    /// At most this many points; 4 to 5000, default 2000.
    pub max_points: Option<u32>,
}

/// `GET /runs/{id}/steps/{step}`: everything about one step.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StepDetail {
    /// Its events, in order.
    pub events: Vec<RunEvent>,
    /// The skill before the step.
    pub before: Option<Sha256Hex>,
    /// Version number of the skill before.
    pub before_version: Option<u32>,
}

from_fields! { StepDetail { events, before, before_version } }

/// A row of the rejected edits table.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RejectedEdit {
    /// The step that proposed it.
    pub step: u32,
    /// Its place among the edits that the step tried, from 1.
    pub number: u32,
    /// The edit and its status. `applied` means: it was part of a candidate that the gate rejected.
    pub report: crate::edit::EditReport,
    /// The gate's sentence, or the edit's own reason when it never applied.
    pub reason: String,
    /// Gate score before; for edits that were gated.
    pub before: Option<f64>,
    /// Gate score of the candidate.
    pub after: Option<f64>,
    /// Selection tasks behind the scores.
    pub n: Option<u32>,
    /// Tasks fixed; `None` when it is not known.
    pub n_fixed: Option<u32>,
    /// Tasks broken; `None` when it is not known.
    pub n_broke: Option<u32>,
    /// Other steps that proposed an edit with similar words, accepted or not.
    pub n_proposed_again: u32,
    /// Those steps; a page holds the last 20 of them.
    pub proposed_again_in: Vec<u32>,
}

from_fields! { RejectedEdit {
    step, number, report, reason, before, after, n, n_fixed, n_broke,
    n_proposed_again, proposed_again_in
} }

/// Why an edit is in the table of rejected edits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum RejectedWhy {
    /// Its candidate lost at the gate.
    Gate,
    /// It could not be applied.
    NotApplied,
}

impl RejectedWhy {
    /// Both reasons.
    pub const ALL: [Self; 2] = [Self::Gate, Self::NotApplied];

    /// The stable word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Gate => "gate",
            Self::NotApplied => "not_applied",
        }
    }
}

/// Query of `GET /runs/{id}/rejected`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema, utoipa::IntoParams), into_params(parameter_in = Query))]
pub struct RejectedQuery {
    /// Only edits that are there for this reason.
    pub why: Option<RejectedWhy>,
    /// Only edits whose text or reason contains this.
    pub q: Option<String>,
    /// Only edits that other steps proposed in similar words.
    pub again: Option<bool>,
    /// From the page before.
    pub cursor: Option<String>,
    /// 1 to 500, default 100.
    pub limit: Option<u32>,
}

/// `GET /runs/{id}/rejected`: one page of rejected edits, the newest step first.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RejectedPage {
    /// The rows.
    #[serde(flatten)]
    pub page: Page<RejectedEdit>,
    /// Edits that lost at the gate, with all filters but the reason's.
    pub n_gate: u64,
    /// Edits that could not be applied, with all filters but the reason's.
    pub n_not_applied: u64,
}

from_fields!(RejectedPage);

impl FromFields for RejectedPage {
    fn from_fields(fields: &mut Fields) -> Result<Self, JsonError> {
        Ok(Self {
            n_gate: fields.take("n_gate")?,
            n_not_applied: fields.take("n_not_applied")?,
            page: fields.take_rest()?,
        })
    }
}

/// `GET /runs/{id}/skills/{sha}` and `/skills/{sha}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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

/// Query of `GET /runs/{id}/trajectories`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema, utoipa::IntoParams), into_params(parameter_in = Query))]
pub struct TrajectoryQuery {
    /// Only these outcomes.
    pub outcome: Option<OutcomeFilter>,
    /// Only this purpose.
    pub purpose: Option<RolloutPurpose>,
    /// Only this step.
    pub step: Option<u32>,
    /// Only this rollout set.
    pub set: Option<String>,
    /// Only this task.
    pub task: Option<String>,
    /// Only task ids, titles and answers that contain this text.
    pub q: Option<String>,
    /// From the page before.
    pub cursor: Option<String>,
    /// 1 to 500, default 100.
    pub limit: Option<u32>,
}

/// A row of the trajectory list.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TrajectoryRow {
    /// Number within the store; names it in the URL.
    pub id: u64,
    /// Rollout set.
    pub set: String,
    /// Why it was made.
    pub purpose: RolloutPurpose,
    /// Step; 0 before the first.
    pub step: u32,
    /// Skill in use.
    pub skill: Sha256Hex,
    /// The task and its outcome.
    #[serde(flatten)]
    pub outcome: crate::outcome::TaskOutcome,
}

/// Counts for the filter buttons of the trajectory list.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TrajectoryPage {
    /// The rows.
    #[serde(flatten)]
    pub page: Page<TrajectoryRow>,
    /// Counts by outcome, with all filters but the outcome's.
    pub counts: crate::outcome::OutcomeCounts,
}

from_fields!(TrajectoryRow, TrajectoryPage);

impl FromFields for TrajectoryRow {
    fn from_fields(fields: &mut Fields) -> Result<Self, JsonError> {
        Ok(Self {
            id: fields.take("id")?,
            set: fields.take("set")?,
            purpose: fields.take("purpose")?,
            step: fields.take("step")?,
            skill: fields.take("skill")?,
            outcome: FromFields::from_fields(fields)?,
        })
    }
}

impl FromFields for TrajectoryPage {
    fn from_fields(fields: &mut Fields) -> Result<Self, JsonError> {
        Ok(Self { counts: fields.take("counts")?, page: fields.take_rest()? })
    }
}

/// `GET /runs/{id}/trajectories/{number}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Trajectory {
    /// The row.
    pub row: TrajectoryRow,
    /// The conversation; empty when no call succeeded.
    pub messages: Vec<TrajectoryMessage>,
    /// What an agent did before its answer, the last message; empty for models that are no agents.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<TrajectoryStep>,
    /// Tokens read.
    pub prompt_tokens: Option<u64>,
    /// Tokens written.
    pub completion_tokens: Option<u64>,
    /// Time of the call in milliseconds.
    pub latency_ms: Option<u64>,
    /// Attempts of the call.
    pub attempts: Option<u32>,
}

/// A message of a trajectory. Untrusted text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TrajectoryMessage {
    /// `system`, `user` or `assistant`; attempts that were imported may have others, such as `action`.
    pub role: String,
    /// The text.
    pub content: String,
}

/// Something that an agent did on the way to its answer. Untrusted text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TrajectoryStep {
    /// What it was, such as `thought`, `message`, `command` or `tool`.
    pub kind: String,
    /// What it did, shortened.
    pub text: String,
    /// What came of it, shortened; empty when it is not told.
    pub result: String,
}

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

/// Answer of the actions `pause`, `resume`, `cancel`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StatusChanged {
    /// The state now.
    pub status: RunStatus,
}

/// What a run's stream sends besides events: `event: progress`.
pub type ProgressMessage = crate::event::Progress;

/// What the stream of all runs sends: `event: run`, one row that changed.
pub type RunChanged = RunSummary;

/// One attempt of an evaluation, as `skillopt eval --json` prints it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct EvalRow {
    /// The task.
    pub task: String,
    /// Its outcome.
    #[serde(flatten)]
    pub outcome: Outcome,
}
