//! A skill as it is read: Markdown as a tree of plain values. No parser, no HTML: raw HTML is text, an image is its
//! words, and a link leads to a web address or nowhere.

use crate::json::{Fields, FromFields, JsonError, from_fields};
use crate::skill::FrontMatterEntry;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The parts of a skill, to be drawn one by one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RenderedSkill {
    /// The keys of its front matter, in order.
    pub facts: Vec<FrontMatterEntry>,
    /// Its body. At most 24 levels deep and 10000 nodes.
    pub nodes: Vec<MarkdownNode>,
    /// The text is larger than that; the end is left out.
    pub is_cut: bool,
}

from_fields! { RenderedSkill { facts, nodes, is_cut } }

/// A piece of Markdown. All text is untrusted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "node", rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum MarkdownNode {
    /// Words. A line end in them is a blank.
    Text {
        /// The words.
        text: String,
    },
    /// Code within a line.
    Code {
        /// The code.
        text: String,
    },
    /// A new line.
    Break,
    /// A line across.
    Rule,
    /// The box of a task list.
    Checkbox {
        /// It is ticked.
        is_done: bool,
    },
    /// A heading.
    Heading {
        /// 1 to 6.
        level: u8,
        /// What it says.
        #[cfg_attr(feature = "openapi", schema(no_recursion))]
        children: Vec<MarkdownNode>,
    },
    /// A list.
    List {
        /// The first number; `None` for bullets.
        first: Option<u64>,
        /// Its items.
        #[cfg_attr(feature = "openapi", schema(no_recursion))]
        children: Vec<MarkdownNode>,
    },
    /// A link.
    Link {
        /// Where it leads; `None` when that may not be followed.
        address: Option<WebAddress>,
        /// Its words.
        #[cfg_attr(feature = "openapi", schema(no_recursion))]
        children: Vec<MarkdownNode>,
    },
    /// Anything else that holds nodes.
    Group {
        /// What it is.
        kind: GroupKind,
        /// What it holds.
        #[cfg_attr(feature = "openapi", schema(no_recursion))]
        children: Vec<MarkdownNode>,
    },
}

/// What a group of nodes is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum GroupKind {
    /// A paragraph.
    Paragraph,
    /// A quotation.
    Quote,
    /// A block of code.
    CodeBlock,
    /// An item of a list.
    Item,
    /// A table: a head and rows.
    Table,
    /// The first row of a table.
    TableHead,
    /// Any other row.
    TableRow,
    /// A cell of either.
    TableCell,
    /// Stressed words.
    Emphasis,
    /// Strongly stressed words.
    Strong,
    /// Words struck out.
    Strike,
    /// The words that stand for an image.
    Image,
    /// Nothing that has a look of its own.
    Plain,
}

from_fields!(MarkdownNode);

impl FromFields for MarkdownNode {
    fn from_fields(fields: &mut Fields) -> Result<Self, JsonError> {
        Ok(match &*fields.take_tag("node")? {
            "text" => Self::Text { text: fields.take("text")? },
            "code" => Self::Code { text: fields.take("text")? },
            "break" => Self::Break,
            "rule" => Self::Rule,
            "checkbox" => Self::Checkbox { is_done: fields.take("is_done")? },
            "heading" => {
                Self::Heading { level: fields.take("level")?, children: fields.take("children")? }
            }
            "list" => {
                Self::List { first: fields.take("first")?, children: fields.take("children")? }
            }
            "link" => {
                Self::Link { address: fields.take("address")?, children: fields.take("children")? }
            }
            "group" => {
                Self::Group { kind: fields.take("kind")?, children: fields.take("children")? }
            }
            other => return Err(JsonError::unknown_tag("node", other)),
        })
    }
}

/// The address of a web page: no script, no data, no path of this server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(value_type = String))]
pub struct WebAddress(String);

/// The text is no web address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected an address that starts with http:// or https:// and has no blanks")]
pub struct NotAWebAddress;

impl WebAddress {
    /// Parses an address with the scheme `http` or `https`.
    ///
    /// # Errors
    /// [`NotAWebAddress`] for any other scheme, relative addresses, and addresses with blanks or control characters.
    pub fn parse(text: &str) -> Result<Self, NotAWebAddress> {
        let has_scheme = |scheme: &str| {
            text.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
        };
        let is_web = has_scheme("https://") || has_scheme("http://");
        let is_clean = !text.chars().any(|c| c.is_control() || c.is_whitespace());
        if is_web && is_clean { Ok(Self(text.to_owned())) } else { Err(NotAWebAddress) }
    }

    /// The address as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for WebAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for WebAddress {
    type Error = NotAWebAddress;
    fn try_from(text: String) -> Result<Self, NotAWebAddress> {
        Self::parse(&text)
    }
}

impl From<WebAddress> for String {
    fn from(address: WebAddress) -> Self {
        address.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("https://x.org/a?b#c", true)]
    #[case("HTTP://x.org", true)]
    #[case("javascript:alert(1)", false)]
    #[case("data:text/html,x", false)]
    #[case("/api/v1/runs", false)]
    #[case("//x.org", false)]
    #[case("mailto:x@y.z", false)]
    #[case(" https://x.org", false)]
    #[case("https://x.org/\u{a0}b", false)]
    #[case("https://x.org/\u{7}", false)]
    fn only_web_addresses_can_be_followed(#[case] text: &str, #[case] ok: bool) {
        assert_eq!(WebAddress::parse(text).is_ok(), ok);
        let json = serde_json::to_string(text).unwrap();
        assert_eq!(crate::json::from_str::<WebAddress>(&json).is_ok(), ok);
    }

    #[rstest]
    #[case(r#"{"node":"text","text":"a"}"#)]
    #[case(r#"{"node":"code","text":"a"}"#)]
    #[case(r#"{"node":"break"}"#)]
    #[case(r#"{"node":"rule"}"#)]
    #[case(r#"{"node":"checkbox","is_done":true}"#)]
    #[case(r#"{"node":"heading","level":2,"children":[{"node":"text","text":"a"}]}"#)]
    #[case(r#"{"node":"list","first":3,"children":[]}"#)]
    #[case(r#"{"node":"link","address":"https://x.org","children":[]}"#)]
    #[case(r#"{"node":"group","kind":"code_block","children":[{"node":"break"}]}"#)]
    fn a_node_is_written_as_it_is_read(#[case] text: &str) {
        let node: MarkdownNode = crate::json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&node).unwrap(), text);
    }
}
