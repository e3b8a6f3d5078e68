//! JSON as a value, and the way from it to the wire types. Nothing here knows a wire type.
//!
//! Derived readers are generic over the format: each format that a type is read from, and each buffer that
//! `#[serde(tag)]` and `#[serde(flatten)]` put in between, is compiled anew for every type, three times over in the
//! dashboard. So a text is parsed once into [`Json`], everything is read from that, and types that share their
//! object with others (tagged, flattened) say by [`FromFields`] which fields are theirs.

mod fields;
mod read;
mod write;

pub(crate) use fields::from_fields;
pub use fields::{Fields, FromFields, read_fields};

use serde::de::{Deserialize, DeserializeOwned, Deserializer, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// A JSON value. Numbers are kept as exactly as the parser gives them.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number from 0.
    Unsigned(u64),
    /// A whole number below 0.
    Signed(i64),
    /// Any other number.
    Float(f64),
    /// Text.
    Text(String),
    /// A list.
    List(Vec<Json>),
    /// An object, its fields in the order in which they came.
    Object(Vec<(String, Json)>),
}

/// Why a value is not of the wanted type. One pointer wide, since every field that is read can fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonError(Box<Complaint>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Complaint {
    at: String,
    what: String,
}

/// Reads a type from JSON text.
///
/// # Errors
/// [`JsonError`] when the text is no JSON, or not of this type.
pub fn from_str<T: DeserializeOwned>(text: &str) -> Result<T, JsonError> {
    T::deserialize(Json::parse(text)?)
}

impl Json {
    /// Parses JSON text.
    ///
    /// # Errors
    /// [`JsonError`] with the line and column at which the text is no JSON.
    pub fn parse(text: &str) -> Result<Self, JsonError> {
        serde_json::from_str(text).map_err(|err| JsonError::new(err.to_string()))
    }
}

impl JsonError {
    fn new(what: impl Into<String>) -> Self {
        Self(Box::new(Complaint { at: String::new(), what: what.into() }))
    }

    /// The tag of an object names no known variant.
    #[must_use]
    pub fn unknown_tag(name: &str, word: &str) -> Self {
        Self::unknown_word(word).within(name)
    }

    fn unknown_word(word: &str) -> Self {
        Self::new(["the word is not known: ", word].concat())
    }

    /// The way to the value, such as `steps[3].action`; empty for the whole.
    #[must_use]
    pub fn at(&self) -> &str {
        &self.0.at
    }

    /// What is wrong with it.
    #[must_use]
    pub fn what(&self) -> &str {
        &self.0.what
    }

    fn within(mut self, name: &str) -> Self {
        let at = &self.0.at;
        let joint = if at.is_empty() || at.starts_with('[') { "" } else { "." };
        self.0.at = [name, joint, at].concat();
        self
    }
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.at().is_empty() {
            f.write_str(self.at())?;
            f.write_str(": ")?;
        }
        f.write_str(self.what())
    }
}

impl std::error::Error for JsonError {}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyJson)
    }
}

struct AnyJson;

impl<'de> Visitor<'de> for AnyJson {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_none<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, inner: D) -> Result<Json, D::Error> {
        inner.deserialize_any(self)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Unsigned(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(u64::try_from(value).map_or(Json::Signed(value), Json::Unsigned))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(Json::Float(value))
    }

    fn visit_str<E>(self, text: &str) -> Result<Json, E> {
        Ok(Json::Text(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Json, E> {
        Ok(Json::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Json::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Json, A::Error> {
        let mut fields = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            fields.push(entry);
        }
        Ok(Json::Object(fields))
    }
}

#[cfg(test)]
mod tests;
