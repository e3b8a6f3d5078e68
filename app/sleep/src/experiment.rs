//! Experiments over the same night that a user runs: proofs with the simulation, benchmark folders, transfer between
//! models, sweeps. Values in and out; who prints and where files lie is no matter of these modules, folders excepted.

mod bench;
mod harmful;
mod outlook;
mod persona;
mod plan;
mod proof;
mod run;
mod sweep;

pub use bench::{BenchError, BenchFolder, BenchLimits, bench_folders, read_bench, read_benches};
pub use harmful::{HarmfulProof, prove_gate};
pub use outlook::{bench_calls, bench_depth, proof_calls, transfer_calls};
pub use persona::Persona;
pub use plan::{Cell, GateWord, PlanError, RoleWords, SweepKeys, SweepKind, SweepPlan, Who};
pub use proof::{NightTrace, ProofOptions, ProofReport, prove_improvement};
pub use run::{
    Bed, BenchOptions, BenchReport, Direct, TestScore, TransferReport, run_bench, run_transfer,
};
pub use sweep::{
    RowStatus, SweepError, SweepHost, SweepOrder, SweepRow, SweepStep, n_experiments, read_rows,
    run_sweep, scorecard, write_rows,
};
