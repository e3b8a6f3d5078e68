//! Commands of `prompts` and their flags.

use clap::{Args, Subcommand, ValueEnum};
use skillopt_domain::config::UpdateMode;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct PromptsArgs {
    #[command(subcommand)]
    pub(crate) command: PromptsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PromptsCommand {
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
pub(crate) struct ListPromptsArgs {
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ShowPromptArgs {
    /// Its name, such as `ranking` or `parts/rules`.
    pub(crate) name: String,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExportPromptsArgs {
    /// The folder; nothing in it is written over.
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct CheckPromptsArgs {
    /// The folder.
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// Check for runs in this update mode only.
    #[arg(long, value_enum)]
    pub(crate) mode: Option<ModeArg>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// The update modes by their names in configs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum ModeArg {
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
