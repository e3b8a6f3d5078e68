//! The records of Codex, as far as they are read. Arguments and results of tools are not.

use crate::harvest::Instant;
use crate::harvest::json::{Scalar, Shape};
use serde::Deserialize;
use std::borrow::Cow;

/// One line, and what stands in its `payload`; old versions have no payload and put it into the line itself.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Record<'a> {
    #[serde(borrow)]
    pub(super) payload: Shape<'a, Box<Record<'a>>>,
    #[serde(rename = "type", borrow)]
    pub(super) kind: Scalar<'a>,
    #[serde(borrow)]
    timestamp: Scalar<'a>,
    #[serde(borrow)]
    started_at: Scalar<'a>,
    #[serde(borrow)]
    completed_at: Scalar<'a>,
    #[serde(borrow)]
    pub(super) id: Scalar<'a>,
    #[serde(borrow)]
    pub(super) cwd: Scalar<'a>,
    #[serde(borrow)]
    pub(super) role: Scalar<'a>,
    #[serde(borrow)]
    name: Scalar<'a>,
    #[serde(borrow)]
    pub(super) message: Scalar<'a>,
    #[serde(borrow)]
    content: Shape<'a, Part<'a>>,
    #[serde(borrow)]
    pub(super) git: Shape<'a, Git<'a>>,
    #[serde(borrow)]
    pub(super) source: Shape<'a, Origin<'a>>,
}

impl Record<'_> {
    /// The time that it names first, in `payload`, then in itself.
    pub(super) fn at(&self) -> Option<Instant> {
        let inner = self.payload.object();
        inner
            .and_then(|payload| payload.timestamp.time())
            .or_else(|| self.timestamp.time())
            .or_else(|| inner?.started_at.time())
            .or_else(|| inner?.completed_at.time())
    }

    /// The text of a message.
    pub(super) fn words(&self) -> Cow<'_, str> {
        match &self.content {
            Shape::Text(text) => Cow::Borrowed(text),
            content => {
                let texts = content.objects().filter(|part| part.kind.text().ends_with("text"));
                Cow::Owned(texts.map(|part| part.text.text()).collect::<Vec<_>>().join("\n"))
            }
        }
    }

    /// The tool that it tells of.
    pub(super) fn tool(&self) -> Option<&str> {
        match self.kind.text() {
            "exec_command_end" => Some("exec_command"),
            "patch_apply_end" => Some("apply_patch"),
            "web_search_call" | "web_search_end" => Some("web_search"),
            "tool_search_call" => Some("tool_search"),
            "function_call" | "custom_tool_call" | "mcp_tool_call" => Some(self.name.text()),
            "local_shell_call" => Some("local_shell"),
            kind => kind.strip_suffix("_tool_call"),
        }
    }
}

/// A part of a message.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Part<'a> {
    #[serde(rename = "type", borrow)]
    pub(super) kind: Scalar<'a>,
    #[serde(borrow)]
    pub(super) text: Scalar<'a>,
}

/// The repository.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Git<'a> {
    #[serde(borrow)]
    pub(super) branch: Scalar<'a>,
}

/// Who began the session.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Origin<'a> {
    #[serde(borrow)]
    pub(super) subagent: Shape<'a, Git<'a>>,
}
