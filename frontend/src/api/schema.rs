//! The config schema as it arrives: the owned twin of `domain::config::KeySpec`, so that the form shows what this
//! server knows and the table of keys is not part of the WASM.

use serde::Deserialize;
use skillopt_domain::config::Group;

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
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
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
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub(crate) enum SchemaAvailability {
    Built,
    NotBuilt,
    Ignored,
    Secret,
}

#[cfg(test)]
mod tests {
    use super::*;
    use skillopt_domain::config::KEYS;

    #[test]
    fn the_schema_of_the_domain_can_be_read() {
        let json = serde_json::to_string(KEYS).expect("keys serialise");
        let keys: Vec<SchemaKey> = serde_json::from_str(&json).expect("keys can be read");
        assert_eq!(keys.len(), KEYS.len());
        assert!(
            keys.iter().any(
                |key| matches!(&key.kind, SchemaKind::Choice { options } if !options.is_empty())
            )
        );
    }
}
