//! Configs and prices on the wire.

use crate::config::Place;
use crate::price::PriceRow;
use serde::{Deserialize, Serialize};

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
