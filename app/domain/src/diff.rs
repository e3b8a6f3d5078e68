//! Line and word differences of two texts, for every place that shows a diff.

use crate::skill::Eol;
use serde::{Deserialize, Serialize};
use similar::algorithms::{DiffHook, myers};
use std::ops::Range;

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
    let (old_lines, new_lines): (Vec<&str>, Vec<&str>) =
        (old.lines().collect(), new.lines().collect());
    let with_words = old.len() + new.len() <= MAX_INLINE_CHARS;
    let mut lines = Vec::new();
    for block in blocks(&old_lines, &new_lines) {
        let (removed, added) = (&old_lines[block.old.clone()], &new_lines[block.new.clone()]);
        if block.is_same {
            for (at, (from, to)) in block.old.zip(block.new).enumerate() {
                let pieces = vec![DiffPiece { text: added[at].to_owned(), changed: false }];
                lines.push(line(DiffKind::Same, Some(from), Some(to), pieces));
            }
            continue;
        }
        let (old_pieces, new_pieces) = if with_words && !removed.is_empty() && !added.is_empty() {
            words_of(removed, added)
        } else {
            (plain(removed), plain(added))
        };
        for (from, pieces) in block.old.zip(old_pieces) {
            lines.push(line(DiffKind::Removed, Some(from), None, pieces));
        }
        for (to, pieces) in block.new.zip(new_pieces) {
            lines.push(line(DiffKind::Added, None, Some(to), pieces));
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

/// The runs of equal and of other lines of two texts, in order; together they are all lines of both. Line ends do not
/// count.
pub(crate) fn same_lines(old: &str, new: &str) -> Vec<Block> {
    let of = |text: &str| crate::skill::to_lf(text);
    let (old, new) = (of(old), of(new));
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    blocks(&old, &new)
}

fn line(
    kind: DiffKind,
    old: Option<usize>,
    new: Option<usize>,
    pieces: Vec<DiffPiece>,
) -> DiffLine {
    let number = |at: usize| to_u32(at + 1);
    DiffLine { kind, old_line: old.map(number), new_line: new.map(number), pieces }
}

fn plain(lines: &[&str]) -> Vec<Vec<DiffPiece>> {
    let piece = |text: &&str| vec![DiffPiece { text: (*text).to_owned(), changed: false }];
    lines.iter().map(piece).collect()
}

/// A run of lines or words that are the same, or of which one side stands for the other.
pub(crate) struct Block {
    pub(crate) is_same: bool,
    pub(crate) old: Range<usize>,
    pub(crate) new: Range<usize>,
}

/// Collects the blocks of a comparison, neighbours of one kind joined.
#[derive(Default)]
struct Blocks(Vec<Block>);

impl Blocks {
    fn push(&mut self, is_same: bool, old: Range<usize>, new: Range<usize>) {
        match self.0.last_mut() {
            Some(last) if last.is_same == is_same => {
                last.old.end = old.end;
                last.new.end = new.end;
            }
            _ => self.0.push(Block { is_same, old, new }),
        }
    }
}

impl DiffHook for Blocks {
    type Error = std::convert::Infallible;

    fn equal(&mut self, old: usize, new: usize, len: usize) -> Result<(), Self::Error> {
        self.push(true, old..old + len, new..new + len);
        Ok(())
    }

    fn delete(&mut self, old: usize, len: usize, new: usize) -> Result<(), Self::Error> {
        self.push(false, old..old + len, new..new);
        Ok(())
    }

    fn insert(&mut self, old: usize, new: usize, len: usize) -> Result<(), Self::Error> {
        self.push(false, old..old, new..new + len);
        Ok(())
    }
}

/// One algorithm over one type of slice for lines and words alike: the dashboard carries this code.
fn blocks(old: &[&str], new: &[&str]) -> Vec<Block> {
    let mut blocks = Blocks::default();
    let Ok(()) = myers::diff(&mut blocks, old, 0..old.len(), new, 0..new.len());
    blocks.0
}

/// The pieces of removed and of added lines, with the words marked that make the difference. Lines that have
/// too little in common are shown whole.
fn words_of(removed: &[&str], added: &[&str]) -> (Vec<Vec<DiffPiece>>, Vec<Vec<DiffPiece>>) {
    let (old, new) = (words(removed), words(added));
    let blocks = blocks(&old, &new);
    let same: usize =
        blocks.iter().filter(|block| block.is_same).map(|block| block.old.len()).sum();
    if same * 4 < old.len().max(new.len()) {
        return (plain(removed), plain(added));
    }
    let mark = |of: fn(&Block) -> Range<usize>, words: &[&str]| {
        let mut lines: Vec<Vec<DiffPiece>> = vec![Vec::new()];
        for block in &blocks {
            for word in &words[of(block)] {
                if *word == LINE_END {
                    lines.push(Vec::new());
                } else if let Some(line) = lines.last_mut() {
                    extend(line, word, !block.is_same);
                }
            }
        }
        lines.pop();
        lines
    };
    (mark(|block| block.old.clone(), &old), mark(|block| block.new.clone(), &new))
}

fn extend(line: &mut Vec<DiffPiece>, word: &str, changed: bool) {
    match line.last_mut() {
        Some(last) if last.changed == changed => last.text.push_str(word),
        _ => line.push(DiffPiece { text: word.to_owned(), changed }),
    }
}

const LINE_END: &str = "\n";

/// Words, runs of blanks and single other characters, with a mark after each line.
fn words<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    let mut out = Vec::new();
    for line in lines {
        let mut rest = *line;
        while let Some(first) = rest.chars().next() {
            let end = if first.is_alphanumeric() {
                rest.find(|c: char| !c.is_alphanumeric())
            } else if first.is_whitespace() {
                rest.find(|c: char| !c.is_whitespace())
            } else {
                Some(first.len_utf8())
            };
            let (word, after) = rest.split_at(end.unwrap_or(rest.len()));
            out.push(word);
            rest = after;
        }
        out.push(LINE_END);
    }
    out
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
