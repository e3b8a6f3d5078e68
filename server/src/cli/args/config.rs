//! Commands of `config` and their flags.

use crate::cli::config_args::ConfigArgs;
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct ConfigCommands {
    #[command(subcommand)]
    pub(crate) command: ConfigCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Print each key, its value and where that comes from.
    Show(ShowArgs),
    /// Check a file: 0 when it is sound, 1 when it is not, 2 when there is none.
    Check(CheckArgs),
    /// Print a JSON Schema (draft 2020-12) of config files, for editors.
    Schema,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// The config file.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
