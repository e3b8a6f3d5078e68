//! YAML front matter, read for display and warnings only. It is never rewritten, so that a value stays
//! exactly as its author spelled it: `1.10` does not become `1.1`, and `no` stays a word.

use super::SkillWarning;
use super::lines::{Line, lines};
use crate::json::from_fields;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The front matter of a skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FrontMatter {
    /// Top-level keys in order, duplicates included.
    pub entries: Vec<FrontMatterEntry>,
    /// What strict YAML readers would stumble over.
    pub warnings: Vec<SkillWarning>,
}

/// One top-level key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FrontMatterEntry {
    /// The key.
    pub key: String,
    /// The value as written, with the quotes of a one-line value taken off and the lines of a block joined.
    pub value: String,
    /// Line from 1.
    pub line: u32,
}

from_fields! { FrontMatterEntry { key, value, line } }

/// The byte range of the front matter, closing line included; a BOM before it belongs to it.
pub(super) fn find(text: &str) -> Option<Range<usize>> {
    let mut all = lines(text);
    let first = all.next()?;
    if !is_fence(text, &first) {
        return None;
    }
    all.find(|line| is_fence(text, line) || text[line.content.clone()].trim_end() == "...")
        .map(|line| 0..line.full.end)
}

/// A front matter is opened on the first line and never closed.
pub(super) fn is_unclosed(text: &str) -> bool {
    lines(text).next().is_some_and(|line| is_fence(text, &line)) && find(text).is_none()
}

fn is_fence(text: &str, line: &Line) -> bool {
    let content = &text[line.content.clone()];
    content.trim_start_matches('\u{feff}').trim_end() == "---"
}

/// Reads the keys in `range`, which [`find`] gave.
pub(super) fn read(text: &str, range: Range<usize>) -> FrontMatter {
    let matter = &text[range];
    let mut reader = Reader { entries: Vec::new(), warnings: Vec::new() };
    let inner: Vec<&str> = lines(matter).map(|line| &matter[line.content]).collect();
    let last = inner.len().saturating_sub(1);
    for (at, line) in inner.iter().enumerate().take(last).skip(1) {
        reader.line(u32::try_from(at + 1).unwrap_or(u32::MAX), line);
    }
    FrontMatter { entries: reader.entries, warnings: reader.warnings }
}

struct Reader {
    entries: Vec<FrontMatterEntry>,
    warnings: Vec<SkillWarning>,
}

impl Reader {
    fn line(&mut self, number: u32, line: &str) {
        if line.trim().is_empty() || line.trim_start().starts_with('#') {
            return;
        }
        if line.starts_with('\t') {
            self.warn(number, 1, "YAML forbids tabs as indentation; use spaces");
        }
        if line.starts_with([' ', '\t', '-']) {
            self.continue_value(line);
            return;
        }
        let Some((key, value)) = line.split_once(':') else {
            self.warn(number, 1, "expected `key: value`; quote the text or indent it");
            return;
        };
        self.entry(number, key.trim(), value);
    }

    fn entry(&mut self, number: u32, key: &str, raw: &str) {
        if let Some(earlier) = self.entries.iter().find(|entry| entry.key == key) {
            let message = format!("`{key}` is set again; line {} has it first", earlier.line);
            self.warn(number, 1, &message);
        }
        let value = raw.trim();
        let plain = !value.starts_with(['"', '\'', '|', '>', '[', '{', '&', '*', '!', '#']);
        let colon = value.find(": ").or_else(|| value.ends_with(':').then(|| value.len() - 1));
        if let Some(at) = colon.filter(|_| plain) {
            let before = key.len() + 1 + (raw.len() - raw.trim_start().len()) + at;
            let column = u32::try_from(before + 1).unwrap_or(u32::MAX);
            self.warn(
                number,
                column,
                &format!("the value of `{key}` contains a colon; quote this value"),
            );
        }
        self.entries.push(FrontMatterEntry {
            key: key.to_owned(),
            value: unquote(value).to_owned(),
            line: number,
        });
    }

    fn continue_value(&mut self, line: &str) {
        let Some(entry) = self.entries.last_mut() else { return };
        let is_block = matches!(entry.value.as_str(), "|" | "|-" | "|+" | ">" | ">-" | ">+");
        if is_block || entry.value.is_empty() {
            line.trim().clone_into(&mut entry.value);
        } else {
            entry.value.push(if line.trim_start().starts_with("- ") { '\n' } else { ' ' });
            entry.value.push_str(line.trim());
        }
    }

    fn warn(&mut self, line: u32, column: u32, message: &str) {
        self.warnings.push(SkillWarning { line, column, message: message.to_owned() });
    }
}

fn unquote(value: &str) -> &str {
    for quote in ['"', '\''] {
        let inner = value.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
        if let Some(inner) = inner {
            return inner;
        }
    }
    value
}
