//! What this process knows of the model servers that it calls.

use crate::json::from_fields;
use crate::outage::{BreakerState, Outage};
use serde::Serialize;

/// One model at one address with one key, as all runs of this process have found it since the process began.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct EndpointState {
    /// Its address, without anything secret.
    pub address: String,
    /// The model.
    pub model: String,
    /// The beginning of the key's SHA-256, to tell keys apart; `None` when no key is sent.
    pub key: Option<String>,
    /// Calls that may be in flight now: the limit that refusals and answers have led to.
    pub limit_now: u32,
    /// Calls that may be in flight as configured.
    pub limit_configured: u32,
    /// Calls in flight.
    pub in_flight: u32,
    /// Calls that wait for a place, the end of a pause or of an outage.
    pub waiting: u32,
    /// Calls that were answered.
    pub answers: u64,
    /// Calls that were refused as one too many; each is made again.
    pub refusals: u64,
    /// When calls go on, where the endpoint asked to wait; in milliseconds since 1970-01-01 UTC.
    pub paused_until_ms: Option<u64>,
    /// Whether calls are made.
    pub breaker: BreakerState,
    /// What is known of the outage while the breaker is not closed.
    pub outage: Option<Outage>,
    /// The last errors, newest first, 10 at most. Refusals of a call too many are counted only.
    pub errors: Vec<CallError>,
    /// Changes that were learned to be understood there, such as "sends `max_tokens`".
    pub adaptations: Vec<String>,
}

from_fields! { EndpointState {
    address, model, key, limit_now, limit_configured, in_flight, waiting, answers, refusals,
    paused_until_ms, breaker, outage, errors, adaptations
} }

/// One attempt that brought no answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CallError {
    /// When, in milliseconds since 1970-01-01 UTC.
    pub at_ms: u64,
    /// A stable word for the kind, such as `timeout`.
    pub kind: String,
    /// In the provider's words, shortened; never a secret.
    pub message: String,
}

from_fields! { CallError { at_ms, kind, message } }

/// `GET /models/endpoints`: sorted by address, model and key.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct EndpointList {
    /// Those that a run or a check has called or set up since the process began.
    pub endpoints: Vec<EndpointState>,
}

from_fields! { EndpointList { endpoints } }
