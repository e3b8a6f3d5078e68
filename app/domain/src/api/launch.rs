//! New runs on the wire: what is asked for, and everything that can be said before a call is made.

use crate::config::{ConfigDifference, ConfigProblem};
use crate::forecast::RunForecast;
use crate::ids::RunId;
use crate::json::from_fields;
use crate::origin::LaunchOrigin;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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
    pub values: BTreeMap<String, String>,
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
    pub values: BTreeMap<String, String>,
}

/// Body of `POST /config/import`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct YamlText {
    /// The YAML.
    pub yaml: String,
}
