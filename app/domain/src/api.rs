//! What crosses HTTP, under `/api/v1`. Requests refuse unknown fields; answers may grow new ones.

mod adoption;
mod config;
mod curation;
mod endpoints;
mod evidence;
mod handoff;
mod launch;
mod models;
mod nights;
mod problem;
mod review;
mod runs;
mod schedules;
mod steps;
mod trajectories;

pub use adoption::*;
pub use config::*;
pub use curation::*;
pub use endpoints::*;
pub use evidence::*;
pub use handoff::*;
pub use launch::*;
pub use models::*;
pub use nights::*;
pub use problem::*;
pub use review::*;
pub use runs::*;
pub use schedules::*;
pub use steps::*;
pub use trajectories::*;

use serde::{Deserialize, Serialize};

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
