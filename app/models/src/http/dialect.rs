//! The three APIs that models speak over HTTP: how each writes a request and reads a reply. Pure: what is sent, and when
//! it is sent again, is decided elsewhere.

mod chat;
mod chat_reply;
mod completion;
mod messages;
mod messages_reply;
mod responses;
mod responses_reply;
mod streams;

pub(crate) use completion::Completion;
pub(crate) use streams::Assembly;

use super::failure::Failure;
use super::request::{Draft, Wish};
use completion::not_the_api;
use serde_json::Value;

/// An API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Api {
    /// OpenAI's chat completions, which most servers have.
    Chat,
    /// OpenAI's Responses API.
    Responses,
    /// Anthropic's Messages API.
    Messages,
}

impl Api {
    pub(super) fn write(self, draft: &mut Draft<'_>, wish: &Wish<'_>) {
        match self {
            Self::Chat => chat::write(draft, wish),
            Self::Responses => responses::write(draft, wish),
            Self::Messages => messages::write(draft, wish),
        }
    }

    /// Reads a body that came with a 2xx status.
    pub(crate) fn read(self, body: &[u8]) -> Result<Completion, Failure> {
        let reply = serde_json::from_slice(body).map_err(|_| not_the_api(body))?;
        self.read_reply(reply)
    }

    pub(super) fn read_reply(self, reply: Value) -> Result<Completion, Failure> {
        match self {
            Self::Chat => chat_reply::read(reply),
            Self::Responses => responses_reply::read(&reply),
            Self::Messages => messages_reply::read(&reply),
        }
    }
}
