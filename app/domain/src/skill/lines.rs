//! Lines with their ends, whatever the ends are. No normalising.

use serde::{Deserialize, Serialize};
use std::ops::Range;

/// A line end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Eol {
    /// `\n`.
    #[default]
    Lf,
    /// `\r\n`.
    CrLf,
    /// `\r`.
    Cr,
}

impl Eol {
    /// The line end that occurs most; LF when there is none.
    #[must_use]
    pub fn dominant(text: &str) -> Self {
        let (mut lf, mut crlf, mut cr) = (0, 0, 0);
        for line in lines(text) {
            match &text[line.content.end..line.full.end] {
                "\n" => lf += 1,
                "\r\n" => crlf += 1,
                "\r" => cr += 1,
                _ => {}
            }
        }
        if crlf > lf && crlf >= cr {
            Self::CrLf
        } else if cr > lf {
            Self::Cr
        } else {
            Self::Lf
        }
    }

    /// The characters.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Lf => "\n",
            Self::CrLf => "\r\n",
            Self::Cr => "\r",
        }
    }

    /// The name shown to people.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Lf => "LF",
            Self::CrLf => "CRLF",
            Self::Cr => "CR",
        }
    }
}

/// One line: its characters without and with the line end, as byte ranges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Without the line end.
    pub content: Range<usize>,
    /// With the line end.
    pub full: Range<usize>,
}

/// All lines. Joined again by their `full` ranges they give the text; an empty text has none.
pub fn lines(text: &str) -> impl Iterator<Item = Line> + '_ {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        if at >= bytes.len() {
            return None;
        }
        let start = at;
        let end = bytes[start..]
            .iter()
            .position(|byte| matches!(byte, b'\n' | b'\r'))
            .map_or(bytes.len(), |pos| start + pos);
        let eol_len = match (bytes.get(end), bytes.get(end + 1)) {
            (Some(b'\r'), Some(b'\n')) => 2,
            (Some(_), _) => 1,
            (None, _) => 0,
        };
        at = end + eol_len;
        Some(Line { content: start..end, full: start..at })
    })
}

/// Text with LF line ends only, and for each of its bytes the offset in the original.
#[derive(Debug)]
pub(crate) struct Normalised {
    pub(crate) text: String,
    /// `None` when the original has LF ends only, so that offsets are the same.
    offsets: Option<Vec<usize>>,
}

impl Normalised {
    pub(crate) fn of(text: &str) -> Self {
        if !text.contains('\r') {
            return Self { text: text.to_owned(), offsets: None };
        }
        let mut out = String::with_capacity(text.len());
        let mut offsets = Vec::with_capacity(text.len() + 1);
        for line in lines(text) {
            out.push_str(&text[line.content.clone()]);
            offsets.extend(line.content.clone());
            if line.full.end > line.content.end {
                out.push('\n');
                offsets.push(line.content.end);
            }
        }
        offsets.push(text.len());
        Self { text: out, offsets: Some(offsets) }
    }

    /// The range in the original that a range of the normalised text stands for.
    pub(crate) fn original(&self, range: Range<usize>) -> Range<usize> {
        match &self.offsets {
            None => range,
            Some(offsets) => offsets[range.start]..offsets[range.end],
        }
    }
}

/// Any line ends become LF.
pub(crate) fn to_lf(text: &str) -> String {
    Normalised::of(text).text
}

/// LF line ends become `eol`.
pub(crate) fn from_lf(text: &str, eol: Eol) -> String {
    if eol == Eol::Lf { text.to_owned() } else { text.replace('\n', eol.as_str()) }
}
