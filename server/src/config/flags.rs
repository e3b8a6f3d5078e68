//! `--cfg-options` and form fields as settings.

use super::flat::path_of_flat;
use super::load::BadConfig;
use skillopt_domain::config::{ConfigProblem, Place, Setting, Value};
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
                settings.push(flag(path, &format!("--cfg-options {key}"), value));
            }
            _ => problems.push(ConfigProblem {
                path: String::new(),
                place: Some(Place::flag("--cfg-options")),
                message: format!("expected section.key=value, got `{word}`"),
            }),
        }
    }
    if problems.is_empty() { Ok(settings) } else { Err(BadConfig(problems)) }
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
