//! The memory of paid calls.

use super::{ChatReply, Message, ModelError, Purpose, StoreError};
use async_trait::async_trait;
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::spend::Role;
use std::fmt::Debug;

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
