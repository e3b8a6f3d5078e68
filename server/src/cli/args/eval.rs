//! Flags of `eval`.

use crate::cli::config_args::ConfigArgs;
use clap::{Args, ValueEnum};
use skillopt_engine::splits::SplitName;

#[derive(Debug, Args)]
pub(crate) struct EvalArgs {
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
    /// The skill file to score.
    #[arg(long, value_name = "FILE")]
    pub(crate) skill: String,
    /// The split to score it on.
    #[arg(long, value_enum, default_value = "test")]
    pub(crate) split: SplitArg,
    /// Measure this often, each time drawing anew, to see how much the score varies by itself.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) repeats: u32,
    /// Draw anew, whatever the ledger holds.
    #[arg(long)]
    pub(crate) fresh: bool,
    /// Print one JSON object as the only output.
    #[arg(long)]
    pub(crate) json: bool,
}

/// The names of a split, those of the Python system included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum SplitArg {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::args::{Cli, Command};
    use clap::Parser;
    use rstest::rstest;

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
