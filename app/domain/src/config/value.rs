//! A raw value and where it came from.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A value as a text format gives it, before it is checked against a key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// `null`, `~` or nothing: the key counts as not set.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// Any other number.
    Float(f64),
    /// Text.
    Text(String),
    /// A list or a mapping, kept as JSON.
    Json(serde_json::Value),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => value.fmt(f),
            Self::Int(value) => value.fmt(f),
            Self::Float(value) => value.fmt(f),
            Self::Text(value) => f.write_str(value),
            Self::Json(value) => value.fmt(f),
        }
    }
}

/// What kind of source set a value, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Origin {
    /// Nobody set it.
    Default,
    /// The price table of the data directory, when the run was made.
    Prices,
    /// A file that another file names as its `_base_`.
    Base,
    /// The config file.
    File,
    /// An environment variable.
    Environment,
    /// The command line or the launch form.
    Flag,
}

/// Where exactly a value was set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Place {
    /// The kind of source.
    pub origin: Origin,
    /// The file, variable or flag; empty for defaults.
    pub name: String,
    /// Line in a file, from 1.
    pub line: Option<u32>,
}

impl Place {
    /// A built-in default.
    #[must_use]
    pub fn default_value() -> Self {
        Self { origin: Origin::Default, name: String::new(), line: None }
    }

    /// A flag or form field.
    #[must_use]
    pub fn flag(name: impl Into<String>) -> Self {
        Self { origin: Origin::Flag, name: name.into(), line: None }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.origin, self.line) {
            (Origin::Default, _) => f.write_str("default"),
            (_, Some(line)) => write!(f, "{}:{line}", self.name),
            (_, None) => f.write_str(&self.name),
        }
    }
}
