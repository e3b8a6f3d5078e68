//! Arguments of `skillopt keys`.

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub(super) struct KeysArgs {
    #[command(subcommand)]
    pub(super) command: KeysCommand,
}

#[derive(Debug, Subcommand)]
pub(super) enum KeysCommand {
    /// Keys by name: where each was found, and a fingerprint to tell them apart. Values are never shown.
    List(ListKeysArgs),
    /// Keep a key in the system's keyring. It is asked for, or read from standard input.
    Set(SetKeyArgs),
    /// Take a key out of the keyring.
    Remove(RemoveKeyArgs),
}

#[derive(Debug, Args)]
pub(super) struct ListKeysArgs {
    /// Print JSON.
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct SetKeyArgs {
    /// The name of the key, as an environment variable would have it, such as `OPENAI_COMPATIBLE_API_KEY`.
    #[arg(value_name = "NAME")]
    pub(super) name: String,
    /// The address that the key is for: it is sent to that host and to no other.
    #[arg(long = "for", value_name = "URL")]
    pub(super) bound_to: Option<String>,
    /// Keep it in the file .env of the data directory, which only you can read, where there is no keyring.
    #[arg(long, conflicts_with = "bound_to")]
    pub(super) file: bool,
    /// Here only so that a key on the command line can be refused without showing it.
    #[arg(hide = true, num_args = 0.., allow_hyphen_values = true)]
    pub(super) rest: Vec<String>,
}

#[derive(Debug, Args)]
pub(super) struct RemoveKeyArgs {
    /// The name of the key.
    #[arg(value_name = "NAME")]
    pub(super) name: String,
    /// Take it out of the file .env of the data directory instead.
    #[arg(long)]
    pub(super) file: bool,
}
