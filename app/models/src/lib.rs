//! Model backends behind the engine's `Model` port, simulated and recorded ones included. No other crate of ours speaks HTTP to a model. Keys and
//! settings are handed in: this crate reads no environment, and no files but those that it makes for a program.

mod breaker;
pub mod cassette;
mod http;
mod in_turn;
mod limiter;
pub mod mock;
mod program;
mod reasoning;
mod refusal;
mod retry;
mod secret;
mod timer;

pub use http::{Endpoints, HttpModel, HttpModelSetup, SetupError, TokenSource};
pub use in_turn::{InTurn, Place};
pub use program::{
    CommandEnd, CommandRun, ProgramModel, ProgramName, ProgramNotFound, ProgramSetup,
    ProgramSetupError, find_program, program_of, run_command,
};
pub use reasoning::{Stripped, strip_reasoning};
pub use refusal::is_refusal;
pub use secret::Secret;
