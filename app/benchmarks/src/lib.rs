//! Benchmarks: data sets, splits and scorers behind the engine's port, one folder a benchmark.
//!
//! Reads and writes data files. Knows no model, no SQL and no HTTP; scoring is pure.

mod data_file;
mod error;
mod ratio;
mod rows;
pub mod searchqa;

pub use error::{DataError, RowProblem, RowProblems};
