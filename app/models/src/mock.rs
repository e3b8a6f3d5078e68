//! Simulated models that need no key: a target that reads passages and an optimizer that proposes edits.
//!
//! Both are functions of request and sample: no clock, no randomness, no network, no knowledge of a data set.
//! They are labelled as simulated wherever they show up. How good they are is set in `rates`.

mod analyst;
mod between;
mod dice;
mod forms;
mod general_reader;
mod merge;
mod numbers;
mod optimizer;
mod phrases;
mod rates;
mod reader;
mod rules;
mod sections;
mod simulation;
mod target;

pub use optimizer::MockOptimizer;
pub use target::MockTarget;

#[cfg(test)]
mod tests;
