//! Code fences: which bytes are code. By the rules of `CommonMark`: a fence closes with its own character, at least as
//! long, and with nothing behind it.

use skillopt_domain::skill::lines;
use std::ops::Range;

/// Byte ranges of fenced code that is closed, fences included. Whatever follows a fence without an end is no code here.
pub(super) fn closed(text: &str) -> Vec<Range<usize>> {
    scan(text).0
}

/// The line, from 1, of the fence that swallows a marker line; that of the marker when none does.
pub(super) fn line_over(text: &str, marker: &str) -> usize {
    let number = |offset: usize| lines(text).take_while(|line| line.full.end <= offset).count() + 1;
    let starts: Vec<usize> = lines(text)
        .filter(|line| text[line.content.clone()].trim() == marker)
        .map(|line| line.full.start)
        .collect();
    let over = closed(text).into_iter().find(|fence| starts.iter().any(|at| fence.contains(at)));
    number(over.map_or(starts.first().copied().unwrap_or(0), |fence| fence.start))
}

/// A fence is opened and never closed.
pub(super) fn has_open(text: &str) -> bool {
    scan(text).1
}

fn scan(text: &str) -> (Vec<Range<usize>>, bool) {
    let mut closed = Vec::new();
    let mut open: Option<(char, usize, usize)> = None;
    for line in lines(text) {
        let Some((mark, len, info)) = fence_of(&text[line.content.clone()]) else { continue };
        match open {
            None if mark == '`' && info.contains('`') => {}
            None => open = Some((mark, len, line.full.start)),
            Some((with, least, start)) if mark == with && len >= least && info.is_empty() => {
                closed.push(start..line.full.end);
                open = None;
            }
            Some(_) => {}
        }
    }
    (closed, open.is_some())
}

/// Character, length and what follows, when the line is a fence.
fn fence_of(line: &str) -> Option<(char, usize, &str)> {
    let text = line.trim_start();
    let mark = text.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let info = text.trim_start_matches(mark);
    let len = text.len() - info.len();
    (len >= 3).then(|| (mark, len, info.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("```\na\n```\n", 1, false)]
    #[case("````\n```\n## Rules\n```\n````\n", 1, false)]
    #[case("~~~\n```\n~~~\n", 1, false)]
    #[case("```\na\n", 0, true)]
    #[case("```\na\n``` b\n", 0, true)]
    #[case("``` a `b` ``` c\n", 0, false)]
    #[case("plain", 0, false)]
    fn c107_fences_pair_up(#[case] text: &str, #[case] n_closed: usize, #[case] is_open: bool) {
        assert_eq!((closed(text).len(), has_open(text)), (n_closed, is_open));
    }
}
