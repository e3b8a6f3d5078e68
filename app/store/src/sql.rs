//! Small bridges between Rust and SQL values: errors with the action, numbers, JSON columns.

use crate::error::StoreFailure;
use serde::Serialize;
use serde::de::DeserializeOwned;
use skillopt_domain::hash::Sha256Hex;
use sqlx::Row;
use sqlx::sqlite::SqliteRow;

/// Says what was being done when SQLite failed.
pub(crate) trait Doing<T> {
    fn doing(self, action: &'static str) -> Result<T, StoreFailure>;
}

impl<T> Doing<T> for Result<T, sqlx::Error> {
    fn doing(self, action: &'static str) -> Result<T, StoreFailure> {
        self.map_err(|source| match source {
            sqlx::Error::PoolClosed => StoreFailure::Closed,
            source => StoreFailure::Sql { action, source },
        })
    }
}

/// SQLite's integers are signed; counts and times are far below their limit.
pub(crate) fn int(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// A count back from SQLite.
pub(crate) fn count(value: i64) -> u64 {
    u64::try_from(value).unwrap_or_default()
}

/// A small count back from SQLite.
pub(crate) fn small(value: i64) -> u32 {
    u32::try_from(value).unwrap_or_default()
}

pub(crate) fn to_json<T: Serialize>(value: &T) -> Result<String, StoreFailure> {
    serde_json::to_string(value).map_err(|err| StoreFailure::corrupt("a value", err))
}

pub(crate) fn from_json<T: DeserializeOwned>(
    what: &'static str,
    text: &str,
) -> Result<T, StoreFailure> {
    serde_json::from_str(text).map_err(|err| StoreFailure::corrupt(what, err))
}

pub(crate) fn hash(text: &str) -> Result<Sha256Hex, StoreFailure> {
    Sha256Hex::parse(text).map_err(|err| StoreFailure::corrupt(format!("the hash {text:?}"), err))
}

const READ: &str = "read a stored value";

/// Columns by name and type.
pub(crate) trait Column {
    fn text(&self, column: &'static str) -> Result<String, StoreFailure>;
    fn text_or_null(&self, column: &'static str) -> Result<Option<String>, StoreFailure>;
    fn int(&self, column: &'static str) -> Result<i64, StoreFailure>;
    fn int_or_null(&self, column: &'static str) -> Result<Option<i64>, StoreFailure>;
    fn real_or_null(&self, column: &'static str) -> Result<Option<f64>, StoreFailure>;
    fn bytes(&self, column: &'static str) -> Result<Vec<u8>, StoreFailure>;
}

impl Column for SqliteRow {
    fn text(&self, column: &'static str) -> Result<String, StoreFailure> {
        self.try_get(column).doing(READ)
    }
    fn text_or_null(&self, column: &'static str) -> Result<Option<String>, StoreFailure> {
        self.try_get(column).doing(READ)
    }
    fn int(&self, column: &'static str) -> Result<i64, StoreFailure> {
        self.try_get(column).doing(READ)
    }
    fn int_or_null(&self, column: &'static str) -> Result<Option<i64>, StoreFailure> {
        self.try_get(column).doing(READ)
    }
    fn real_or_null(&self, column: &'static str) -> Result<Option<f64>, StoreFailure> {
        self.try_get(column).doing(READ)
    }
    fn bytes(&self, column: &'static str) -> Result<Vec<u8>, StoreFailure> {
        self.try_get(column).doing(READ)
    }
}
