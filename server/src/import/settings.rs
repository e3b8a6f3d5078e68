//! `config.json` of a run folder: flat keys as config rows. Secrets that the Python system wrote in clear text
//! are left out and never repeated.

use super::findings::{Findings, shortened};
use super::folder::Folder;
use super::json;
use crate::config::{holds_secret, path_of_flat};
use serde_json::{Map, Value as Json};
use skillopt_domain::config::{
    Availability, Evaluation, KeyKind, Origin, Place, Resolved, ResolvedValue, RunConfig, Setting,
    Value, find_key, resolve,
};
use std::collections::BTreeMap;

const FILE: &str = "config.json";

/// What the folder says about how it was made.
#[derive(Debug)]
pub(super) struct Settings {
    /// Rows in the order of the file. Keys that this program does not know keep their flat names.
    pub(super) resolved: Resolved,
    /// The file without its secrets; empty when there is none.
    pub(super) flat: Map<String, Json>,
    /// When it was written.
    pub(super) at_ms: u64,
}

impl Settings {
    pub(super) fn read(folder: &Folder, findings: &mut Findings) -> Self {
        let nothing = || Self { resolved: Resolved::default(), flat: Map::new(), at_ms: 0 };
        let file = match folder.read(FILE) {
            Ok(Some(file)) => file,
            Ok(None) => {
                findings.add(FILE, "", "missing; the run's settings are not known");
                return nothing();
            }
            Err(problem) => {
                findings.add(FILE, "", problem.to_string());
                return nothing();
            }
        };
        let Some(Json::Object(mut flat)) = json::document(FILE, &file.text, findings) else {
            findings.add(FILE, "", "holds no settings; they are not known");
            return nothing();
        };
        let lines = Lines::of(&file.text);
        leave_out_secrets(&mut flat, &lines, findings);
        let rows = flat.iter().filter_map(|(key, value)| row(key, value, &lines, findings));
        let values = rows.collect();
        let resolved = Resolved { values, warnings: Vec::new() };
        Self { resolved, flat, at_ms: file.at_ms }
    }

    /// There is a key of this program's schema, so that the file is one of a run and not of some other program.
    pub(super) fn has_known_key(&self) -> bool {
        self.flat.keys().any(|key| path_of_flat(key).is_some())
    }

    /// A flat key as text.
    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.flat.get(key).and_then(Json::as_str).filter(|text| !text.is_empty())
    }

    /// A flat key as a count.
    pub(super) fn count(&self, key: &str) -> Option<u32> {
        self.flat.get(key).and_then(json::whole)
    }

    /// The gate's settings; those that are not in the file have their defaults.
    pub(super) fn evaluation(&self) -> Option<Evaluation> {
        let keys = ["evaluation.gate_metric", "evaluation.gate_mixed_weight"];
        let own = keys.into_iter().filter_map(|path| {
            let value = self.resolved.get(path).clone();
            (value != Value::Null).then(|| setting(path, value))
        });
        // Keys that any config needs, so that the typed one can be made.
        let needed = [("model.backend", "mock"), ("env.split_dir", "unknown")];
        let needed =
            needed.into_iter().map(|(path, word)| setting(path, Value::Text(word.to_owned())));
        let resolved = resolve(&own.chain(needed).collect::<Vec<_>>()).ok()?;
        RunConfig::from_resolved(&resolved).ok().map(|config| config.evaluation)
    }
}

fn setting(path: &str, value: Value) -> Setting {
    Setting { path: path.to_owned(), value, place: Place::flag(FILE) }
}

fn leave_out_secrets(flat: &mut Map<String, Json>, lines: &Lines<'_>, findings: &mut Findings) {
    let found: Vec<(String, bool)> = flat
        .iter()
        .filter(|(key, value)| holds_secret(key, value))
        .map(|(key, value)| (key.clone(), is_clear(value)))
        .collect();
    // The order of the rest stays.
    flat.retain(|key, _| found.iter().all(|(secret, _)| secret != key));
    for (key, clear) in found {
        if clear {
            let place = lines.place_of(&key);
            findings.add(
                FILE,
                &place,
                "holds a secret in clear text; left out. Take it out of the file, and renew it if the \
                 folder was ever shared",
            );
        }
    }
}

