//! `skillopt config`: which values are in force and where each comes from, whether a file is sound, and the schema
//! for editors. Nothing here starts or spends anything.

use super::Exit;
use super::args::{CheckArgs, ConfigCommand, ShowArgs};
use super::follow::Report;
use super::output::Output;
use super::refusal::refuse;
use crate::config::{
    BadConfig, Environment, Sources, json_schema, load, run_config, secret_in_address,
};
use serde_json::json;
use skillopt_domain::config::{ConfigProblem, Origin, Resolved, ResolvedValue, Value, find_key};
use std::path::Path;

/// Keys whose values may hold what should not be shown; shown only when nothing is wrong with them.
const DELICATE: [&str; 4] = ["_extra_body", "_base_url", "_openai_endpoint", "_api_key_env"];

pub(super) fn run(
    command: ConfigCommand,
    data_dir: &Path,
    output: &Output,
) -> anyhow::Result<Exit> {
    match command {
        ConfigCommand::Show(args) => show(&args, &Environment::of_process(data_dir), output),
        ConfigCommand::Check(args) => check(&args, &Environment::of_process(data_dir), output),
        ConfigCommand::Schema => {
            output.line(&format!("{:#}", json_schema()));
            Ok(Exit::Done)
        }
    }
}

fn show(args: &ShowArgs, env: &Environment, output: &Output) -> anyhow::Result<Exit> {
    let resolved = match args.config.load(env, &[]) {
        Ok(resolved) => resolved,
        Err(problems) => return Ok(refuse(output, Report::of(args.json), &problems)),
    };
    let problems = problems_of(&resolved);
    for warning in resolved.warnings.iter().chain(&problems) {
        output.note(&format!("warning: {warning}"));
    }
    if args.json {
        let rows: Vec<_> = resolved.values.iter().map(|row| json_row(row, &problems)).collect();
        output.line(&serde_json::to_string(&rows)?);
        return Ok(Exit::Done);
    }
    for row in &resolved.values {
        let value = match shown(row, &problems) {
            Some(Value::Null) => "(not set)".to_owned(),
            Some(value) => value.to_string(),
            None => "(not shown)".to_owned(),
        };
        output.line(&format!("{} = {value}  ({})", row.path, source(row)));
    }
    Ok(Exit::Done)
}

/// What no run would start with: the problems of the values, and secrets in addresses, which the client refuses.
fn problems_of(resolved: &Resolved) -> Vec<ConfigProblem> {
    let mut problems =
        run_config(resolved).err().map(|BadConfig(problems)| problems).unwrap_or_default();
    for row in &resolved.values {
        let Some(secret) = secret_of(row) else { continue };
        if problems.iter().all(|known| known.path != row.path) {
            let message = format!(
                "the address holds {secret}; take it out, and name an environment variable with the key in \
                 model.target_api_key_env or model.optimizer_api_key_env"
            );
            let place = Some(row.place.clone());
            problems.push(ConfigProblem { path: row.path.clone(), place, message });
        }
    }
    problems
}

/// What of a value is a secret, when it is an address with one.
fn secret_of(row: &ResolvedValue) -> Option<String> {
    let Value::Text(text) = &row.value else { return None };
    secret_in_address(text).filter(|_| text.contains("://") || is_address(&row.path))
}

fn is_address(path: &str) -> bool {
    path.ends_with("_base_url") || path.ends_with("_openai_endpoint")
}

/// The value, unless it holds a secret, or a problem says that it holds what it should not.
fn shown<'a>(row: &'a ResolvedValue, problems: &[ConfigProblem]) -> Option<&'a Value> {
    let is_delicate = DELICATE.iter().any(|ending| row.path.ends_with(ending));
    let is_wrong = problems.iter().any(|problem| problem.path == row.path);
    let is_hidden = (is_delicate && is_wrong) || secret_of(row).is_some();
    (!is_hidden || row.value == Value::Null).then_some(&row.value)
}

/// The kind of source and its place.
fn source(row: &ResolvedValue) -> String {
    match row.place.origin {
        Origin::Default => "default".to_owned(),
        Origin::Base => format!("base {}", row.place),
        Origin::File => format!("file {}", row.place),
        Origin::Prices => row.place.to_string(),
        Origin::Environment => format!("environment {}", row.place),
        Origin::Flag => format!("flag {}", row.place),
    }
}

fn json_row(row: &ResolvedValue, problems: &[ConfigProblem]) -> serde_json::Value {
    json!({
        "key": row.path,
        "value": shown(row, problems),
        "origin": row.place.origin,
        "name": row.place.name,
        "line": row.place.line,
        "default": find_key(&row.path).map(|spec| spec.default),
    })
}

/// What a check found.
struct Checked {
    problems: Vec<ConfigProblem>,
    warnings: Vec<ConfigProblem>,
    /// Keys without which no run can start, and which nobody has set yet.
    missing: Vec<ConfigProblem>,
}

