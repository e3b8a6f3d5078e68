//! Takes the reasoning that some models put in front of their answer off it. Pure; knows nothing of HTTP.

use serde::de::IgnoredAny;

/// A text without its reasoning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stripped<'a> {
    /// What is left, always the end of the text; all of it where there were no tags.
    Answer(&'a str),
    /// There was reasoning, and nothing after it.
    ReasoningOnly,
}

const TAGS: [(&str, Kind); 4] = [
    ("<think>", Kind::Opening),
    ("<thinking>", Kind::Opening),
    ("</think>", Kind::Closing),
    ("</thinking>", Kind::Closing),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Opening,
    Closing,
}

#[derive(Clone, Copy, Debug)]
struct Tag {
    start: usize,
    end: usize,
    kind: Kind,
}

/// Removes `<think>…</think>` blocks in front of the answer, in any case, also spelled `<thinking>`, also when
/// the opening tag is missing because the chat template swallowed it. A block that never closes is
/// [`Stripped::ReasoningOnly`]. JSON stays as it is: there a tag is part of a string.
#[must_use]
pub fn strip_reasoning(text: &str) -> Stripped<'_> {
    if next_tag(text, 0).is_none() || is_json(text) {
        return Stripped::Answer(text);
    }
    let mut rest = text.trim_start();
    while let Some(block) = leading_block(rest) {
        let Block::EndsAt(end) = block else { return Stripped::ReasoningOnly };
        rest = rest[end..].trim_start();
    }
    match rest {
        "" => Stripped::ReasoningOnly,
        answer => Stripped::Answer(answer),
    }
}

enum Block {
    EndsAt(usize),
    NeverEnds,
}

/// The reasoning in front of `text`, if there is any.
fn leading_block(text: &str) -> Option<Block> {
    let first = next_tag(text, 0)?;
    match first.kind {
        Kind::Opening if first.start > 0 => None,
        Kind::Opening => Some(closing_after(text, first).map_or(Block::NeverEnds, Block::EndsAt)),
        Kind::Closing => (!is_json(text)).then_some(Block::EndsAt(first.end)),
    }
}

fn closing_after(text: &str, mut tag: Tag) -> Option<usize> {
    while tag.kind == Kind::Opening {
        tag = next_tag(text, tag.end)?;
    }
    Some(tag.end)
}

/// Tags are ASCII, so they begin and end on character boundaries.
fn next_tag(text: &str, from: usize) -> Option<Tag> {
    let bytes = text.as_bytes();
    let mut at = from;
    loop {
        at += bytes.get(at..)?.iter().position(|byte| *byte == b'<')?;
        let found = TAGS.iter().find(|(tag, _)| {
            bytes[at..]
                .get(..tag.len())
                .is_some_and(|head| head.eq_ignore_ascii_case(tag.as_bytes()))
        });
        if let Some((tag, kind)) = found {
            return Some(Tag { start: at, end: at + tag.len(), kind: *kind });
        }
        at += 1;
    }
}

/// The whole text is one JSON object or array, bare or in a code fence.
fn is_json(text: &str) -> bool {
    let body = unfenced(text.trim());
    body.starts_with(['{', '[']) && serde_json::from_str::<IgnoredAny>(body).is_ok()
}

fn unfenced(text: &str) -> &str {
    let inner = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    inner.and_then(|rest| rest.split_once('\n')).map_or(text, |(_, body)| body.trim())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::block_then_json(r#"<think>{"draft":1}</think>{"edits":[]}"#, r#"{"edits":[]}"#)]
    #[case::closing_tag_only("so it is B\n</think>\n\nB", "B")]
    #[case::long_spelling("<thinking>hm</thinking> Paris", "Paris")]
    #[case::upper_case("<THINK>hm</Think>Paris", "Paris")]
    #[case::two_blocks("<think>a</think>\n<think>b</think>c", "c")]
    #[case::nested_blocks("<think>a<think>b</think>c</think>d", "d")]
    #[case::white_space_in_front("\n\n<think>\n\n</think>\n\nParis\n", "Paris\n")]
    #[case::no_tags("  Paris \n", "  Paris \n")]
    #[case::json_that_names_the_tag(
        r#"{"a":"strip <think>x</think> first"}"#,
        r#"{"a":"strip <think>x</think> first"}"#
    )]
    #[case::fenced_json("```json\n{\"a\":\"</think>\"}\n```", "```json\n{\"a\":\"</think>\"}\n```")]
    #[case::tag_in_the_middle(
        "Write <think> and </think> tags.",
        "Write <think> and </think> tags."
    )]
    #[case::block_then_json_with_a_tag(
        r#"<think>a</think>{"a":"</think>"}"#,
        r#"{"a":"</think>"}"#
    )]
    #[case::other_characters("<think>é–漢</think>é<b>漢", "é<b>漢")]
    fn c29_reasoning_is_taken_off(#[case] text: &str, #[case] answer: &str) {
        assert_eq!(strip_reasoning(text), Stripped::Answer(answer));
    }

    #[rstest]
    #[case::never_closed("<think>first I must")]
    #[case::never_closed_in_capitals("<THINKING>{\"edits\":[]}")]
    #[case::nothing_after_it("<think>done</think>\n")]
    #[case::second_block_never_closed("<think>a</think><think>b")]
    fn c29_reasoning_without_an_answer_is_told_apart(#[case] text: &str) {
        assert_eq!(strip_reasoning(text), Stripped::ReasoningOnly);
    }

    #[test]
    fn c29_many_tags_take_linear_time() {
        let text = "<think></think>".repeat(20_000);
        assert_eq!(strip_reasoning(&text), Stripped::ReasoningOnly);
    }
}
