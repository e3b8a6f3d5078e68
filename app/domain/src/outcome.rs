//! What one rollout ended in. Only scored outcomes enter a mean; a refusal or a broken system is never a zero.

use crate::hash::Sha256Hex;
use crate::ids::TaskId;
use crate::json::{Fields, FromFields, JsonError, from_fields};
use crate::score::TaskScore;
use serde::{Deserialize, Serialize};

/// Result of one attempt at one task.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Outcome {
    /// The target answered and the benchmark scored the answer.
    Scored {
        /// Both measurements.
        score: TaskScore,
        /// The answer as extracted from the reply.
        predicted: String,
        /// Why it did not pass, in the benchmark's words; empty when it passed.
        fail_reason: String,
        /// The reply hit the token limit and was scored as it stands.
        truncated: bool,
    },
    /// The target declined to answer.
    Refused {
        /// The provider's or the model's words.
        reason: String,
    },
    /// A system failed (time-out, connection, provider error, empty reply): never scored, never reflected on.
    InfraError {
        /// A stable word, such as `timeout` or `empty`.
        code: String,
        /// What the other side said.
        message: String,
    },
    /// The answer could not be graded because the judge failed.
    JudgeError {
        /// What went wrong.
        message: String,
    },
}

from_fields!(Outcome, TaskOutcome);

impl FromFields for Outcome {
    fn from_fields(fields: &mut Fields) -> Result<Self, JsonError> {
        Ok(match &*fields.take_tag("outcome")? {
            "scored" => Self::Scored {
                score: fields.take("score")?,
                predicted: fields.take("predicted")?,
                fail_reason: fields.take("fail_reason")?,
                truncated: fields.take("truncated")?,
            },
            "refused" => Self::Refused { reason: fields.take("reason")? },
            "infra_error" => {
                Self::InfraError { code: fields.take("code")?, message: fields.take("message")? }
            }
            "judge_error" => Self::JudgeError { message: fields.take("message")? },
            other => return Err(JsonError::unknown_tag("outcome", other)),
        })
    }
}

impl Outcome {
    /// The score, where there is one.
    #[must_use]
    pub fn score(&self) -> Option<TaskScore> {
        match self {
            Self::Scored { score, .. } => Some(*score),
            Self::Refused { .. } | Self::InfraError { .. } | Self::JudgeError { .. } => None,
        }
    }

    /// True for `infra_error` and `judge_error`: our side failed, not the skill.
    #[must_use]
    pub fn is_error(&self) -> bool {
        matches!(self, Self::InfraError { .. } | Self::JudgeError { .. })
    }

    /// The word used in the store, the API and filters.
    #[must_use]
    pub fn kind(&self) -> OutcomeKind {
        match self {
            Self::Scored { score, .. } if score.hard.get() >= 1.0 => OutcomeKind::Passed,
            Self::Scored { .. } => OutcomeKind::Failed,
            Self::Refused { .. } => OutcomeKind::Refused,
            Self::InfraError { .. } => OutcomeKind::InfraError,
            Self::JudgeError { .. } => OutcomeKind::JudgeError,
        }
    }
}

/// An outcome in one word, for filters and counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum OutcomeKind {
    /// Scored with `hard` = 1.
    Passed,
    /// Scored with `hard` < 1.
    Failed,
    /// The model declined.
    Refused,
    /// A system failed.
    InfraError,
    /// The judge failed.
    JudgeError,
}

impl OutcomeKind {
    /// All kinds, in the order in which they are listed.
    pub const ALL: [Self; 5] =
        [Self::Passed, Self::Failed, Self::Refused, Self::InfraError, Self::JudgeError];

    /// The stable word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Refused => "refused",
            Self::InfraError => "infra_error",
            Self::JudgeError => "judge_error",
        }
    }

    /// The kind with this stable word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

/// Which outcomes a list shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum OutcomeFilter {
    /// Scored with `hard` = 1.
    Passed,
    /// Scored with `hard` < 1.
    Failed,
    /// The model declined.
    Refused,
    /// A system failed.
    InfraError,
    /// The judge failed.
    JudgeError,
    /// A system or the judge failed.
    Error,
}

impl OutcomeFilter {
    /// All filters.
    pub const ALL: [Self; 6] = [
        Self::Passed,
        Self::Failed,
        Self::Refused,
        Self::InfraError,
        Self::JudgeError,
        Self::Error,
    ];

