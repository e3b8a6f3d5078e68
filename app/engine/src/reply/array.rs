//! Reading the one array of objects that a reply holds. Words around it may hold brackets of their own: only text that
//! starts like an array of objects is one.

use super::{MAX_REPLY_BYTES, ReplyError, fenced, parse_object, repair};
use serde_json::{Map, Value};

/// Openings without an end that are looked at before the search stops, so that a hostile reply costs little.
const MAX_DEAD_ENDS: usize = 32;

/// Reads the one array of objects of a reply. An object alone counts as an array with one item; entries that are no
/// objects are left out; of empty and full arrays the full one counts.
///
/// # Errors
/// [`ReplyError`] when there is none, more than one, or it cannot be read.
pub fn parse_array(text: &str) -> Result<Vec<Map<String, Value>>, ReplyError> {
    if text.len() > MAX_REPLY_BYTES {
        return Err(ReplyError::TooLong);
    }
    let text = text.trim().trim_start_matches('\u{feff}');
    if let Ok(Value::Array(items)) = serde_json::from_str(text) {
        return Ok(objects(items));
    }
    let inside: Vec<&str> = fenced(text).into_iter().flat_map(top_level_arrays).collect();
    let found = if inside.is_empty() { top_level_arrays(text) } else { inside };
    let full: Vec<&str> = found.iter().copied().filter(|array| array.contains('{')).collect();
    match if full.is_empty() { found } else { full }.as_slice() {
        [] => parse_object(text).map(|parsed| vec![parsed.object]).map_err(no_array),
        [first, rest @ ..] if rest.iter().all(|other| other == first) => read(first),
        many => Err(ReplyError::AmbiguousArrays(many.len())),
    }
}

fn no_array(err: ReplyError) -> ReplyError {
    if err == ReplyError::NoObject { ReplyError::NoArray } else { err }
}

fn read(text: &str) -> Result<Vec<Map<String, Value>>, ReplyError> {
    serde_json::from_str(text)
        .or_else(|_| serde_json::from_str(&repair(text)))
        .map(objects)
        .map_err(|err| ReplyError::Broken(err.to_string()))
}

fn objects(items: Vec<Value>) -> Vec<Map<String, Value>> {
    let object = |item| if let Value::Object(object) = item { Some(object) } else { None };
    items.into_iter().filter_map(object).collect()
}

/// All balanced arrays of objects that are not inside of an object or of another array.
fn top_level_arrays(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let (mut at, mut dead_ends) = (0, 0);
    while let Some(offset) = text[at..].find(['[', '{']) {
        let start = at + offset;
        let rest = &text[start + 1..];
        let is_array = text[start..].starts_with('[');
        let looks_like_json =
            rest.trim_start().starts_with(if is_array { ['{', ']'] } else { ['"', '}'] });
        at = start + 1;
        if !looks_like_json || dead_ends >= MAX_DEAD_ENDS {
            continue;
        }
        match balanced_end(&text[start..]) {
            Some(len) => {
                if is_array {
                    found.push(&text[start..start + len]);
                }
                at = start + len;
            }
            None => dead_ends += 1,
        }
    }
    found
}

/// Length of the balanced text that starts at the first byte. Brackets inside of strings do not count.
fn balanced_end(text: &str) -> Option<usize> {
    let mut open = Vec::new();
    let (mut in_string, mut escaped) = (false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'[' => open.push(b']'),
            b'{' => open.push(b'}'),
            b']' | b'}' => {
                if open.pop() != Some(byte) {
                    return None;
                }
                if open.is_empty() {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::plain(r#"[{"a": 1}, {"a": 2}]"#, 2)]
    #[case::in_prose(r#"I looked at [1] and {this}. Result: [{"a": 1}] (see [2], [the log])."#, 1)]
    #[case::fenced("Of [all] things:\n```json\n[{\"a\": \"]\"}]\n```\nDone [x].", 1)]
    #[case::after_a_dead_end("[{ is how it starts\n[{\"a\": 1}]", 1)]
    #[case::object_alone(r#"Here: {"a": [1, 2]}"#, 1)]
    #[case::empty("[]", 0)]
    #[case::empty_beside_full(r#"Not [] but [{"a": 1}]"#, 1)]
    #[case::trailing_comma("[{\"a\": 1},]", 1)]
    #[case::twice_the_same("[{\"a\": 1}] as said: [{\"a\": 1}]", 1)]
    fn f09_brackets_in_prose_do_not_break_reading(#[case] text: &str, #[case] n: usize) {
        assert_eq!(parse_array(text).expect("an array").len(), n);
    }

    #[test]
    fn two_different_arrays_are_not_guessed_between() {
        let reply = "[{\"a\": 1}] or [{\"a\": 2}]";
        assert_eq!(parse_array(reply), Err(ReplyError::AmbiguousArrays(2)));
    }

    #[test]
    fn prose_without_json_has_no_array() {
        assert_eq!(parse_array("nothing [to] see"), Err(ReplyError::NoArray));
    }

    #[test]
    fn a_hostile_reply_of_openings_ends_soon() {
        let reply = "[{".repeat(500_000);
        assert!(parse_array(&reply).is_err());
    }
}
