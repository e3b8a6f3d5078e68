//! The skill document: text whose bytes stay as they are, with what must not be touched marked in it.
//!
//! Parsing never changes or normalises anything; `doc.text()` is always exactly what came in.

mod front_matter;
mod lines;
mod regions;

pub use front_matter::{FrontMatter, FrontMatterEntry};
pub use lines::{Eol, Line, lines};
pub(crate) use lines::{Normalised, from_lf, to_lf};
pub use regions::{Region, RegionRefusal};

use crate::hash::Sha256Hex;
use crate::json::from_fields;
use serde::Serialize;
use std::ops::Range;

const BOM: char = '\u{feff}';

/// Pairs of marker lines; everything from the first to the end of the second is protected. The same
/// markers as in skills written by the Python system.
pub(crate) const REGIONS: [(&str, &str); 2] = [
    ("<!-- SLOW_UPDATE_START -->", "<!-- SLOW_UPDATE_END -->"),
    ("<!-- APPENDIX_START -->", "<!-- APPENDIX_END -->"),
];

/// Sizes above these get a warning before anything is spent.
const LONG_SKILL_TOKENS: usize = 20_000;
const MAX_DESCRIPTION_CHARS: usize = 1024;
const MAX_BODY_LINES: usize = 500;

/// A skill document. Invariant: all ranges are byte ranges of `text` on character borders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillDoc {
    text: String,
    eol: Eol,
    front_matter: Option<Range<usize>>,
    regions: Vec<Range<usize>>,
}

/// The bytes are no skill.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not UTF-8 text: byte {offset} does not belong to a character; save the file as UTF-8")]
pub struct NotUtf8 {
    /// Offset of the first bad byte.
    pub offset: usize,
}

/// Something in a skill that a person should look at. Never an error: the skill stays trainable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SkillWarning {
    /// Line from 1.
    pub line: u32,
    /// Column from 1, in characters.
    pub column: u32,
    /// What is wrong and what to do.
    pub message: String,
}

from_fields! { SkillWarning { line, column, message } }

impl SkillDoc {
    /// Reads a text. Any text is a skill, the empty one too.
    #[must_use]
    pub fn parse(text: impl Into<String>) -> Self {
        let text = text.into();
        let eol = Eol::dominant(&text);
        let front_matter = front_matter::find(&text);
        let body = front_matter.as_ref().map_or(0, |range| range.end);
        let regions = find_regions(&text, body);
        Self { text, eol, front_matter, regions }
    }

