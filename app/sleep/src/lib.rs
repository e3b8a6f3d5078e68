//! SkillOpt-Sleep: a deployed agent that gets better from its own transcripts, with a person in control.
//!
//! One night reads local transcripts ([`harvest`]), takes secrets out ([`redact`]), finds tasks ([`mine`]), performs
//! them ([`replay`]), proposes edits and gates them ([`consolidate`]), and lays a proposal aside ([`stage`]). Nothing
//! that is live changes before a person adopts it ([`adopt`]). Knows files and models through the engine's ports; no
//! HTTP, no SQL of ours, no environment: what comes from there is passed in.

pub mod adopt;
pub mod backend;
pub mod block;
pub mod config;
pub mod consolidate;
pub mod curate;
pub mod digest;
pub mod dream;
pub mod evidence;
pub mod experiment;
pub mod forecast;
pub mod handoff;
pub mod harvest;
pub mod instant;
pub mod judge;
pub mod lock;
pub mod mine;
pub mod night;
pub mod plain;
pub mod prompts;
pub mod redact;
pub mod reflect;
pub mod replay;
pub mod report;
pub mod schedule;
pub mod skills;
pub mod split;
pub mod stage;
pub mod state;
pub mod task;
pub mod tasks_file;
