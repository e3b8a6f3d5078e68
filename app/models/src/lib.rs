//! Model backends behind the engine's `Model` port, simulated and recorded ones included. No other crate of ours speaks HTTP to a model. Keys and
//! settings are handed in: this crate reads no environment and no files.

mod breaker;
pub mod cassette;
mod http;
mod limiter;
pub mod mock;
mod price;
mod reasoning;
mod refusal;
mod retry;
mod secret;
mod timer;

pub use http::{Endpoints, HttpModel, HttpModelSetup, SetupError, TokenSource};
pub use reasoning::{Stripped, strip_reasoning};
pub use refusal::is_refusal;
pub use secret::Secret;