/// 0: sound, 1: not, 2: there is no such file.
fn check(args: &CheckArgs, env: &Environment, output: &Output) -> anyhow::Result<Exit> {
    if let Err(err) = std::fs::metadata(&args.file) {
        output.error(&format!("cannot read {}: {err}", args.file.display()));
        return Ok(Exit::Usage);
    }
    let loaded = load(Sources { file: Some(&args.file), env, flags: &[] });
    let checked = match loaded {
        Ok(resolved) => checked(&resolved),
        Err(BadConfig(problems)) => Checked { problems, warnings: Vec::new(), missing: Vec::new() },
    };
    let is_sound = checked.problems.is_empty();
    if args.json {
        let report = json!({
            "file": args.file, "valid": is_sound, "problems": checked.problems,
            "warnings": checked.warnings, "missing": checked.missing,
        });
        output.line(&report.to_string());
    } else {
        tell(args, &checked, output);
    }
    Ok(if is_sound { Exit::Done } else { Exit::Failed })
}

fn checked(resolved: &Resolved) -> Checked {
    let found = problems_of(resolved);
    let is_missing = |problem: &ConfigProblem| {
        problem.place.is_none() && resolved.get(&problem.path) == &Value::Null
    };
    let (missing, problems) = found.into_iter().partition(is_missing);
    Checked { problems, warnings: resolved.warnings.clone(), missing }
}

fn tell(args: &CheckArgs, checked: &Checked, output: &Output) {
    for problem in &checked.problems {
        output.error(&problem.to_string());
    }
    for warning in &checked.warnings {
        output.note(&format!("warning: {warning}"));
    }
    for missing in &checked.missing {
        output.note(&format!("still to be set before a run: {missing}"));
    }
    let file = args.file.display();
    match checked.problems.len() {
        0 => output.line(&format!("{file}: no problems")),
        1 => output.line(&format!("{file}: 1 problem")),
        n => output.line(&format!("{file}: {n} problems")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::from_yaml_text;
    use rstest::rstest;

    #[rstest]
    #[case("optimizer: {learning_rate: 1}", 1, true)]
    #[case("model: {backend: mock}\nenv: {split_dir: d}", 0, false)]
    #[case("model: {backend: mock}", 0, true)]
    #[case("model: {backend: mock, target_api_key_env: sk-1}\nenv: {split_dir: d}", 1, false)]
    fn what_is_not_set_yet_is_no_problem(
        #[case] yaml: &str,
        #[case] n_problems: usize,
        #[case] is_missing: bool,
    ) {
        let checked = checked(&from_yaml_text("a.yaml", yaml).expect("loads"));
        assert_eq!(checked.problems.len(), n_problems, "{:?}", checked.problems);
        assert_eq!(!checked.missing.is_empty(), is_missing, "{:?}", checked.missing);
    }

    #[test]
    fn a_value_with_a_secret_in_it_is_not_shown() {
        let yaml = "model:\n  backend: openai_compatible\n  target_extra_body: {Authorization: sk-1}\n  \
                    openai_compatible_base_url: https://me:sk-1@host/v1\n  target_api_key_env: sk-1\n";
        let resolved = from_yaml_text("a.yaml", yaml).expect("loads");
        let BadConfig(problems) = run_config(&resolved).expect_err("refused");
        let rows: Vec<_> = resolved.values.iter().map(|row| json_row(row, &problems)).collect();
        assert!(!format!("{rows:?}").contains("sk-1"));
    }

    #[rstest]
    #[case("https://host/v1?api-key=sk-1", "the parameter `api-key`")]
    #[case("https://host/v1?api-version=1&sig=sk-1", "the parameter `sig`")]
    #[case("https://me:sk-1@host/v1", "user name or password")]
    fn a_secret_in_an_address_is_a_problem_and_not_shown(
        #[case] address: &str,
        #[case] expect: &str,
    ) {
        let yaml = format!(
            "model:\n  backend: openai_compatible\n  target: m\n  optimizer: m\n  \
             openai_compatible_base_url: {address}\nenv: {{split_dir: d}}\n"
        );
        let resolved = from_yaml_text("a.yaml", &yaml).expect("loads");
        let problems = checked(&resolved).problems;
        assert!(
            problems
                .iter()
                .any(|one| one.message.contains(expect) && one.path.ends_with("_base_url")),
            "{problems:?}"
        );
        let rows: Vec<_> = resolved.values.iter().map(|row| json_row(row, &problems)).collect();
        assert!(!format!("{rows:?} {problems:?}").contains("sk-1"), "{rows:?}");
    }

    #[test]
    fn a_version_in_the_query_of_an_address_is_shown() {
        let yaml = "model: {openai_compatible_base_url: 'https://host/v1?api-version=1'}";
        let resolved = from_yaml_text("a.yaml", yaml).expect("loads");
        let problems = checked(&resolved).problems;
        assert!(problems.is_empty(), "{problems:?}");
        let rows: Vec<_> = resolved.values.iter().map(|row| json_row(row, &problems)).collect();
        assert!(format!("{rows:?}").contains("api-version=1"));
    }
}
