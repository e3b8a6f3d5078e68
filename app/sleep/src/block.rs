//! The learned block of a document: the only part of a live file that a night may write. Everything outside of it
//! stays byte for byte: byte order mark, line ends, blanks, a missing final newline. Pure: reads and writes no file.

mod apply;
mod entry;
mod fence;
mod layout;
mod risk;
mod slow;
mod write;

pub use apply::{AppliedEdits, EditStatus, MAX_ENTRY_CHARS, apply_edits};
pub use layout::{BlockDamage, END, START, holds_marker};
pub use risk::{Risk, new_risks, risks};
pub use slow::{SlowUpdateRefusal, slow_update, with_slow_update};

use entry::Entry;
use layout::{Span, find_learned};

/// The entries of a document's learned block, in order, without bullets and with `\n` as line ends; none when there is
/// no block.
///
/// # Errors
/// [`BlockDamage`] when markers do not pair up.
pub fn entries(text: &str) -> Result<Vec<String>, BlockDamage> {
    Ok(Block::of(text)?
        .map(|block| block.entries)
        .unwrap_or_default()
        .into_iter()
        .map(|entry| entry.text)
        .collect())
}

/// The document without its learned block, exactly.
///
/// # Errors
/// [`BlockDamage`] when markers do not pair up.
pub fn outside(text: &str) -> Result<String, BlockDamage> {
    Ok(match find_learned(text)? {
        Some(span) => format!("{}{}", &text[..span.outer.start], &text[span.outer.end..]),
        None => text.to_owned(),
    })
}

/// A learned block, taken apart.
#[derive(Clone, Debug)]
struct Block {
    span: Span,
    /// Heading, banner and whatever else stands before the first entry, as it is.
    preamble: String,
    entries: Vec<Entry>,
}

impl Block {
    fn of(text: &str) -> Result<Option<Self>, BlockDamage> {
        let Some(span) = find_learned(text)? else { return Ok(None) };
        let (preamble, entries) = entry::read(&text[span.inner.clone()]);
        Ok(Some(Self { span, preamble, entries }))
    }
}

#[cfg(test)]
mod tests;
