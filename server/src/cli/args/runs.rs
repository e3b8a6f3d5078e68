//! Commands of `runs` and their flags.

use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct RunsArgs {
    #[command(subcommand)]
    pub(crate) command: RunsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RunsCommand {
    /// List runs, newest first.
    List(ListArgs),
    /// Show one run.
    Show(RunRef),
    /// Write one run as JSON, its best skill, its config as YAML, or a folder for the Python trainer.
    Export(ExportArgs),
    /// Write all exchanges with models as a file that a run can be trained from without any model. It holds
    /// every prompt and reply of the run: share it only where the data may be seen.
    Cassette(CassetteArgs),
    /// Go on with a run that stopped before it was done.
    Resume(ResumeArgs),
    /// Make a run again: same config, data and initial skill. Recorded answers repeat it at no cost.
    Rerun(RerunArgs),
    /// Start a new run from another one, with other settings or from one of its versions.
    Fork(ForkArgs),
    /// Ask for a pause: calls in flight are finished, no new one is made.
    Pause(RunRef),
    /// Cancel a run; it can be resumed later.
    Cancel(RunRef),
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Only runs in this state, such as running or done.
    #[arg(long)]
    pub(crate) status: Option<String>,
    /// Only runs whose name, models or benchmark contain this text.
    #[arg(long, short)]
    pub(crate) query: Option<String>,
    /// At most this many.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=500))]
    pub(crate) limit: u32,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RunRef {
    /// The run's id, or the beginning or end of it.
    pub(crate) run: String,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CassetteArgs {
    /// The run's id, or the beginning or end of it.
    pub(crate) run: String,
    /// The file to write; standard output when left out.
    #[arg(long, short, alias = "out", value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ResumeArgs {
    #[command(flatten)]
    pub(crate) run: RunRef,
    /// Settings that change and cannot change results, such as caps, workers and time-outs. For all others there is
    /// `runs fork`.
    #[arg(long = "cfg-options", value_name = "SECTION.KEY=VALUE", num_args = 1..)]
    pub(crate) cfg_options: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct RerunArgs {
    /// The run's id, or the beginning or end of it.
    pub(crate) run: String,
    /// A name for people.
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Draw anew, whatever the ledger holds.
    #[arg(long)]
    pub(crate) fresh: bool,
    /// The folder of the new run.
    #[arg(long, value_name = "DIR")]
    pub(crate) out_root: Option<PathBuf>,
    /// Print one JSON object as the only output.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ForkArgs {
    /// The run's id, or the beginning or end of it.
    pub(crate) run: String,
    /// Start from this version of its skill; the text that it began with when left out.
    #[arg(long, value_name = "N")]
    pub(crate) at_version: Option<u32>,
    /// Settings that change; an empty value is the default.
    #[arg(long = "cfg-options", value_name = "SECTION.KEY=VALUE", num_args = 1..)]
    pub(crate) cfg_options: Vec<String>,
    /// A name for people.
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Only say what differs and what would be done.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Draw anew, whatever the ledger holds.
    #[arg(long)]
    pub(crate) fresh: bool,
    /// The folder of the new run.
    #[arg(long, value_name = "DIR")]
    pub(crate) out_root: Option<PathBuf>,
    /// Print one JSON object as the only output.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// The run's id, or the beginning or end of it.
    pub(crate) run: String,
    /// What to write.
    #[arg(long, value_enum, default_value = "json")]
    pub(crate) format: ExportFormat,
    /// The file to write, a new folder for `python`; standard output when left out.
    #[arg(long, short, value_name = "PATH")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// Everything: config, journal, outcomes, skills.
    Json,
    /// The best skill.
    Skill,
    /// The config, to train from again.
    Yaml,
    /// A copy of the run folder in which the Python trainer can go on.
    Python,
}
