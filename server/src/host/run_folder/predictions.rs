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
    pub(crate) conversation: Vec<Turn<'a>>,
}

/// One message, or something that an agent did.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Turn<'a> {
    Said {
        role: Speaker,
        content: Cow<'a, str>,
    },
    /// As the Python system tells of tools.
    Did {
        #[serde(rename = "type")]
        kind: Cow<'a, str>,
        cmd: Cow<'a, str>,
        obs: Cow<'a, str>,
    },
}

impl Prediction<'_> {
    /// The first message that was sent in this voice; empty when there is none.
    pub(crate) fn prompt(&self, speaker: Speaker) -> &str {
        for turn in &self.conversation {
            match turn {
                Turn::Said { role, content }
                    if *role == speaker && !content.starts_with(EVALUATION) =>
                {
                    return content;
                }
                Turn::Said { .. } | Turn::Did { .. } => {}
            }
        }
        ""
    }
}

/// The line of an attempt, without the end of the line.
pub(super) fn line(record: &RolloutRecord) -> serde_json::Result<String> {
    let said = |role, content| Turn::Said { role, content };
    let asked =
        record.messages.iter().map(|message| said(message.role, message.content.as_str().into()));
    let did = record.steps.iter().map(|step| Turn::Did {
        kind: "tool_call".into(),
        cmd: format!("{}: {}", step.kind, step.text).into(),
        obs: step.result.as_str().into(),
    });
    let mut conversation: Vec<Turn<'_>> = asked.chain(did).collect();
    if !record.reply.is_empty() {
        conversation.push(said(Speaker::Assistant, record.reply.as_str().into()));
    }
    if !record.evaluation_note.is_empty() {
        let content = [EVALUATION, &record.evaluation_note].concat().into();
        conversation.push(said(Speaker::System, content));
    }
    let id = record.outcome.task.as_str().into();
    serde_json::to_string(&Prediction { id, conversation })
}
