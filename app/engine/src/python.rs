//! `train.compat: python`: what the Python system does where it differs from ours, as pure functions that the stages
//! call. What it does to the text of a skill is in `domain::python`, what it keeps from step to step in `train::python`.

mod buffer;
mod gate;
mod patch;
mod patterns;
mod reply;

pub(crate) use buffer::render;
pub(crate) use gate::{Contest, decide, verdict};
pub(crate) use patch::{claimed_support, read_merged, read_patch};
pub(crate) use patterns::{failure_patterns, is_failure};
pub(crate) use reply::parse_object;
