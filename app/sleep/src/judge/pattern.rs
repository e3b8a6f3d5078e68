//! Patterns of checks. They come from models and files, so only those that are matched in linear time are taken:
//! there is no look-around and no back-reference.

use regex::{Regex, RegexBuilder};

/// Room for a compiled pattern, in bytes.
const MAX_COMPILED_BYTES: usize = 8_000_000;
/// Longest pattern, in bytes.
const MAX_PATTERN_BYTES: usize = 2_000;

/// A pattern that can be searched for.
#[derive(Clone, Debug)]
pub struct Pattern {
    regex: Regex,
}

/// A pattern that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the pattern `{pattern}` cannot be used: {reason}")]
pub struct PatternError {
    /// The pattern.
    pub pattern: String,
    /// Why, on one line.
    pub reason: String,
}

impl Pattern {
    /// Compiles a pattern in the syntax of Python, as far as it can be matched in linear time.
    ///
    /// # Errors
    /// [`PatternError`] with the reason.
    pub fn compile(pattern: &str) -> Result<Self, PatternError> {
        let error = |reason: String| PatternError { pattern: pattern.to_owned(), reason };
        if pattern.len() > MAX_PATTERN_BYTES {
            return Err(error(format!("it is longer than {MAX_PATTERN_BYTES} bytes")));
        }
        RegexBuilder::new(&python_ends(pattern))
            .size_limit(MAX_COMPILED_BYTES)
            .build()
            .map(|regex| Self { regex })
            .map_err(|err| error(reason(&err)))
    }

    /// It occurs. As in Python, `$` also matches before a line end that is the last character.
    #[must_use]
    pub fn is_match(&self, text: &str) -> bool {
        self.regex.is_match(text)
            || text.strip_suffix('\n').is_some_and(|text| self.regex.is_match(text))
    }
}

/// Python's `\Z`, the end of the text, has a small letter here.
fn python_ends(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        out.push(c);
        if c == '\\' {
            out.extend(chars.next().map(|next| if next == 'Z' { 'z' } else { next }));
        }
    }
    out
}

/// The last line of the library's message, which is the reason; the lines before it draw the place.
fn reason(err: &regex::Error) -> String {
    let text = err.to_string();
    let last = text.lines().last().unwrap_or_default().trim();
    last.strip_prefix("error: ").unwrap_or(last).trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case(r"(?=x)x", "look-around")]
    #[case(r"(?<!a)b", "look-around")]
    #[case(r"(a)\1", "backreferences")]
    #[case(r"[a", "unclosed")]
    #[case(r"a{1000}{1000}", "size limit")]
    fn c59_patterns_that_cannot_be_used_say_why(#[case] pattern: &str, #[case] why: &str) {
        let err = Pattern::compile(pattern).expect_err("refused");
        assert!(err.reason.contains(why), "{err}");
        assert!(!err.to_string().contains('\n'), "{err}");
    }

    #[rstest]
    #[case(r"^\w+$", "wort\n", true)]
    #[case(r"end\Z", "the end", true)]
    #[case(r"\\Z", r"a \Z b", true)]
    #[case(r"fix", "Fix", false)]
    #[case(r"(?i)fix", "Fix", true)]
    #[case(r"(?P<y>\d{4})", "in 2026", true)]
    #[case(r"^\w{3,60}$", "wort", true)]
    fn patterns_match_as_in_python(
        #[case] pattern: &str,
        #[case] text: &str,
        #[case] expect: bool,
    ) {
        assert_eq!(Pattern::compile(pattern).expect("compiles").is_match(text), expect);
    }

    #[test]
    fn c59_a_pattern_that_explodes_elsewhere_ends_here() {
        let pattern = Pattern::compile("(a+)+$").expect("compiles");
        assert!(!pattern.is_match(&format!("{}b", "a".repeat(100_000))));
    }
}
