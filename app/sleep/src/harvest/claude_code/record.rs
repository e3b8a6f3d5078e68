//! The records of Claude Code, as far as they are read. Everything in them may be of another shape.

use crate::harvest::json::{Scalar, Shape};
use crate::harvest::text;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use std::borrow::Cow;
use std::fmt;

/// One line.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Record<'a> {
    #[serde(rename = "type", borrow)]
    pub(super) kind: Scalar<'a>,
    #[serde(borrow)]
    pub(super) timestamp: Scalar<'a>,
    #[serde(borrow)]
    pub(super) cwd: Scalar<'a>,
    #[serde(borrow)]
    pub(super) git_branch: Scalar<'a>,
    #[serde(borrow)]
    pub(super) uuid: Scalar<'a>,
    #[serde(borrow)]
    pub(super) is_sidechain: Scalar<'a>,
    #[serde(borrow)]
    pub(super) is_meta: Scalar<'a>,
    #[serde(borrow)]
    pub(super) is_compact_summary: Scalar<'a>,
    #[serde(borrow)]
    pub(super) is_visible_in_transcript_only: Scalar<'a>,
    #[serde(borrow)]
    pub(super) is_api_error_message: Scalar<'a>,
    #[serde(borrow)]
    pub(super) message: Shape<'a, Message<'a>>,
    #[serde(borrow)]
    pub(super) snapshot: Shape<'a, Files<'a>>,
}

/// What was said.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Message<'a> {
    #[serde(borrow)]
    pub(super) id: Scalar<'a>,
    #[serde(borrow)]
    pub(super) model: Scalar<'a>,
    #[serde(borrow)]
    pub(super) content: Shape<'a, Block<'a>>,
    #[serde(borrow)]
    pub(super) usage: Shape<'a, Usage<'a>>,
}

/// A part of what was said. What a tool returned is not read.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Block<'a> {
    #[serde(rename = "type", borrow)]
    pub(super) kind: Scalar<'a>,
    #[serde(borrow)]
    pub(super) text: Scalar<'a>,
    #[serde(borrow)]
    pub(super) name: Scalar<'a>,
    #[serde(borrow)]
    pub(super) input: Shape<'a, Input<'a>>,
}

/// What a tool was given.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Input<'a> {
    #[serde(borrow)]
    pub(super) skill: Scalar<'a>,
}

/// Tokens of a message.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Usage<'a> {
    #[serde(borrow)]
    pub(super) input_tokens: Scalar<'a>,
    #[serde(borrow)]
    pub(super) output_tokens: Scalar<'a>,
}

impl<'a> Message<'a> {
    /// The text, or the text blocks; of each block only what is not a machine's.
    pub(super) fn words(&self) -> Cow<'_, str> {
        if let Some(text) = self.content.text() {
            return Cow::Borrowed(text);
        }
        let mut texts = self
            .content
            .objects()
            .filter(|block| block.kind.text() == "text")
            .map(|block| block.text.text());
        let (first, second) = (texts.next(), texts.next());
        match (first, second) {
            (None, _) => Cow::Borrowed(""),
            (Some(only), None) => Cow::Borrowed(only),
            (Some(first), Some(second)) => {
                Cow::Owned(joined([first, second].into_iter().chain(texts)))
            }
        }
    }
}

fn joined<'t>(texts: impl Iterator<Item = &'t str>) -> String {
    let intents: Vec<Cow<'t, str>> = texts.filter_map(text::intent).collect();
    intents.join("\n\n")
}

/// Names of the files of a snapshot.
#[derive(Debug, Default)]
pub(super) struct Files<'a>(pub(super) Vec<Cow<'a, str>>);

struct FilesVisitor;

impl<'de> Visitor<'de> for FilesVisitor {
    type Value = Files<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    /// The files are names of the object, or of an object inside of it.
    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let mut names = Vec::new();
        while let Some(key) = entries.next_key::<Scalar<'de>>()? {
            match key.text() {
                "trackedFileBackups" => {
                    let inner = entries.next_value::<Shape<'de, Files<'de>>>()?;
                    if let Shape::Object(Files(inner)) = inner {
                        names.extend(inner);
                    }
                }
                "messageId" | "timestamp" => {
                    entries.next_value::<IgnoredAny>()?;
                }
                _ => {
                    entries.next_value::<IgnoredAny>()?;
                    if let Scalar::Text(name) = key {
                        names.push(name);
                    }
                }
            }
        }
        Ok(Files(names))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Files<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(FilesVisitor)
    }
}
