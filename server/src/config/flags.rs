//! `--cfg-options` and form fields as settings.

use super::flat::path_of_flat;
use super::load::BadConfig;
use super::secret::RIGHT_WAY;
use skillopt_domain::config::{ConfigProblem, Place, Setting, Value, find_key, is_secret_name};
use std::collections::BTreeMap;

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
                let path = path_of_flat(key).unwrap_or(key);
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

/// Fields of the launch form.
#[must_use]
pub fn form_fields(values: &BTreeMap<String, String>) -> Vec<Setting> {
    values.iter().map(|(path, value)| flag(path, "launch form", value)).collect()
}
