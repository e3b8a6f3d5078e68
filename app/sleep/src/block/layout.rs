//! Where the marked regions of a document are. Markers are lines of their own; a marker in a sentence or in a closed
//! code fence is text about markers.

use super::fence;
use skillopt_domain::skill::{Region, lines};
use std::ops::Range;

/// The line that opens the learned block.
pub const START: &str = "<!-- SKILLOPT-SLEEP:LEARNED START -->";
/// The line that closes it.
pub const END: &str = "<!-- SKILLOPT-SLEEP:LEARNED END -->";

/// Markers do not pair up. Nothing is written to such a document.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BlockDamage {
    /// The start has no end.
    #[error(
        "line {line}: `{marker}` has no end marker after it; add the end marker or remove this line"
    )]
    Unclosed {
        /// From 1.
        line: usize,
        /// The marker.
        marker: &'static str,
    },
    /// The end has no start.
    #[error(
        "line {line}: `{marker}` has no start marker before it; add the start marker or remove this line"
    )]
    Unopened {
        /// From 1.
        line: usize,
        /// The marker.
        marker: &'static str,
    },
    /// A region starts in another one.
    #[error("line {line}: `{marker}` stands inside of another marked region; move it out")]
    Nested {
        /// From 1.
        line: usize,
        /// The marker.
        marker: &'static str,
    },
    /// The block would be code.
    #[error(
        "line {line}: the code fence that starts here is never closed; close it above the learned block"
    )]
    OpenFence {
        /// From 1.
        line: usize,
    },
    /// There are two learned blocks.
    #[error("line {line}: a second learned block starts here; join both into one by hand")]
    Second {
        /// From 1.
        line: usize,
    },
}

/// The learned block: byte ranges with and without its marker lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Span {
    /// From the first byte of the start marker to the last byte of the end marker, without its line end.
    pub(super) outer: Range<usize>,
    /// Whole lines between the markers.
    pub(super) inner: Range<usize>,
}

/// The text holds a marker of any region, in any case and spacing: it could break out of a region.
#[must_use]
pub fn holds_marker(text: &str) -> bool {
    let squeezed = squeeze(text);
    pairs()
        .iter()
        .any(|(start, end)| squeezed.contains(&squeeze(start)) || squeezed.contains(&squeeze(end)))
}

/// Upper case, without blanks and characters that cannot be seen.
fn squeeze(text: &str) -> String {
    text.chars()
        .filter(|c| {
            !c.is_whitespace() && !matches!(c, '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}')
        })
        .flat_map(char::to_uppercase)
        .collect()
}

fn pairs() -> [(&'static str, &'static str); 3] {
    [(START, END), Region::SlowUpdate.markers(), Region::Appendix.markers()]
}

/// Finds the learned block, and looks at all marked regions on the way.
pub(super) fn find_learned(text: &str) -> Result<Option<Span>, BlockDamage> {
    let fences = fence::closed(text);
    let mut open: Option<(usize, &'static str, &'static str, usize, usize)> = None;
    let mut found: Option<Span> = None;
    for (at, line) in lines(text).enumerate() {
        let number = at + 1;
        let visible = text[line.content.clone()].trim_start_matches('\u{feff}');
        let first_byte = line.content.end - visible.len();
        let content = visible.trim();
        if !content.starts_with("<!--")
            || fences.iter().any(|fence| fence.contains(&line.full.start))
        {
            continue;
        }
        let Some((start, end)) = pairs().into_iter().find(|(s, e)| content == *s || content == *e)
        else {
            continue;
        };
        match open.take() {
            None if content == end => {
                return Err(BlockDamage::Unopened { line: number, marker: end });
            }
            None if start == START && found.is_some() => {
                return Err(BlockDamage::Second { line: number });
            }
            None => open = Some((number, start, end, first_byte, line.full.end)),
            Some((_, _, wanted, first, inner)) if content == wanted => {
                if wanted == END {
                    // Blanks before the end marker belong to its line, so the inside is whole lines.
                    found = Some(Span {
                        outer: first..line.content.end,
                        inner: inner..line.full.start,
                    });
                }
            }
            Some((opened, marker, ..)) if content == start && start == marker => {
                return Err(BlockDamage::Unclosed { line: opened, marker });
            }
            Some(_) => {
                let marker = if content == start { start } else { end };
                return Err(BlockDamage::Nested { line: number, marker });
            }
        }
    }
    match open {
        Some((line, marker, ..)) => Err(BlockDamage::Unclosed { line, marker }),
        None => Ok(found),
    }
}
