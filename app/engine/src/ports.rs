//! What the engine needs from the world, as small traits named by role. Adapters live in other crates.

mod benchmark;
mod chat;
mod failure;
mod folder;
mod journal;
mod ledger;
mod model;
mod purpose;

pub use benchmark::{Benchmark, Graded, Task};
pub use chat::{
    AgentStep, ChatReply, ChatRequest, Finish, Image, Message, ReplySchema, Speaker, ToolCall,
    ToolSpec, Workspace,
};
pub use failure::{Billed, ModelError, ModelErrorKind};
pub use folder::{RolloutRecord, RunFolder};
pub use journal::Journal;
pub use ledger::{Ledger, RecordedCall};
pub use model::{Model, WorstCase};
pub use purpose::Purpose;

use std::fmt::Debug;
use std::time::Duration;

/// Time as the engine may know it.
pub trait Clock: Send + Sync + Debug {
    /// Time since some fixed moment, for durations.
    fn monotonic(&self) -> Duration;

    /// Milliseconds since 1970-01-01 UTC, for display.
    fn now_ms(&self) -> u64;
}

/// The store failed. The run ends, and can be resumed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct StoreError {
    /// What happened, with the file.
    pub message: String,
}
