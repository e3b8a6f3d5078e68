//! The run folder.

use super::{AgentStep, Message, StoreError};
use async_trait::async_trait;
use skillopt_domain::outcome::TaskOutcome;
use std::fmt::Debug;

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
    pub outcome: TaskOutcome,
    /// What was sent.
    pub messages: Vec<Message>,
    /// What an agent did before it answered, in order; empty for others.
    pub steps: Vec<AgentStep>,
    /// What came back; empty when nothing did.
    pub reply: String,
    /// What the optimizer may read about the grading.
    pub evaluation_note: String,
}