    /// Reads the bytes of a file.
    ///
    /// # Errors
    /// [`NotUtf8`] with the offset of the first bad byte.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, NotUtf8> {
        String::from_utf8(bytes)
            .map(Self::parse)
            .map_err(|err| NotUtf8 { offset: err.utf8_error().valid_up_to() })
    }

    /// The exact text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The content address of the exact text.
    #[must_use]
    pub fn sha(&self) -> Sha256Hex {
        Sha256Hex::of(&self.text)
    }

    /// The line ends that most lines have.
    #[must_use]
    pub fn eol(&self) -> Eol {
        self.eol
    }

    /// The front matter, where there is one.
    #[must_use]
    pub fn front_matter(&self) -> Option<FrontMatter> {
        self.front_matter.clone().map(|range| front_matter::read(&self.text, range))
    }

    /// The text after the front matter.
    #[must_use]
    pub fn body(&self) -> &str {
        &self.text[self.body_start()..]
    }

    /// Where the body starts, in bytes.
    #[must_use]
    pub fn body_start(&self) -> usize {
        self.front_matter.as_ref().map_or_else(|| self.bom_len(), |range| range.end)
    }

    /// Protected byte ranges: front matter and marked regions, in order.
    pub fn protected(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        self.front_matter.iter().chain(&self.regions).cloned()
    }

    /// Marked regions only.
    #[must_use]
    pub fn regions(&self) -> &[Range<usize>] {
        &self.regions
    }

    /// Same front matter and same marked regions, byte for byte.
    #[must_use]
    pub fn protects_the_same_as(&self, other: &Self) -> bool {
        // A line end after the closing line of front matter at the end of a file is not part of it.
        let texts = |doc: &Self| {
            let text =
                |range: Range<usize>| doc.text[range].trim_end_matches(['\n', '\r']).to_owned();
            doc.protected().map(text).collect::<Vec<_>>()
        };
        texts(self) == texts(other)
    }

    /// Size in tokens, estimated as one token for four characters, rounded up.
    #[must_use]
    pub fn estimated_tokens(&self) -> u32 {
        estimate_tokens(&self.text)
    }

    /// Line number from 1 of a byte offset.
    #[must_use]
    pub fn line_of(&self, offset: usize) -> u32 {
        let count = lines(&self.text).take_while(|line| line.full.end <= offset).count();
        u32::try_from(count + 1).unwrap_or(u32::MAX)
    }

    /// Everything that a person should look at before training.
    #[must_use]
    pub fn lint(&self) -> Vec<SkillWarning> {
        let mut warnings = match self.front_matter() {
            Some(front_matter) => front_matter.warnings,
            None if front_matter::is_unclosed(&self.text) => vec![SkillWarning {
                line: 1,
                column: 1,
                message: "the front matter is never closed; end it with a line of three dashes"
                    .into(),
            }],
            None => Vec::new(),
        };
        warnings.extend(self.size_warnings());
        warnings
    }

    fn size_warnings(&self) -> Vec<SkillWarning> {
        let mut warnings = Vec::new();
        let tokens = self.estimated_tokens() as usize;
        if tokens > LONG_SKILL_TOKENS {
            warnings.push(SkillWarning {
                line: 1,
                column: 1,
                message: format!(
                    "about {tokens} tokens are sent with every call; skills work best below {LONG_SKILL_TOKENS}"
                ),
            });
        }
        let n_lines = lines(self.body()).count();
        if n_lines > MAX_BODY_LINES {
            warnings.push(SkillWarning {
                line: 1,
                column: 1,
                message: format!(
                    "the body has {n_lines} lines; agents load at most {MAX_BODY_LINES} well"
                ),
            });
        }
        let description = self
            .front_matter()
            .and_then(|matter| matter.entries.into_iter().find(|entry| entry.key == "description"));
        if let Some(entry) = description {
            let chars = entry.value.chars().count();
            if chars > MAX_DESCRIPTION_CHARS {
                warnings.push(SkillWarning {
                    line: entry.line,
                    column: 1,
                    message: format!(
                        "the description has {chars} characters; more than {MAX_DESCRIPTION_CHARS} are cut by agents"
                    ),
                });
            }
        }
        warnings
    }

    fn bom_len(&self) -> usize {
        if self.text.starts_with(BOM) { BOM.len_utf8() } else { 0 }
    }
}

/// One token for four characters, rounded up. An estimate for display and forecasts.
#[must_use]
pub fn estimate_tokens(text: &str) -> u32 {
    u32::try_from(text.chars().count().div_ceil(4)).unwrap_or(u32::MAX)
}

/// True when the text contains a marker of a protected region.
#[must_use]
pub fn contains_region_marker(text: &str) -> bool {
    REGIONS.iter().any(|(start, end)| text.contains(start) || text.contains(end))
}

fn find_regions(text: &str, from: usize) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for (start_marker, end_marker) in REGIONS {
        let mut at = from;
        while let Some(start) = text[at..].find(start_marker).map(|pos| at + pos) {
            // A start without an end protects the rest: better too much than too little.
            let end = text[start..]
                .find(end_marker)
                .map_or(text.len(), |pos| start + pos + end_marker.len());
            found.push(start..end);
            at = end;
        }
    }
    found.sort_by_key(|range| range.start);
    found
}

#[cfg(test)]
mod tests;
