//! Who performs, judges and reflects in a night: one trait, with a simulation and models behind it. No decisions about
//! edits, no files.

mod asker;
mod error;
mod miner;
mod mock;
mod modelled;
mod order;
mod outage;

pub use asker::{Asker, CallsAsker, NightJournal, NightSample, Reply, SleepModels};
pub use error::BackendError;
pub use miner::BackendMiner;
pub use mock::{HARMFUL_RULE, Mock, RULES, rule_tag, sentence_of};
pub use modelled::{Modelled, TokenLimits};
pub use order::{
    AnswerEnd, Attempt, Attempted, ContrastPair, Docs, Draw, Judged, Judging, LostEdit, Material,
    Proposed, Reflection, Said, Shown, SlowQuestion, TextQuestion,
};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use skillopt_domain::spend::SpendByRole;
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

    /// The words of the last call that failed; empty when none did, or a later call of its role was answered.
    fn last_error(&self) -> String {
        String::new()
    }

    /// What all calls cost so far, the judge's among the optimizer's. Unknown is counted, never taken for zero.
    fn spend(&self) -> SpendByRole;
}
