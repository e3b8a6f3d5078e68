//! Rows of a diff as they are drawn: folded, or two abreast. Pure, no DOM.

use skillopt_domain::diff::{DiffKind, DiffLine};

/// Unchanged lines that stay beside a change.
const CONTEXT: usize = 3;
/// Shorter gaps are shown: a fold would take the same room.
const SHORTEST_FOLD: usize = 4;

/// A line, or a run of unchanged lines that is folded away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DiffRow {
    Line(DiffLine),
    /// The folded lines, to be shown when asked for.
    Fold(Vec<DiffLine>),
}

/// A row of two columns; `None` is an empty half.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) old: Option<DiffLine>,
    pub(crate) new: Option<DiffLine>,
}

/// Folds unchanged lines that are far from every change.
pub(crate) fn folded(lines: Vec<DiffLine>) -> Vec<DiffRow> {
    let near = near_a_change(&lines);
    let mut rows = Vec::new();
    let mut hidden: Vec<DiffLine> = Vec::new();
    for (line, near) in lines.into_iter().zip(near) {
        if near {
            close_fold(&mut hidden, &mut rows);
            rows.push(DiffRow::Line(line));
        } else {
            hidden.push(line);
        }
    }
    close_fold(&mut hidden, &mut rows);
    rows
}

fn close_fold(hidden: &mut Vec<DiffLine>, rows: &mut Vec<DiffRow>) {
    let lines = std::mem::take(hidden);
    if lines.len() < SHORTEST_FOLD {
        rows.extend(lines.into_iter().map(DiffRow::Line));
    } else {
        rows.push(DiffRow::Fold(lines));
    }
}

fn near_a_change(lines: &[DiffLine]) -> Vec<bool> {
    let mut near = vec![false; lines.len()];
    for (at, _) in lines.iter().enumerate().filter(|(_, line)| line.kind != DiffKind::Same) {
        let until = (at + CONTEXT + 1).min(lines.len());
        near[at.saturating_sub(CONTEXT)..until].fill(true);
    }
    near
}

/// Puts removed lines beside the added ones that follow them.
pub(crate) fn pairs(lines: &[DiffLine]) -> Vec<Pair> {
    let mut pairs = Vec::new();
    let (mut removed, mut added) = (Vec::new(), Vec::new());
    for line in lines {
        match line.kind {
            // A removal after an addition opens a new block.
            DiffKind::Removed if added.is_empty() => removed.push(line.clone()),
            DiffKind::Removed => {
                close_block(&mut removed, &mut added, &mut pairs);
                removed.push(line.clone());
            }
            DiffKind::Added => added.push(line.clone()),
            DiffKind::Same => {
                close_block(&mut removed, &mut added, &mut pairs);
                pairs.push(Pair { old: Some(line.clone()), new: Some(line.clone()) });
            }
        }
    }
    close_block(&mut removed, &mut added, &mut pairs);
    pairs
}

fn close_block(removed: &mut Vec<DiffLine>, added: &mut Vec<DiffLine>, pairs: &mut Vec<Pair>) {
    let rows = removed.len().max(added.len());
    let mut old = std::mem::take(removed).into_iter();
    let mut new = std::mem::take(added).into_iter();
    pairs.extend((0..rows).map(|_| Pair { old: old.next(), new: new.next() }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use skillopt_domain::diff::diff;

    fn text(n: usize, changed: Option<usize>) -> String {
        (0..n)
            .map(|at| if Some(at) == changed { "new\n".into() } else { format!("line {at}\n") })
            .collect()
    }

    #[test]
    fn lines_far_from_a_change_are_folded() {
        let rows = folded(diff(&text(30, None), &text(30, Some(15))).lines);
        let folds: Vec<usize> = rows
            .iter()
            .filter_map(|row| if let DiffRow::Fold(lines) = row { Some(lines.len()) } else { None })
            .collect();
        assert_eq!(folds, [12, 11]);
        assert_eq!(rows.len(), 2 + 2 + 6);
    }

    #[test]
    fn a_short_gap_is_shown() {
        let rows = folded(diff(&text(6, None), &text(6, Some(5))).lines);
        assert!(rows.iter().all(|row| matches!(row, DiffRow::Line(_))), "{rows:?}");
    }

    #[test]
    fn equal_texts_are_one_fold() {
        let rows = folded(diff(&text(9, None), &text(9, None)).lines);
        assert!(matches!(rows.as_slice(), [DiffRow::Fold(lines)] if lines.len() == 9));
    }

    #[test]
    fn a_removed_line_stands_beside_the_added_one() {
        let all = diff("a\nb\nc\n", "a\nx\ny\nc\n");
        let pairs = pairs(&all.lines);
        assert_eq!(pairs.len(), 4);
        assert!(pairs[1].old.is_some() && pairs[1].new.is_some());
        assert!(pairs[2].old.is_none() && pairs[2].new.is_some());
    }
}
