//! Experiments over the same night that a user runs: proofs with the simulation, benchmark folders, transfer between
//! models, sweeps. Values in and out; who prints and where files lie is no matter of these modules, folders excepted.

mod bench;
mod harmful;
mod persona;
mod proof;
mod run;
mod sweep;

pub use bench::{BenchError, BenchFolder, BenchLimits, bench_folders, read_bench};
pub use harmful::{HarmfulProof, prove_gate};
pub use persona::Persona;
pub use proof::{NightTrace, ProofOptions, ProofReport, prove_improvement};
pub use run::{
    Bed, BenchOptions, BenchReport, Direct, TestScore, TransferReport, run_bench, run_transfer,
};
pub use sweep::{SweepError, SweepKind, SweepPlan, SweepRow, read_rows, run_sweep, scorecard};
