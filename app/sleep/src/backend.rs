//! Who performs, judges and reflects in a night: one trait, with a simulation and models behind it. No decisions about
//! edits, no files.

mod asker;
mod miner;
mod mock;
mod modelled;

pub use asker::{Asker, CallsAsker, NightJournal, NightSample, Reply, SleepModels};
pub use miner::BackendMiner;
pub use mock::{HARMFUL_RULE, Mock, RULES, rule_tag, sentence_of};
pub use modelled::Modelled;

use crate::edit::{EditRecord, Target};
use crate::judge::ToolName;
use crate::task::TaskRecord;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::score::TaskScore;
use skillopt_domain::spend::SpendByRole;
use skillopt_engine::meter::CapReached;
use std::fmt::{self, Debug};

/// Who is called in a night. The judge is the optimizer unless it has a model of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SleepRole {
    /// Performs tasks.
    Target,
    /// Mines and reflects.
    Optimizer,
    /// Scores by rubrics.
    Judge,
}

impl SleepRole {
    /// The stable word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Target => "target",
            Self::Optimizer => "optimizer",
            Self::Judge => "judge",
        }
    }
}

impl fmt::Display for SleepRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Where in a night a call belongs. The words are those of the reference system's evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Phase {
    /// Sessions are read.
    #[serde(rename = "mine")]
    Mine,
    /// The live documents on the validation tasks.
    #[serde(rename = "baseline_val")]
    BaselineVal,
    /// The live documents on the training tasks.
    #[serde(rename = "train")]
    Train,
    /// A candidate skill on the validation tasks.
    #[serde(rename = "gate_trial:skill")]
    TrialSkill,
    /// A candidate memory on the validation tasks.
    #[serde(rename = "gate_trial:memory")]
    TrialMemory,
    /// The training tasks with the skill as it stands after its trial.
    #[serde(rename = "train_post_skill")]
    TrainPostSkill,
    /// The final documents on the validation tasks, drawn anew.
    #[serde(rename = "final_val")]
    FinalVal,
    /// The final documents on the test tasks.
    #[serde(rename = "test")]
    Test,
    /// The optimizer reads.
    #[serde(rename = "reflect")]
    Reflect,
}

impl Phase {
    /// The stable word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Mine => "mine",
            Self::BaselineVal => "baseline_val",
            Self::Train => "train",
            Self::TrialSkill => "gate_trial:skill",
            Self::TrialMemory => "gate_trial:memory",
            Self::TrainPostSkill => "train_post_skill",
            Self::FinalVal => "final_val",
            Self::Test => "test",
            Self::Reflect => "reflect",
        }
    }
}

/// Which draw of an answer is meant: the same request with the same draw is the same call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draw {
    /// Where it belongs; not part of what is asked.
    pub phase: Phase,
    /// 0 for the first draw of a text.
    pub repeat: u32,
}

impl Draw {
    /// The first draw.
    #[must_use]
    pub fn first(phase: Phase) -> Self {
        Self { phase, repeat: 0 }
    }
}

/// Both documents as they stand.
#[derive(Clone, Copy, Debug)]
pub struct Docs<'a> {
    /// The skill.
    pub skill: &'a str,
    /// The project's memory.
    pub memory: &'a str,
}

impl Docs<'_> {
    /// The text of one.
    #[must_use]
    pub fn of(&self, target: Target) -> &str {
        match target {
            Target::Skill => self.skill,
            Target::Memory => self.memory,
        }
    }
}

/// A task to perform.
#[derive(Clone, Copy, Debug)]
pub struct Attempt<'a> {
    /// The task.
    pub task: &'a TaskRecord,
    /// What is known while it is performed.
    pub docs: Docs<'a>,
    /// Tools that have to be there.
    pub tools: &'a [ToolName],
    /// Which draw.
    pub draw: Draw,
}

/// An answer to a task.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Attempted {
    /// The text.
    pub text: String,
    /// How it ended.
    pub end: AnswerEnd,
    /// Tools that were called, each once, in order.
    pub tools_called: Vec<String>,
    /// Tokens that the answer took; `None` when nobody tells.
    pub tokens: Option<u64>,
    /// Time that it took, in milliseconds.
    pub latency_ms: u64,
    /// The recorded call, where there is one.
    pub call: Option<Sha256Hex>,
    /// The answer came from the ledger.
    pub cached: bool,
}

