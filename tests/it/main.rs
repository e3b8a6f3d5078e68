//! Integration tests: what needs more than one crate. One binary, because linking dominates.
//!
//! Nothing here reaches the network: servers bind port 0 on loopback, each test owns its data directory.

#[cfg(unix)]
mod agents;
mod backends;
mod binary;
mod config_and_import;
#[path = "../fakes/crowd.rs"]
mod crowd;
mod doctor;
mod dry_run;
mod eval;
mod experiments;
#[path = "../fakes/fake_server.rs"]
mod fake_server;
#[path = "../fakes/fake_wire.rs"]
mod fake_wire;
mod http_serve;
mod layers;
mod load;
mod mcp;
mod modes;
mod money;
#[path = "../fakes/night_script.rs"]
mod night_script;
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
