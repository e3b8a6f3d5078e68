//! YAML text as a tree that remembers lines. Reads YAML 1.2: only `true` and `false` are booleans.

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::options::{DuplicateKeyPolicy, NonFiniteFloatPolicy};
use serde_saphyr::{Options, Spanned};
use skillopt_domain::config::Value;
use std::fmt;

/// A node of a YAML document.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    Scalar(Value),
    List(Vec<Node>),
    Map(Vec<Entry>),
}

/// A key, its line and its value. Keys may repeat: the caller says so.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) line: Option<u32>,
    pub(super) value: Node,
}

/// The text is no YAML.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SyntaxError {
    pub(super) line: Option<u32>,
    pub(super) message: String,
}

/// Parses one document; an empty one is `null`.
pub(super) fn parse(text: &str) -> Result<Node, SyntaxError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    serde_saphyr::from_str_with_options(text, options()).map_err(|error| {
        let line = error.location().and_then(|place| u32::try_from(place.line()).ok());
        let message = error.without_snippet().to_string();
        SyntaxError { line: line.filter(|line| *line > 0), message: message.trim().to_owned() }
    })
}

fn options() -> Options {
    serde_saphyr::options! {
        strict_booleans: true,
        underscored_numbers_as_strings: true,
        null_as_string: true,
        duplicate_keys: DuplicateKeyPolicy::PassThrough,
        non_finite_float_policy: NonFiniteFloatPolicy::PassThrough,
        with_snippet: false,
    }
}

impl Node {
    /// The node as a config value; lists and mappings become JSON.
    pub(super) fn into_value(self) -> Value {
        match self {
            Self::Scalar(value) => value,
            composed => Value::Json(composed.into_json()),
        }
    }

    pub(super) fn into_json(self) -> serde_json::Value {
        match self {
            Self::Scalar(Value::Null) => serde_json::Value::Null,
            Self::Scalar(Value::Bool(flag)) => flag.into(),
            Self::Scalar(Value::Int(number)) => number.into(),
            Self::Scalar(Value::Float(number)) => number.into(),
            Self::Scalar(Value::Text(text)) => text.into(),
            Self::Scalar(Value::Json(json)) => json,
            Self::List(nodes) => nodes.into_iter().map(Self::into_json).collect(),
            Self::Map(entries) => {
                let pairs = entries.into_iter().map(|entry| (entry.key, entry.value.into_json()));
                serde_json::Value::Object(pairs.collect())
            }
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a YAML value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Node, E> {
        Ok(Node::Scalar(Value::Bool(value)))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Node, E> {
        Ok(Node::Scalar(Value::Int(value)))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Node, E> {
        // Beyond 64-bit signed no key has a use for it; as text it is refused with its own digits.
        let whole = i64::try_from(value).map(Value::Int);
        Ok(Node::Scalar(whole.unwrap_or_else(|_| Value::Text(value.to_string()))))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Node, E> {
        Ok(Node::Scalar(Value::Float(value)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Node, E> {
        Ok(Node::Scalar(Value::Text(value.to_owned())))
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Scalar(Value::Null))
    }

    fn visit_none<E>(self) -> Result<Node, E> {
        Ok(Node::Scalar(Value::Null))
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
        Node::deserialize(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Node, A::Error> {
        let mut nodes = Vec::new();
        while let Some(node) = list.next_element()? {
            nodes.push(node);
        }
        Ok(Node::List(nodes))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let mut entries = Vec::new();
        while let Some(key) = map.next_key::<Spanned<String>>()? {
            let value = map.next_value()?;
            let line = u32::try_from(key.referenced.line()).ok().filter(|line| *line > 0);
            entries.push(Entry { key: key.value, line, value });
        }
        Ok(Node::Map(entries))
    }
}
