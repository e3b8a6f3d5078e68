//! What is kept of a run while it works.

use super::StoreError;
use async_trait::async_trait;
use skillopt_domain::event::{EventKind, Progress};
use skillopt_domain::outcome::RolloutSet;
use std::fmt::Debug;

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
