//! The vocabulary of SkillOpt: skills and edits, scores and verdicts, runs, their events and the one
//! fold that turns events into what people see.
//!
//! Pure values and pure functions. No clock, randomness, files, environment, async or SQL: this crate
//! builds for `wasm32-unknown-unknown` and the dashboard uses the very same code as the engine.
#![warn(missing_docs)]

pub mod api;
pub mod appendix;
pub mod blame;
pub mod compare;
pub mod config;
pub mod cost;
pub mod curve;
pub mod density;
pub mod diff;
pub mod edit;
pub mod epoch;
pub mod event;
pub mod file_name;
pub mod forecast;
pub mod hash;
pub mod ids;
pub mod import;
pub mod json;
pub mod markdown;
pub mod matrix;
pub mod night;
pub mod noise;
pub mod origin;
pub mod outage;
pub mod outcome;
pub mod own_call;
pub mod price;
pub mod prompt;
pub mod proposal;
pub mod python;
pub mod run;
pub mod score;
pub mod skill;
pub mod spend;
pub mod verdict;
pub mod view;
