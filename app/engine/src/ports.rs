//! What the engine needs from the world, as small traits named by role. Adapters live in other crates.

use crate::prompts::BenchmarkPrompt;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use skillopt_domain::config::Effort;
use skillopt_domain::event::{EventKind, Progress};
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::ids::TaskId;
use skillopt_domain::outage::Outage;
use skillopt_domain::outcome::{Outcome, RolloutSet, Sample};
use skillopt_domain::spend::{Role, Spend, Usage};
use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

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

/// Why a call is made. Goes into headers, the ledger and the spend by purpose; not into the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// The preflight call.
    Preflight,
    /// A task is performed.
    Qa,
    /// Failed trajectories are read.
    AnalystFailure,
    /// Passed trajectories are read.
    AnalystSuccess,
    /// Failure patches are merged.
    MergeFailure,
    /// Success patches are merged.
    MergeSuccess,
    /// Both sides are merged.
    MergeFinal,
    /// Edits are ranked.
    Ranking,
    /// The budget of a step is set.
    LrControl,
    /// Suggestions are worked into a whole text.
    Rewrite,
    /// Guidance is written between epochs.
    SlowUpdate,
    /// The optimizer's memory is written between epochs.
    MetaSkill,
    /// Notes of the appendix are condensed.
    AppendixConsolidate,
    /// Tasks are found in a session.
    Mine,
    /// An answer is scored by a rubric.
    Judge,
    /// A night's failures are read.
    Reflect,
    /// Good and bad answers to the same task are compared.
    Contrast,
}

impl Purpose {
    /// The stable word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Preflight => "preflight",
            Self::Qa => "qa",
            Self::AnalystFailure => "analyst_failure",
            Self::AnalystSuccess => "analyst_success",
            Self::MergeFailure => "merge_failure",
            Self::MergeSuccess => "merge_success",
            Self::MergeFinal => "merge_final",
            Self::Ranking => "ranking",
            Self::LrControl => "lr_control",
            Self::Rewrite => "rewrite",
            Self::SlowUpdate => "slow_update",
            Self::MetaSkill => "meta_skill",
            Self::AppendixConsolidate => "appendix_consolidate",
            Self::Mine => "mine",
            Self::Judge => "judge",
            Self::Reflect => "reflect",
            Self::Contrast => "contrast",
        }
    }

    /// The role that is called.
    #[must_use]
    pub fn role(self) -> Option<Role> {
        match self {
            Self::Preflight => None,
            Self::Qa => Some(Role::Target),
            _ => Some(Role::Optimizer),
        }
    }
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
    pub workspace: Option<Workspace>,
    /// Names of tools that stand in the call's own folder and only note that they were called, for a model of which
    /// [`Model::runs_stand_ins`] is true; others ignore it. They are letters, digits, `_` and `-`.
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

/// Why no answer came. The adapter has retried already what is worth a retry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}: {message}")]
pub struct ModelError {
    /// What kind of failure.
    pub kind: ModelErrorKind,
    /// The provider's words, shortened; never a secret.
    pub message: String,
    /// Attempts that were made.
    pub attempts: u32,
    /// What the provider took for answers that could not be used.
    pub billed: Billed,
}

/// Answers that were paid for and could not be used, such as reasoning without an answer, and programs that were started
/// and failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Billed {
    /// Such answers.
    pub answers: u32,
    /// Of these, those whose tokens nobody told. Small, so that the errors that carry this stay so.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unmetered: u16,
    /// Their tokens, where told.
    pub usage: Usage,
    /// Their cost in millionths of a dollar; `None` when the cost of any is not known.
    pub cost_usd_micros: Option<u64>,
    /// The same call may well be answered when it is made, and paid for, once more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub worth_another: bool,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_zero(n: &u16) -> bool {
    *n == 0
}

impl Billed {
    /// Counts one more answer: its tokens and its cost, each as far as it is known.
    pub fn add(&mut self, usage: Option<Usage>, cost_usd_micros: Option<u64>) {
        let cost = if self.answers == 0 { Some(0) } else { self.cost_usd_micros };
        self.cost_usd_micros = cost.zip(cost_usd_micros).map(|(before, more)| before + more);
        self.answers += 1;
        self.unmetered += u16::from(usage.is_none());
        self.usage += usage.unwrap_or_default();
    }

