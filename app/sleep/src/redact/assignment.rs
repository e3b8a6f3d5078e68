//! Values of names that say that they hold a secret: `password=…`, `"apiKey": "…"`, `export TOKEN=…`.

use super::value::{
    has_symbol, is_code, is_mixed, is_placeholder, is_random, is_secret_name, is_word,
};
use super::{Kind, Span};
use regex::Regex;
use std::sync::LazyLock;

/// The end of a telling name, what may close its quotes, and the sign between name and value.
static NAME: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"(?i)(?P<name>(?:secret|access|api|account|signing|encryption|master|service_?role|private|session)[_.-]?key(?:[_-](?:id|base))?|secret|token|pass(?:word|wd|phrase|code)|(?:\b|_)pass|\bpwd|credentials?)(?P<close>["'`\\]{0,4})(?P<gap>[ \t]{0,8})(?P<sign>:=|=>|={1,3}|:)(?P<after>[ \t]{0,8})"#,
    )
    .expect("a fixed pattern compiles")
});

/// How name and value are joined: the looser, the more a value has to look like a secret.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Join {
    /// `NAME=value`, as in an environment file, a query or a connection string.
    Tight,
    /// `name: value`, `name = value`.
    Loose,
}

/// One value: where it is, and whether quotes hold it together.
struct Value {
    start: usize,
    end: usize,
    quoted: bool,
}

/// Bytes of a value that are looked at to tell whether it is a secret: so the work stays linear in the text, however
/// the names in it are nested.
const WINDOW: usize = 1024;

/// Adds the values of telling names in `text` to `spans`.
pub(super) fn find(text: &str, spans: &mut Vec<Span>) {
    let mut masked_to = 0;
    for captures in NAME.captures_iter(text) {
        let (Some(whole), Some(name)) = (captures.get(0), captures.name("name")) else { continue };
        if whole.start() < masked_to || is_working_directory(text, name.start(), name.as_str()) {
            continue;
        }
        let is_empty = |part: &str| captures.name(part).is_none_or(|part| part.is_empty());
        let sign = captures.name("sign").map_or("", |sign| sign.as_str());
        let is_tight = sign == "=" && is_empty("gap") && is_empty("after");
        let join = if is_tight { Join::Tight } else { Join::Loose };
        let window = text.floor_char_boundary(whole.end() + WINDOW);
        let Some(mut value) = value_at(&text[..window], whole.end()) else { continue };
        let held = &text[value.start..value.end];
        if is_secret(name.as_str(), held, value.quoted, join) {
            if value.end == window {
                value.end = rest_of(text, &value);
            }
            masked_to = value.end;
            let kind = kind_of(text, name.start());
            spans.push(Span { start: value.start, end: value.end, kind });
        }
    }
}

/// Where a value ends that is longer than the window.
fn rest_of(text: &str, value: &Value) -> usize {
    let rest = &text[value.end..];
    let end = if value.quoted { rest.find(['"', '\'', '`', '\n']) } else { rest.find(is_end) };
    value.end + end.unwrap_or(rest.len())
}

/// `PWD` alone is the working directory; after a `;` it is the password of a connection string.
fn is_working_directory(text: &str, start: usize, name: &str) -> bool {
    let before = text[..start].trim_end_matches([' ', '\t']);
    name == "PWD" && !before.ends_with(';')
}

/// A password between semicolons belongs to a connection string.
fn kind_of(text: &str, start: usize) -> Kind {
    if text[..start].trim_end_matches([' ', '\t']).ends_with(';') {
        Kind::DbPassword
    } else {
        Kind::Assigned
    }
}

fn value_at(text: &str, start: usize) -> Option<Value> {
    let rest = &text[start..];
    let escapes = rest.len() - rest.trim_start_matches('\\').len();
    let quote = rest[escapes..].chars().next()?;
    if matches!(quote, '"' | '\'' | '`') {
        return quoted(text, start + escapes + 1, quote, escapes);
    }
    if quote == '{' && !rest.starts_with("{{") {
        return braced(text, start + 1);
    }
    let length = rest.find(is_end).unwrap_or(rest.len());
    let held = rest[..length].trim_end_matches(['.', ':', '!', '?', '\\']);
    (!held.is_empty()).then_some(Value { start, end: start + held.len(), quoted: false })
}

/// What ends a value without quotes.
fn is_end(c: char) -> bool {
    c.is_whitespace()
        || matches!(c, ',' | ';' | '&' | '"' | '\'' | '`' | ')' | ']' | '}' | '>' | '<' | '|')
}

/// Up to the closing quote, past escaped and doubled ones; to the end of the line where none closes.
fn quoted(text: &str, start: usize, quote: char, escapes: usize) -> Option<Value> {
    let mut chars = text[start..].char_indices().peekable();
    let mut end = None;
    while let Some((at, c)) = chars.next() {
        match c {
            '\n' => end = Some(start + at),
            '\\' if escapes == 0 => {
                chars.next();
            }
            '\\' if text[start + at..].starts_with(&format!("\\{quote}")) => end = Some(start + at),
            c if c == quote && chars.peek().is_some_and(|(_, next)| *next == quote) && at > 0 => {
                chars.next();
            }
            c if c == quote => end = Some(start + at),
            _ => {}
        }
        if end.is_some() {
            break;
        }
    }
    let end = end.unwrap_or(text.len());
    (end > start).then_some(Value { start, end, quoted: true })
}

/// `{pass;word}` of a connection string, on one line. A brace that opens code has a space or a line after it.
fn braced(text: &str, start: usize) -> Option<Value> {
    let line = text[start..].split('\n').next()?;
    let end = line.find('}').map_or(line.len(), |at| at);
    let held = &line[..end];
    let is_code = held.is_empty() || held.contains([' ', ':', '(', '"', '\'']);
    (!is_code).then_some(Value { start, end: start + end, quoted: true })
}

fn is_secret(name: &str, held: &str, quoted: bool, join: Join) -> bool {
    if held.starts_with(super::MASK) || held.starts_with([':', '=']) || is_placeholder(held) {
        return false;
    }
    if is_word(held) || is_secret_name(held) {
        return false;
    }
    if quoted {
        return is_quoted_secret(name, held);
    }
    if is_code(held) || held.chars().all(|c| c.is_ascii_digit()) && held.len() < 6 {
        return false;
    }
    match join {
        Join::Tight => held.len() >= 3,
        Join::Loose => is_loose_secret(name, held),
    }
}

/// Three words and more are a message, not a secret, save after `passphrase`.
fn is_quoted_secret(name: &str, held: &str) -> bool {
    let words = held.split_whitespace().count();
    let is_message =
        words >= 3 && held.chars().all(|c| c.is_alphabetic() || " .,!?'-:".contains(c));
    !held.trim().is_empty()
        && (!is_message || name.eq_ignore_ascii_case("passphrase"))
        && (!is_code(held) || is_mixed(held))
}

fn is_loose_secret(name: &str, held: &str) -> bool {
    let is_password = name.to_ascii_lowercase().starts_with("pass");
    let letters = held.chars().all(|c| c.is_ascii_alphabetic());
    if letters {
        return (is_password && held.len() >= 6 && held.chars().all(|c| c.is_ascii_lowercase()))
            || held.len() >= 20
            || held.len() >= 16 && is_random(held);
    }
    is_random(held)
        || (is_password && (is_mixed(held) && held.len() >= 6 || has_symbol(held)))
        || (is_mixed(held) && held.len() >= 8 && !held.contains(['-', '_', '.', '/']))
        || (held.len() >= 16 && has_symbol(held))
}
