//! What a night can come to in calls, before it begins.

use crate::json::from_fields;
use serde::Serialize;

/// Calls of a night when each is answered the first time: what has to be asked again (an answer that cannot be read, a
/// broken server) comes on top. Answers that the ledger knows already cost nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct NightForecast {
    /// No model is called.
    pub is_simulated: bool,
    /// The tasks are known, so that no night with them makes more calls. Else they are what a night takes at most, split
    /// by the fractions of the config.
    pub is_bound: bool,
    /// Tasks that are counted on.
    pub n_tasks: u32,
    /// Of them, those that only test.
    pub n_test: u32,
    /// At most so many calls; the sum of all parts.
    pub calls_max: u64,
    /// Sessions are read.
    pub mining: u64,
    /// Training tasks are performed and judged, with their variants and recalled ones.
    pub training: u64,
    /// Validation tasks are performed and judged: before, for each candidate, and at the end.
    pub validation: u64,
    /// Edits are asked for.
    pub reflection: u64,
    /// Test tasks are performed and judged.
    pub test: u64,
    /// Everything that is done for skills of their own.
    pub fan_out: u64,
    /// What had to be assumed, for people.
    pub assumptions: Vec<String>,
}

from_fields! { NightForecast {
    is_simulated, is_bound, n_tasks, n_test, calls_max, mining, training, validation, reflection, test, fan_out,
    assumptions
} }
