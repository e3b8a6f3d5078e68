//! Redaction of JSON values: texts by their content, and whole values by the names that hold them.

use super::{Counts, Kind, add_counts, redact};
use serde_json::Value;

/// Ends of names, without their separators, whose values are secrets as a whole.
const SUFFIXES: [&str; 13] = [
    "apikey",
    "accesstoken",
    "refreshtoken",
    "token",
    "password",
    "passwd",
    "secret",
    "secretkey",
    "secretaccesskey",
    "sharedaccesskey",
    "privatekey",
    "accountkey",
    "passphrase",
];

/// Masks every secret in `value`, at any depth, and says how many of each kind there were.
pub fn redact_json(value: &mut Value) -> Counts {
    let mut counts = Counts::new();
    visit(value, &mut counts);
    counts
}

fn visit(value: &mut Value, counts: &mut Counts) {
    match value {
        Value::String(text) => {
            let redacted = redact(text);
            add_counts(counts, &redacted.counts);
            *text = redacted.text;
        }
        Value::Array(items) => items.iter_mut().for_each(|item| visit(item, counts)),
        Value::Object(entries) => {
            for (name, held) in entries.iter_mut() {
                if is_telling(name) && is_full(held) {
                    *held = Value::String(Kind::Assigned.tag().to_owned());
                    *counts.entry(Kind::Assigned).or_default() += 1;
                } else {
                    visit(held, counts);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn is_telling(name: &str) -> bool {
    let compact: String =
        name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    SUFFIXES.iter().any(|suffix| compact.ends_with(suffix))
        || matches!(compact.as_str(), "pwd" | "sig" | "authorization")
}

/// Whether there is anything to mask; what is masked already is not counted again.
fn is_full(held: &Value) -> bool {
    match held {
        Value::Null | Value::Bool(_) => false,
        Value::String(text) => !text.is_empty() && !text.starts_with(super::MASK),
        Value::Number(_) | Value::Array(_) | Value::Object(_) => true,
    }
}
