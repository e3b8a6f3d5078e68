//! Reads the many shapes in which servers put an error into a body. Pure; decides nothing.

use serde_json::Value;

/// An error as the provider told it. The texts are shortened for people; a key in them is not yet masked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ErrorBody {
    message: String,
    /// `type` and `code` in lower case.
    labels: Vec<String>,
    /// A number that stands as the code: some gateways put the status of their own provider there.
    pub(crate) code: Option<u16>,
    /// All of it, for recognition.
    pub(crate) raw: String,
}

const MOST_RAW_CHARS: usize = 8_000;

impl ErrorBody {
    pub(crate) fn parse(body: &[u8]) -> Self {
        match serde_json::from_slice::<Value>(body) {
            Ok(value) => Self::from_json(&value),
            Err(_) => Self::from_text(&String::from_utf8_lossy(body)),
        }
    }

    /// An error object, or a value that holds one.
    pub(crate) fn from_json(value: &Value) -> Self {
        let outer = value.as_array().and_then(|list| list.first()).unwrap_or(value);
        let error = outer.get("error").filter(|error| !error.is_null()).unwrap_or(outer);
        let label = |name: &str| error.get(name).and_then(Value::as_str).map(str::to_lowercase);
        let code = error.get("code").and_then(|code| match code {
            Value::String(text) => text.parse().ok(),
            other => other.as_u64().and_then(|number| u16::try_from(number).ok()),
        });
        Self {
            message: message_of(error),
            labels: ["type", "code", "status"].into_iter().filter_map(label).collect(),
            code,
            raw: value.to_string().chars().take(MOST_RAW_CHARS).collect(),
        }
    }

    fn from_text(text: &str) -> Self {
        let message = if is_html(text) { html_summary(text) } else { text.to_owned() };
        let raw = text.chars().take(MOST_RAW_CHARS).collect();
        Self { message, raw, ..Self::default() }
    }

    /// The provider's words, on one line. Never empty.
    pub(crate) fn words(&self) -> String {
        let words = one_line(&self.message);
        if words.is_empty() { "no further words".to_owned() } else { words }
    }

    /// A label contains one of the words.
    pub(crate) fn is_labelled(&self, words: &[&str]) -> bool {
        self.labels.iter().any(|label| words.iter().any(|word| label.contains(word)))
    }

    /// The account is empty, which no wait repairs.
    pub(crate) fn says_no_money(&self) -> bool {
        let message = self.message.to_lowercase();
        self.is_labelled(&["insufficient_quota", "insufficient_balance", "billing"])
            || ["insufficient balance", "credit balance is too low", "insufficient credits"]
                .iter()
                .any(|words| message.contains(words))
    }

    /// A filter stopped the request: the answer is a refusal.
    pub(crate) fn is_content_filter(&self) -> bool {
        self.is_labelled(&["content_filter", "content_policy", "data_inspection_failed"])
    }

    /// The limit was reached before the model said anything.
    pub(crate) fn says_limit_was_reached(&self) -> bool {
        self.message.contains("model output limit was reached")
    }
}

fn message_of(error: &Value) -> String {
    let named = ["message", "detail", "msg", "error_description"]
        .into_iter()
        .filter_map(|name| error.get(name))
        .find(|value| !value.is_null());
    match named.unwrap_or(error) {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        Value::Object(fields) if fields.is_empty() => String::new(),
        other => other.to_string(),
    }
}

/// The text looks like a page for people.
pub(crate) fn is_html(text: &str) -> bool {
    text.trim_start_matches('\u{feff}').trim_start().starts_with('<')
}

fn html_summary(text: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let title = lower.find("<title").and_then(|at| {
        let start = at + lower[at..].find('>')? + 1;
        let end = start + lower[start..].find("</title")?;
        Some(text[start..end].trim())
    });
    match title.filter(|title| !title.is_empty()) {
        Some(title) => format!("an HTML page titled {title:?} instead of the API's JSON"),
        None => "an HTML page instead of the API's JSON".to_owned(),
    }
}

/// White space and control characters become single spaces.
fn one_line(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control());
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// At most so many characters, with an ellipsis where something was cut.
pub(crate) fn shorten(text: &str, most_chars: usize) -> String {
    match text.char_indices().nth(most_chars) {
        None => text.to_owned(),
        Some(_) => text.chars().take(most_chars - 1).chain(['…']).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case(r#"{"error":{"message":"no such key","type":"auth"}}"#, "no such key")]
    #[case(r#"{"error":"model not found"}"#, "model not found")]
    #[case(r#"{"object":"error","message":"too long","code":400}"#, "too long")]
    #[case(r#"{"detail":"Not Found"}"#, "Not Found")]
    #[case(
        r#"{"detail":[{"loc":["body","x"],"msg":"no"}]}"#,
        r#"[{"loc":["body","x"],"msg":"no"}]"#
    )]
    #[case(r#"[{"error":{"message":"quota"}}]"#, "quota")]
    #[case("upstream\n  timed out\u{7}", "upstream timed out")]
    #[case(
        "<html><head><TITLE> Log in </TITLE></head></html>",
        r#"an HTML page titled "Log in" instead of the API's JSON"#
    )]
    #[case("<p>İ</p><title", "an HTML page instead of the API's JSON")]
    #[case("", "no further words")]
    #[case("{}", "no further words")]
    fn the_words_are_found_in_each_shape(#[case] body: &str, #[case] words: &str) {
        assert_eq!(ErrorBody::parse(body.as_bytes()).words(), words);
    }

    #[test]
    fn a_numeric_code_is_read_in_both_spellings() {
        assert_eq!(ErrorBody::parse(br#"{"error":{"code":502}}"#).code, Some(502));
        assert_eq!(ErrorBody::parse(br#"{"error":{"code":"429"}}"#).code, Some(429));
        assert_eq!(ErrorBody::parse(br#"{"error":{"code":"rate_limit"}}"#).code, None);
    }

    #[test]
    fn long_words_are_cut_on_a_character() {
        assert_eq!(shorten("äöü", 3), "äöü");
        assert_eq!(shorten("äöüß", 3), "äö…");
    }
}