/// Neither empty nor redacted, as `abcd...wxyz` or as stars.
fn is_clear(value: &Json) -> bool {
    match value {
        Json::String(text) => {
            !text.is_empty() && !text.contains("...") && text.chars().any(|letter| letter != '*')
        }
        Json::Null => false,
        _ => true,
    }
}

fn row(
    key: &str,
    value: &Json,
    lines: &Lines<'_>,
    findings: &mut Findings,
) -> Option<ResolvedValue> {
    let path = path_of_flat(key);
    if path.is_some_and(names_what_is_here)
        && !matches!(value, Json::Null)
        && value.as_str() != Some("")
    {
        let message =
            "names a program or a variable of the machine that the run was made on; left out";
        findings.add(FILE, &lines.place_of(key), message);
        return None;
    }
    let place = Place { origin: Origin::File, name: FILE.to_owned(), line: lines.line_of(key) };
    let value = match path {
        Some(path) => match value_of_known(path, raw(value), &place) {
            Ok(value) => value,
            Err(message) => {
                findings.add(FILE, &lines.place_of(key), format!("{message}; left out"));
                return None;
            }
        },
        None => raw(value),
    };
    Some(ResolvedValue { path: path.map_or_else(|| shortened(key), str::to_owned), value, place })
}

/// A program to run, or a variable with a key: what a folder from elsewhere must not choose on this machine.
fn names_what_is_here(path: &str) -> bool {
    path.starts_with("model.")
        && ["_path", "_api_key_env", "_exec_home"].iter().any(|end| path.ends_with(end))
}

/// The value in the type of its key. Words of a choice that this program does not have are kept: they are what
/// the run was made with.
fn value_of_known(path: &str, value: Value, place: &Place) -> Result<Value, String> {
    let is_unset = match &value {
        Value::Null => true,
        Value::Text(text) => text.trim().is_empty(),
        _ => false,
    };
    if is_unset {
        return Ok(Value::Null);
    }
    let spec = find_key(path).filter(|spec| spec.availability == Availability::Built);
    let Some(spec) = spec else { return Ok(value) };
    if matches!((spec.kind, &value), (KeyKind::Choice { .. }, Value::Text(_))) {
        return Ok(value);
    }
    let setting = Setting { path: path.to_owned(), value, place: place.clone() };
    match resolve(&[setting]) {
        Ok(resolved) => Ok(resolved.get(path).clone()),
        Err(problems) => Err(problems.first().map_or_else(String::new, |one| one.message.clone())),
    }
}

fn raw(value: &Json) -> Value {
    match value {
        Json::Null => Value::Null,
        Json::Bool(flag) => Value::Bool(*flag),
        Json::Number(number) => match number.as_i64() {
            Some(whole) => Value::Int(whole),
            None => number.as_f64().map_or(Value::Null, Value::Float),
        },
        Json::String(text) => Value::Text(text.clone()),
        composed @ (Json::Array(_) | Json::Object(_)) => Value::Json(composed.clone()),
    }
}

/// The first line of each key in a file that has one key a line.
struct Lines<'a>(BTreeMap<&'a str, u32>);

impl<'a> Lines<'a> {
    fn of(text: &'a str) -> Self {
        let mut lines = BTreeMap::new();
        for (number, line) in (1..).zip(text.lines()) {
            let key = line.trim_start().strip_prefix('"').and_then(|rest| rest.split_once("\":"));
            if let Some((key, _)) = key {
                lines.entry(key).or_insert(number);
            }
        }
        Self(lines)
    }

    fn line_of(&self, key: &str) -> Option<u32> {
        self.0.get(key).copied()
    }

