//! Field checks that collect all problems before anything is refused. Knows no benchmark.

use crate::data_file::type_name;
use crate::error::RowProblem;
use serde_json::{Map, Value};

/// Reads the fields of one row and collects what is wrong with them.
#[derive(Debug)]
pub(crate) struct RowReader<'a> {
    file: &'a str,
    row: usize,
    fields: Option<&'a Map<String, Value>>,
    problems: &'a mut Vec<RowProblem>,
}

impl<'a> RowReader<'a> {
    /// Starts on a row; one that is no object is a problem of its own.
    pub(crate) fn new(
        file: &'a str,
        row: usize,
        value: &'a Value,
        problems: &'a mut Vec<RowProblem>,
    ) -> Self {
        let mut reader = Self { file, row, fields: value.as_object(), problems };
        if reader.fields.is_none() {
            reader.complain("", format!("expected an object, found {}", type_name(value)));
        }
        reader
    }

    /// A text that must be there and hold more than spaces.
    pub(crate) fn text(&mut self, field: &str) -> Option<String> {
        let value = self.required(field)?;
        self.checked_text(field, value)
    }

    /// A text that may be left out.
    pub(crate) fn optional_text(&mut self, field: &str) -> Option<String> {
        let value = self.fields?.get(field).filter(|value| !value.is_null())?;
        self.checked_text(field, value)
    }

    /// A list of at least one text.
    pub(crate) fn texts(&mut self, field: &str) -> Option<Vec<String>> {
        let value = self.required(field)?;
        let Value::Array(items) = value else {
            self.complain(field, format!("expected a list of texts, found {}", type_name(value)));
            return None;
        };
        if items.is_empty() {
            self.complain(field, "is an empty list".to_owned());
            return None;
        }
        let texts: Vec<String> = items
            .iter()
            .enumerate()
            .filter_map(|(at, item)| self.checked_text(&format!("{field}[{at}]"), item))
            .collect();
        (texts.len() == items.len()).then_some(texts)
    }

    /// Adds a problem.
    pub(crate) fn complain(&mut self, field: &str, problem: String) {
        self.problems.push(RowProblem {
            file: self.file.to_owned(),
            row: self.row,
            field: field.to_owned(),
            problem,
        });
    }

    fn required(&mut self, field: &str) -> Option<&'a Value> {
        let value = self.fields?.get(field);
        if value.is_none() {
            self.complain(field, "is missing".to_owned());
        }
        value
    }

    fn checked_text(&mut self, field: &str, value: &Value) -> Option<String> {
        match value {
            Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
            Value::String(_) => {
                self.complain(field, "is empty".to_owned());
                None
            }
            other => {
                self.complain(field, format!("expected text, found {}", type_name(other)));
                None
            }
        }
    }
}
