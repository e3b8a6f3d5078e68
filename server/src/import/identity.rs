//! Which run a folder is: an id made of what does not change while the folder grows, so that importing it twice,
//! or from another place, is one run.

use serde_json::{Map, Value};
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::ids::RunId;

/// Ids of a folder. A run that was imported before its first step ended is known by `bare` only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    /// From config and initial skill.
    pub(super) bare: RunId,
    /// From the first finished step, too; the same as `bare` when there is none.
    pub(super) full: RunId,
}

impl Identity {
    /// `None` when the folder has nothing that tells it apart.
    pub(super) fn of(
        config: &Map<String, Value>,
        initial: Option<&Sha256Hex>,
        first_row: Option<&Map<String, Value>>,
    ) -> Option<Self> {
        if config.is_empty() && initial.is_none() && first_row.is_none() {
            return None;
        }
        let config = canonical(&Value::Object(config.clone()));
        let initial = initial.map_or("", |sha| sha.as_str());
        let start = format!("imported run\n{config}\n{initial}\n");
        let bare = run_id(&start)?;
        let full = match first_row {
            Some(row) => run_id(&format!("{start}{}", canonical(&Value::Object(row.clone()))))?,
            None => bare.clone(),
        };
        Some(Self { bare, full })
    }
}

/// JSON with sorted keys.
fn canonical(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let mut keys: Vec<&String> = map.keys().collect();
            keys.sort();
            let pair = |key: &&String| {
                format!("{}:{}", Value::String((*key).clone()), canonical(&map[*key]))
            };
            format!("{{{}}}", keys.iter().map(pair).collect::<Vec<_>>().join(","))
        }
        Value::Array(items) => {
            format!("[{}]", items.iter().map(canonical).collect::<Vec<_>>().join(","))
        }
        other => other.to_string(),
    }
}

/// A UUID of version 8 (RFC 9562), which is made from a hash.
fn run_id(text: &str) -> Option<RunId> {
    let sha = Sha256Hex::of(text);
    let digits = sha.as_str();
    let uuid = format!(
        "{}-{}-8{}-a{}-{}",
        &digits[..8],
        &digits[8..12],
        &digits[13..16],
        &digits[17..20],
        &digits[20..32]
    );
    RunId::parse(&uuid).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn map(value: &Value) -> Map<String, Value> {
        value.as_object().expect("object").clone()
    }

    #[test]
    fn the_id_depends_on_config_initial_skill_and_first_step_only() {
        let config = map(&json!({"seed": 1, "env": {"b": 1, "a": [2]}}));
        let initial = Sha256Hex::of("skill");
        let row = map(&json!({"step": 1, "rollout_hard": 0.5}));
        let of = |config, initial, row| Identity::of(config, initial, row).expect("an identity");
        let one = of(&config, Some(&initial), Some(&row));
        assert_eq!(one, of(&config, Some(&initial), Some(&row)));
        assert_eq!(one.bare, of(&config, Some(&initial), None).full);
        assert_ne!(one.bare, one.full);
        let other = map(&json!({"seed": 2}));
        assert_ne!(one.full, of(&other, Some(&initial), Some(&row)).full);
        assert_ne!(one.full, of(&config, None, Some(&row)).full);
        assert_eq!(Identity::of(&Map::new(), None, None), None);
    }
}
