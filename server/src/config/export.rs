//! A checked config as YAML that can be trained from again, here or with the Python system.

use super::flat::json_of;
use serde_json::{Map, Value as Json};
use skillopt_domain::config::{Resolved, RunConfig, SlowUpdateMode, Value, resolve};
use std::path::Path;

/// Keys that belong to one run and would bind the next one to it.
const OF_ONE_RUN: [&str; 1] = ["env.out_root"];

/// Sections that the Python system does not know.
const OURS_ALONE: &str = "limits";

/// Writes the YAML. Contains no secret, because a checked config cannot hold one.
///
/// # Errors
/// Never for a checked config; the message of the YAML writer otherwise.
pub fn to_yaml(resolved: &Resolved) -> Result<String, serde_saphyr::SerializeError> {
    let defaults = resolve(&[]).unwrap_or_default();
    let differing = resolved.values.iter().filter(|row| {
        defaults.get(&row.path) != &row.value && !OF_ONE_RUN.contains(&row.path.as_str())
    });
    let sections = sections(differing.map(|row| (row.path.as_str(), json_of(&row.value))));
    if sections.is_empty() {
        return Ok("# Every key has its default.\n".to_owned());
    }
    serde_saphyr::to_string(&sections)
}

/// Writes the YAML for the Python system, to go on in the folder `out_root`: each key that is set, since its defaults
/// are others than ours, and the effective values of those that `train.compat` or another key decides.
///
/// # Errors
/// As [`to_yaml`].
pub(crate) fn to_python_yaml(
    resolved: &Resolved,
    config: &RunConfig,
    out_root: &Path,
) -> Result<String, serde_saphyr::SerializeError> {
    let optimizer = &config.optimizer;
    let gated = optimizer.slow_update != SlowUpdateMode::Forced;
    let decided = [
        ("optimizer.skill_update_mode", optimizer.update_mode.as_str().into()),
        ("optimizer.lr_control_mode", optimizer.budget_control().as_str().into()),
        ("optimizer.slow_update_gate_with_selection", gated.into()),
        ("env.out_root", out_root.display().to_string().into()),
    ];
    let is_decided = |path: &str| decided.iter().any(|(key, _)| *key == path);
    let set = resolved.values.iter().filter(|row| {
        !matches!(row.value, Value::Null)
            && !row.path.starts_with(OURS_ALONE)
            && !is_decided(&row.path)
    });
    let set = set.map(|row| (row.path.as_str(), json_of(&row.value)));
    serde_saphyr::to_string(&sections(set.chain(decided.iter().cloned())))
}

fn sections<'a>(values: impl Iterator<Item = (&'a str, Json)>) -> Map<String, Json> {
    let mut sections: Map<String, Json> = Map::new();
    for (path, value) in values {
        let Some((section, key)) = path.split_once('.') else { continue };
        let keys = sections.entry(section).or_insert_with(|| Json::Object(Map::new()));
        if let Json::Object(keys) = keys {
            keys.insert(key.to_owned(), value);
        }
    }
    sections
}
