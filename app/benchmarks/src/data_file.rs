//! Reading data files: which file of a folder, which encoding, which shape. Says nothing about fields.

use crate::error::{DataError, RowProblem, RowProblems};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

const SHAPES: &str = "a list of items, an object with a list under \"data\", or an object of items";

/// An item as it stands in a file.
#[derive(Clone, Debug)]
pub(crate) struct RawRow {
    /// From 1: place in the list, or line of a `.jsonl` file.
    pub(crate) row: usize,
    /// The item.
    pub(crate) value: Value,
}

/// Reads all items of a `.json` or `.jsonl` file.
pub(crate) fn read_rows(path: &Path) -> Result<Vec<RawRow>, DataError> {
    let bytes =
        std::fs::read(path).map_err(|source| DataError::Read { path: path.to_owned(), source })?;
    let text = decode(path, &bytes)?;
    if has_extension(path, "jsonl") { parse_lines(path, text) } else { parse_json(path, text) }
}

/// The data files of a folder by name: all `.json` before all `.jsonl`.
pub(crate) fn data_files(folder: &Path) -> Result<Vec<PathBuf>, DataError> {
    let failed = |source| DataError::Read { path: folder.to_owned(), source };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let wanted = has_extension(&path, "json") || has_extension(&path, "jsonl");
        let own = path.file_name().is_some_and(|name| name == "split_manifest.json");
        if wanted && !own && path.is_file() {
            found.push(path);
        }
    }
    found.sort_by_key(|path| (has_extension(path, "jsonl"), path.clone()));
    Ok(found)
}

fn has_extension(path: &Path, wanted: &str) -> bool {
    path.extension().is_some_and(|own| own.eq_ignore_ascii_case(wanted))
}

/// UTF-8 with or without a byte order mark. Anything else is named, never guessed.
fn decode<'a>(path: &Path, bytes: &'a [u8]) -> Result<&'a str, DataError> {
    let refuse = |problem: String| DataError::Encoding { path: path.to_owned(), problem };
    let looks_utf16 = matches!(bytes, [0xff, 0xfe, ..] | [0xfe, 0xff, ..])
        || matches!(bytes, [0, second, ..] | [second, 0, ..] if *second != 0);
    if looks_utf16 {
        return Err(refuse("looks like UTF-16; save it as UTF-8".to_owned()));
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    std::str::from_utf8(bytes).map_err(|err| {
        let line = bytes[..err.valid_up_to()].iter().filter(|byte| **byte == b'\n').count() + 1;
        refuse(format!("line {line} has bytes that are not UTF-8; save the file as UTF-8"))
    })
}

fn parse_json(path: &Path, text: &str) -> Result<Vec<RawRow>, DataError> {
    let json: Value = serde_json::from_str(text)
        .map_err(|source| DataError::Json { path: path.to_owned(), source })?;
    let shape = |found| DataError::Shape { path: path.to_owned(), expected: SHAPES, found };
    let items = match json {
        Value::Array(items) => items,
        Value::Object(fields) => items_of(fields).ok_or_else(|| shape("another object"))?,
        other => return Err(shape(type_name(&other))),
    };
    Ok(items.into_iter().enumerate().map(|(at, value)| RawRow { row: at + 1, value }).collect())
}

fn items_of(mut fields: Map<String, Value>) -> Option<Vec<Value>> {
    if let Some(Value::Array(items)) = fields.get_mut("data") {
        return Some(std::mem::take(items));
    }
    let all_items = !fields.is_empty() && fields.values().all(Value::is_object);
    all_items.then(|| fields.into_iter().map(|(key, item)| with_id(item, key)).collect())
}

// An object of items names each by its key.
fn with_id(mut item: Value, key: String) -> Value {
    if let Value::Object(fields) = &mut item
        && !fields.contains_key("id")
    {
        fields.insert("id".to_owned(), Value::String(key));
    }
    item
}

// Only a line feed ends a record: U+2028 and its like are text.
fn parse_lines(path: &Path, text: &str) -> Result<Vec<RawRow>, DataError> {
    let (mut rows, mut problems) = (Vec::new(), Vec::new());
    for (at, line) in text.split('\n').enumerate() {
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        match serde_json::from_str(line) {
            Ok(value) => rows.push(RawRow { row: at + 1, value }),
            Err(err) => problems.push(RowProblem {
                file: path.display().to_string(),
                row: at + 1,
                field: String::new(),
                problem: format!("not valid JSON: {err}"),
            }),
        }
    }
    if problems.is_empty() { Ok(rows) } else { Err(DataError::Rows(RowProblems(problems))) }
}

/// The JSON type in words.
pub(crate) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::json;

    fn read(name: &str, bytes: &[u8]) -> Result<Vec<RawRow>, DataError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        read_rows(&path)
    }

    #[rstest]
    #[case::list("a.json", r#"[{"id":"x"},{"id":"y"}]"#)]
    #[case::data("a.json", r#"{"version":1,"data":[{"id":"x"},{"id":"y"}]}"#)]
    #[case::by_key("a.json", r#"{"x":{},"y":{"id":"y"}}"#)]
    #[case::bom("a.json", "\u{feff}[{\"id\":\"x\"},{\"id\":\"y\"}]")]
    #[case::lines("a.jsonl", "{\"id\":\"x\"}\n{\"id\":\"y\"}\n")]
    #[case::lines_of_windows("a.jsonl", "\u{feff}{\"id\":\"x\"}\r\n\r\n\r\n{\"id\":\"y\"}\r\n")]
    fn c91_each_shape_and_dialect_gives_the_same_items(#[case] name: &str, #[case] text: &str) {
        let items: Vec<Value> =
            read(name, text.as_bytes()).unwrap().into_iter().map(|row| row.value).collect();
        assert_eq!(items, [json!({"id": "x"}), json!({"id": "y"})]);
    }

    #[rstest]
    #[case(&[0xff, 0xfe, b'[', 0, b']', 0], "looks like UTF-16")]
    #[case(&[0, b'[', 0, b']'], "looks like UTF-16")]
    #[case(b"[\n\"caf\xe9\"]", "line 2 has bytes that are not UTF-8")]
    fn c91_other_encodings_are_refused_with_the_reason(#[case] bytes: &[u8], #[case] part: &str) {
        let message = read("a.json", bytes).expect_err("refused").to_string();
        assert!(message.contains(part) && message.contains("UTF-8"), "{message}");
    }

    #[rstest]
    #[case("3", "found a number")]
    #[case("{\"a\": 1}", "found another object")]
    #[case("[1, 2", "not valid JSON")]
    fn c93_a_file_of_another_shape_is_explained(#[case] text: &str, #[case] part: &str) {
        let message = read("a.json", text.as_bytes()).expect_err("refused").to_string();
        assert!(message.contains(part), "{message}");
    }

    #[test]
    fn c93_a_broken_line_is_named_by_its_number() {
        let err = read("a.jsonl", b"{\"id\":\"x\"}\n\n{oops\n").expect_err("refused");
        assert_eq!(err.rows()[0].row, 3);
    }

    #[test]
    fn a_line_separator_inside_text_ends_no_record() {
        let rows = read("a.jsonl", "{\"id\":\"x\u{2028}y\"}\n".as_bytes()).unwrap();
        assert_eq!(rows.len(), 1);
    }
}
