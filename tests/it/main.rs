//! Integration tests: what needs more than one crate. One binary, because linking dominates.
//!
//! Nothing here reaches the network: servers bind port 0 on loopback, each test owns its data directory.

#[cfg(unix)]
mod agents;
mod backends;
mod binary;
mod config_and_import;
mod crowd;
mod doctor;
mod eval;
mod experiments;
mod fake_server;
mod fake_wire;
mod http_serve;
mod layers;
mod load;
mod mcp;
mod modes;
mod money;
mod nights;
mod origins;
mod plugins;
mod prompts;
mod python_resume;
mod replay;
mod resume;
mod secrets;
mod training;
mod two_runs;