    /// The place of a key, for a finding.
    fn place_of(&self, key: &str) -> String {
        match self.line_of(key) {
            Some(line) => format!("line {line}, {key}"),
            None => key.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::json;

    fn read(value: &Json) -> (Settings, Vec<String>) {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::write(dir.path().join(FILE), format!("{value:#}")).expect("written");
        let mut findings = Findings::default();
        let settings = Settings::read(&Folder::open(dir.path()).expect("opened"), &mut findings);
        (settings, findings.texts())
    }

    #[test]
    fn known_keys_get_their_section_and_unknown_ones_keep_their_name() {
        let (settings, findings) = read(&json!({
            "env": "alfworld", "edit_budget": 6, "gate_metric": "soft", "use_slow_update": true,
            "qwen_chat_timeout": 3, "target_model": "m", "num_epochs": "four", "api_key_env": "MY_KEY",
        }));
        let at = |path: &str| settings.resolved.get(path).to_string();
        assert_eq!(at("env.name"), "alfworld");
        assert_eq!(at("optimizer.learning_rate"), "6");
        assert_eq!(at("optimizer.use_slow_update"), "true");
        assert_eq!(at("qwen_chat_timeout"), "3");
        assert_eq!(at("model.target"), "m");
        assert_eq!(at("train.seed"), "null", "what the file does not say is not known");
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert!(findings[0].starts_with("config.json, line 8, num_epochs:"), "{findings:?}");
        let evaluation = settings.evaluation().expect("an evaluation");
        assert_eq!(evaluation.gate_metric.as_str(), "soft");
    }

    #[test]
    fn a_key_is_found_in_its_first_line() {
        let lines = Lines::of("{\n  \"a\": 1,\n  \"b\": {\n    \"a\": 2}, \"c\": 3\n}");
        assert_eq!(["a", "b", "c"].map(|key| lines.line_of(key)), [Some(2), Some(3), None]);
        assert_eq!((lines.place_of("b"), lines.place_of("c")), ("line 3, b".into(), "c".into()));
    }

    #[rstest]
    #[case("azure_openai_api_key", json!("sk-clear"), true)]
    #[case("api_key", json!("abcd...wxyz"), false)]
    #[case("api_key", json!(""), false)]
    #[case("target_extra_body", json!({"headers": {"Authorization": "Bearer sk-clear"}}), true)]
    #[case("minimax_base_url", json!("https://me:sk-clear@host/v1"), true)]
    #[case("minimax_base_url", json!("https://host/v1?api-key=sk-clear"), true)]
    #[case("target_extra_body", json!({"query": ["https://host?a=1&sig=sk-clear"]}), true)]
    #[case("auth", json!("sk-clear"), true)]
    #[case("hf_token", json!("sk-clear"), true)]
    #[case("auths", json!({"host": {"auth": "sk-clear"}}), true)]
    #[case("webhook_signature", json!("sk-clear"), true)]
    fn secrets_are_left_out_and_never_repeated(
        #[case] key: &str,
        #[case] value: Json,
        #[case] is_told: bool,
    ) {
        let (settings, findings) = read(&json!({"seed": 1, key: value}));
        assert_eq!(findings.len(), usize::from(is_told), "{findings:?}");
        let all = format!("{settings:?} {findings:?}");
        assert!(!all.contains("sk-clear") && !all.contains("wxyz"), "{all}");
        assert_eq!(settings.resolved.get("train.seed"), &Value::Int(1));
    }

    #[rstest]
    fn programs_and_variables_of_another_machine_are_left_out(
        #[values(
            "codex_exec_path",
            "claude_code_exec_path",
            "cursor_exec_path",
            "copilot_exec_path",
            "copilot_exec_home",
            "pi_path",
            "opencode_path",
            "target_api_key_env",
            "optimizer_api_key_env"
        )]
        key: &str,
    ) {
        let (settings, findings) = read(&json!({"seed": 1, key: "/tmp/evil"}));
        let path = path_of_flat(key).expect("a key of the schema");
        assert_eq!(settings.resolved.get(path), &Value::Null);
        assert!(!format!("{:?}", settings.resolved).contains("evil"), "{settings:?}");
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert!(findings[0].contains("the machine that the run was made on"), "{findings:?}");
    }
}
