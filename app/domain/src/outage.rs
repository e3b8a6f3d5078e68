//! An endpoint that does not answer, as runs and the dashboard tell of it.

use crate::json::from_fields;
use serde::{Deserialize, Serialize};

/// An endpoint that failed again and again. No call is made to it until one tries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Outage {
    /// Its address, without anything secret.
    pub endpoint: String,
    /// The model that is called there.
    pub model: String,
    /// When the first call failed, in milliseconds since 1970-01-01 UTC.
    pub since_ms: u64,
    /// When one call tries again, in milliseconds since 1970-01-01 UTC.
    pub next_try_ms: u64,
    /// The last error in the provider's words, shortened; never a secret.
    pub error: String,
}

from_fields! { Outage {
    endpoint, model, since_ms, next_try_ms, error
} }

impl Outage {
    /// It is an outage of the same endpoint and model.
    #[must_use]
    pub fn concerns(&self, endpoint: &str, model: &str) -> bool {
        self.endpoint == endpoint && self.model == model
    }
}

/// Whether calls to an endpoint are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum BreakerState {
    /// They are.
    #[default]
    Closed,
    /// They wait, because it does not answer.
    Open,
    /// One call tries, the others wait for what becomes of it.
    HalfOpen,
}
