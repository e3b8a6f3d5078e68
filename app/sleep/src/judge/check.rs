//! One check, ready to use. Case is folded as Python's `str.lower` does it, which Rust's `to_lowercase` equals; where
//! Python folds with `casefold`, `fold` is used: upper case and back, letter by letter. The two differ for letters
//! like the dotless i only, which no heading is told apart by.

use super::pattern::Pattern;
use super::tool::ToolName;
use super::{refusal, section, tool};
use serde_json::Value;

/// What a check asks of a reply.
#[derive(Clone, Debug)]
pub(super) enum Rule {
    /// A heading that ends with it, a bold line with it, or a label.
    SectionPresent(String),
    /// A heading with it.
    SectionContains(String),
    /// At most so many characters.
    MaxChars(u64),
    /// At least so many characters.
    MinChars(u64),
    /// The text, whatever its case.
    Contains(String),
    /// Not the text, whatever its case.
    NotContains(String),
    /// A match somewhere.
    Regex(Pattern),
    /// More than a refusal.
    NoRefusal,
    /// The tool was called.
    ToolCalled(ToolName),
}

impl Rule {
    pub(super) fn passes(&self, reply: &str, tools: &[String]) -> bool {
        match self {
            Self::SectionPresent(name) => section::is_present(name, reply),
            Self::SectionContains(name) => section::heading_contains(name, reply),
            Self::MaxChars(bound) => n_chars(reply) <= *bound,
            Self::MinChars(bound) => n_chars(reply) >= *bound,
            Self::Contains(text) => reply.to_lowercase().contains(&text.to_lowercase()),
            Self::NotContains(text) => !reply.to_lowercase().contains(&text.to_lowercase()),
            Self::Regex(pattern) => pattern.is_match(reply),
            Self::NoRefusal => !refusal::is_refusal(reply),
            Self::ToolCalled(name) => tool::is_called(name, reply, tools),
        }
    }

    /// It looks at the form of a reply only, not at what it says.
    pub(super) fn is_shape(&self) -> bool {
        matches!(
            self,
            Self::SectionPresent(_)
                | Self::SectionContains(_)
                | Self::MaxChars(_)
                | Self::MinChars(_)
        )
    }
}

/// Letters without case, for comparing.
pub(super) fn fold(text: &str) -> String {
    text.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
}

fn n_chars(text: &str) -> u64 {
    u64::try_from(text.chars().count()).unwrap_or(u64::MAX)
}

/// Reads a bound in characters: a whole number, a number without a fraction, or a text with a whole number. Anything
/// else, truth values too, is none; nor is a negative one.
#[must_use]
pub fn char_bound(arg: &Value) -> Option<u64> {
    match arg {
        Value::Number(number) => number.as_u64().or_else(|| number.as_f64().and_then(whole)),
        Value::String(text) => text.trim().trim_start_matches('+').parse().ok(),
        _ => None,
    }
}

fn whole(number: f64) -> Option<u64> {
    let is_whole = number >= 0.0 && number.fract() == 0.0 && number < 1e15;
    is_whole.then(|| format!("{number:.0}").parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::json;

    #[rstest]
    #[case(json!(50), Some(50))]
    #[case(json!(50.0), Some(50))]
    #[case(json!(" 50 "), Some(50))]
    #[case(json!(0), Some(0))]
    #[case(json!(-1), None)]
    #[case(json!(1.5), None)]
    #[case(json!("many"), None)]
    #[case(json!(true), None)]
    #[case(json!(null), None)]
    fn a_bound_is_a_whole_number(#[case] arg: Value, #[case] bound: Option<u64>) {
        assert_eq!(char_bound(&arg), bound);
    }

    #[test]
    fn length_is_counted_in_characters_not_in_bytes() {
        assert!(Rule::MaxChars(3).passes("日本語", &[]));
        assert!(!Rule::MinChars(4).passes("日本語", &[]));
    }

    #[test]
    fn a_text_that_must_not_be_there_is_found_whatever_its_case() {
        let rule = Rule::NotContains("Kind Regards".into());
        assert!(rule.passes("Best wishes", &[]) && rule.passes("", &[]));
        assert!(!rule.passes("with KIND regards, Ann", &[]));
    }

    #[test]
    fn case_is_folded_beyond_ascii() {
        assert!(Rule::Contains("ÄRGER".into()).passes("viel ärger", &[]));
        assert_eq!(fold("Straße"), fold("STRASSE"));
        assert_eq!(fold("ΣΊΣΥΦΟΣ"), fold("σίσυφος"));
    }
}
