//! A checked config as YAML that can be trained from again: what differs from the defaults, in sections.

use super::flat::json_of;
use serde_json::{Map, Value as Json};
use skillopt_domain::config::{Resolved, resolve};

/// Keys that belong to one run and would bind the next one to it.
const OF_ONE_RUN: [&str; 1] = ["env.out_root"];

/// Writes the YAML. Contains no secret, because a checked config cannot hold one.
///
/// # Errors
/// Never for a checked config; the message of the YAML writer otherwise.
pub fn to_yaml(resolved: &Resolved) -> Result<String, serde_saphyr::SerializeError> {
    let defaults = resolve(&[]).unwrap_or_default();
    let mut sections: Map<String, Json> = Map::new();
    for row in &resolved.values {
        let is_default = defaults.get(&row.path) == &row.value;
        let Some((section, key)) = row.path.split_once('.') else { continue };
        if is_default || OF_ONE_RUN.contains(&row.path.as_str()) {
            continue;
        }
        let keys = sections.entry(section).or_insert_with(|| Json::Object(Map::new()));
        if let Json::Object(keys) = keys {
            keys.insert(key.to_owned(), json_of(&row.value));
        }
    }
    if sections.is_empty() {
        return Ok("# Every key has its default.\n".to_owned());
    }
    serde_saphyr::to_string(&sections)
}
