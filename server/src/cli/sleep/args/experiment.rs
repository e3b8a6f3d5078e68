//! Flags of `sleep experiment`, with the names of the reference system's experiments.

use super::CommonArgs;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ExperimentArgs {
    #[command(subcommand)]
    pub(crate) command: Option<ExperimentCommand>,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
    /// Whose tasks.
    #[arg(long, value_enum, default_value = "researcher", conflicts_with = "bench")]
    pub(crate) persona: PersonaArg,
    /// Only this many tasks of a persona; 0 is all of them.
    #[arg(long, default_value_t = 0, hide_default_value = true, conflicts_with = "bench")]
    pub(crate) limit_tasks: u32,
    /// Benchmarks in place of a persona: a folder with SKILL.md and benchmark.jsonl, or a folder of such.
    #[arg(long, visible_alias = "data-root", value_name = "DIR")]
    pub(crate) bench: Option<PathBuf>,
    /// Which benchmarks, by the names of their folders; all when left out.
    #[arg(long, value_name = "NAME,NAME", value_delimiter = ',', requires = "bench")]
    pub(crate) seeds: Vec<String>,
    /// Nights: 4 of a persona at most, 3 of a benchmark, 2 of a transfer.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) nights: Option<u32>,
    /// Whether edits have to win: on, off, hard (by passed tasks alone), soft (by how much of each passes).
    #[arg(long, value_enum)]
    pub(crate) gate: Option<GateArg>,
    /// Attempts at each training task; from 2 on their differences are read first.
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) rollouts_k: Option<u32>,
    /// Most tokens of all; nights and attempts are planned by it.
    #[arg(long, value_name = "N", requires = "bench", conflicts_with_all = ["nights", "rollouts_k"])]
    pub(crate) budget_tokens: Option<u64>,
    /// Most minutes of all.
    #[arg(long, value_name = "N")]
    pub(crate) budget_minutes: Option<f64>,
    /// Only this many training tasks; 0 is all of them.
    #[arg(
        long,
        default_value_t = 0,
        hide_default_value = true,
        requires = "bench",
        value_name = "N"
    )]
    pub(crate) limit_replay: u32,
    /// Only this many validation tasks and as many test tasks; 0 is all of them.
    #[arg(
        long,
        default_value_t = 0,
        hide_default_value = true,
        requires = "bench",
        value_name = "N"
    )]
    pub(crate) limit_holdout: u32,
    /// Let another model use what was learned.
    #[arg(long, value_name = "BACKEND[:MODEL]", requires = "bench")]
    pub(crate) transfer_to: Option<String>,
    /// Let that model not learn itself as well, which costs as much again.
    #[arg(long, requires = "transfer_to")]
    pub(crate) no_direct: bool,
    /// Who reflects and judges, where that is not --backend.
    #[arg(long, value_name = "NAME")]
    pub(crate) optimizer_backend: Option<String>,
    /// The model of --optimizer-backend.
    #[arg(long, value_name = "NAME")]
    pub(crate) optimizer_model: Option<String>,
    /// Who performs tasks, where that is not --backend.
    #[arg(long, value_name = "NAME")]
    pub(crate) target_backend: Option<String>,
    /// The model of --target-backend.
    #[arg(long, value_name = "NAME")]
    pub(crate) target_model: Option<String>,
    /// Keep the result and the learned skills in this folder.
    #[arg(long, value_name = "DIR", requires = "bench")]
    pub(crate) out: Option<PathBuf>,
    /// End with 1 unless the score rises, and, for a persona, the harmful edit is measured and rejected.
    #[arg(long)]
    pub(crate) assert_improves: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ExperimentCommand {
    /// Run the experiments of a plan, one row each. Run it again to go on: what is done stays, what failed is tried again.
    Sweep(SweepArgs),
    /// The rows of a sweep as a table.
    Scorecard(ScorecardArgs),
}

#[derive(Debug, Args)]
pub(crate) struct SweepArgs {
    #[command(flatten)]
    pub(crate) common: CommonArgs,
    /// The plan, as YAML or JSON.
    #[arg(value_name = "PLAN")]
    pub(crate) plan: PathBuf,
    /// Where rows are kept.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct ScorecardArgs {
    /// The folder that a sweep keeps its rows in.
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PersonaArg {
    Researcher,
    Programmer,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GateArg {
    On,
    Off,
    Hard,
    Soft,
}

impl ExperimentArgs {
    /// The common flags of whichever command it is.
    pub(crate) fn asked(&self) -> &CommonArgs {
        match &self.command {
            None => &self.common,
            Some(ExperimentCommand::Sweep(args)) => &args.common,
            Some(ExperimentCommand::Scorecard(args)) => &args.common,
        }
    }

    /// It may call models.
    pub(crate) fn asks_models(&self) -> bool {
        !matches!(self.command, Some(ExperimentCommand::Scorecard(_)))
    }
}
