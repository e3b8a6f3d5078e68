//! Scores of replies: rule checks, exact answers, rubrics. A judge is read once, when tasks are loaded, and whatever
//! cannot be used is an error then; scoring itself cannot fail. Calls no model: rubrics are answered elsewhere and
//! read here.

mod check;
mod compile;
mod exact;
mod pattern;
mod refusal;
mod rubric;
mod rule;
mod section;
mod tool;

pub use check::char_bound;
pub(crate) use compile::check_problem;
pub use compile::{Inspection, JudgeProblem, ProblemPlace, inspect};
pub use exact::{contains_exactly, keyword_share};
pub use pattern::{Pattern, PatternError};
pub use refusal::is_refusal;
pub use rubric::{RUBRIC_PASS, RubricError, read_rubric};
pub use rule::RuleJudge;
pub use tool::{BadToolName, ToolName, calls_in_text};

use crate::task::{ReferenceKind, TaskRecord};
use skillopt_domain::score::Score;

/// What a judge says about a reply.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// Passed or not.
    pub hard: Score,
    /// How much of it passed.
    pub soft: Score,
    /// Why. For rules it is `all checks passed`, `no checks` or `failed: op=arg, …`.
    pub rationale: String,
}

/// How the replies to a task are scored, read from the task and ready to use.
#[derive(Clone, Debug)]
pub enum Judge {
    /// By checks.
    Rule(RuleJudge),
    /// By the answer that the reply has to contain.
    Exact {
        /// The answer.
        reference: String,
    },
    /// By a model, with a rubric.
    Rubric {
        /// The rubric; the task's intent when there is none.
        rubric: String,
    },
    /// By an evaluator outside of the product.
    Answer,
    /// By nothing: only what became of the attempt is known.
    Outcome,
}

/// A task's judge cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("task `{task}`: {problem}")]
pub struct JudgeError {
    /// The task's id.
    pub task: String,
    /// The first thing that is wrong.
    pub problem: JudgeProblem,
}

impl Judge {
    /// Reads the judge of a task. Checks count before anything else, as in the reference system.
    ///
    /// # Errors
    /// [`JudgeError`] when the checks cannot be used.
    pub fn of(task: &TaskRecord) -> Result<Self, JudgeError> {
        let has_judge = task.judge.as_object().is_some_and(|judge| !judge.is_empty());
        if task.reference_kind == ReferenceKind::Rule || has_judge {
            let inspection = inspect(&task.judge);
            let error = |problem| JudgeError { task: task.id.clone(), problem };
            return inspection.into_judge().map(Self::Rule).map_err(error);
        }
        Ok(match task.reference_kind {
            ReferenceKind::Exact => Self::Exact { reference: task.reference.clone() },
            ReferenceKind::Rubric if task.reference.trim().is_empty() => {
                Self::Rubric { rubric: task.intent.clone() }
            }
            ReferenceKind::Rubric => Self::Rubric { rubric: task.reference.clone() },
            ReferenceKind::Answer => Self::Answer,
            ReferenceKind::Rule | ReferenceKind::None => Self::Outcome,
        })
    }

    /// Scores a reply where no model is needed for it. `tools` are the names of tools that were called.
    #[must_use]
    pub fn score(&self, reply: &str, tools: &[String]) -> Option<Judged> {
        match self {
            Self::Rule(rule) => Some(rule.score(reply, tools)),
            Self::Exact { reference } => Some(exact::score(reference, reply)),
            Self::Rubric { .. } | Self::Answer | Self::Outcome => None,
        }
    }

    /// Tools that a reply has to call, each once.
    #[must_use]
    pub fn required_tools(&self) -> Vec<&ToolName> {
        match self {
            Self::Rule(rule) => rule.required_tools(),
            _ => Vec::new(),
        }
    }
}

/// `part / whole` as a score; zero of zero is zero.
fn share(part: usize, whole: usize) -> Score {
    let number = |n: usize| f64::from(u32::try_from(n).unwrap_or(u32::MAX));
    if whole == 0 {
        Score::ZERO
    } else {
        Score::try_new(number(part) / number(whole)).unwrap_or(Score::ZERO)
    }
}

#[cfg(test)]
mod tests;