    /// Counts the answers of another failure as well; the money is known while that of all answers is.
    pub fn add_all(&mut self, other: &Self) {
        if other.answers == 0 {
            return;
        }
        let cost = if self.answers == 0 { Some(0) } else { self.cost_usd_micros };
        self.cost_usd_micros = cost.zip(other.cost_usd_micros).map(|(one, more)| one + more);
        self.answers += other.answers;
        self.unmetered = self.unmetered.saturating_add(other.unmetered);
        self.usage += other.usage;
    }

    /// Adds it to what a role spent.
    pub fn add_to(&self, spend: &mut Spend, attempts: u64) {
        let answers = self.answers.into();
        spend.add_failure(attempts, answers, self.usage, self.cost_usd_micros);
        spend.unmetered_calls += u64::from(self.unmetered);
    }
}

/// Kinds of failure, by what has to happen next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelErrorKind {
    /// 401 or 403: the key is wrong. Ends the run.
    Authentication,
    /// The quota or the balance is used up, or a longer wait is asked for than allowed. Ends the run resumably.
    QuotaExhausted,
    /// 400 or 404: the request can never work. Ends the run unless the role has answered before.
    BadRequest,
    /// Too many requests, even after all retries.
    RateLimited,
    /// No answer in time, even after all retries.
    Timeout,
    /// The connection failed, even after all retries.
    Connection,
    /// 5xx, or an answer that is not the API's.
    Server,
    /// An empty reply.
    Empty,
    /// Reasoning without an answer.
    ReasoningOnly,
    /// The run was cancelled while waiting.
    Cancelled,
    /// A recording has no such call. Ends the run.
    NotRecorded,
    /// The question waits for somebody to answer it. Other questions can be asked meanwhile.
    Pending,
}

impl ModelErrorKind {
    /// The stable word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Authentication => "authentication",
            Self::QuotaExhausted => "quota_exhausted",
            Self::BadRequest => "bad_request",
            Self::RateLimited => "rate_limited",
            Self::Timeout => "timeout",
            Self::Connection => "connection",
            Self::Server => "server",
            Self::Empty => "empty",
            Self::ReasoningOnly => "reasoning_only",
            Self::Cancelled => "cancelled",
            Self::NotRecorded => "not_recorded",
            Self::Pending => "pending",
        }
    }

    /// No further call of the role can succeed. A bad request says so only while the role has never
    /// answered: later it is the fault of one request, such as a task that is too long for the model.
    #[must_use]
    pub fn is_fatal(self, has_answered: bool) -> bool {
        match self {
            Self::Authentication | Self::QuotaExhausted | Self::NotRecorded => true,
            Self::BadRequest => !has_answered,
            _ => false,
        }
    }
}

impl std::fmt::Display for ModelErrorKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A model that answers requests: one role of one run.
#[async_trait]
pub trait Model: Send + Sync + Debug {
    /// Everything about the backend that shapes an answer, as canonical JSON: kind, address without
    /// credentials, model, every parameter that goes on the wire. Part of each ledger key.
    fn identity(&self) -> serde_json::Value;

    /// The model's name for people.
    fn name(&self) -> &str;

    /// It is a simulation, no real model.
    fn is_simulated(&self) -> bool;

    /// It performs tasks in a folder of its own, where the skill is a file: it needs [`ChatRequest::workspace`].
    fn works_in_folder(&self) -> bool {
        false
    }

    /// It can be given tools that only note that they were called: it takes [`ChatRequest::stand_ins`], and its reply
    /// tells which were called.
    fn runs_stand_ins(&self) -> bool {
        false
    }

    /// The most that one call can cost, for hard caps: tokens and, where prices are known, money.
    fn worst_case(&self, request: &ChatRequest) -> WorstCase;

