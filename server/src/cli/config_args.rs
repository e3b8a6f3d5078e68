//! `--config`, `--cfg-options` and one flag a config key, made from the schema: a key that the schema knows is
//! a flag, and no flag is without effect.

use crate::config::{BadConfig, Environment, Sources, cfg_options, flag, flat_name, load};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches, value_parser};
use skillopt_domain::config::{Availability, KEYS, KeyKind, KeySpec, Resolved, Setting};
use std::path::{Path, PathBuf};

/// Flags that `--help` shows; all others work too.
const SHOWN: [&str; 18] = [
    "env.out_root",
    "env.skill_init",
    "env.split_dir",
    "env.workers",
    "model.backend",
    "model.target",
    "model.target_backend",
    "model.optimizer",
    "model.optimizer_backend",
    "model.openai_compatible_base_url",
    "train.num_epochs",
    "train.batch_size",
    "train.seed",
    "gradient.minibatch_size",
    "optimizer.learning_rate",
    "optimizer.min_learning_rate",
    "optimizer.lr_scheduler",
    "evaluation.gate_metric",
];
const HEADING: &str = "Config keys (every other key is a flag too; see docs/configuration.md)";

/// A config file and what is changed in it.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConfigArgs {
    pub(super) file: Option<PathBuf>,
    cfg_options: Vec<String>,
    flags: Vec<Setting>,
}

impl ConfigArgs {
    /// All settings of the command line; later ones win, flags over `--cfg-options`.
    pub(super) fn settings(&self) -> Result<Vec<Setting>, BadConfig> {
        let mut settings = cfg_options(&self.cfg_options)?;
        settings.extend_from_slice(&self.flags);
        Ok(settings)
    }

    /// The checked config, with settings of the command on top.
    pub(super) fn load(&self, env: &Environment, more: &[Setting]) -> Result<Resolved, BadConfig> {
        let mut flags = self.settings()?;
        flags.extend_from_slice(more);
        load(Sources { file: self.file.as_deref(), env, flags: &flags })
    }

    /// Nothing was said about a config.
    pub(super) fn is_empty(&self) -> bool {
        self.file.is_none() && self.cfg_options.is_empty() && self.flags.is_empty()
    }

    /// The run folder that a flag names.
    pub(super) fn out_root<'a>(&self, resolved: &'a Resolved) -> Option<&'a Path> {
        match resolved.get("env.out_root") {
            skillopt_domain::config::Value::Text(path) => Some(Path::new(path)),
            _ => None,
        }
    }
}

impl FromArgMatches for ConfigArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut args = Self::default();
        args.update_from_arg_matches(matches)?;
        Ok(args)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.file = matches.get_one::<PathBuf>("config").cloned();
        self.cfg_options =
            matches.get_many::<String>("cfg_options").into_iter().flatten().cloned().collect();
        self.flags = KEYS
            .iter()
            .filter_map(|spec| {
                let value = matches.get_one::<String>(spec.path)?;
                Some(flag(spec.path, &format!("--{}", flag_name(spec)), value))
            })
            .collect();
        Ok(())
    }
}

