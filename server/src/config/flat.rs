//! Flat names: the spelling of old config files, of `--cfg-options` and of `config.json` in run folders.

use skillopt_domain::config::{Availability, KEYS, Resolved, Value};

/// Flat names that are not simply the last part of their path.
const RENAMED: [(&str, &str); 7] = [
    ("model_backend", "model.backend"),
    ("optimizer_model", "model.optimizer"),
    ("target_model", "model.target"),
    ("edit_budget", "optimizer.learning_rate"),
    ("min_edit_budget", "optimizer.min_learning_rate"),
    ("meta_edit_budget", "optimizer.meta_learning_rate"),
    ("env", "env.name"),
];

/// Other names that the reference system takes for a key of the section `model`.
const ALIASES: [(&str, &str); 5] = [
    ("codex_path", "model.codex_exec_path"),
    ("codex_cli_bin", "model.codex_exec_path"),
    ("codex_bin", "model.codex_exec_path"),
    ("codex_sandbox", "model.codex_exec_sandbox"),
    ("sandbox", "model.codex_exec_sandbox"),
];

/// The key that a `section.key` stands for; itself when it is no other name of one.
#[must_use]
pub(super) fn canonical_path(path: &str) -> &str {
    let alias = path
        .strip_prefix("model.")
        .and_then(|name| ALIASES.iter().find(|(alias, _)| *alias == name).map(|(_, path)| *path));
    alias.unwrap_or(path)
}

/// The flat name of `section.key`.
#[must_use]
pub fn flat_name(path: &str) -> &str {
    RENAMED
        .iter()
        .find(|(_, known)| *known == path)
        .map_or_else(|| last_part(path), |(name, _)| name)
}

/// The `section.key` of a flat name; `None` when no key has it.
#[must_use]
pub fn path_of_flat(name: &str) -> Option<&'static str> {
    let alias = || ALIASES.iter().find(|(alias, _)| *alias == name).map(|(_, path)| *path);
    KEYS.iter().map(|spec| spec.path).find(|path| flat_name(path) == name).or_else(alias)
}

/// All values under their flat names, as `config.json` of a run folder holds them. The resolver has
/// refused secrets before, so that there is none to hide.
#[must_use]
pub fn flat_json(resolved: &Resolved) -> serde_json::Map<String, serde_json::Value> {
    let built = KEYS.iter().filter(|spec| spec.availability == Availability::Built);
    built.map(|spec| (flat_name(spec.path).to_owned(), json_of(resolved.get(spec.path)))).collect()
}

/// A value as JSON.
pub(super) fn json_of(value: &Value) -> serde_json::Value {
    match value {
        Value::Null => serde_json::Value::Null,
        Value::Bool(flag) => (*flag).into(),
        Value::Int(number) => (*number).into(),
        Value::Float(number) => (*number).into(),
        Value::Text(text) => text.clone().into(),
        Value::Json(json) => json.clone(),
    }
}

fn last_part(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}