/// How an answer ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AnswerEnd {
    /// It was done.
    #[default]
    Done,
    /// The token limit cut it.
    Cut,
    /// The model declined.
    Declined,
}

/// An answer to judge. Only tasks without checks and exact references come here.
#[derive(Clone, Copy, Debug)]
pub struct Judging<'a> {
    /// The task.
    pub task: &'a TaskRecord,
    /// The answer.
    pub response: &'a str,
    /// Which draw.
    pub draw: Draw,
}

/// What the judge said.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// Both measurements.
    pub score: TaskScore,
    /// Why.
    pub rationale: String,
    /// Tokens that it took; `None` when nobody tells.
    pub tokens: Option<u64>,
}

/// What failed, for a reflection. Texts are cut already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// What was asked.
    pub wanted: String,
    /// What came.
    pub got: String,
    /// Why that is not it, in plain words; never the source of a check.
    pub why: String,
}

/// Good and bad answers to one task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContrastPair {
    /// What was asked.
    pub wanted: String,
    /// The better answer.
    pub good: String,
    /// The worse answer.
    pub bad: String,
    /// Why it is worse, in plain words.
    pub why: String,
}

/// What the optimizer is to propose edits from.
#[derive(Clone, Debug)]
pub struct Reflection<'a> {
    /// The document that edits are wanted for.
    pub target: Target,
    /// Both documents.
    pub docs: Docs<'a>,
    /// Most edits.
    pub budget: u32,
    /// Failures, or pairs.
    pub material: Material<'a>,
    /// Tasks that pass: edits should leave them alone.
    pub passed: &'a [String],
    /// What failing checks want, with the number of tasks that miss it.
    pub criteria: &'a [String],
    /// What the person prefers.
    pub preferences: &'a str,
    /// What a benchmark says about the form of answers.
    pub guard: &'a str,
    /// Edits that lost before.
    pub rejected: &'a [EditRecord],
    /// Which draw.
    pub draw: Draw,
}

/// What a reflection reads.
#[derive(Clone, Copy, Debug)]
pub enum Material<'a> {
    /// Failed attempts, with the tasks that they belong to.
    Failures(&'a [(&'a TaskRecord, Shown)]),
    /// Pairs of attempts at one task.
    Pairs(&'a [ContrastPair]),
}

/// Edits as the optimizer proposed them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Proposed {
    /// At most the budget.
    pub edits: Vec<EditRecord>,
    /// Edits beyond the budget or without content.
    pub n_dropped: u32,
    /// Why there are none; empty when there are.
    pub reason: String,
    /// The reply as it came.
    pub raw: String,
    /// Tokens that it took; `None` when nobody tells.
    pub tokens: Option<u64>,
}

/// A question for guidance between two versions of a skill.
#[derive(Clone, Copy, Debug)]
pub struct SlowQuestion<'a> {
    /// The older version.
    pub previous: &'a str,
    /// The newer version.
    pub current: &'a str,
    /// Guidance that stands there already.
    pub guidance: &'a str,
    /// How tasks moved, in words.
    pub comparison: &'a str,
    /// Which draw.
    pub draw: Draw,
}

/// A text question to the optimizer, such as the miner's.
#[derive(Clone, Copy, Debug)]
pub struct TextQuestion<'a> {
    /// Instructions; may be empty.
    pub system: &'a str,
    /// The question.
    pub user: &'a str,
    /// Most tokens of the reply; as the role is configured when `None`.
    pub max_tokens: Option<u32>,
    /// Which draw.
    pub draw: Draw,
}

/// A text that the optimizer said.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Said {
    /// The text.
    pub text: String,
    /// How it ended: a text that was cut must not be used.
    pub end: AnswerEnd,
    /// Tokens that it took; `None` when nobody tells.
    pub tokens: Option<u64>,
}

