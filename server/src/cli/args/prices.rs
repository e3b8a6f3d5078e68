//! Commands of `prices` and their flags.

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub(crate) struct PricesArgs {
    #[command(subcommand)]
    pub(crate) command: PricesCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PricesCommand {
    /// List all prices.
    List(ListPricesArgs),
    /// Add the prices of a model, or change them. Runs that were made before keep theirs.
    Set(SetPriceArgs),
    /// Take the prices of a model away.
    Remove(PriceName),
}

#[derive(Debug, Args)]
pub(crate) struct ListPricesArgs {
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PriceName {
    /// Name of the model; with `*` at its end all names that begin so.
    pub(crate) model: String,
    /// Only at this host, such as api.example.com.
    #[arg(long, default_value = "", hide_default_value = true)]
    pub(crate) host: String,
}

#[derive(Debug, Args)]
pub(crate) struct SetPriceArgs {
    #[command(flatten)]
    pub(crate) name: PriceName,
    /// US dollars for a million tokens read.
    #[arg(long = "in", value_name = "DOLLARS")]
    pub(crate) input: f64,
    /// US dollars for a million tokens that the provider had cached; those of --in when left out.
    #[arg(long, value_name = "DOLLARS")]
    pub(crate) cached: Option<f64>,
    /// US dollars for a million tokens that the provider writes to its cache; unknown when left out.
    #[arg(long, value_name = "DOLLARS")]
    pub(crate) cache_write: Option<f64>,
    /// US dollars for a million tokens written.
    #[arg(long = "out", value_name = "DOLLARS")]
    pub(crate) output: f64,
    /// The day from which on they are known to hold [default: today].
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub(crate) as_of: Option<String>,
    /// Where they are from.
    #[arg(long, default_value = "", hide_default_value = true)]
    pub(crate) source: String,
}