    /// Tells when the endpoint behind the model stops answering (an outage) and when it answers again (`None`).
    /// A model without an endpoint has nothing to tell.
    fn outages(&self) -> Option<watch::Receiver<Option<Outage>>> {
        None
    }

    /// Answers. Retries by itself; gives up with [`ModelErrorKind::Cancelled`] when `cancel` fires, which is
    /// some time after the run was cancelled.
    ///
    /// # Errors
    /// [`ModelError`] when no answer came.
    async fn chat(
        &self,
        request: &ChatRequest,
        sample: &Sample,
        cancel: &CancellationToken,
    ) -> Result<ChatReply, ModelError>;
}

/// Upper bounds for one call with its attempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorstCase {
    /// As how many calls it can count, at least 1: attempts that fail may be paid for as well.
    pub calls: u32,
    /// Tokens read and written.
    pub tokens: u64,
    /// Millionths of a dollar; `None` when no price is known.
    pub cost_usd_micros: Option<u64>,
}

impl Default for WorstCase {
    fn default() -> Self {
        Self { calls: 1, tokens: 0, cost_usd_micros: None }
    }
}

impl WorstCase {
    /// Upper bounds for one of its attempts: what is assumed of one that told nothing.
    #[must_use]
    pub fn of_attempt(self) -> Self {
        let calls = u64::from(self.calls.max(1));
        let cost_usd_micros = self.cost_usd_micros.map(|cost| cost.div_ceil(calls));
        Self { calls: 1, tokens: self.tokens.div_ceil(calls), cost_usd_micros }
    }
}

/// A recorded call as the ledger keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedCall {
    /// The key.
    pub key: Sha256Hex,
    /// Who was called.
    pub role: Role,
    /// Why.
    pub purpose: Purpose,
    /// Name of the model.
    pub model: String,
    /// What was sent.
    pub messages: Vec<Message>,
    /// What came back.
    pub reply: ChatReply,
}

/// The memory of paid calls, shared by all runs of a data directory.
#[async_trait]
pub trait Ledger: Send + Sync + Debug {
    /// The recorded reply of a call.
    ///
    /// # Errors
    /// [`StoreError`] when the store cannot be read.
    async fn find(&self, key: &Sha256Hex) -> Result<Option<ChatReply>, StoreError>;

    /// Records a reply durably before it is used. When another process was faster, its reply stays and is
    /// given back, so that every run of the same call sees the same answer.
    ///
    /// # Errors
    /// [`StoreError`] when the store cannot be written.
    async fn record(&self, call: RecordedCall) -> Result<ChatReply, StoreError>;

    /// Logs a call that brought no answer. Never served later.
    ///
    /// # Errors
    /// [`StoreError`] when the store cannot be written.
    async fn record_failure(
        &self,
        key: &Sha256Hex,
        role: Role,
        error: &ModelError,
    ) -> Result<(), StoreError>;
}

/// The journal of one run.
#[async_trait]
pub trait Journal: Send + Sync + Debug {
    /// Appends an event once; an event whose key is there already is ignored.
    ///
    /// # Errors
    /// [`StoreError`] when the store cannot be written, or the run is no longer ours.
    async fn append(&self, key: &str, kind: EventKind) -> Result<(), StoreError>;

    /// The event with this key, when an earlier attempt of the run appended it.
    ///
    /// # Errors
    /// [`StoreError`] when the store cannot be read.
    async fn find(&self, key: &str) -> Result<Option<EventKind>, StoreError>;

    /// The outcomes of a rollout set, when an earlier attempt of the run kept them.
    ///
    /// # Errors
    /// [`StoreError`] when the store cannot be read.
    async fn find_outcomes(&self, key: &str) -> Result<Option<RolloutSet>, StoreError>;

    /// Keeps the outcomes of a rollout set once, by its key.
    ///
    /// # Errors
    /// As [`Journal::append`].
    async fn keep_outcomes(&self, set: &RolloutSet) -> Result<(), StoreError>;

    /// Keeps the text of a skill under its hash.
    ///
    /// # Errors
    /// As [`Journal::append`].
    async fn keep_skill(&self, text: &str) -> Result<(), StoreError>;

