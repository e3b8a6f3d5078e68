//! Reading for questions of no known kind: the sentence with most of the question's words, and a short span of it.

use super::reader::{Kind, Reading, digit_runs};
use std::cmp::Reverse;
use std::collections::HashSet;

const NOTHING: &str = "unknown";
const SENTENCE_CHARS: usize = 200;
/// Words shorter than this say little about the subject.
const TELLING_WORD: usize = 4;

/// Always finds something to say, be it that the answer is unknown.
pub(super) fn read(context: &str, question: &str) -> Reading {
    let asked: HashSet<String> =
        words(question).filter(|word| word.len() >= TELLING_WORD).collect();
    let overlap = |sentence: &str| words(sentence).filter(|word| asked.contains(word)).count();
    let sentences = context.split("[DOC]").flat_map(|passage| passage.split(['.', '!', '?', '\n']));
    let sentences = sentences.map(str::trim).filter(|sentence| !sentence.is_empty());
    // Of equals the first: `max_by_key` alone would take the last.
    let ranked =
        sentences.enumerate().max_by_key(|(at, sentence)| (overlap(sentence), Reverse(*at)));
    let best = ranked.map_or(NOTHING, |(_, sentence)| sentence);
    let short = span(best, question).unwrap_or(NOTHING).to_owned();
    let sentence: String = best.chars().take(SENTENCE_CHARS).collect();
    Reading { kind: Kind::Other, subject: subject(question), short, tempting: vec![sentence] }
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}

/// A number for a question after one, else the shortest name that the question does not hold.
fn span<'a>(sentence: &'a str, question: &str) -> Option<&'a str> {
    let asked = question.to_lowercase();
    let number =
        digit_runs(sentence).map(|(_, digits)| digits).find(|digits| !asked.contains(digits));
    let wants_number = ["how many", "how much", "when ", "year", "what age"]
        .iter()
        .any(|words| asked.contains(words));
    if wants_number && number.is_some() {
        return number;
    }
    let names = names(sentence).filter(|name| !asked.contains(&name.to_lowercase()));
    names.min_by_key(|name| name.len()).or(number).or_else(|| sentence.rsplit(' ').next())
}

/// Runs of capitalised words, the first word of the sentence left out.
fn names(sentence: &str) -> impl Iterator<Item = &str> {
    let mut spans: Vec<(usize, usize)> = Vec::new();
    let mut at = 0;
    let mut open = false;
    for (number, word) in sentence.split(' ').enumerate() {
        let name = word.trim_matches(|c: char| !c.is_alphanumeric());
        let is_name = number > 0 && name.starts_with(char::is_uppercase);
        if is_name {
            let start = at + word.find(name).unwrap_or_default();
            let end = start + name.len();
            match spans.last_mut() {
                Some(last) if open => last.1 = end,
                _ => spans.push((start, end)),
            }
        }
        open = is_name && word.ends_with(char::is_alphanumeric);
        at += word.len() + 1;
    }
    spans.into_iter().map(|(start, end)| &sentence[start..end])
}

fn subject(question: &str) -> String {
    question.trim().trim_end_matches('?').chars().take(SENTENCE_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case(
        "[DOC] The mill burned. [DOC] Old Tom bought the red mill from Anna Bell, a baker.",
        "Who bought the red mill?",
        "Tom"
    )]
    #[case(
        "[DOC] In summer the mill ground 70 sacks for Anna.",
        "How many sacks did the mill grind?",
        "70"
    )]
    #[case("", "Why?", "unknown")]
    #[case("[DOC] ...", "?", "unknown")]
    #[case("[DOC] nothing is capitalised here", "nothing?", "here")]
    fn something_short_is_always_found(
        #[case] context: &str,
        #[case] question: &str,
        #[case] short: &str,
    ) {
        assert_eq!(read(context, question).short, short);
    }

    #[test]
    fn any_text_is_read_without_a_panic() {
        for text in ["é É ü. É", "\u{2028}", "[DOC][DOC] A b C-d 9é", "Ä, Ö Ü x Ä"] {
            let reading = read(text, text);
            assert_eq!(reading.tempting.len(), 1);
        }
    }
}
