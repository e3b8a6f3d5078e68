//! `--cfg-options` and form fields as settings.

use super::flat::{canonical_path, path_of_flat};
use super::load::BadConfig;
use super::secret::RIGHT_WAY;
use skillopt_domain::config::{
    Availability, ConfigProblem, KEYS, KeySpec, Place, Resolved, Setting, Value, find_key,
    is_secret_name,
};
use skillopt_domain::spend::Role;
use std::collections::BTreeMap;

/// The name of the launch form as a place.
const FORM: &str = "launch form";

/// Reads `section.key=value` (or `flat_name=value`) words.
///
/// # Errors
/// The words that are none.
pub fn cfg_options(words: &[String]) -> Result<Vec<Setting>, BadConfig> {
    let mut settings = Vec::new();
    let mut problems = Vec::new();
    for word in words {
        match word.split_once('=') {
            Some((key, value)) if !key.trim().is_empty() => {
                let key = key.trim();
                let path = path_of_flat(key).unwrap_or_else(|| canonical_path(key));
                let place = format!("--cfg-options {key}");
                if find_key(path).is_none() && is_secret_name(key) {
                    problems.push(problem(path, &place, RIGHT_WAY.to_owned()));
                } else {
                    settings.push(flag(path, &place, value));
                }
            }
            _ => {
                let message = format!("expected section.key=value{}", got(word));
                problems.push(problem("", "--cfg-options", message));
            }
        }
    }
    if problems.is_empty() { Ok(settings) } else { Err(BadConfig(problems)) }
}

fn problem(path: &str, place: &str, message: String) -> ConfigProblem {
    ConfigProblem { path: path.to_owned(), place: Some(Place::flag(place)), message }
}

/// The word, unless it could be a secret that was typed in the wrong place.
fn got(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_lowercase() || "_.=: ".contains(letter);
    if word.chars().all(is_plain) { format!(", got `{word}`") } else { String::new() }
}

/// One flag.
#[must_use]
pub fn flag(path: &str, name: &str, value: &str) -> Setting {
    Setting {
        path: path.to_owned(),
        value: Value::Text(value.to_owned()),
        place: Place::flag(name),
    }
}

/// What the launch form changes of a config that it was filled from. Keys that the form leaves out have their default;
/// the folder of that run is never taken over.
#[must_use]
pub fn form_changes(stored: &Resolved, values: &BTreeMap<String, String>) -> Vec<Setting> {
    let text = |value: &Value| match value {
        Value::Null => String::new(),
        value => value.to_string(),
    };
    let wanted = |spec: &KeySpec| values.get(spec.path).map_or(spec.default, String::as_str);
    let built = KEYS.iter().filter(|spec| spec.availability == Availability::Built);
    let differs =
        |spec: &KeySpec| wanted(spec).trim() != text(&stored.value_or_default(spec.path)).trim();
    // `model.backend` overrules what a weaker source says of one role; the form's word on a role stands beside it.
    let is_overruled = find_key("model.backend").is_some_and(differs);
    let is_of_role =
        |path: &str| Role::ALL.iter().any(|role| path == format!("model.{role}_backend"));
    let changed = built
        .filter(|spec| {
            spec.path == "env.out_root" || differs(spec) || (is_overruled && is_of_role(spec.path))
        })
        .map(|spec| flag(spec.path, FORM, wanted(spec)));
    // Keys that have no effect are judged by the check.
    let is_built =
        |path: &str| find_key(path).is_some_and(|spec| spec.availability == Availability::Built);
    // Those that an imported run has are left out of a fork, with a warning.
    let is_stored = |path: &str, value: &str| {
        stored.values.iter().any(|row| row.path == path && text(&row.value).trim() == value.trim())
    };
    let others = values.iter().filter(|(path, value)| !is_built(path) && !is_stored(path, value));
    changed.chain(others.map(|(path, value)| flag(path, FORM, value))).collect()
}

/// Fields of the launch form.
#[must_use]
pub fn form_fields(values: &BTreeMap<String, String>) -> Vec<Setting> {
    values.iter().map(|(path, value)| flag(path, FORM, value)).collect()
}
