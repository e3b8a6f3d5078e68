//! The training loop: rollout, reflect, aggregate, select, update, evaluate; gate, schedule and ledger.
//!
//! Straight-line async code over the ports of [`ports`]. No files, SQL, HTTP, environment, wall clock or
//! randomness: whatever is not a pure function of config, data and recorded calls is passed in.
//!
//! Start reading at [`train::train`]; there is one file for each stage.
#![warn(missing_docs)]

mod aggregate;
mod artifacts;
pub mod batches;
mod buffer;
pub mod calls;
pub mod ctx;
mod evaluate;
pub mod forecast;
pub mod gate;
#[cfg(test)]
mod golden;
mod lr;
pub mod meter;
mod minibatch;
mod notes;
mod outage;
mod patch;
pub mod ports;
pub mod prompts;
mod proposal;
mod python;
mod reflect;
pub mod reply;
mod rewrite;
pub mod rng;
mod rollout;
mod run;
pub mod schedule;
mod select;
pub mod splits;
mod structured;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod train;
mod trajectory;
mod update;

pub use run::TrainError;
