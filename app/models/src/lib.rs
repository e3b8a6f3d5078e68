//! Model backends behind the engine's `Model` port, simulated and recorded ones included. No other crate of ours speaks HTTP to a model. Keys and
//! settings are handed in: this crate reads no environment and no files.

pub mod cassette;
mod limiter;
pub mod mock;
mod openai_compatible;
mod reasoning;
mod refusal;
mod retry;
mod secret;
mod timer;

pub use openai_compatible::{Endpoints, HttpModel, HttpModelSetup, SetupError};
pub use reasoning::{Stripped, strip_reasoning};
pub use refusal::is_refusal;
pub use secret::Secret;
