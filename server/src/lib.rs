//! Hosts the engines and the run store: configuration, run hosting, the HTTP API and the command line.
//!
//! The training loop itself lives in `skillopt-engine`; no decision about edits or gates is taken here.

pub mod adopt;
mod causes;
pub mod cli;
pub mod config;
mod handover;
pub mod host;
pub mod http;
pub mod import;
pub mod live;
mod mcp;
mod sleep;
pub mod supervisor;

#[cfg(test)]
mod testing;