    /// The stable word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            other => other.kinds()[0].as_str(),
        }
    }

    /// The filter with this stable word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|filter| filter.as_str() == word)
    }

    /// The outcomes that it lets through; never empty.
    #[must_use]
    pub fn kinds(self) -> &'static [OutcomeKind] {
        match self {
            Self::Passed => &[OutcomeKind::Passed],
            Self::Failed => &[OutcomeKind::Failed],
            Self::Refused => &[OutcomeKind::Refused],
            Self::InfraError => &[OutcomeKind::InfraError],
            Self::JudgeError => &[OutcomeKind::JudgeError],
            Self::Error => &[OutcomeKind::InfraError, OutcomeKind::JudgeError],
        }
    }
}

/// Which draw of a model's answer is meant. Two calls with the same request and the same sample are the
/// same call; anything else draws anew.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Sample {
    /// `train.seed`.
    pub seed: u64,
    /// Epoch from 1 for training rollouts and the optimizer; 0 for evaluations: one text has one measurement a seed.
    pub epoch: u32,
    /// 0 for the first draw; counts on for repeated evaluations of one text.
    pub repeat: u32,
    /// Set by `--fresh`: a word of its own that no earlier run has used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fresh: Option<String>,
}

/// One attempt at one task with its evidence.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TaskOutcome {
    /// The task.
    pub task: TaskId,
    /// A line that names the task for people (for SearchQA: the question).
    pub title: String,
    /// The benchmark's type of task, such as `qa`.
    pub task_type: String,
    /// What came out.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// Key of the recorded call that this outcome rests on; missing when no call succeeded.
    pub call: Option<Sha256Hex>,
    /// The answer came from the ledger and cost nothing now.
    pub cached: bool,
}

impl FromFields for TaskOutcome {
    fn from_fields(fields: &mut Fields) -> Result<Self, JsonError> {
        Ok(Self {
            task: fields.take("task")?,
            title: fields.take("title")?,
            task_type: fields.take("task_type")?,
            outcome: Outcome::from_fields(fields)?,
            call: fields.take("call")?,
            cached: fields.take("cached")?,
        })
    }
}

/// Why a set of rollouts was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum RolloutPurpose {
    /// A training batch.
    Train,
    /// Train tasks tried with the skills of two epochs.
    Longitudinal,
    /// A skill measured on the selection (validation) split.
    Selection,
    /// A skill measured on the test split; never fed back.
    Test,
}

impl RolloutPurpose {
    /// All purposes, in the order in which they are listed.
    pub const ALL: [Self; 4] = [Self::Train, Self::Longitudinal, Self::Selection, Self::Test];

    /// The stable word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Longitudinal => "longitudinal",
            Self::Selection => "selection",
            Self::Test => "test",
        }
    }
}

/// A set of rollouts of one skill: a training batch or an evaluation. Outcomes are in task order, never in
/// order of arrival.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RolloutSet {
    /// Names the set within its run, such as `step/0003/batch/0` or `selection/<skill>`.
    pub key: String,
    /// Why it was made.
    pub purpose: RolloutPurpose,
    /// The step that asked for it; 0 before the first step.
    pub step: u32,
    /// The skill in use.
    pub skill: Sha256Hex,
    /// Which draw.
    pub sample: Sample,
    /// One row a task.
    pub outcomes: Vec<TaskOutcome>,
}

/// How many of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OutcomeCounts {
    /// `hard` = 1.
    pub passed: u32,
    /// `hard` < 1.
    pub failed: u32,
    /// Declined.
    pub refused: u32,
    /// Infrastructure or judge errors.
    pub errors: u32,
}

from_fields! { OutcomeCounts { passed, failed, refused, errors } }

impl OutcomeCounts {
    /// Counts a slice.
    #[must_use]
    pub fn of(outcomes: &[TaskOutcome]) -> Self {
        let mut counts = Self::default();
        for outcome in outcomes {
            match outcome.outcome.kind() {
                OutcomeKind::Passed => counts.passed += 1,
                OutcomeKind::Failed => counts.failed += 1,
                OutcomeKind::Refused => counts.refused += 1,
                OutcomeKind::InfraError | OutcomeKind::JudgeError => counts.errors += 1,
            }
        }
        counts
    }

    /// All attempts.
    #[must_use]
    pub fn total(self) -> u32 {
        self.passed + self.failed + self.refused + self.errors
    }
}

impl std::ops::AddAssign for OutcomeCounts {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.refused += other.refused;
        self.errors += other.errors;
    }
}
