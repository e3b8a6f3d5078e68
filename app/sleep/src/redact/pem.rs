//! Private keys in armour. A key whose end is missing is masked to the end of the text; a mere mention is left alone.

use super::{Kind, Span};
use regex::Regex;
use std::sync::LazyLock;

static BEGIN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"-{4,5}BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-{4,5}")
        .expect("a fixed pattern compiles")
});

static END: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"-{4,5}END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-{4,5}")
        .expect("a fixed pattern compiles")
});

/// Letters of Base64 that a key's body has at least; a mention has prose there.
const BODY: usize = 16;

/// Adds the private keys of `text` to `spans`.
pub(super) fn find(text: &str, spans: &mut Vec<Span>) {
    if !text.contains("PRIVATE KEY") {
        return;
    }
    let mut from = 0;
    while let Some(begin) = BEGIN.find_at(text, from) {
        from = begin.end();
        if !has_body(&text[begin.end()..]) {
            continue;
        }
        let end = END.find_at(text, begin.end()).map_or(text.len(), |end| end.end());
        spans.push(Span { start: begin.start(), end, kind: Kind::PrivateKey });
        from = end;
    }
}

/// Whether a key's body follows: Base64, or the headers of an encrypted key.
fn has_body(rest: &str) -> bool {
    let body = rest
        .trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '\\' | '"' | '+' | '\''));
    let body = body.trim_start_matches(['n', 'r', '\\']);
    let run = body
        .bytes()
        .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'='))
        .count();
    run >= BODY
        || body.starts_with("Proc-Type:")
        || body.starts_with("Version:")
        || (run > 0 && run == body.len())
}
