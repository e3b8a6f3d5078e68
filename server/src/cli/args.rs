//! Commands and their arguments.

mod config;
mod eval;
mod prices;
mod prompts;
mod runs;
mod spelling;

pub(super) use config::{CheckArgs, ConfigCommand, ConfigCommands, ShowArgs};
pub(super) use eval::EvalArgs;
pub(super) use prices::{ListPricesArgs, PriceName, PricesArgs, PricesCommand, SetPriceArgs};
pub(super) use prompts::{
    CheckPromptsArgs, ExportPromptsArgs, ListPromptsArgs, PromptsArgs, PromptsCommand,
    ShowPromptArgs,
};
pub(super) use runs::{
    CassetteArgs, ExportArgs, ExportFormat, ForkArgs, ListArgs, RerunArgs, ResumeArgs, RunRef,
    RunsArgs, RunsCommand,
};
pub(super) use spelling::{with_kebab_flags, with_sleep_name};

use super::config_args::ConfigArgs;
use super::keys_args::KeysArgs;
use super::sleep::args::{SleepArgs, SleepCommand};
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

/// Trains natural-language skills against a validation gate.
#[derive(Debug, Parser)]
#[command(name = "skillopt", version, arg_required_else_help = true, max_term_width = 100)]
pub(super) struct Cli {
    /// Where runs, the ledger and adoptions are kept [default: ~/.local/share/skillopt].
    #[arg(
        long,
        global = true,
        env = "SKILLOPT_DATA_DIR",
        value_name = "DIR",
        hide_env_values = true
    )]
    data_dir: Option<PathBuf>,
    #[command(subcommand)]
    pub(super) command: Command,
}

impl Cli {
    pub(super) fn data_dir(&self) -> PathBuf {
        self.data_dir.clone().unwrap_or_else(default_data_dir)
    }
}

fn default_data_dir() -> PathBuf {
    let variable =
        |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    variable("XDG_DATA_HOME")
        .or_else(|| variable("HOME").map(|home| home.join(".local/share")))
        .map_or_else(|| PathBuf::from(".skillopt"), |base| base.join("skillopt"))
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Serve the dashboard and the API on this machine.
    Serve(ServeArgs),
    /// Train a skill.
    Train(TrainArgs),
    /// Score a skill on one split; changes nothing.
    Eval(EvalArgs),
    /// Import a run folder of the Python system, or bring its run up to date; the folder is only read.
    Import(ImportArgs),
    /// Past and present runs, also those of the dashboard.
    Runs(RunsArgs),
    /// Values in force and their sources, checks of a file, and the schema for editors.
    Config(ConfigCommands),
    /// What models charge: the price table of this data directory.
    Prices(PricesArgs),
    /// The optimizer's prompts: what there is, and checks of your own.
    Prompts(PromptsArgs),
    /// Keys of models: which are found and where; keep one in the system's keyring.
    Keys(KeysArgs),
    /// Check store, port and models, and say what to do.
    Doctor(DoctorArgs),
    /// Serve a coding agent over standard input and output, by the Model Context Protocol.
    Mcp(McpArgs),
    /// Learn from this machine's own sessions with coding agents, a night at a time.
    Sleep(Box<SleepArgs>),
}

impl Command {
    /// It starts a run or a night.
    pub(super) fn asks_models(&self) -> bool {
        match self {
            Self::Train(_) | Self::Eval(_) => true,
            Self::Sleep(args) => match &args.command {
                SleepCommand::Run(_) | SleepCommand::DryRun(_) => true,
                SleepCommand::Experiment(args) => args.asks_models(),
                _ => false,
            },
            _ => false,
        }
    }
}

#[derive(Debug, Args)]
pub(super) struct ServeArgs {
    /// Address to listen on; an address of this machine.
    #[arg(long, default_value = "127.0.0.1")]
    pub(super) host: String,
    /// Port; 0 takes any free one.
    #[arg(long, default_value_t = 7860)]
    pub(super) port: u16,
    /// Serve the dashboard from this folder instead of the built-in one.
    #[arg(long, value_name = "DIR")]
    pub(super) assets: Option<PathBuf>,
    /// A folder under which skills may be adopted, besides the home folder and the working directory.
    #[arg(long = "adopt-root", value_name = "DIR")]
    pub(super) adopt_roots: Vec<PathBuf>,
    /// A further name under which this server is reached, through a proxy or a tunnel.
    #[arg(long = "allowed-host", value_name = "NAME")]
    pub(super) allowed_hosts: Vec<String>,
    /// Runs that work at the same time.
    #[arg(long, default_value_t = 4, value_name = "N")]
    pub(super) max_parallel_runs: usize,
    /// Do not open a browser.
    #[arg(long)]
    pub(super) no_open: bool,
}

#[derive(Debug, Args)]
pub(super) struct TrainArgs {
    #[command(flatten)]
    pub(super) config: ConfigArgs,
    /// A name for people.
    #[arg(long)]
    pub(super) name: Option<String>,
    /// Only say what would be done: the values in force and where each comes from, and the calls at most.
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Draw anew, whatever the ledger holds.
    #[arg(long)]
    pub(super) fresh: bool,
    /// Print one JSON object as the only output.
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct ImportArgs {
    /// The run folder.
    #[arg(value_name = "DIR")]
    pub(super) folder: PathBuf,
    /// Only read the folder and say what would be imported.
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Print JSON.
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct DoctorArgs {
    #[command(flatten)]
    pub(super) config: ConfigArgs,
    /// The model of both roles.
    #[arg(long, value_name = "NAME")]
    pub(super) model: Option<String>,
    /// The address of both roles.
    #[arg(long, value_name = "URL")]
    pub(super) base_url: Option<String>,
    /// Also ask what each endpoint accepts: a few further calls a role, which may cost money.
    #[arg(long)]
    pub(super) probe: bool,
    /// The port that `serve` would use.
    #[arg(long, default_value_t = 7860)]
    pub(super) port: u16,
    /// Print JSON.
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct McpArgs {
    /// Let the agent ask for nights that adopt what the gate accepts, without a person.
    #[arg(long)]
    pub(super) allow_auto_adopt: bool,
    /// Minutes that a night or a run may take [default: 60 for nights, 360 for runs].
    #[arg(long, value_name = "MINUTES", value_parser = clap::value_parser!(u32).range(1..=10_080))]
    pub(super) time_limit: Option<u32>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_commands_are_well_formed() {
        Cli::command().debug_assert();
    }
}
