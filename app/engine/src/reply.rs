//! Reading structured replies: strictly first, tolerantly second, and never by guessing. Two candidates for
//! the answer are an error, not a choice.

mod array;

pub use array::parse_array;

use serde_json::{Map, Value};

/// A reply longer than this is not searched; no sane patch is that long.
const MAX_REPLY_BYTES: usize = 4_000_000;

/// An object read from a reply.
#[derive(Clone, Debug, PartialEq)]
pub struct Parsed {
    /// The object.
    pub object: Map<String, Value>,
    /// The text was no strict JSON and had to be repaired.
    pub repaired: bool,
}

/// Why a reply could not be read. The text goes back to the model when it is asked again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReplyError {
    /// No object.
    #[error("the reply contains no JSON object")]
    NoObject,
    /// Several objects.
    #[error("the reply contains {0} JSON objects; it must contain one")]
    Ambiguous(usize),
    /// No array of objects.
    #[error("the reply contains no JSON array of objects")]
    NoArray,
    /// Several arrays of objects.
    #[error("the reply contains {0} JSON arrays; it must contain one")]
    AmbiguousArrays(usize),
    /// Not even after repairs.
    #[error("the JSON object cannot be read: {0}")]
    Broken(String),
    /// It is JSON, but not what was asked for.
    #[error("{0}")]
    Shape(String),
    /// Too long.
    #[error("the reply is longer than 4 MB")]
    TooLong,
}

/// Reads the one JSON object of a reply.
///
/// # Errors
/// [`ReplyError`] when there is none, more than one, or it cannot be read.
pub fn parse_object(text: &str) -> Result<Parsed, ReplyError> {
    if text.len() > MAX_REPLY_BYTES {
        return Err(ReplyError::TooLong);
    }
    let text = text.trim().trim_start_matches('\u{feff}');
    if let Ok(Value::Object(object)) = serde_json::from_str(text) {
        return Ok(Parsed { object, repaired: false });
    }
    let candidates: Vec<&str> = top_level_objects(text);
    let wanted: Vec<&str> = match fenced(text).as_slice() {
        [] => candidates,
        fences => {
            let inside: Vec<&str> =
                fences.iter().flat_map(|fence| top_level_objects(fence)).collect();
            if inside.is_empty() { candidates } else { inside }
        }
    };
    match wanted.as_slice() {
        [] => Err(ReplyError::NoObject),
        [one] => parse_candidate(one),
        // The same object twice (a draft and its copy in a fence) is no contradiction.
        [first, rest @ ..] if rest.iter().all(|other| other == first) => parse_candidate(first),
        many => Err(ReplyError::Ambiguous(many.len())),
    }
}

fn parse_candidate(text: &str) -> Result<Parsed, ReplyError> {
    if let Ok(object) = serde_json::from_str(text) {
        return Ok(Parsed { object, repaired: false });
    }
    match serde_json::from_str(&repair(text)) {
        Ok(object) => Ok(Parsed { object, repaired: true }),
        Err(err) => Err(ReplyError::Broken(err.to_string())),
    }
}

/// The insides of all fenced blocks that say `json` or nothing.
fn fenced(text: &str) -> Vec<&str> {
    let mut blocks = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find("```") {
        let after = &rest[start + 3..];
        let (label, body) = after.split_once('\n').unwrap_or((after, ""));
        let Some(end) = body.find("```") else { break };
        if matches!(label.trim().to_ascii_lowercase().as_str(), "" | "json") {
            blocks.push(&body[..end]);
        }
        rest = &body[end + 3..];
    }
    blocks
}

/// All balanced objects that are not inside another one. One pass; braces inside strings do not count.
/// Only text that starts like an object (`{` and then `"` or `}`) is one; prose in braces is not.
pub(crate) fn top_level_objects(text: &str) -> Vec<&str> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let (mut depth, mut start, mut in_string, mut escaped) = (0usize, 0, false, false);
    for (at, byte) in bytes.iter().enumerate() {
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' if depth > 0 => in_string = true,
            b'{' if depth == 0 && !starts_object(&text[at + 1..]) => {}
            b'{' => {
                if depth == 0 {
                    start = at;
                }
                depth += 1;
            }
            b'}' if depth > 0 => {
                depth -= 1;
                if depth == 0 {
                    found.push(&text[start..=at]);
                }
            }
            _ => {}
        }
    }
    found
}

fn starts_object(rest: &str) -> bool {
    let rest = rest.trim_start();
    rest.starts_with(['"', '}']) || rest.starts_with("//") || rest.starts_with("/*")
}

/// Mends what models get wrong most: comments, trailing commas, raw line breaks in strings and escapes
/// that JSON does not know. The characters of strings stay as they are otherwise.
pub(crate) fn repair(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' => {
                out.push('"');
                repair_string(&mut chars, &mut out);
            }
            '/' if chars.peek() == Some(&'/') => {
                while chars.peek().is_some_and(|next| *next != '\n') {
                    chars.next();
                }
            }
            '/' if chars.peek() == Some(&'*') => skip_block_comment(&mut chars),
            ']' | '}' => {
                let kept = out.trim_end().trim_end_matches(',').len();
                if out.trim_end().ends_with(',') {
                    out.truncate(kept);
                }
                out.push(c);
            }
            _ => out.push(c),
        }
    }
    out
}

fn skip_block_comment(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    let mut previous = ' ';
    chars.next();
    for c in chars.by_ref() {
        if previous == '*' && c == '/' {
            return;
        }
        previous = c;
    }
}

fn repair_string(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, out: &mut String) {
    while let Some(c) = chars.next() {
        match c {
            '"' => {
                out.push('"');
                return;
            }
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\\' => match chars.next() {
                Some(known @ ('"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't' | 'u')) => {
                    out.push('\\');
                    out.push(known);
                }
                Some(other) => {
                    out.push_str("\\\\");
                    out.push(other);
                }
                None => out.push_str("\\\\"),
            },
            _ => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests;
