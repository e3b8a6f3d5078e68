//! SkillOpt for coding agents, over the Model Context Protocol: tools that are commands of our own program, and what
//! nights laid aside as resources. No night and no run is worked on in this process: a tool starts the program anew, as
//! a person would, so that a crash there harms nobody here.

mod answer;
mod arguments;
mod commands;
mod configs;
#[cfg(test)]
mod doc_table;
mod handler;
mod http;
mod line;
mod own_program;
mod policy;
mod progress;
mod schema;
mod shelf;
mod stdio;
#[cfg(test)]
mod tests;
mod tools;
mod uri;

pub(crate) use handler::SkillOptMcp;
pub(crate) use http::service;
pub(crate) use own_program::OwnProgram;
pub(crate) use policy::{Policy, TimeLimits};
pub(crate) use shelf::Shelf;
pub(crate) use stdio::serve_stdio;
