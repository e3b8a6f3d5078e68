//! The command line: one file a command. Arguments become typed once, here; what commands do is the host's
//! and the server's business.

mod args;
mod bars;
mod config;
mod config_args;
mod derive;
mod doctor;
mod eval;
mod follow;
mod foresee;
mod import;
mod keys;
mod keys_args;
mod mcp;
mod narrate;
mod output;
mod prices;
mod prompts;
mod refusal;
mod runs;
mod runs_export;
mod serve;
mod sleep;
mod stop;
mod summary;
mod train;

use crate::causes::causes;
use args::{Cli, Command};
use clap::{CommandFactory, Parser};
use output::Output;
use skillopt_domain::own_call;
use std::ffi::OsString;
use std::io::IsTerminal;
use std::process::ExitCode;

/// How a command ended. The numbers are part of the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// It did what was asked.
    Done,
    /// It could not.
    Failed,
    /// It was asked wrongly: flags, config, files.
    Usage,
    /// Somebody has to answer prompts first.
    Pending,
    /// A person stopped it.
    Cancelled,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::Pending => 3,
            Exit::Cancelled => 130,
        })
    }
}

/// Parses the arguments of this process and runs the command.
#[must_use]
pub fn main() -> ExitCode {
    let args = args::with_sleep_name(args::with_kebab_flags(std::env::args_os()));
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(err) => {
            // Help and version are no errors; a closed pipe is none of ours.
            let _ = err.print();
            return ExitCode::from(if err.use_stderr() { Exit::Usage } else { Exit::Done });
        }
    };
    let mut output = Output::of_process();
    log_to_stderr(matches!(cli.command, Command::Serve(_)));
    let mut builder = if matches!(cli.command, Command::Serve(_)) {
        tokio::runtime::Builder::new_multi_thread()
    } else {
        // One run is one chain of answers and small decisions: a second thread would only be woken by each.
        tokio::runtime::Builder::new_current_thread()
    };
    let runtime = match builder.enable_all().build() {
        Ok(runtime) => runtime,
        Err(err) => {
            output.error(&format!("cannot start: {err}"));
            return Exit::Failed.into();
        }
    };
    let exit = runtime.block_on(dispatch(cli, &mut output));
    // Threads that still wait for a disk or a name server must not hold the process.
    runtime.shutdown_background();
    exit.into()
}

/// Whether the program would take these arguments, its own name left out. For whoever ships calls of it.
///
/// # Errors
/// What the program would print.
pub fn check_arguments<'a>(words: impl IntoIterator<Item = &'a str>) -> Result<(), String> {
    let words = ["skillopt"].into_iter().chain(words).map(OsString::from);
    let matched = Cli::command().try_get_matches_from(args::with_kebab_flags(words));
    matched.map(|_| ()).map_err(|err| err.to_string())
}

async fn dispatch(cli: Cli, output: &mut Output) -> Exit {
    let data_dir = cli.data_dir();
    if cli.command.asks_models() && std::env::var_os(own_call::VARIABLE).is_some() {
        // A hook of an agent that works for us would spend, and learn, inside of what is learned from.
        output.error("this agent works for a SkillOpt run; it starts no other one");
        return Exit::Failed;
    }
    let done = match cli.command {
        Command::Serve(args) => serve::run(args, &data_dir, output).await,
        Command::Train(args) => train::run(args, &data_dir, output).await,
        Command::Eval(args) => eval::run(args, &data_dir, output).await,
        Command::Import(args) => import::run(args, &data_dir, output).await,
        Command::Runs(args) => runs::run(args.command, &data_dir, output).await,
        Command::Config(args) => config::run(args.command, &data_dir, output),
        Command::Keys(args) => keys::run(args.command, &data_dir, output),
        Command::Prices(args) => prices::run(args.command, &data_dir, output).await,
        Command::Prompts(args) => prompts::run(args.command, output),
        Command::Doctor(args) => doctor::run(args, &data_dir, output).await,
        Command::Mcp(args) => mcp::run(args, &data_dir, output).await,
        Command::Sleep(args) => sleep::run(*args, &data_dir, output).await,
    };
    done.unwrap_or_else(|err| {
        output.error(&causes(&*err));
        Exit::Failed
    })
}

/// `SKILLOPT_LOG` or `RUST_LOG` set the filter, such as `info,skillopt_server=debug`.
fn log_to_stderr(is_server: bool) {
    use tracing_subscriber::EnvFilter;
    let filter = std::env::var("SKILLOPT_LOG").or_else(|_| std::env::var("RUST_LOG"));
    let default = if is_server { "info" } else { "warn" };
    let filter = EnvFilter::new(filter.unwrap_or_else(|_| default.to_owned()));
    let is_terminal = std::io::stderr().is_terminal();
    let format = tracing_subscriber::fmt().with_env_filter(filter).with_ansi(is_terminal);
    format.with_writer(std::io::stderr).init();
}
