//! Settings from several sources become one checked value a key, with the place that it came from.

use super::backend::BackendKind;
use super::modes::canonical;
use super::schema::{Availability, KEYS, KeyKind, KeySpec, find_key, suggest_key};
use super::value::{Origin, Place, Value};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Sections whose unknown keys belong to benchmarks and backends of the reference system.
const SECTIONS: [&str; 7] =
    ["model", "train", "gradient", "optimizer", "evaluation", "env", "limits"];

/// One assignment from one source.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// `section.key`.
    pub path: String,
    /// The raw value.
    pub value: Value,
    /// Where it stands.
    pub place: Place,
}

/// Something wrong with a setting, or worth a look.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ConfigProblem {
    /// `section.key`, or empty for the whole config.
    pub path: String,
    /// Where it was set.
    pub place: Option<Place>,
    /// What is wrong and what to do.
    pub message: String,
}

impl fmt::Display for ConfigProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{place}: ")?;
        }
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.message)
    }
}

/// A checked value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResolvedValue {
    /// `section.key`.
    pub path: String,
    /// The value in the type of its key; `Null` when it is not set and has no default.
    pub value: Value,
    /// Where it came from.
    pub place: Place,
}

/// All keys with their values.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Resolved {
    /// In the order of [`KEYS`]; keys that are not built are left out.
    pub values: Vec<ResolvedValue>,
    /// Accepted, but worth a look.
    pub warnings: Vec<ConfigProblem>,
}

impl Resolved {
    /// The value of a key; `Null` when it is not set.
    #[must_use]
    pub fn get(&self, path: &str) -> &Value {
        self.values
            .iter()
            .find(|value| value.path == path)
            .map_or(&Value::Null, |found| &found.value)
    }

    /// The same with the default of every key that it lacks: a run that is older than a key was made as the default
    /// says.
    #[must_use]
    pub fn completed(&self) -> Self {
        let mut values = self.values.clone();
        for spec in KEYS.iter().filter(|spec| spec.availability == Availability::Built) {
            if self.place(spec.path).is_none() {
                let (path, place) = (spec.path.to_owned(), Place::default_value());
                values.push(ResolvedValue { path, value: spec.default_value(), place });
            }
        }
        Self { values, warnings: self.warnings.clone() }
    }

    /// The value of a key; its default when the config is older than the key.
    #[must_use]
    pub fn value_or_default(&self, path: &str) -> Value {
        let known = self.values.iter().find(|value| value.path == path);
        match (known, find_key(path)) {
            (Some(known), _) => known.value.clone(),
            (None, Some(spec)) => spec.default_value(),
            (None, None) => Value::Null,
        }
    }

    /// Where the value of a key came from.
    #[must_use]
    pub fn place(&self, path: &str) -> Option<&Place> {
        self.values.iter().find(|value| value.path == path).map(|found| &found.place)
    }
}

