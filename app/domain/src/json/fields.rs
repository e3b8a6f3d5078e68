//! Types that share one JSON object: tagged enums and what is flattened into a row.

use super::{Json, JsonError};
use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error};
use std::mem;

/// The fields of an object that nobody has taken yet.
#[derive(Clone, Debug, PartialEq)]
pub struct Fields(Vec<(String, Json)>);

/// A type that takes its fields out of an object and leaves the others.
pub trait FromFields: Sized {
    /// Takes what belongs to the type. Names and meanings are those that its `Serialize` writes.
    ///
    /// # Errors
    /// [`JsonError`] when a field is missing or of another type.
    fn from_fields(fields: &mut Fields) -> Result<Self, JsonError>;
}

impl Fields {
    /// Takes one field. A missing one counts as `null`, which only an `Option` can be.
    ///
    /// # Errors
    /// [`JsonError`] with the name when the field is missing or of another type.
    pub fn take<T: DeserializeOwned>(&mut self, name: &'static str) -> Result<T, JsonError> {
        let value = self.remove(name);
        let is_missing = value.is_none();
        match T::deserialize(value.unwrap_or(Json::Null)) {
            Ok(value) => Ok(value),
            Err(_) if is_missing => Err(JsonError::missing_field(name)),
            Err(err) => Err(err.within(name)),
        }
    }

    /// Takes one field that older texts do not have.
    ///
    /// # Errors
    /// [`JsonError`] with the name when the field is of another type.
    pub fn take_or_default<T: DeserializeOwned + Default>(
        &mut self,
        name: &'static str,
    ) -> Result<T, JsonError> {
        Ok(self.take::<Option<T>>(name)?.unwrap_or_default())
    }

    /// Takes the field that says which variant the others make up.
    ///
    /// # Errors
    /// [`JsonError`] when it is missing or no text.
    pub fn take_tag(&mut self, name: &'static str) -> Result<String, JsonError> {
        self.take(name)
    }

    /// Takes all fields that are left, for a type that has the rest of the object.
    ///
    /// # Errors
    /// [`JsonError`] when they do not make up the type.
    pub fn take_rest<T: DeserializeOwned>(&mut self) -> Result<T, JsonError> {
        T::deserialize(Json::Object(mem::take(&mut self.0)))
    }

    fn remove(&mut self, name: &str) -> Option<Json> {
        let index = self.0.iter().position(|(other, _)| other == name)?;
        Some(self.0.swap_remove(index).1)
    }
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Json::deserialize(deserializer)? {
            Json::Object(fields) => Ok(Self(fields)),
            _ => Err(D::Error::custom("an object is expected")),
        }
    }
}

/// Reads from any format by way of [`Fields`]: the whole of a `Deserialize`.
///
/// # Errors
/// The format's own, or what [`FromFields`] says.
pub fn read_fields<'de, T: FromFields, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    T::from_fields(&mut Fields::deserialize(deserializer)?).map_err(D::Error::custom)
}

/// `Deserialize` for types with [`FromFields`]; for a plain struct, with all its fields named, both. Fields behind
/// `or default:` are missing in older texts. In the dashboard it is several times smaller than a derived reader, so
/// whatever a page of a run reads has it.
macro_rules! from_fields {
    ($($name:ident),+) => {$(
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::json::read_fields(deserializer)
            }
        }
    )+};
    ($name:ident { $($field:ident),+ $(; or default: $($late:ident),+)? }) => {
        impl $crate::json::FromFields for $name {
            fn from_fields(
                fields: &mut $crate::json::Fields,
            ) -> Result<Self, $crate::json::JsonError> {
                Ok(Self {
                    $($field: fields.take(stringify!($field))?,)+
                    $($($late: fields.take_or_default(stringify!($late))?,)+)?
                })
            }
        }
        $crate::json::from_fields!($name);
    };
}
pub(crate) use from_fields;
