//! JSON of a system that writes `NaN`, and of processes that died while they wrote: as much as can be read,
//! with what could not.

use super::findings::Findings;
use serde_json::{Map, Value};

/// Parses a whole document. Numbers that JSON does not know count as `null`, and each line is named.
pub(super) fn document(file: &str, text: &str, findings: &mut Findings) -> Option<Value> {
    let text = text.trim_start_matches('\u{feff}');
    let first = match serde_json::from_str(text) {
        Ok(value) => return Some(value),
        Err(err) => err,
    };
    let (mended, lines) = without_non_finite(text);
    match serde_json::from_str(&mended) {
        Ok(value) if !lines.is_empty() => {
            for line in lines {
                findings.add(
                    file,
                    &format!("line {line}"),
                    "a number that is not finite; left out",
                );
            }
            Some(value)
        }
        Ok(_) | Err(_) => {
            let place = format!("line {}, column {}", first.line(), first.column());
            findings.add(file, &place, format!("not JSON: {}", kind_of(&first)));
            None
        }
    }
}

/// The elements of an array; those before the first fault when it is broken or was cut.
pub(super) fn array(file: &str, text: &str, findings: &mut Findings) -> Vec<Value> {
    let text = text.trim_start_matches('\u{feff}');
    let (mended, lines) = without_non_finite(text);
    for line in lines {
        findings.add(file, &format!("line {line}"), "a number that is not finite; left out");
    }
    match serde_json::from_str(&mended) {
        Ok(Value::Array(rows)) => rows,
        Ok(_) => {
            findings.add(file, "", "expected a list; left out");
            Vec::new()
        }
        Err(err) => {
            let rows = elements_before_the_fault(&mended);
            let place = format!("line {}, column {}", err.line(), err.column());
            let message = format!("{}; the {} rows before it were read", kind_of(&err), rows.len());
            findings.add(file, &place, message);
            rows
        }
    }
}

fn kind_of(err: &serde_json::Error) -> &'static str {
    if err.is_eof() { "cut short" } else { "broken" }
}

fn elements_before_the_fault(text: &str) -> Vec<Value> {
    let mut rows = Vec::new();
    let Some(mut rest) = text.trim_start().strip_prefix('[') else { return rows };
    loop {
        rest = rest.trim_start_matches(|letter: char| letter.is_whitespace() || letter == ',');
        let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        match stream.next() {
            Some(Ok(row)) => rows.push(row),
            Some(Err(_)) | None => return rows,
        }
        rest = rest.get(stream.byte_offset()..).unwrap_or_default();
    }
}

/// Puts `null` in the place of `NaN`, `Infinity` and `-Infinity` outside of texts; with their lines.
fn without_non_finite(text: &str) -> (String, Vec<usize>) {
    const WORDS: [&str; 3] = ["-Infinity", "Infinity", "NaN"];
    if !WORDS.iter().any(|word| text.contains(word)) {
        return (text.to_owned(), Vec::new());
    }
    let (mut out, mut lines) = (String::with_capacity(text.len()), Vec::new());
    let (mut line, mut in_text, mut escaped) = (1, false, false);
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        if !in_text && let Some(word) = WORDS.iter().find(|word| rest.starts_with(**word)) {
            out.push_str("null");
            lines.push(line);
            rest = &rest[word.len()..];
            continue;
        }
        match letter {
            '"' if !escaped => in_text = !in_text,
            '\n' => line += 1,
            _ => {}
        }
        escaped = in_text && letter == '\\' && !escaped;
        out.push(letter);
        rest = &rest[letter.len_utf8()..];
    }
    (out, lines)
}

/// An object of a file, whose fields may be missing or of the wrong type. Missing is `None`; a wrong type is
/// `None` too, and a finding.
#[derive(Debug)]
pub(super) struct Fields<'a> {
    pub(super) file: &'a str,
    pub(super) place: String,
    pub(super) object: &'a Map<String, Value>,
}

