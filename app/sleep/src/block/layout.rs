//! Where the marked regions of a document are. Markers are lines of their own; a marker in a sentence or in a closed
//! code fence is text about markers.

use super::fence;
use skillopt_domain::skill::{Line, Region, lines};
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

/// A marker that counts.
#[derive(Debug)]
struct Marker {
    /// From 1.
    line: usize,
    text: &'static str,
    is_start: bool,
    /// The start marker of its region, whichever of the two it is.
    region: &'static str,
    /// The line without byte order mark and line end.
    content: Range<usize>,
    /// The line with everything.
    full: Range<usize>,
}

/// Finds the learned block, and looks at all marked regions on the way.
pub(super) fn find_learned(text: &str) -> Result<Option<Span>, BlockDamage> {
    let mut open: Option<Marker> = None;
    let mut found: Option<Span> = None;
    for marker in markers(text) {
        let (line, name) = (marker.line, marker.text);
        match open.take() {
            None if !marker.is_start => return Err(BlockDamage::Unopened { line, marker: name }),
            None if marker.region == START && found.is_some() => {
                return Err(BlockDamage::Second { line });
            }
            None => open = Some(marker),
            Some(start) if start.region != marker.region => {
                return Err(BlockDamage::Nested { line, marker: name });
            }
            Some(start) if marker.is_start => {
                return Err(BlockDamage::Unclosed { line: start.line, marker: start.text });
            }
            Some(start) if marker.region == START => {
                // Blanks before the end marker belong to its line, so the inside is whole lines.
                let outer = start.content.start..marker.content.end;
                found = Some(Span { outer, inner: start.full.end..marker.full.start });
            }
            Some(_) => {}
        }
    }
    match open {
        Some(start) => Err(BlockDamage::Unclosed { line: start.line, marker: start.text }),
        None => Ok(found),
    }
}

fn markers(text: &str) -> Vec<Marker> {
    let fences = fence::closed(text);
    let is_code = |at: usize| fences.iter().any(|fence| fence.contains(&at));
    let marker = |(at, line): (usize, Line)| {
        let visible = text[line.content.clone()].trim_start_matches('\u{feff}');
        let content = visible.trim();
        let (start, end) =
            pairs().into_iter().find(|(start, end)| content == *start || content == *end)?;
        let is_start = content == start;
        Some(Marker {
            line: at + 1,
            text: if is_start { start } else { end },
            is_start,
            region: start,
            content: line.content.end - visible.len()..line.content.end,
            full: line.full,
        })
    };
    lines(text)
        .enumerate()
        .filter_map(marker)
        .filter(|marker| !is_code(marker.full.start))
        .collect()
}
