//! Nights without an API: prompts in files, answered by whoever can, and the night goes on where it stood. Files, names
//! and ids are those of the reference system.

mod files;
mod inbox;
mod model;
mod pins;
mod place;
mod plain;
#[cfg(test)]
mod tests;

pub use files::{Asked, Handoff, HandoffError, HandoffErrorKind, Redact};
pub use inbox::{AskedPrompt, GivenAnswer, MAX_ANSWER_BYTES, Replaces, Round};
pub use model::HandoffModel;
pub use pins::Pinned;
pub use place::{NightKind, Place};
pub(crate) use place::{is_done, places};

use skillopt_domain::hash::Sha256Hex;

/// The id of a prompt: 16 hex digits of its hash.
#[must_use]
pub fn prompt_id(prompt: &str) -> String {
    Sha256Hex::of(prompt).short().to_owned()
}

/// What stands for an answer that is not there yet.
#[must_use]
pub fn placeholder(id: &str) -> String {
    format!("{PLACEHOLDER}{id}]]")
}

/// The text was made of an answer that is not there yet.
#[must_use]
pub fn has_placeholder(text: &str) -> bool {
    text.contains(PLACEHOLDER)
}

const PLACEHOLDER: &str = "[[SKILLOPT-SLEEP-PENDING:";
