//! The contract of the store, held against a file and against memory.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic: that is how a test fails")]

mod adoptions;
mod evidence;
mod imports;
mod journal;
mod leases;
mod ledger;
mod lifecycle;
mod queries;
mod run_list;
mod support;
