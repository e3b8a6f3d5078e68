//! Steps on the wire: curves, one step, and edits that were rejected.

use super::Page;
use crate::edit::EditReport;
use crate::event::{RunEvent, StepSummary};
use crate::hash::Sha256Hex;
use crate::json::{Fields, FromFields, JsonError, from_fields};
use serde::{Deserialize, Serialize};

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
    pub report: EditReport,
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
