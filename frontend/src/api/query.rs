//! Query strings: only what is set, percent-encoded.

use std::fmt::{Display, Write as _};

/// A query string that is being built.
#[derive(Clone, Debug, Default)]
pub(super) struct Query(String);

impl Query {
    /// Adds a parameter when there is a value.
    pub(super) fn with(mut self, name: &str, value: Option<impl Display>) -> Self {
        if let Some(value) = value {
            let mark = if self.0.is_empty() { '?' } else { '&' };
            let _ = write!(self.0, "{mark}{name}={}", encode(&value.to_string()));
        }
        self
    }

    /// The path with the query behind it.
    pub(super) fn on(&self, path: &str) -> String {
        format!("{path}{}", self.0)
    }
}

/// Percent-encodes one component.
pub(crate) fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                out.push(char::from(byte));
            }
            _ => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_set_is_sent_and_it_is_encoded() {
        let query = Query::default()
            .with("q", Some("a b&c/é"))
            .with("limit", None::<u32>)
            .with("n", Some(3));
        assert_eq!(query.on("runs"), "runs?q=a%20b%26c%2F%C3%A9&n=3");
    }
}