/// Why nothing came.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BackendError {
    /// The night was cancelled.
    #[error("the night was cancelled")]
    Cancelled,
    /// A budget of the night is used up.
    #[error("a budget of the night is used up: {}", budget_words(.0))]
    Budget(CapReached),
    /// No further call of the role can succeed.
    #[error("the {role} cannot be called: {message}")]
    Fatal {
        /// Who.
        role: SleepRole,
        /// The other side's words.
        message: String,
    },
    /// This call failed; others may succeed.
    #[error("{code}: {message}")]
    Failed {
        /// A stable word, such as `timeout`.
        code: String,
        /// The other side's words.
        message: String,
    },
    /// Somebody has to answer the question first.
    #[error("a question waits for an answer")]
    Pending,
    /// An answer came that is none, even after asking again.
    #[error("unusable reply: {0}")]
    Unusable(String),
    /// This backend has no such ability.
    #[error("{0}")]
    Unsupported(&'static str),
    /// The ledger failed.
    #[error("the ledger failed: {0}")]
    Ledger(String),
}

fn budget_words(reached: &CapReached) -> String {
    use skillopt_engine::meter::Cap;
    let unit = match reached.cap {
        Cap::Calls => "calls",
        Cap::Tokens => "tokens",
        Cap::Cost => "millionths of a dollar",
        Cap::Time => "milliseconds",
    };
    let CapReached { limit, spent, next_call, .. } = reached;
    format!("{spent} of {limit} {unit} are spent, and the next call could take {next_call}")
}

impl BackendError {
    /// The night cannot go on: it is no result about one task.
    #[must_use]
    pub fn ends_night(&self) -> bool {
        match self {
            Self::Cancelled
            | Self::Budget(_)
            | Self::Fatal { .. }
            | Self::Pending
            | Self::Ledger(_) => true,
            Self::Failed { .. } | Self::Unusable(_) | Self::Unsupported(_) => false,
        }
    }

    /// The stable word for evidence and outcomes.
    #[must_use]
    pub fn code(&self) -> &str {
        match self {
            Self::Cancelled => "cancelled",
            Self::Budget(_) => "budget",
            Self::Fatal { .. } => "fatal",
            Self::Failed { code, .. } => code,
            Self::Pending => "pending",
            Self::Unusable(_) => "unusable",
            Self::Unsupported(_) => "unsupported",
            Self::Ledger(_) => "ledger",
        }
    }
}

/// What performs, judges and reflects.
#[async_trait]
pub trait Backend: Send + Sync + Debug {
    /// Its name for people; a simulation says so.
    fn label(&self) -> String;

    /// It is a simulation: its results prove plumbing, nothing about models.
    fn is_simulated(&self) -> bool;

    /// Performs a task, with tools where the task needs them.
    ///
    /// # Errors
    /// [`BackendError`] when no answer came.
    async fn attempt(&self, attempt: &Attempt<'_>) -> Result<Attempted, BackendError>;

    /// Scores an answer that no local check can score.
    ///
    /// # Errors
    /// [`BackendError`] when there is no score.
    async fn judge(&self, judging: &Judging<'_>) -> Result<Judged, BackendError>;

    /// Proposes edits from failures, or from pairs of good and bad answers.
    ///
    /// # Errors
    /// [`BackendError`]; a reply that cannot be used is no error but a proposal without edits, with its reason.
    async fn reflect(&self, reflection: &Reflection<'_>) -> Result<Proposed, BackendError>;

    /// Writes guidance from a comparison of two versions; empty when there is nothing to say.
    ///
    /// # Errors
    /// [`BackendError`] when no answer came.
    async fn guide(&self, question: &SlowQuestion<'_>) -> Result<Said, BackendError>;

    /// Answers a text question as the optimizer, such as the miner's.
    ///
    /// # Errors
    /// [`BackendError`]; [`BackendError::Unsupported`] from a simulation.
    async fn mine(&self, question: &TextQuestion<'_>) -> Result<Said, BackendError>;

    /// What all calls cost so far, the judge's among the optimizer's. Unknown is counted, never taken for zero.
    fn spend(&self) -> SpendByRole;
}