impl<'a> Fields<'a> {
    /// The value of a key; `null` counts as missing.
    pub(super) fn get(&self, key: &str) -> Option<&'a Value> {
        self.object.get(key).filter(|value| !value.is_null())
    }

    /// A finite number.
    pub(super) fn number(&self, key: &str, findings: &mut Findings) -> Option<f64> {
        let value = self.get(key)?;
        match value.as_f64().filter(|number| number.is_finite()) {
            Some(number) => Some(number),
            None => self.wrong(key, "a number", value, findings),
        }
    }

    /// A number from 0 to 1.
    pub(super) fn share(&self, key: &str, findings: &mut Findings) -> Option<f64> {
        let number = self.number(key, findings)?;
        if (0.0..=1.0).contains(&number) {
            return Some(number);
        }
        self.wrong(key, "a number from 0 to 1", &number.into(), findings)
    }

    /// A score in the gate's metric. The Python system writes negative numbers for "none yet".
    pub(super) fn gate_score(&self, key: &str, findings: &mut Findings) -> Option<f64> {
        self.number(key, findings).filter(|score| *score >= 0.0)
    }

    /// A whole number from 0 on.
    pub(super) fn count(&self, key: &str, findings: &mut Findings) -> Option<u32> {
        let value = self.get(key)?;
        match whole(value) {
            Some(number) => Some(number),
            None => self.wrong(key, "a whole number", value, findings),
        }
    }

    /// Text.
    pub(super) fn text(&self, key: &str, findings: &mut Findings) -> Option<&'a str> {
        let value = self.get(key)?;
        match value.as_str() {
            Some(text) => Some(text),
            None => self.wrong(key, "text", value, findings),
        }
    }

    /// An object.
    pub(super) fn object(
        &self,
        key: &str,
        findings: &mut Findings,
    ) -> Option<&'a Map<String, Value>> {
        let value = self.get(key)?;
        match value.as_object() {
            Some(object) => Some(object),
            None => self.wrong(key, "an object", value, findings),
        }
    }

    /// Fields of an object within this one.
    pub(super) fn within(&self, key: &str, findings: &mut Findings) -> Option<Fields<'a>> {
        let object = self.object(key, findings)?;
        Some(Fields { file: self.file, place: self.at(key), object })
    }

    fn at(&self, key: &str) -> String {
        if self.place.is_empty() { key.to_owned() } else { format!("{}, {key}", self.place) }
    }

    fn wrong<T>(
        &self,
        key: &str,
        expected: &str,
        value: &Value,
        findings: &mut Findings,
    ) -> Option<T> {
        let message = format!("expected {expected}, got `{value}`; left out");
        findings.add(self.file, &self.at(key), message);
        None
    }
}

/// A number without a fraction that fits.
pub(super) fn whole(value: &Value) -> Option<u32> {
    let whole = value.as_u64().and_then(|number| u32::try_from(number).ok());
    whole.or_else(|| {
        let number = value.as_f64().filter(|number| number.fract() == 0.0)?;
        format!("{number:.0}").parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("[{\"a\": 1}, {\"a\": 2}]", 2, 0)]
    #[case("[{\"a\": 1}, {\"a\": 2", 1, 1)]
    #[case("[{\"a\": 1},\n {\"a\": NaN}, {\"b\": \"NaN\"}]", 3, 1)]
    #[case("[{\"a\": -Infinity}, {\"b\"", 1, 2)]
    #[case("{\"a\": 1}", 0, 1)]
    #[case("", 0, 1)]
    #[case("\u{feff}[1]", 1, 0)]
    fn broken_lists_give_what_stands_before_the_fault(
        #[case] text: &str,
        #[case] n_rows: usize,
        #[case] n_findings: usize,
    ) {
        let mut findings = Findings::default();
        assert_eq!(array("history.json", text, &mut findings).len(), n_rows);
        assert_eq!(findings.texts().len(), n_findings, "{:?}", findings.texts());
    }

    #[test]
    fn a_word_within_a_text_is_no_number() {
        let (mended, lines) = without_non_finite("{\"a\\\"NaN\": \"NaN\",\n\"b\": NaN}");
        assert_eq!(mended, "{\"a\\\"NaN\": \"NaN\",\n\"b\": null}");
        assert_eq!(lines, [2]);
    }

    #[test]
    fn wrong_types_are_named_and_missing_is_silent() {
        let value = serde_json::json!({"n": 3.0, "x": "many", "s": 1.5, "none": null, "gate": -1});
        let object = value.as_object().expect("object");
        let fields = Fields { file: "history.json", place: "row 1".into(), object };
        let mut findings = Findings::default();
        assert_eq!(fields.count("n", &mut findings), Some(3));
        assert_eq!(fields.count("none", &mut findings), None);
        assert_eq!(fields.gate_score("gate", &mut findings), None);
        assert!(findings.texts().is_empty());
        assert_eq!(fields.count("x", &mut findings), None);
        assert_eq!(fields.share("s", &mut findings), None);
        assert_eq!(
            findings.texts(),
            [
                "history.json, row 1, x: expected a whole number, got `\"many\"`; left out",
                "history.json, row 1, s: expected a number from 0 to 1, got `1.5`; left out"
            ]
        );
    }
}
