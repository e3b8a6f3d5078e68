//! What a backend is asked for and what it answers with.

use super::Phase;
use crate::judge::ToolName;
use crate::task::TaskRecord;
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::night::edit::{EditRecord, Target};
use skillopt_domain::score::TaskScore;

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

/// An edit that the gate rejected, or that a person turned down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostEdit {
    /// The edit.
    pub edit: EditRecord,
    /// What the person wrote about it, cut and without secrets; empty when there was no person.
    pub reason: String,
}

impl From<EditRecord> for LostEdit {
    /// An edit that the gate rejected.
    fn from(edit: EditRecord) -> Self {
        Self { edit, reason: String::new() }
    }
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
    pub rejected: &'a [LostEdit],
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
