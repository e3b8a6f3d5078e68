//! Line and word differences of two texts, for every place that shows a diff.

use crate::skill::Eol;
use serde::{Deserialize, Serialize};
use similar::{ChangeTag, TextDiff};

/// Above this size words are not compared, so that a page never freezes.
const MAX_INLINE_CHARS: usize = 400_000;

/// What a line of a diff is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum DiffKind {
    /// In both texts.
    Same,
    /// Only in the old text.
    Removed,
    /// Only in the new text.
    Added,
}

/// A piece of a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DiffPiece {
    /// The words.
    pub text: String,
    /// These words make the difference.
    pub changed: bool,
}

/// A line of a diff, without its line end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DiffLine {
    /// What it is.
    pub kind: DiffKind,
    /// Number in the old text, from 1.
    pub old_line: Option<u32>,
    /// Number in the new text, from 1.
    pub new_line: Option<u32>,
    /// Its words.
    pub pieces: Vec<DiffPiece>,
}

/// The difference of two texts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Diff {
    /// All lines, the same ones too.
    pub lines: Vec<DiffLine>,
    /// Lines added.
    pub n_added: u32,
    /// Lines removed.
    pub n_removed: u32,
    /// Line ends of the old and the new text, when they differ.
    pub eol_change: Option<(Eol, Eol)>,
}

/// Compares two texts line by line, and changed lines word by word. Line ends are compared apart: a file
/// that only changed from CRLF to LF has no changed line, but an `eol_change`.
#[must_use]
pub fn diff(old: &str, new: &str) -> Diff {
    let eols = (Eol::dominant(old), Eol::dominant(new));
    let (old, new) = (crate::skill::to_lf(old), crate::skill::to_lf(new));
    let text_diff = TextDiff::from_lines(old.as_str(), new.as_str());
    let with_words = old.len() + new.len() <= MAX_INLINE_CHARS;
    let mut lines = Vec::new();
    for op in text_diff.ops() {
        if with_words {
            for change in text_diff.iter_inline_changes(op) {
                let pieces = change
                    .iter_strings_lossy()
                    .map(|(changed, text)| piece(&text, changed))
                    .filter(|piece| !piece.text.is_empty())
                    .collect();
                lines.push(line(change.tag(), change.old_index(), change.new_index(), pieces));
            }
        } else {
            for change in text_diff.iter_changes(op) {
                let pieces = vec![piece(change.value(), false)];
                lines.push(line(change.tag(), change.old_index(), change.new_index(), pieces));
            }
        }
    }
    let count = |kind| lines.iter().filter(|line| line.kind == kind).count();
    Diff {
        n_added: to_u32(count(DiffKind::Added)),
        n_removed: to_u32(count(DiffKind::Removed)),
        eol_change: (eols.0 != eols.1 && !old.is_empty() && !new.is_empty()).then_some(eols),
        lines,
    }
}

fn line(
    tag: ChangeTag,
    old: Option<usize>,
    new: Option<usize>,
    pieces: Vec<DiffPiece>,
) -> DiffLine {
    let kind = match tag {
        ChangeTag::Equal => DiffKind::Same,
        ChangeTag::Delete => DiffKind::Removed,
        ChangeTag::Insert => DiffKind::Added,
    };
    let number = |at: usize| to_u32(at + 1);
    DiffLine { kind, old_line: old.map(number), new_line: new.map(number), pieces }
}

fn piece(text: &str, changed: bool) -> DiffPiece {
    DiffPiece { text: text.trim_end_matches('\n').to_owned(), changed }
}

fn to_u32(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_word_is_marked_in_both_lines() {
        let diff = diff("a\nwrite results as values\n", "a\nwrite results as numbers\nb\n");
        assert_eq!((diff.n_added, diff.n_removed), (2, 1));
        let changed: Vec<&str> = diff
            .lines
            .iter()
            .flat_map(|line| &line.pieces)
            .filter(|piece| piece.changed)
            .map(|piece| piece.text.trim())
            .collect();
        assert!(changed.contains(&"values") && changed.contains(&"numbers"), "{changed:?}");
    }

    #[test]
    fn a_change_of_line_ends_only_is_named_as_such() {
        let diff = diff("a\r\nb\r\n", "a\nb\n");
        assert_eq!((diff.n_added, diff.n_removed), (0, 0));
        assert_eq!(diff.eol_change, Some((Eol::CrLf, Eol::Lf)));
    }
}
