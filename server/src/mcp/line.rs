//! From the arguments of a call to a command line of our program. Here a client's words are checked, once.

use super::arguments::{ALL_SKILLS, AUTO_ADOPT, Argument, JSON, Kind, LEGACY, MOST_TEXTS, SKILLS};
use super::commands::CommandLine;
use super::policy::Policy;
use super::tools::Tool;
use rmcp::model::JsonObject;
use serde_json::Value;
use skillopt_domain::config::KEYS;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A call that is not made. The texts are for whoever called.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum BadArguments {
    #[error("{tool} has no argument `{}`", shown(.name))]
    Unknown { tool: &'static str, name: String },
    #[error("{tool} needs `{name}`")]
    Missing { tool: &'static str, name: &'static str },
    #[error("`{name}` takes {takes}")]
    WrongType { name: &'static str, takes: String },
    #[error("`{name}` is empty")]
    Empty { name: &'static str },
    #[error("`{name}` has more than {most} characters")]
    TooLong { name: &'static str, most: usize },
    #[error("`{name}` has a control character in it")]
    Control { name: &'static str },
    #[error("`{name}` names one thing twice")]
    Twice { name: &'static str },
    #[error("give one of `skills`, `all_skills` and `legacy`, not several")]
    SeveralModes,
    #[error(
        "`auto_adopt` is for the operator to allow, with `skillopt mcp --allow-auto-adopt`; without it a person \
         adopts"
    )]
    AutoAdopt,
    #[error("`project` must be an absolute path: this server stands in no project")]
    RelativeProject,
}

/// What a call comes to.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) line: CommandLine,
    /// The command prints JSON.
    pub(super) is_json: bool,
}

/// Checks the arguments of a call and makes its command line.
///
/// # Errors
/// [`BadArguments`] for anything that the schema of the tool does not allow.
pub(super) fn wanted(
    tool: &'static Tool,
    given: &JsonObject,
    policy: &Policy,
) -> Result<Wanted, BadArguments> {
    check_names(tool, given, policy)?;
    let mut arguments: Vec<String> = tool.command.iter().map(|&word| word.to_owned()).collect();
    let (mut folder, mut is_json) = (None, true);
    for argument in tool.offered(policy) {
        let Some(value) = given.get(argument.name) else { continue };
        let words = words_of(argument, value)?;
        if argument.name == "project" {
            folder = place(&words, argument, policy)?;
        }
        if argument.name == JSON.name {
            is_json = !words.is_empty();
        } else if !argument.flag.is_empty() {
            arguments.extend(words);
        }
    }
    check_modes(given)?;
    arguments.extend(held_words(tool, policy));
    if is_json {
        arguments.push(JSON.flag.to_owned());
    }
    let time_limit = tool.time_limit(policy.limits);
    let length = tool.length();
    Ok(Wanted { line: CommandLine { arguments, folder, time_limit, length }, is_json })
}

/// Parts of the names of keys that say which program is started, where a model is, which variable holds its key, and
/// what an agent may do.
const OPERATORS_KEYS: [&str; 13] = [
    "_path",
    "_home",
    "_env",
    "_url",
    "_endpoint",
    "_profile",
    "_sandbox",
    "_approval",
    "_network",
    "_permission",
    "_tools",
    "_web_search",
    "_setting_sources",
];

/// What a client cannot choose: flags win over files, so what a config that it wrote says about programs, addresses and
/// keys counts for nothing, and a night adopts by itself only where the operator allows it.
fn held_words(tool: &Tool, policy: &Policy) -> Vec<String> {
    match tool.command {
        ["train" | "eval", ..] => {
            let keys = KEYS.iter().map(|key| key.path);
            let held = keys.filter(|path| is_operators(path)).map(|path| format!("{path}="));
            std::iter::once("--cfg-options".to_owned()).chain(held).collect()
        }
        ["sleep", "run" | "dry-run" | "schedule", ..] if !policy.auto_adopt => {
            vec!["--set=auto_adopt=false".to_owned()]
        }
        _ => Vec::new(),
    }
}

fn is_operators(path: &str) -> bool {
    path.strip_prefix("model.")
        .is_some_and(|name| OPERATORS_KEYS.iter().any(|part| name.contains(part)))
}

/// The folder that a call names, for tools that the server answers by itself.
///
/// # Errors
/// As [`wanted`].
pub(super) fn wanted_folder(
    tool: &'static Tool,
    given: &JsonObject,
    policy: &Policy,
) -> Result<Option<PathBuf>, BadArguments> {
    wanted(tool, given, policy).map(|wanted| wanted.line.folder)
}

fn check_names(
    tool: &'static Tool,
    given: &JsonObject,
    policy: &Policy,
) -> Result<(), BadArguments> {
    for name in given.keys() {
        let is_known = |argument: &Argument| argument.name == name;
        if tool.offered(policy).any(is_known) {
            continue;
        }
        let is_withheld = *name == AUTO_ADOPT.name && tool.arguments().any(is_known);
        return Err(if is_withheld {
            BadArguments::AutoAdopt
        } else {
            BadArguments::Unknown { tool: tool.name, name: name.clone() }
        });
    }
    let missing = |argument: &&Argument| {
        tool.requires(argument.name, policy) && !given.contains_key(argument.name)
    };
    match tool.offered(policy).find(missing) {
        Some(argument) => Err(BadArguments::Missing { tool: tool.name, name: argument.name }),
        None => Ok(()),
    }
}

/// The flags of a value. Its text stands behind `=`, so that no text can be a flag by itself.
fn words_of(argument: &Argument, value: &Value) -> Result<Vec<String>, BadArguments> {
    let Argument { name, flag, kind, .. } = *argument;
    let wrong = || BadArguments::WrongType { name, takes: takes(kind) };
    let with = |text: &str| format!("{flag}={text}");
    match (kind, value) {
        (Kind::Text(most), Value::String(text)) => {
            check_text(name, text, most)?;
            Ok(vec![with(text)])
        }
        (Kind::Word(words), Value::String(text)) if words.contains(&text.as_str()) => {
            Ok(vec![with(text)])
        }
        (Kind::Flag, Value::Bool(is_on)) => {
            Ok(is_on.then(|| flag.to_owned()).into_iter().collect())
        }
        (Kind::Number(least, most), Value::Number(number)) => match number.as_i64() {
            Some(number) if (least..=most).contains(&number) => Ok(vec![with(&number.to_string())]),
            _ => Err(wrong()),
        },
        (Kind::Texts(most), Value::Array(values)) => {
            let texts = values.iter().map(|value| value.as_str().ok_or_else(wrong));
            let texts: Vec<&str> = texts.collect::<Result<_, _>>()?;
            if texts.is_empty() || texts.len() > MOST_TEXTS {
                return Err(wrong());
            }
            for text in &texts {
                check_text(name, text, most)?;
            }
            if texts.iter().collect::<BTreeSet<_>>().len() < texts.len() {
                return Err(BadArguments::Twice { name });
            }
            Ok(texts.into_iter().map(with).collect())
        }
        (Kind::Numbers(least, most), Value::Array(values)) => {
            let is_in = |number: &i64| (least..=most).contains(number);
            let numbers = values.iter().map(|value| value.as_i64().filter(is_in).ok_or_else(wrong));
            let numbers: Vec<i64> = numbers.collect::<Result<_, _>>()?;
            if numbers.is_empty() || numbers.len() > MOST_TEXTS {
                return Err(wrong());
            }
            if numbers.iter().collect::<BTreeSet<_>>().len() < numbers.len() {
                return Err(BadArguments::Twice { name });
            }
            Ok(numbers.into_iter().map(|number| with(&number.to_string())).collect())
        }
        _ => Err(wrong()),
    }
}

fn check_text(name: &'static str, text: &str, most: usize) -> Result<(), BadArguments> {
    if text.trim().is_empty() {
        Err(BadArguments::Empty { name })
    } else if text.chars().any(char::is_control) {
        Err(BadArguments::Control { name })
    } else if text.chars().count() > most {
        Err(BadArguments::TooLong { name, most })
    } else {
        Ok(())
    }
}

/// Where a command works: commands of nights are told the project by a flag, others are started in it.
fn place(
    words: &[String],
    argument: &Argument,
    policy: &Policy,
) -> Result<Option<PathBuf>, BadArguments> {
    let path = words.first().and_then(|word| word.split_once('=')).map(|(_, path)| Path::new(path));
    if policy.needs_project && !path.is_some_and(Path::is_absolute) {
        return Err(BadArguments::RelativeProject);
    }
    Ok(path.filter(|_| argument.flag.is_empty()).map(Path::to_owned))
}

fn check_modes(given: &JsonObject) -> Result<(), BadArguments> {
    let is_on = |argument: &Argument| {
        given.get(argument.name).is_some_and(|value| *value != Value::Bool(false))
    };
    let n_modes = [&SKILLS, &ALL_SKILLS, &LEGACY].into_iter().filter(|mode| is_on(mode)).count();
    if n_modes > 1 { Err(BadArguments::SeveralModes) } else { Ok(()) }
}

fn takes(kind: Kind) -> String {
    match kind {
        Kind::Text(_) => "a text".to_owned(),
        Kind::Word(words) => format!("one of {}", words.join(", ")),
        Kind::Flag => "true or false".to_owned(),
        Kind::Number(least, most) => format!("a whole number from {least} to {most}"),
        Kind::Texts(_) => format!("a list of 1 to {MOST_TEXTS} texts"),
        Kind::Numbers(least, most) => {
            format!("a list of 1 to {MOST_TEXTS} whole numbers from {least} to {most}")
        }
    }
}

fn shown(name: &str) -> String {
    name.chars().filter(|letter| !letter.is_control()).take(60).collect()
}
