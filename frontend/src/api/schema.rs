//! The config schema as it arrives: the owned twin of `domain::config::KeySpec`, so that the form shows what this
//! server knows and the table of keys is not part of the WASM.

use serde::{Deserialize, Deserializer};
use skillopt_domain::config::Group;
use skillopt_domain::json::{Fields, FromFields, JsonError, read_fields};

/// One key of the config.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct SchemaKey {
    /// `section.key`.
    pub(crate) path: String,
    pub(crate) label: String,
    pub(crate) kind: SchemaKind,
    /// As text; empty for "not set".
    pub(crate) default: String,
    /// Shown inside the field; empty for none.
    pub(crate) unit: String,
    /// One sentence.
    pub(crate) help: String,
    pub(crate) group: Group,
    pub(crate) availability: SchemaAvailability,
}

/// What values a key takes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SchemaKind {
    Bool,
    Int,
    Float,
    Text,
    Path,
    Choice { options: Vec<String> },
    Json,
}

/// Whether a key has an effect.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SchemaAvailability {
    Built,
    NotBuilt,
    Ignored,
    Secret,
}

impl FromFields for SchemaKind {
    fn from_fields(fields: &mut Fields) -> Result<Self, JsonError> {
        Ok(match &*fields.take_tag("kind")? {
            "bool" => Self::Bool,
            "int" => Self::Int,
            "float" => Self::Float,
            "text" => Self::Text,
            "path" => Self::Path,
            "choice" => Self::Choice { options: fields.take("options")? },
            "json" => Self::Json,
            other => return Err(JsonError::unknown_tag("kind", other)),
        })
    }
}

impl FromFields for SchemaAvailability {
    fn from_fields(fields: &mut Fields) -> Result<Self, JsonError> {
        Ok(match &*fields.take_tag("state")? {
            "built" => Self::Built,
            "not_built" => Self::NotBuilt,
            "ignored" => Self::Ignored,
            "secret" => Self::Secret,
            other => return Err(JsonError::unknown_tag("state", other)),
        })
    }
}

impl<'de> Deserialize<'de> for SchemaKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read_fields(deserializer)
    }
}

impl<'de> Deserialize<'de> for SchemaAvailability {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read_fields(deserializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skillopt_domain::config::KEYS;

    #[test]
    fn the_schema_of_the_domain_can_be_read() {
        let json = serde_json::to_string(KEYS).expect("keys serialise");
        let keys: Vec<SchemaKey> =
            skillopt_domain::json::from_str(&json).expect("keys can be read");
        assert_eq!(keys.len(), KEYS.len());
        assert!(
            keys.iter().any(
                |key| matches!(&key.kind, SchemaKind::Choice { options } if !options.is_empty())
            )
        );
    }
}
