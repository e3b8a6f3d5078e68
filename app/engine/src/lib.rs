//! The training loop: rollout, reflect, aggregate, select, update, evaluate; gate, schedule and ledger.
//!
//! Straight-line async code over the ports of [`ports`]. No files, SQL, HTTP, environment, wall clock or
//! randomness: whatever is not a pure function of config, data and recorded calls is passed in.
#![warn(missing_docs)]

pub mod ctx;
pub mod ports;
pub mod splits;
