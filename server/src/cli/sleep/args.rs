//! `skillopt sleep` and its alias `skillopt-sleep`: commands and flags, with the names of the reference system.

mod experiment;

pub(crate) use experiment::{
    ExperimentArgs, ExperimentCommand, GateArg, PersonaArg, ScorecardArgs, SweepArgs,
};

use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Learn from this machine's own sessions with coding agents, a night at a time.
#[derive(Debug, Args)]
pub(crate) struct SleepArgs {
    #[command(subcommand)]
    pub(crate) command: SleepCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SleepCommand {
    /// One night: harvest, mine, replay, consolidate, and lay a proposal aside. Nothing live changes.
    Run(NightArgs),
    /// As `run`, with nothing kept: no proposal, no state. Model calls are made all the same.
    DryRun(NightArgs),
    /// The last night, what waits for a decision, and what was adopted.
    Status(NightArgs),
    /// Sessions and the tasks in them, without any model call.
    Harvest(HarvestArgs),
    /// Write the proposal of a night into its live files.
    Adopt(AdoptArgs),
    /// Turn the proposal of a night down, with a reason.
    Reject(RejectArgs),
    /// Let a proposal that was turned down wait for a decision again.
    Reopen(ReopenArgs),
    /// Put back what an adoption replaced.
    Revert(RevertArgs),
    /// Run a night every day, by the scheduler of this system or by `skillopt serve`.
    Schedule(ScheduleArgs),
    /// Take such schedules away.
    Unschedule(UnscheduleArgs),
    /// Nights of the project that laid a proposal aside, newest first. The dashboard lists dry runs and empty ones, too.
    Nights(NightArgs),
    /// What a night would change, as a unified diff.
    Diff(DiffArgs),
    /// Whether nights make anything better: personas, benchmark folders, transfer between models, sweeps.
    Experiment(Box<ExperimentArgs>),
}

impl SleepCommand {
    /// The flags that every command takes.
    pub(crate) fn common(&self) -> &CommonArgs {
        match self {
            Self::Run(args) | Self::DryRun(args) | Self::Status(args) | Self::Nights(args) => {
                &args.common
            }
            Self::Harvest(args) => &args.common,
            Self::Adopt(args) => &args.common,
            Self::Reject(args) => &args.common,
            Self::Reopen(args) => &args.common,
            Self::Revert(args) => &args.common,
            Self::Schedule(args) => &args.common,
            Self::Unschedule(args) => &args.common,
            Self::Diff(args) => &args.common,
            Self::Experiment(args) => args.asked(),
        }
    }
}

/// Where a night looks and what it works with. Every command takes them all; experiments refuse those that they do not
/// look at.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct CommonArgs {
    /// The project; the working directory when left out.
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
    /// Sessions of this project, or of all.
    #[arg(long, value_enum)]
    pub(crate) scope: Option<ScopeArg>,
    /// Who answers: mock, claude, codex, copilot, cursor, pi, opencode, handoff, `azure_openai`, or a backend of `train`.
    #[arg(long, value_name = "NAME")]
    pub(crate) backend: Option<String>,
    /// The model of the backend.
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// The program `codex`.
    #[arg(long, value_name = "PATH")]
    pub(crate) codex_path: Option<PathBuf>,
    /// The program `cursor-agent`.
    #[arg(long, value_name = "PATH")]
    pub(crate) cursor_path: Option<PathBuf>,
    /// The program `pi`.
    #[arg(long, value_name = "PATH")]
    pub(crate) pi_path: Option<PathBuf>,
    /// The program `opencode`.
    #[arg(long, value_name = "PATH")]
    pub(crate) opencode_path: Option<PathBuf>,
    /// Let OpenCode call stand-ins for tools.
    #[arg(long)]
    pub(crate) opencode_tool_replay: bool,
    /// Claude Code's folder, in place of ~/.claude.
    #[arg(long, value_name = "DIR")]
    pub(crate) claude_home: Option<PathBuf>,
    /// Codex's folder, in place of ~/.codex.
    #[arg(long, value_name = "DIR")]
    pub(crate) codex_home: Option<PathBuf>,
    /// Cursor's folder, in place of ~/.cursor.
    #[arg(long, value_name = "DIR")]
    pub(crate) cursor_home: Option<PathBuf>,
    /// Pi's folder, in place of ~/.pi.
    #[arg(long, value_name = "DIR")]
    pub(crate) pi_home: Option<PathBuf>,
    /// Whose sessions: claude, codex, copilot, `copilot_cli`, cursor, pi, opencode, devin, or auto for all of them.
    #[arg(long, value_name = "NAME")]
    pub(crate) source: Option<String>,
    /// VS Code's `workspaceStorage`.
    #[arg(long, value_name = "DIR")]
    pub(crate) vscode_workspace_storage: Option<PathBuf>,
    /// The Copilot CLI's `session-store.db`.
    #[arg(long, value_name = "FILE")]
    pub(crate) copilot_cli_session_store: Option<PathBuf>,
    /// OpenCode's `opencode.db`.
    #[arg(long, value_name = "FILE")]
    pub(crate) opencode_db: Option<PathBuf>,
    /// How far back the first harvest of a project looks; 0 is the whole history.
    #[arg(long, value_name = "HOURS")]
    pub(crate) lookback_hours: Option<u32>,
    /// Most edits of a night; 0 takes the config's.
    #[arg(long, default_value_t = 0, hide_default_value = true, value_name = "N")]
    pub(crate) edit_budget: u32,
    /// Most sessions of a night; 0 takes the config's.
    #[arg(long, default_value_t = 0, hide_default_value = true, value_name = "N")]
    pub(crate) max_sessions: u32,
    /// Most tasks of a night; 0 takes the config's.
    #[arg(long, default_value_t = 0, hide_default_value = true, value_name = "N")]
    pub(crate) max_tasks: u32,
    /// The skill to improve, a SKILL.md; a relative path is one below the project.
    #[arg(long, value_name = "FILE")]
    pub(crate) target_skill_path: Option<PathBuf>,
    /// A further folder of skills.
    #[arg(long = "skill-root", value_name = "DIR")]
    pub(crate) skill_roots: Vec<PathBuf>,
    /// Tasks from this file, and no harvest.
    #[arg(long, value_name = "FILE")]
    pub(crate) tasks_file: Option<PathBuf>,
    /// Tell each stage on standard error.
    #[arg(long)]
    pub(crate) progress: bool,
    /// Adopt at once what the gate accepts and nothing speaks against.
    #[arg(long)]
    pub(crate) auto_adopt: bool,
    /// What you prefer, for the optimizer.
    #[arg(long, value_name = "TEXT")]
    pub(crate) preferences: Option<String>,
    /// Print one JSON object as the only output.
    #[arg(long)]
    pub(crate) json: bool,
    /// The config of nights, in place of ~/.skillopt-sleep/config.json.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// A key of that config, such as `gate_metric=hard`.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) settings: Vec<String>,
    /// Keys of models, as in `train`, such as `model.target_temperature=0`.
    #[arg(long = "cfg-options", value_name = "SECTION.KEY=VALUE", num_args = 1..)]
    pub(crate) cfg_options: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScopeArg {
    All,
    Invoked,
}

#[derive(Debug, Args)]
pub(crate) struct NightArgs {
    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

#[derive(Debug, Args)]
pub(crate) struct HarvestArgs {
    #[command(flatten)]
    pub(crate) common: CommonArgs,
    /// Write the tasks into this file, to be reviewed and then given with --tasks-file.
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Print what a model would be sent, secrets masked: all that would leave this machine.
    #[arg(long)]
    pub(crate) preview: bool,
}

#[derive(Debug, Args)]
pub(crate) struct AdoptArgs {
    #[command(flatten)]
    pub(crate) common: CommonArgs,
    /// The night's folder; the last one when left out.
    #[arg(long, value_name = "DIR")]
    pub(crate) staging: Option<PathBuf>,
    /// Adopt this skill of a night that treats several.
    #[arg(long = "skill", value_name = "NAME")]
    pub(crate) skills: Vec<String>,
    /// Adopt all skills of a night that treats several.
    #[arg(long)]
    pub(crate) all_skills: bool,
    /// Adopt the managed skill and the memory.
    #[arg(long)]
    pub(crate) legacy: bool,
    /// Only one of the two documents.
    #[arg(long, value_enum)]
    pub(crate) only: Option<OnlyArg>,
    /// Only these edits of the document, by the numbers that `sleep diff` shows, such as 1,3.
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', conflicts_with = "leave_out")]
    pub(crate) edits: Vec<u32>,
    /// All edits of the document but these.
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',')]
    pub(crate) leave_out: Vec<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnlyArg {
    Skill,
    Memory,
}

#[derive(Debug, Args)]
pub(crate) struct RejectArgs {
    #[command(flatten)]
    pub(crate) common: CommonArgs,
    /// The night's folder; the last one when left out.
    #[arg(long, value_name = "DIR")]
    pub(crate) staging: Option<PathBuf>,
    /// Why.
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: String,
    /// Only this skill of a night that treats several.
    #[arg(long = "skill", value_name = "NAME")]
    pub(crate) skills: Vec<String>,
    /// Only one of the two documents.
    #[arg(long, value_enum)]
    pub(crate) only: Option<OnlyArg>,
}

#[derive(Debug, Args)]
pub(crate) struct ReopenArgs {
    #[command(flatten)]
    pub(crate) common: CommonArgs,
    /// The night's folder; the last one when left out.
    #[arg(long, value_name = "DIR")]
    pub(crate) staging: Option<PathBuf>,
    /// Why.
    #[arg(long, default_value = "", hide_default_value = true, value_name = "TEXT")]
    pub(crate) reason: String,
    /// Only this skill of a night that treats several.
    #[arg(long = "skill", value_name = "NAME")]
    pub(crate) skills: Vec<String>,
    /// Only one of the two documents.
    #[arg(long, value_enum)]
    pub(crate) only: Option<OnlyArg>,
}

#[derive(Debug, Args)]
pub(crate) struct RevertArgs {
    #[command(flatten)]
    pub(crate) common: CommonArgs,
    /// The night's folder; the last one with an adoption when left out.
    #[arg(long, value_name = "DIR")]
    pub(crate) staging: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    #[command(flatten)]
    pub(crate) common: CommonArgs,
    /// The night's folder; the last one when left out.
    #[arg(long, value_name = "DIR")]
    pub(crate) staging: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ScheduleArgs {
    #[command(flatten)]
    pub(crate) common: CommonArgs,
    /// Hour of the day, 0 to 23.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u8).range(0..=23))]
    pub(crate) hour: u8,
    /// Minute of the hour, 0 to 59.
    #[arg(long, default_value_t = 17, value_parser = clap::value_parser!(u8).range(0..=59))]
    pub(crate) minute: u8,
    /// The time zone by its IANA name, for `--with server`; that of this machine when left out.
    #[arg(long, value_name = "ZONE")]
    pub(crate) zone: Option<String>,
    /// Which scheduler; that of this system when left out. `server` is the clock of `skillopt serve`.
    #[arg(long, value_enum)]
    pub(crate) with: Option<SchedulerArg>,
    /// Only print what would be installed.
    #[arg(long)]
    pub(crate) print: bool,
    /// Only list what is scheduled.
    #[arg(long, conflicts_with_all = ["print", "with", "zone"])]
    pub(crate) list: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchedulerArg {
    Cron,
    Systemd,
    Launchd,
    Windows,
    Server,
}

#[derive(Debug, Args)]
pub(crate) struct UnscheduleArgs {
    #[command(flatten)]
    pub(crate) common: CommonArgs,
    /// Those of all projects.
    #[arg(long)]
    pub(crate) all: bool,
    /// Which scheduler; that of this system and that of the server when left out.
    #[arg(long, value_enum)]
    pub(crate) with: Option<SchedulerArg>,
}