/// Picks the strongest setting a key and checks it: flag, then environment, then file, then base file, then
/// default. What a stronger source overrides is not checked, so that a base file may ask for more than this
/// version can do. An empty text or `null` counts as "not set here", so that weaker sources show through; for
/// parts that are not built it means "off".
///
/// # Errors
/// All problems at once, so that a person mends a file in one go.
pub fn resolve(settings: &[Setting]) -> Result<Resolved, Vec<ConfigProblem>> {
    let mut problems = Vec::new();
    let mut warnings = Vec::new();
    let mut chosen: Vec<(&'static KeySpec, Value, &Place)> = Vec::new();
    for setting in strongest(settings) {
        match check(setting) {
            Checked::Set(spec, value) => chosen.push((spec, value, &setting.place)),
            Checked::Nothing => {}
            Checked::Warning(message) => warnings.push(problem(setting, message)),
            Checked::Problem(message) => problems.push(problem(setting, message)),
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let values = KEYS
        .iter()
        .filter(|spec| spec.availability == Availability::Built)
        .map(|spec| match chosen.iter().find(|(known, ..)| known.path == spec.path) {
            Some((_, value, place)) => ResolvedValue {
                path: spec.path.to_owned(),
                value: value.clone(),
                place: (*place).clone(),
            },
            None => ResolvedValue {
                path: spec.path.to_owned(),
                value: spec.default_value(),
                place: Place::default_value(),
            },
        })
        .collect();
    Ok(Resolved { values, warnings })
}

/// The strongest setting of each key, the later one among equals, in the order in which keys first appear.
fn strongest(settings: &[Setting]) -> Vec<&Setting> {
    let mut chosen: Vec<&Setting> = Vec::new();
    for setting in settings {
        let off_counts = find_key(&setting.path)
            .is_some_and(|spec| matches!(spec.availability, Availability::NotBuilt { .. }));
        match chosen.iter_mut().find(|known| known.path == setting.path) {
            _ if is_unset(&setting.value) && !off_counts => {}
            Some(slot) if slot.place.origin <= setting.place.origin => *slot = setting,
            Some(_) => {}
            None => chosen.push(setting),
        }
    }
    chosen
}

fn is_unset(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Text(text) => text.trim().is_empty(),
        Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Json(_) => false,
    }
}

enum Checked {
    Set(&'static KeySpec, Value),
    Nothing,
    Warning(String),
    Problem(String),
}

fn problem(setting: &Setting, message: String) -> ConfigProblem {
    ConfigProblem { path: setting.path.clone(), place: Some(setting.place.clone()), message }
}

fn check(setting: &Setting) -> Checked {
    let Some(spec) = find_key(&setting.path) else {
        return Checked::Problem(unknown(&setting.path));
    };
    let is_unset = is_unset(&setting.value);
    match spec.availability {
        Availability::Ignored { .. } if is_unset => Checked::Nothing,
        Availability::Ignored { reason } => Checked::Warning(format!("has no effect: {reason}")),
        Availability::Secret if is_unset => Checked::Nothing,
        Availability::Secret => Checked::Problem(
            "a key does not belong in a config; put it in an environment variable and name that in \
             model.target_api_key_env or model.optimizer_api_key_env"
                .to_owned(),
        ),
        Availability::NotBuilt { off } => {
            let given = if is_unset { String::new() } else { setting.value.to_string() };
            if off.contains(&given.as_str()) {
                Checked::Nothing
            } else {
                Checked::Problem(format!("`{given}` is not built yet; {}", off_hint(off)))
            }
        }
        Availability::Built if is_unset => Checked::Nothing,
        Availability::Built => match convert(spec, &setting.value, setting.place.origin) {
            Ok(value) => Checked::Set(spec, value),
            Err(message) => Checked::Problem(message),
        },
    }
}

fn off_hint(off: &[&str]) -> String {
    match off.iter().find(|word| !word.is_empty()) {
        Some(word) => format!("set it to {word} or leave it out"),
        None => "leave it out".to_owned(),
    }
}

fn unknown(path: &str) -> String {
    if let Some(known) = suggest_key(path) {
        return format!("there is no such key; did you mean {known}?");
    }
    let section = path.split('.').next().unwrap_or_default();
    if SECTIONS.contains(&section) && path.contains('.') {
        "there is no such key".to_owned()
    } else {
        format!("there is no such section; the sections are {}", SECTIONS.join(", "))
    }
}

impl KeySpec {
    /// The default as a value, which the table gives as text; `Null` for "not set".
    #[must_use]
    pub fn default_value(&self) -> Value {
        if self.default.is_empty() {
            return Value::Null;
        }
        convert(self, &Value::Text(self.default.to_owned()), Origin::Flag).unwrap_or(Value::Null)
    }
}

/// Turns a raw value into the type of its key. Text of flags and variables is read as what the key
/// wants; text in files is not, so that a quoted `"false"` is never taken for true.
fn convert(spec: &KeySpec, value: &Value, origin: Origin) -> Result<Value, String> {
    // Files of the Python system quote the numbers and switches of MiniMax.
    let spoken = matches!(origin, Origin::Flag | Origin::Environment)
        || spec.path.starts_with("model.minimax_");
    match (spec.kind, value) {
        (KeyKind::Bool, Value::Bool(flag)) => Ok(Value::Bool(*flag)),
        (KeyKind::Bool, Value::Text(text)) if spoken && matches!(text.trim(), "true" | "false") => {
            Ok(Value::Bool(text.trim() == "true"))
        }
        (KeyKind::Bool, other) => Err(format!("expected true or false, got `{other}`")),
        (KeyKind::Int { min, max }, raw) => {
            let number = whole_number(raw, spoken)
                .ok_or_else(|| format!("expected a whole number, got `{raw}`"))?;
            in_range(number, min, max).map(Value::Int)
        }
        (KeyKind::Float { min, max }, raw) => {
            let number =
                any_number(raw, spoken).ok_or_else(|| format!("expected a number, got `{raw}`"))?;
            in_range(number, min, max).map(Value::Float)
        }
        (KeyKind::Choice { options }, raw) => choice(spec, options, &raw.to_string()),
        (KeyKind::Json, Value::Json(json)) if json.is_object() => Ok(Value::Json(json.clone())),
        (KeyKind::Json, Value::Text(text)) => match serde_json::from_str(text) {
            Ok(serde_json::Value::Object(map)) => Ok(Value::Json(serde_json::Value::Object(map))),
            _ => Err(format!("expected a JSON object, got `{text}`")),
        },
        (KeyKind::Json, other) => Err(format!("expected a mapping, got `{other}`")),
        (KeyKind::Text, Value::Json(json)) if spec.path == "evaluation.leading_words" => {
            words(json).map(Value::Text)
        }
        (KeyKind::Text | KeyKind::Path, Value::Json(json)) => {
            Err(format!("expected text, got `{json}`"))
        }
        (KeyKind::Text | KeyKind::Path, raw) => Ok(Value::Text(raw.to_string())),
    }
}

/// A list of words as text with commas.
fn words(json: &serde_json::Value) -> Result<String, String> {
    let items = json.as_array().map(Vec::as_slice).unwrap_or_default();
    let words: Vec<&str> = items.iter().filter_map(serde_json::Value::as_str).collect();
    if words.is_empty() || words.len() != items.len() {
        return Err(format!("expected a list of words, got `{json}`"));
    }
    Ok(words.join(","))
}

fn choice(spec: &KeySpec, options: &[&str], given: &str) -> Result<Value, String> {
    let given = canonical(spec.path, given);
    if options.contains(&given) {
        return Ok(Value::Text(given.to_owned()));
    }
    if spec.path.ends_with("backend") && given == "openai" {
        return Err(
            "`openai` can mean two things; write openai_chat for the API of OpenAI, or codex_exec \
                    for Codex, which the Python system takes it for"
                .to_owned(),
        );
    }
    if spec.path.ends_with("backend") && BackendKind::parse(given).is_some() {
        let others = options.join(", ");
        return Err(format!("`{given}` performs tasks but cannot propose edits; use {others}"));
    }
    let likeness = |word: &&&str| strsim::jaro_winkler(word, given);
    let near = options.iter().max_by(|left, right| likeness(left).total_cmp(&likeness(right)));
    let hint = near
        .filter(|word| likeness(word) > 0.8)
        .map_or_else(String::new, |word| format!("; did you mean {word}?"));
    Err(format!("expected {}, got `{given}`{hint}", options.join(", ")))
}

fn whole_number(value: &Value, spoken: bool) -> Option<i64> {
    match value {
        Value::Int(number) => Some(*number),
        Value::Float(number) if number.fract() == 0.0 && number.abs() < 9e15 => {
            format!("{number:.0}").parse().ok()
        }
        Value::Text(text) if spoken => text.trim().parse().ok(),
        _ => None,
    }
}

fn any_number(value: &Value, spoken: bool) -> Option<f64> {
    match value {
        Value::Int(number) => number.to_string().parse().ok(),
        Value::Float(number) => Some(*number),
        Value::Text(text) if spoken => text.trim().parse().ok(),
        _ => None,
    }
}

fn in_range<T: Copy + PartialOrd + fmt::Display>(number: T, min: T, max: T) -> Result<T, String> {
    if number >= min && number <= max {
        Ok(number)
    } else {
        Err(format!("must be from {min} to {max}, got {number}"))
    }
}

#[cfg(test)]
mod tests;
