//! Prompts that wait for a person, and their answers.

use crate::ids::NightId;
use crate::json::from_fields;
use serde::{Deserialize, Serialize};

/// `GET /sleep/handoff?project=&dry=`: what the last round of a project's night asked, or that of a dry run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct HandoffPage {
    /// Absolute path of the project.
    pub project: String,
    /// They are those of a dry run.
    pub is_dry: bool,
    /// The other night that waits for answers: a dry run beside the night, or the night beside a dry run.
    pub other: Option<NightId>,
    /// The folder of the files, for people who answer there.
    pub dir: String,
    /// When they were asked, in milliseconds since 1970-01-01 UTC; `None` when nothing is asked.
    pub asked_at_ms: Option<u64>,
    /// The night that waits; `None` when this server knows of none.
    pub night: Option<NightId>,
    /// The night that works on the project now.
    pub running: Option<NightId>,
    /// Prompts that have an answer.
    pub n_answered: u32,
    /// All prompts of the round, the answered ones too.
    pub prompts: Vec<HandoffPrompt>,
}

from_fields! { HandoffPage { project, is_dry, other, dir, asked_at_ms, night, running, n_answered, prompts } }

/// A prompt of a round.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct HandoffPrompt {
    /// 16 hex digits of the prompt's hash.
    pub id: String,
    /// `qa`, `mine`, `reflect`, `contrast`, `judge` or `slow_update`; empty when nothing tells.
    pub purpose: String,
    /// The answer must hold JSON.
    pub wants_json: bool,
    /// The most tokens that the answer should have.
    pub max_tokens: u32,
    /// The prompt, without secrets.
    pub prompt: String,
    /// What was answered; `None` while nobody did.
    pub answer: Option<String>,
    /// Hash of the answer; empty while there is none.
    pub answer_sha: String,
}

from_fields! { HandoffPrompt {
    id, purpose, wants_json, max_tokens, prompt, answer, answer_sha
} }

/// `PUT /sleep/handoff/{id}`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct HandoffAnswer {
    /// Absolute path of the project.
    pub project: String,
    /// [`HandoffPage::is_dry`] of the page that is answered; without it, whichever is shown without it.
    #[serde(default)]
    pub dry: Option<bool>,
    /// The answer, as the model would have given it.
    pub text: String,
    /// [`HandoffPrompt::answer_sha`] of the answer that it takes the place of; empty for the first one.
    #[serde(default)]
    pub replaces: String,
    /// Whatever was answered meanwhile goes.
    #[serde(default)]
    pub overwrite: bool,
}

/// `POST /sleep/handoff/continue`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct HandoffContinue {
    /// Absolute path of the project.
    pub project: String,
    /// [`HandoffPage::is_dry`] of the page that is answered; without it, whichever is shown without it.
    #[serde(default)]
    pub dry: Option<bool>,
}
