//! The config keys as a JSON Schema (draft 2020-12), for editors that complete and check YAML files with sections.
//! Made from the table of keys alone; what concerns several keys is checked by `skillopt config check`.

use serde_json::{Map, Value, json};
use skillopt_domain::config::{Availability, KEYS, KeyKind, KeySpec};

/// The schema of a config file.
#[must_use]
pub fn json_schema() -> Value {
    let mut sections: Map<String, Value> = Map::new();
    for spec in KEYS {
        let Some((section, key)) = spec.path.split_once('.') else { continue };
        let section = sections.entry(section).or_insert_with(empty_section);
        section["properties"][key] = property(spec);
    }
    let mut properties = Map::new();
    properties.insert(
        "_base_".to_owned(),
        json!({
            "description": "A config file that this one builds on, relative to it. Keys that are set here win.",
            "type": ["string", "null"],
        }),
    );
    properties.extend(sections);
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "SkillOpt config",
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    })
}

fn empty_section() -> Value {
    json!({"type": ["object", "null"], "properties": {}, "additionalProperties": false})
}

fn property(spec: &KeySpec) -> Value {
    let mut property = match spec.availability {
        Availability::Built => json!({"anyOf": [value(spec.kind), unset()]}),
        Availability::NotBuilt { off } => json!({"enum": off_values(off)}),
        Availability::Ignored { .. } => json!({"deprecated": true}),
        Availability::Secret => unset(),
    };
    property["description"] = description(spec).into();
    if !spec.label.is_empty() {
        property["title"] = spec.label.into();
    }
    if let Some(default) = default_of(spec) {
        property["default"] = default;
    }
    property
}

/// An empty value leaves the key to weaker sources.
fn unset() -> Value {
    json!({"enum": ["", null]})
}

fn value(kind: KeyKind) -> Value {
    match kind {
        KeyKind::Bool => json!({"type": "boolean"}),
        KeyKind::Int { min, max } => json!({"type": "integer", "minimum": min, "maximum": max}),
        KeyKind::Float { min, max } => json!({"type": "number", "minimum": min, "maximum": max}),
        KeyKind::Choice { options } => json!({"enum": options}),
        // A number or a word that YAML reads as something else is taken as its text.
        KeyKind::Text | KeyKind::Path => json!({"type": ["string", "number", "boolean"]}),
        KeyKind::Json => json!({"type": ["object", "string"]}),
    }
}

/// Values that ask for nothing, as text and as what YAML makes of them.
fn off_values(off: &[&str]) -> Vec<Value> {
    let mut values = vec![Value::Null, "".into()];
    for word in off.iter().filter(|word| !word.is_empty()) {
        values.push((*word).into());
        values.extend(match *word {
            "true" => Some(Value::Bool(true)),
            "false" => Some(Value::Bool(false)),
            word => number_of(word),
        });
    }
    values
}

fn number_of(word: &str) -> Option<Value> {
    let whole = word.parse::<i64>().ok().map(Value::from);
    whole.or_else(|| word.parse::<f64>().ok().filter(|number| number.is_finite()).map(Value::from))
}

fn default_of(spec: &KeySpec) -> Option<Value> {
    if spec.default.is_empty() || spec.availability != Availability::Built {
        return None;
    }
    match spec.kind {
        KeyKind::Bool => Some(Value::Bool(spec.default == "true")),
        KeyKind::Int { .. } | KeyKind::Float { .. } => number_of(spec.default),
        KeyKind::Text | KeyKind::Path | KeyKind::Choice { .. } | KeyKind::Json => {
            Some(spec.default.into())
        }
    }
}

fn description(spec: &KeySpec) -> String {
    match spec.availability {
        Availability::Built if spec.unit.is_empty() => spec.help.to_owned(),
        Availability::Built => format!("{} Unit: {}.", spec.help, spec.unit),
        Availability::NotBuilt { .. } => {
            "Part of the Python system that is not built yet; only values that mean \"off\"."
                .to_owned()
        }
        Availability::Ignored { reason } => format!("Has no effect: {reason}."),
        Availability::Secret => {
            "A key does not belong in a config: put it in an environment variable and name \
             that in model.target_api_key_env or model.optimizer_api_key_env."
                .to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tree;
    use boon::{Compiler, SchemaIndex, Schemas};
    use rstest::rstest;
    use std::path::PathBuf;

    struct Checker {
        schemas: Schemas,
        index: SchemaIndex,
    }

    impl Checker {
        fn new() -> Self {
            let (mut compiler, mut schemas) = (Compiler::new(), Schemas::new());
            compiler.add_resource("config.json", json_schema()).expect("a resource");
            let index = compiler.compile("config.json", &mut schemas).expect("a valid schema");
            Self { schemas, index }
        }

        fn accepts(&self, yaml: &str) -> Result<(), String> {
            let document = tree::parse(yaml).expect("YAML").into_json();
            self.schemas.validate(&document, self.index).map_err(|err| format!("{err:#}"))
        }
    }

    #[test]
    fn every_shipped_config_is_valid() {
        let checker = Checker::new();
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../configs");
        let mut n_files = 0;
        for folder in
            std::fs::read_dir(&root).expect("configs").map(|entry| entry.expect("an entry"))
        {
            for file in std::fs::read_dir(folder.path()).expect("a folder") {
                let path = file.expect("an entry").path();
                let yaml = std::fs::read_to_string(&path).expect("read");
                if let Err(message) = checker.accepts(&yaml) {
                    panic!("{}: {message}", path.display());
                }
                n_files += 1;
            }
        }
        assert!(n_files >= 3);
    }

    #[rstest]
    #[case("train: {seed: 7, num_epochs: 2}", true)]
    #[case("train: {seed: seven}", false)]
    #[case("train: {num_epochs: 0}", false)]
    #[case("train: {seeed: 7}", false)]
    #[case("trian: {seed: 7}", false)]
    #[case("evaluation: {gate_metric: soft, use_gate: true}", true)]
    #[case("evaluation: {gate_metric: softer}", false)]
    #[case("model: {api_key: sk-1}", false)]
    #[case("model: {api_key: '', target: 7, target_extra_body: {a: 1}}", true)]
    #[case("optimizer:", true)]
    #[case("_base_: [a.yaml]", false)]
    fn the_schema_says_what_the_loader_says(#[case] yaml: &str, #[case] is_valid: bool) {
        assert_eq!(Checker::new().accepts(yaml).is_ok(), is_valid);
        let loaded = crate::config::from_yaml_text("a.yaml", yaml);
        assert_eq!(loaded.is_ok(), is_valid, "{loaded:?}");
    }

    #[test]
    fn every_key_has_a_description_and_its_default() {
        let schema = json_schema();
        for spec in KEYS {
            let (section, key) = spec.path.split_once('.').expect("a section");
            let property = &schema["properties"][section]["properties"][key];
            assert!(property["description"].as_str().is_some_and(|text| !text.is_empty()), "{key}");
        }
        let rate = &schema["properties"]["optimizer"]["properties"]["learning_rate"];
        assert_eq!((&rate["default"], &rate["anyOf"][0]["maximum"]), (&json!(4), &json!(1000)));
    }
}
