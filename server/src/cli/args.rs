//! Commands and their arguments.

use super::config_args::ConfigArgs;
use super::keys_args::KeysArgs;
use super::sleep::args::{SleepArgs, SleepCommand};
use clap::{Args, Parser, Subcommand, ValueEnum};
use skillopt_domain::config::UpdateMode;
use skillopt_engine::splits::SplitName;
use std::ffi::OsString;
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
pub(super) struct EvalArgs {
    #[command(flatten)]
    pub(super) config: ConfigArgs,
    /// The skill file to score.
    #[arg(long, value_name = "FILE")]
    pub(super) skill: String,
    /// The split to score it on.
    #[arg(long, value_enum, default_value = "test")]
    pub(super) split: SplitArg,
    /// Measure this often, each time drawing anew, to see how much the score varies by itself.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(super) repeats: u32,
    /// Draw anew, whatever the ledger holds.
    #[arg(long)]
    pub(super) fresh: bool,
    /// Print one JSON object as the only output.
    #[arg(long)]
    pub(super) json: bool,
}

/// The names of a split, those of the Python system included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(super) enum SplitArg {
    Train,
    #[value(aliases = ["valid_seen", "selection"])]
    Val,
    #[value(alias = "valid_unseen")]
    Test,
}

impl From<SplitArg> for SplitName {
    fn from(split: SplitArg) -> Self {
        match split {
            SplitArg::Train => Self::Train,
            SplitArg::Val => Self::Selection,
            SplitArg::Test => Self::Test,
        }
    }
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
pub(super) struct RunsArgs {
    #[command(subcommand)]
    pub(super) command: RunsCommand,
}

#[derive(Debug, Subcommand)]
pub(super) enum RunsCommand {
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
pub(super) struct ListArgs {
    /// Only runs in this state, such as running or done.
    #[arg(long)]
    pub(super) status: Option<String>,
    /// Only runs whose name, models or benchmark contain this text.
    #[arg(long, short)]
    pub(super) query: Option<String>,
    /// At most this many.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=500))]
    pub(super) limit: u32,
    /// Print JSON.
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct RunRef {
    /// The run's id, or the beginning or end of it.
    pub(super) run: String,
    /// Print JSON.
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct CassetteArgs {
    /// The run's id, or the beginning or end of it.
    pub(super) run: String,
    /// The file to write; standard output when left out.
    #[arg(long, short, alias = "out", value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct ResumeArgs {
    #[command(flatten)]
    pub(super) run: RunRef,
    /// Settings that change and cannot change results, such as caps, workers and time-outs. For all others there is
    /// `runs fork`.
    #[arg(long = "cfg-options", value_name = "SECTION.KEY=VALUE", num_args = 1..)]
    pub(super) cfg_options: Vec<String>,
}

#[derive(Debug, Args)]
pub(super) struct RerunArgs {
    /// The run's id, or the beginning or end of it.
    pub(super) run: String,
    /// A name for people.
    #[arg(long)]
    pub(super) name: Option<String>,
    /// Draw anew, whatever the ledger holds.
    #[arg(long)]
    pub(super) fresh: bool,
    /// The folder of the new run.
    #[arg(long, value_name = "DIR")]
    pub(super) out_root: Option<PathBuf>,
    /// Print one JSON object as the only output.
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct ForkArgs {
    /// The run's id, or the beginning or end of it.
    pub(super) run: String,
    /// Start from this version of its skill; the text that it began with when left out.
    #[arg(long, value_name = "N")]
    pub(super) at_version: Option<u32>,
    /// Settings that change; an empty value is the default.
    #[arg(long = "cfg-options", value_name = "SECTION.KEY=VALUE", num_args = 1..)]
    pub(super) cfg_options: Vec<String>,
    /// A name for people.
    #[arg(long)]
    pub(super) name: Option<String>,
    /// Only say what differs and what would be done.
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Draw anew, whatever the ledger holds.
    #[arg(long)]
    pub(super) fresh: bool,
    /// The folder of the new run.
    #[arg(long, value_name = "DIR")]
    pub(super) out_root: Option<PathBuf>,
    /// Print one JSON object as the only output.
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct ExportArgs {
    /// The run's id, or the beginning or end of it.
    pub(super) run: String,
    /// What to write.
    #[arg(long, value_enum, default_value = "json")]
    pub(super) format: ExportFormat,
    /// The file to write, a new folder for `python`; standard output when left out.
    #[arg(long, short, value_name = "PATH")]
    pub(super) output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ExportFormat {
    /// Everything: config, journal, outcomes, skills.
    Json,
    /// The best skill.
    Skill,
    /// The config, to train from again.
    Yaml,
    /// A copy of the run folder in which the Python trainer can go on.
    Python,
}

#[derive(Debug, Args)]
pub(super) struct ConfigCommands {
    #[command(subcommand)]
    pub(super) command: ConfigCommand,
}

#[derive(Debug, Subcommand)]
pub(super) enum ConfigCommand {
    /// Print each key, its value and where that comes from.
    Show(ShowArgs),
    /// Check a file: 0 when it is sound, 1 when it is not, 2 when there is none.
    Check(CheckArgs),
    /// Print a JSON Schema (draft 2020-12) of config files, for editors.
    Schema,
}

#[derive(Debug, Args)]
pub(super) struct ShowArgs {
    #[command(flatten)]
    pub(super) config: ConfigArgs,
    /// Print JSON.
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct CheckArgs {
    /// The config file.
    #[arg(value_name = "FILE")]
    pub(super) file: PathBuf,
    /// Print JSON.
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct PricesArgs {
    #[command(subcommand)]
    pub(super) command: PricesCommand,
}

#[derive(Debug, Subcommand)]
pub(super) enum PricesCommand {
    /// List all prices.
    List(ListPricesArgs),
    /// Add the prices of a model, or change them. Runs that were made before keep theirs.
    Set(SetPriceArgs),
    /// Take the prices of a model away.
    Remove(PriceName),
}

#[derive(Debug, Args)]
pub(super) struct ListPricesArgs {
    /// Print JSON.
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct PriceName {
    /// Name of the model; with `*` at its end all names that begin so.
    pub(super) model: String,
    /// Only at this host, such as api.example.com.
    #[arg(long, default_value = "", hide_default_value = true)]
    pub(super) host: String,
}

#[derive(Debug, Args)]
pub(super) struct SetPriceArgs {
    #[command(flatten)]
    pub(super) name: PriceName,
    /// US dollars for a million tokens read.
    #[arg(long = "in", value_name = "DOLLARS")]
    pub(super) input: f64,
    /// US dollars for a million tokens that the provider had cached; those of --in when left out.
    #[arg(long, value_name = "DOLLARS")]
    pub(super) cached: Option<f64>,
    /// US dollars for a million tokens that the provider writes to its cache; unknown when left out.
    #[arg(long, value_name = "DOLLARS")]
    pub(super) cache_write: Option<f64>,
    /// US dollars for a million tokens written.
    #[arg(long = "out", value_name = "DOLLARS")]
    pub(super) output: f64,
    /// The day from which on they are known to hold [default: today].
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub(super) as_of: Option<String>,
    /// Where they are from.
    #[arg(long, default_value = "", hide_default_value = true)]
    pub(super) source: String,
}

#[derive(Debug, Args)]
pub(super) struct PromptsArgs {
    #[command(subcommand)]
    pub(super) command: PromptsCommand,
}

#[derive(Debug, Subcommand)]
pub(super) enum PromptsCommand {
    /// List all prompts and what each is for.
    List(ListPromptsArgs),
    /// Print one prompt: purpose, placeholders, the reply that it asks for, and its text.
    Show(ShowPromptArgs),
    /// Write all prompts of the optimizer into a folder, to be changed there.
    Export(ExportPromptsArgs),
    /// Check a folder of your own prompts: 0 when it is sound, 1 when it is not, 2 when there is none.
    Check(CheckPromptsArgs),
}

#[derive(Debug, Args)]
pub(super) struct ListPromptsArgs {
    /// Print JSON.
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct ShowPromptArgs {
    /// Its name, such as `ranking` or `parts/rules`.
    pub(super) name: String,
    /// Print JSON.
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct ExportPromptsArgs {
    /// The folder; nothing in it is written over.
    #[arg(value_name = "DIR")]
    pub(super) folder: PathBuf,
}

#[derive(Debug, Args)]
pub(super) struct CheckPromptsArgs {
    /// The folder.
    #[arg(value_name = "DIR")]
    pub(super) folder: PathBuf,
    /// Check for runs in this update mode only.
    #[arg(long, value_enum)]
    pub(super) mode: Option<ModeArg>,
    /// Print JSON.
    #[arg(long)]
    pub(super) json: bool,
}

/// The update modes by their names in configs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(super) enum ModeArg {
    Patch,
    RewriteFromSuggestions,
    FullRewriteMinibatch,
}

impl From<ModeArg> for UpdateMode {
    fn from(mode: ModeArg) -> Self {
        match mode {
            ModeArg::Patch => Self::Patch,
            ModeArg::RewriteFromSuggestions => Self::RewriteFromSuggestions,
            ModeArg::FullRewriteMinibatch => Self::FullRewriteMinibatch,
        }
    }
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

/// The name under which the program is nights alone, as the reference system's is: `skillopt-sleep run` is
/// `skillopt sleep run`.
const SLEEP_NAME: &str = "skillopt-sleep";

/// Puts `sleep` in, when the program was called by its other name.
pub(super) fn with_sleep_name(args: Vec<OsString>) -> Vec<OsString> {
    let is_sleep = args
        .first()
        .and_then(|name| std::path::Path::new(name).file_stem())
        .is_some_and(|name| name == SLEEP_NAME);
    if !is_sleep {
        return args;
    }
    let mut args = args.into_iter();
    let name = args.next();
    name.into_iter().chain([OsString::from("sleep")]).chain(args).collect()
}

/// Takes flags in the underscore spelling of the Python system too: `--out_root` is `--out-root`.
pub(super) fn with_kebab_flags(args: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut is_flag_area = true;
    args.map(|arg| {
        is_flag_area = is_flag_area && arg != "--";
        match arg.to_str() {
            Some(text) if is_flag_area && text.starts_with("--") => kebab(text).into(),
            _ => arg,
        }
    })
    .collect()
}

fn kebab(flag: &str) -> String {
    match flag.split_once('=') {
        Some((name, value)) => format!("{}={value}", name.replace('_', "-")),
        None => flag.replace('_', "-"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;
    use rstest::rstest;

    #[test]
    fn the_commands_are_well_formed() {
        Cli::command().debug_assert();
    }

    #[rstest]
    #[case("--out_root", "--out-root")]
    #[case("--skill_init=a_b.md", "--skill-init=a_b.md")]
    #[case("train_it", "train_it")]
    fn underscores_in_flags_are_dashes(#[case] given: &str, #[case] expect: &str) {
        let args = with_kebab_flags([OsString::from(given)].into_iter());
        assert_eq!(args, [OsString::from(expect)]);
    }

    #[rstest]
    #[case("/usr/bin/skillopt-sleep", true)]
    #[case("skillopt-sleep.exe", true)]
    #[case("skillopt", false)]
    fn the_other_name_is_nights_alone(#[case] name: &str, #[case] is_sleep: bool) {
        let args = with_sleep_name([name, "status"].map(OsString::from).to_vec());
        let expect: &[&str] = if is_sleep { &[name, "sleep", "status"] } else { &[name, "status"] };
        assert_eq!(args, expect);
    }

    #[rstest]
    #[case("valid_seen", SplitName::Selection)]
    #[case("val", SplitName::Selection)]
    #[case("valid_unseen", SplitName::Test)]
    #[case("train", SplitName::Train)]
    fn splits_have_the_python_names_too(#[case] word: &str, #[case] expect: SplitName) {
        let args = ["skillopt", "eval", "--skill", "S.md", "--split", word];
        let Command::Eval(eval) = Cli::try_parse_from(args).expect("parsed").command else {
            panic!("eval is eval")
        };
        assert_eq!(SplitName::from(eval.split), expect);
    }
}
