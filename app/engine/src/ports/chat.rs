//! What a model is asked and what it answers, without transport.

use super::{ModelError, Purpose};
use serde::{Deserialize, Serialize};
use skillopt_domain::config::Effort;
use skillopt_domain::spend::Usage;
use std::sync::Arc;

/// Who speaks in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Speaker {
    /// Instructions.
    System,
    /// The one who asks.
    User,
    /// The model.
    Assistant,
    /// What a tool answered.
    Tool,
}

/// One message of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Who speaks.
    pub role: Speaker,
    /// The text.
    pub content: String,
    /// Pictures that belong to it, after the text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
    /// Tools that the model called in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// For [`Speaker::Tool`]: the call that it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
}

impl Message {
    /// A plain message.
    #[must_use]
    pub fn new(role: Speaker, content: impl Into<String>) -> Self {
        let content = content.into();
        Self { role, content, images: Vec::new(), tool_calls: Vec::new(), tool_call_id: None }
    }

    /// A system message.
    #[must_use]
    pub fn system(content: impl Into<String>) -> Self {
        Self::new(Speaker::System, content)
    }

    /// A user message.
    #[must_use]
    pub fn user(content: impl Into<String>) -> Self {
        Self::new(Speaker::User, content)
    }

    /// A message of the model.
    #[must_use]
    pub fn assistant(content: impl Into<String>) -> Self {
        Self::new(Speaker::Assistant, content)
    }
}

/// A picture, inside of the request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// Such as `image/png`.
    pub media_type: String,
    /// The bytes in base64, without line breaks.
    pub base64: String,
}

impl Image {
    /// As `data:image/png;base64,…`.
    #[must_use]
    pub fn data_url(&self) -> String {
        format!("data:{};base64,{}", self.media_type, self.base64)
    }
}

/// A tool that the model may call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// Its name: letters, digits, `_` and `-`.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// JSON schema of its arguments, an object.
    pub parameters: serde_json::Value,
}

/// A call that the model wants made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Name of the call, for the answer.
    pub id: String,
    /// Name of the tool.
    pub name: String,
    /// The arguments as the model wrote them: a JSON text, perhaps a broken one.
    pub arguments: String,
}

/// The form that a reply is held to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplySchema {
    /// A name: letters, digits, `_` and `-`.
    pub name: String,
    /// The JSON schema.
    pub schema: serde_json::Value,
}

/// A task for an agent that works in a folder, where the skill is a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workspace {
    /// The skill's text, which becomes `SKILL.md`.
    pub skill: String,
    /// The task's text, which becomes `task.md`. Nothing of the skill stands in it.
    pub task: String,
    /// What the benchmark says about every task, such as the form of an answer; stands above the task.
    pub instructions: String,
}

/// Something that an agent did on the way to its answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentStep {
    /// What it was, such as `thought`, `command` or `tool`.
    pub kind: String,
    /// What it did, shortened.
    pub text: String,
    /// What came of it, shortened; empty when it is not told.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub result: String,
}

/// A request to a model, without transport.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatRequest {
    /// The conversation so far. The skill stands in the system message, so that providers can cache it.
    pub messages: Vec<Message>,
    /// Most tokens of the reply; the adapter's configured limit when `None`.
    pub max_tokens: Option<u32>,
    /// Why it is made.
    pub purpose: Purpose,
    /// For headers only: where in the run the call belongs, such as `step_0003`.
    pub phase: String,
    /// How hard to think; as the role is configured when `None`.
    pub effort: Option<Effort>,
    /// The form of the reply, for backends that can hold a model to it. Others get it from the prompt alone.
    pub schema: Option<Arc<ReplySchema>>,
    /// Tools that the model may call.
    pub tools: Vec<ToolSpec>,
    /// The task in files, for a model of which [`Model::works_in_folder`] is true; others ignore it.
    ///
    /// [`Model::works_in_folder`]: super::Model::works_in_folder
    pub workspace: Option<Workspace>,
    /// Names of tools that stand in the call's own folder and only note that they were called, for a model of which
    /// [`Model::runs_stand_ins`] is true; others ignore it. They are letters, digits, `_` and `-`.
    ///
    /// [`Model::runs_stand_ins`]: super::Model::runs_stand_ins
    pub stand_ins: Vec<String>,
}

impl ChatRequest {
    /// A request with nothing but messages.
    #[must_use]
    pub fn new(purpose: Purpose, phase: impl Into<String>, messages: Vec<Message>) -> Self {
        Self {
            messages,
            max_tokens: None,
            purpose,
            phase: phase.into(),
            effort: None,
            schema: None,
            tools: Vec::new(),
            workspace: None,
            stand_ins: Vec::new(),
        }
    }
}

/// Why the model stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// It was done.
    #[default]
    Stop,
    /// The token limit cut the reply.
    Length,
    /// It declined, or a filter stopped it.
    Refused,
}

/// A reply that counts as an answer: text, truncation or refusal. Anything else is a [`ModelError`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChatReply {
    /// The text, with reasoning taken off.
    pub text: String,
    /// Why it ended.
    pub finish: Finish,
    /// Tokens; `None` when the provider did not say.
    pub usage: Option<Usage>,
    /// Money in millionths of a dollar; `None` when no price is known.
    pub cost_usd_micros: Option<u64>,
    /// Time of the successful attempt, in milliseconds.
    pub latency_ms: u64,
    /// When the first piece of a streamed reply came, in milliseconds from the beginning of the attempt; `None` when it
    /// came in one piece. Not recorded.
    #[serde(skip)]
    pub first_token_ms: Option<u64>,
    /// Attempts, the successful one included.
    pub attempts: u32,
    /// Changes that the adapter made to be understood, such as "sends `max_tokens`"; for the record.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub adaptations: Vec<String>,
    /// Tools that the model wants called.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// What an agent did before it answered, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<AgentStep>,
    /// What failed before in this call, where it counts as calls of its own. Its `attempts` are 0: they stand above.
    /// Recorded apart, as a failure.
    #[serde(skip)]
    pub earlier: Option<Box<ModelError>>,
}