    /// Keeps a text under its hash, to be shown later; it is no skill.
    ///
    /// # Errors
    /// As [`Journal::append`].
    async fn keep_text(&self, text: &str) -> Result<(), StoreError>;

    /// Takes live counts; may drop some when they come too fast.
    fn progress(&self, progress: Progress);
}

/// The store failed. The run ends, and can be resumed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct StoreError {
    /// What happened, with the file.
    pub message: String,
}

/// A task as the engine sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// Unique within the benchmark.
    pub id: TaskId,
    /// A line that names it for people.
    pub title: String,
    /// The benchmark's type of task.
    pub task_type: String,
    /// Hash of everything that makes the task what it is, the id left out.
    pub content: Sha256Hex,
}

/// What a benchmark makes of a reply.
#[derive(Clone, Debug, PartialEq)]
pub struct Graded {
    /// The outcome: scored, or a judge error.
    pub outcome: Outcome,
    /// What the optimizer may read about the grading, such as the expected answer.
    pub evaluation_note: String,
}

/// A benchmark: how its tasks are put to a model and how answers are scored. Pure.
pub trait Benchmark: Send + Sync + Debug {
    /// The name in configs.
    fn name(&self) -> &'static str;

    /// The messages that put a task to the target with a skill. The skill stands in the system message.
    fn prompt(&self, task: &Task, skill: &str) -> Vec<Message>;

    /// The task alone, without a skill, for an agent that finds the skill as a file in its folder.
    fn task_text(&self, task: &Task) -> String {
        let of_user = |message: &Message| message.role == Speaker::User;
        let messages = self.prompt(task, "");
        let texts = messages.into_iter().filter(of_user).map(|message| message.content);
        texts.collect::<Vec<_>>().join("\n\n")
    }

    /// What is said about every task, without a skill: the form of an answer above all.
    fn task_instructions(&self, task: &Task) -> String {
        let of_system = |message: &Message| message.role == Speaker::System;
        let messages = self.prompt(task, "");
        let texts = messages.into_iter().filter(of_system).map(|message| message.content);
        texts.collect::<Vec<_>>().join("\n\n")
    }

    /// What it says to the target, and prompts of the optimizer in its own words.
    fn prompts(&self) -> &'static [BenchmarkPrompt] {
        &[]
    }

    /// Scores a reply. `truncated` tells that the token limit cut it.
    fn grade(&self, task: &Task, reply: &str, truncated: bool) -> Graded;
}

/// Time as the engine may know it.
pub trait Clock: Send + Sync + Debug {
    /// Time since some fixed moment, for durations.
    fn monotonic(&self) -> Duration;

    /// Milliseconds since 1970-01-01 UTC, for display.
    fn now_ms(&self) -> u64;
}

/// The Python-compatible run folder. Written next to the store; a failed write ends the run resumably.
#[async_trait]
pub trait RunFolder: Send + Sync + Debug {
    /// Writes a text file atomically; parents are made. `path` is relative, its parts are safe file names.
    ///
    /// # Errors
    /// [`StoreError`] with the path.
    async fn write(&self, path: &str, text: String) -> Result<(), StoreError>;

    /// Writes `results.jsonl` and `predictions.jsonl` for a rollout set under the relative directory `dir`.
    ///
    /// # Errors
    /// [`StoreError`] with the path.
    async fn write_rollouts(
        &self,
        dir: &str,
        rollouts: Vec<RolloutRecord>,
    ) -> Result<(), StoreError>;
}

/// One rollout as the run folder and the optimizer see it.
#[derive(Clone, Debug, PartialEq)]
pub struct RolloutRecord {
    /// The attempt and its outcome.
    pub outcome: skillopt_domain::outcome::TaskOutcome,
    /// What was sent.
    pub messages: Vec<Message>,
    /// What an agent did before it answered, in order; empty for others.
    pub steps: Vec<AgentStep>,
    /// What came back; empty when nothing did.
    pub reply: String,
    /// What the optimizer may read about the grading.
    pub evaluation_note: String,
}