impl Args for ConfigArgs {
    fn augment_args(command: Command) -> Command {
        let file = Arg::new("config")
            .long("config")
            .value_name("FILE")
            .value_parser(value_parser!(PathBuf))
            .help("The YAML config");
        let options = Arg::new("cfg_options")
            .long("cfg-options")
            .value_name("SECTION.KEY=VALUE")
            .num_args(1..)
            .action(ArgAction::Append)
            .help("Sets any key for this command");
        command.arg(file).arg(options).args(KEYS.iter().map(arg_of))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

fn arg_of(spec: &'static KeySpec) -> Arg {
    let arg = Arg::new(spec.path)
        .long(flag_name(spec))
        .value_name(value_name(spec))
        .help(spec.help)
        .help_heading(HEADING)
        .hide(!SHOWN.contains(&spec.path))
        .allow_negative_numbers(true);
    let arg = if spec.path == "model.backend" { arg.alias("backend") } else { arg };
    // `--failure-only` alone is `--failure-only true`.
    match spec.kind {
        KeyKind::Bool => arg.num_args(0..=1).default_missing_value("true"),
        _ => arg,
    }
}

fn flag_name(spec: &KeySpec) -> String {
    flat_name(spec.path).replace('_', "-")
}

fn value_name(spec: &KeySpec) -> &'static str {
    match (spec.availability, spec.kind) {
        (Availability::Built, KeyKind::Path) => "PATH",
        (Availability::Built, KeyKind::Int { .. }) => "N",
        (Availability::Built, KeyKind::Float { .. }) => "NUMBER",
        _ => "VALUE",
    }
}

#[cfg(test)]
mod tests {
    use super::super::args::{Cli, Command, with_kebab_flags};
    use super::*;
    use clap::Parser;
    use skillopt_domain::config::Value;
    use std::ffi::OsString;

    fn train(words: &[&str]) -> ConfigArgs {
        let words = ["skillopt", "train"].iter().chain(words).map(OsString::from);
        match Cli::try_parse_from(with_kebab_flags(words)).expect("parsed").command {
            Command::Train(args) => args.config,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_key_is_a_flag_in_both_spellings() {
        let args = train(&[
            "--num_epochs",
            "2",
            "--edit-budget",
            "6",
            "--min_edit_budget=3",
            "--failure-only",
            "--seed",
            "7",
            "--target_model",
            "m",
            "--backend",
            "mock",
            "--env",
            "searchqa",
            "--prompts_dir",
            "my/prompts",
            "--cfg-options",
            "train.seed=1",
            "env.limit=5",
        ]);
        let resolved = args.load(&Environment::default(), &[]).expect("accepted");
        for (path, expect) in [
            ("train.num_epochs", Value::Int(2)),
            ("optimizer.learning_rate", Value::Int(6)),
            ("optimizer.min_learning_rate", Value::Int(3)),
            ("gradient.failure_only", Value::Bool(true)),
            ("train.seed", Value::Int(7)),
            ("env.limit", Value::Int(5)),
            ("model.target", Value::Text("m".into())),
            ("model.backend", Value::Text("mock".into())),
            ("env.name", Value::Text("searchqa".into())),
            ("optimizer.prompts_dir", Value::Text("my/prompts".into())),
        ] {
            assert_eq!(resolved.get(path), &expect, "{path}");
        }
        assert_eq!(
            resolved.place("optimizer.learning_rate").map(|place| place.name.as_str()),
            Some("--edit-budget")
        );
    }

    #[test]
    fn the_backend_has_the_flag_of_the_python_system_and_an_unknown_benchmark_is_named() {
        let long = train(&["--model_backend", "mock"]);
        let resolved = long.load(&Environment::default(), &[]).expect("accepted");
        assert_eq!(resolved.get("model.backend"), &Value::Text("mock".into()));
        let other = train(&["--env", "chess"]).load(&Environment::default(), &[]);
        let message = other.expect_err("refused").to_string();
        assert!(message.contains("--env: env.name") && message.contains("chess"), "{message}");
    }

    #[test]
    fn c87_a_flag_of_a_later_feature_is_refused_unless_it_is_off() {
        let off = train(&["--codex_exec_use_sdk", "auto"]);
        assert!(off.load(&Environment::default(), &[]).is_ok());
        let on = train(&["--codex_exec_use_sdk", "sdk"]).load(&Environment::default(), &[]);
        let message = on.expect_err("refused").to_string();
        assert!(message.contains("--codex-exec-use-sdk: model.codex_exec_use_sdk"), "{message}");
    }

    #[test]
    fn a_key_on_the_command_line_is_refused_and_never_repeated() {
        let err = train(&["--api_key", "sk-secret"]).load(&Environment::default(), &[]);
        let message = err.expect_err("refused").to_string();
        assert!(
            message.contains("environment variable") && !message.contains("sk-secret"),
            "{message}"
        );
    }
}
