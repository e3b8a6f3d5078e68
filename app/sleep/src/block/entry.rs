//! Entries of the block: a bullet, and the lines that belong to it. Lines that belong to an entry are indented by two
//! blanks, so an entry of several lines is read again as the same entry.

use skillopt_domain::skill::{Eol, lines};

/// One entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// What it says, with `\n` as line ends.
    pub(super) text: String,
    /// How it stands in the document, with everything up to the next entry.
    pub(super) raw: String,
}

impl Entry {
    /// An entry that is to be written.
    pub(super) fn new(text: &str, eol: Eol) -> Self {
        let mut raw = String::new();
        for (at, line) in text.lines().enumerate() {
            match (at, line) {
                (0, _) => raw.push_str("- "),
                (_, "") => {}
                _ => raw.push_str("  "),
            }
            raw.push_str(line);
            raw.push_str(eol.as_str());
        }
        Self { text: text.to_owned(), raw }
    }

    /// Two texts are the same entry: case and blanks do not count.
    pub(super) fn is_like(&self, text: &str) -> bool {
        likeness(&self.text) == likeness(text)
    }

    /// The anchor occurs in it: case and blanks do not count.
    pub(super) fn contains(&self, anchor: &str) -> bool {
        likeness(&self.text).contains(&likeness(anchor))
    }
}

/// Lower case, each run of blanks and line ends as one blank.
pub(super) fn likeness(text: &str) -> String {
    text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The inside of a block: what stands before the first entry, and the entries. All raw parts joined give the inside.
pub(super) fn read(inside: &str) -> (String, Vec<Entry>) {
    let (mut preamble, mut raws) = (String::new(), Vec::<String>::new());
    for line in lines(inside) {
        let is_bullet = bullet(&inside[line.content.clone()]).is_some();
        let full = &inside[line.full];
        match raws.last_mut() {
            _ if is_bullet => raws.push(full.to_owned()),
            Some(raw) => raw.push_str(full),
            None => preamble.push_str(full),
        }
    }
    let entry = |raw: String| Entry { text: text_of(&raw), raw };
    (preamble, raws.into_iter().map(entry).collect())
}

/// What follows the bullet, when the line starts with one.
fn bullet(line: &str) -> Option<&str> {
    if line == "-" { Some("") } else { line.strip_prefix("- ") }
}

fn text_of(raw: &str) -> String {
    let mut text = String::new();
    for (at, line) in lines(raw).enumerate() {
        let line = &raw[line.content];
        if at == 0 {
            text.push_str(bullet(line).unwrap_or(line));
        } else {
            text.push('\n');
            text.push_str(line.strip_prefix("  ").unwrap_or(line));
        }
    }
    text.trim_end().to_owned()
}

/// The entries that the content of an edit stands for. Models put bullets in front of rules: one bullet goes, several
/// bullets are several entries, and bullets below other text stay in their entry.
pub(super) fn split_content(content: &str) -> Vec<String> {
    let content = to_lf(content);
    let content = content.trim_matches('\n').trim_end();
    let content = if content.starts_with([' ', '\t']) { content.trim_start() } else { content };
    if content.starts_with("- ") {
        read(content)
            .1
            .into_iter()
            .map(|entry| tidy(&entry.text))
            .filter(|text| !text.is_empty())
            .collect()
    } else {
        Some(tidy(content)).filter(|text| !text.is_empty()).into_iter().collect()
    }
}

/// A text that is read again as it was written: no blanks at its ends, no blanks on empty lines.
fn tidy(text: &str) -> String {
    let lines: Vec<&str> =
        text.trim().lines().map(|line| if line.trim().is_empty() { "" } else { line }).collect();
    lines.join("\n")
}

/// Every line end as `\n`; characters that only some readers take for line ends become blanks.
fn to_lf(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in lines(text) {
        out.push_str(
            &text[line.content.clone()]
                .replace(['\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'], " "),
        );
        if line.full.end > line.content.end {
            out.push('\n');
        }
    }
    out
}
