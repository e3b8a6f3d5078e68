//! `predictions.jsonl` of a rollout set: what was said in each attempt, a line each. The Python system has a folder an
//! attempt, which makes thousands of small files of a short run; so only a copy for it has them.

use serde::{Deserialize, Serialize};
use skillopt_engine::ports::{RolloutRecord, Speaker};
use std::borrow::Cow;

/// Its name, beside `results.jsonl`.
pub(crate) const FILE: &str = "predictions.jsonl";

/// Begins what a benchmark says about an answer, in the voice of the system.
const EVALUATION: &str = "[EVALUATION RESULT] ";

/// A line of the file: one attempt.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Prediction<'a> {
    /// The task.
    pub(crate) id: Cow<'a, str>,
    /// What was sent, what came back, and what was said about it.
    pub(crate) conversation: Vec<Said<'a>>,
}

/// One message.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Said<'a> {
    role: Speaker,
    content: Cow<'a, str>,
}

impl Prediction<'_> {
    /// The first message that was sent in this voice; empty when there is none.
    pub(crate) fn prompt(&self, speaker: Speaker) -> &str {
        let sent = |said: &&Said<'_>| said.role == speaker && !said.content.starts_with(EVALUATION);
        self.conversation.iter().find(sent).map_or("", |said| &said.content)
    }
}

/// The line of an attempt, without the end of the line.
pub(super) fn line(record: &RolloutRecord) -> serde_json::Result<String> {
    let mut conversation: Vec<Said<'_>> = record
        .messages
        .iter()
        .map(|message| Said { role: message.role, content: message.content.as_str().into() })
        .collect();
    if !record.reply.is_empty() {
        let content = record.reply.as_str().into();
        conversation.push(Said { role: Speaker::Assistant, content });
    }
    if !record.evaluation_note.is_empty() {
        let content = [EVALUATION, &record.evaluation_note].concat().into();
        conversation.push(Said { role: Speaker::System, content });
    }
    let id = record.outcome.task.as_str().into();
    serde_json::to_string(&Prediction { id, conversation })
}
