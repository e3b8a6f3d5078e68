//! What waits for a person, and the first page: proposals of nights, runs whose skill is better, what goes on.

use super::{NightItem, Page, RunSummary};
use crate::json::from_fields;
use serde::{Deserialize, Serialize};

/// `GET /review`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReviewPage {
    /// Nights whose proposals nobody decided about, newest first.
    pub items: Vec<ReviewItem>,
    /// For the next page; `None` at the end.
    pub next: Option<String>,
    /// Nights that wait and can be adopted, on all pages.
    pub n_waiting: u64,
    /// The newest finished runs whose best skill beats the one that they began with, and was not adopted. On the first
    /// page only.
    pub runs: Vec<RunSummary>,
}

from_fields! { ReviewPage { items, next, n_waiting, runs } }

/// Query of `GET /review`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams), into_params(parameter_in = Query))]
pub struct ReviewQuery {
    /// From the page before.
    pub cursor: Option<String>,
    /// 1 to 100, default 50.
    pub limit: Option<u32>,
}

/// A night that waits for a decision.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReviewItem {
    /// The night. Its decision is `waiting` or `stale`.
    pub night: NightItem,
    /// Documents that it would change and nobody decided about.
    pub documents: Vec<ReviewDocument>,
    /// Tasks behind its scores; `None` when that is not known.
    pub n_tasks: Option<u32>,
    /// Why it cannot be adopted; empty when it can.
    pub why: String,
}

from_fields! { ReviewItem { night, documents, n_tasks, why } }

/// A document in the queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReviewDocument {
    /// As [`super::NightProposal::key`].
    pub key: String,
    /// The live file.
    pub live_path: String,
    /// Lines that it would get.
    pub n_added: u32,
    /// Lines that it would lose.
    pub n_removed: u32,
    /// Edits that make it up; 0 when the night does not tell.
    pub n_edits: u32,
    /// Risk flags.
    pub n_risks: u32,
}

from_fields! { ReviewDocument { key, live_path, n_added, n_removed, n_edits, n_risks } }

/// `GET /overview`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Overview {
    /// The newest runs.
    pub runs: Page<RunSummary>,
    /// Nights: what goes on, what waits, what was and what comes.
    pub nights: NightsOverview,
}

from_fields! { Overview { runs, nights } }

/// Nights, for the first page.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct NightsOverview {
    /// Those that run now, newest first.
    pub running: Vec<NightItem>,
    /// Of those whose prompts wait for answers the newest three.
    pub asking: Vec<NightItem>,
    /// Of those that wait for a decision and can be adopted the newest three.
    pub waiting: Vec<ReviewItem>,
    /// How many wait in all.
    pub n_waiting: u64,
    /// The newest one that is over.
    pub last: Option<NightItem>,
    /// The next one that this server will begin by itself; `None` when none is planned.
    pub next: Option<NextNight>,
}

from_fields! { NightsOverview { running, asking, waiting, n_waiting, last, next } }

/// A night to come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct NextNight {
    /// In milliseconds since 1970-01-01 UTC.
    pub at_ms: u64,
    /// Absolute path of the project.
    pub project: String,
    /// Projects with a night to come.
    pub n_projects: u32,
}

from_fields! { NextNight { at_ms, project, n_projects } }

/// `event: review` of `GET /stream`: sent at first, and when it may have changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReviewCount {
    /// Nights that wait for a decision and can be adopted.
    pub n_waiting: u64,
}

from_fields! { ReviewCount { n_waiting } }
