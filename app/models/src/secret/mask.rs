//! Finds a key in text that came from outside, in the spellings in which servers echo what they got. Pure.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use std::collections::HashSet;
use std::ops::Range;

/// So many bytes of a key in a row are no coincidence.
const PIECE: usize = 8;
/// Shorter keys are the placeholders of local servers, such as `ollama`: words that an answer may well contain.
const SHORTEST_IN_ANSWERS: usize = 16;
const MASK: &str = "***";

/// `text` without the key: whole, in pieces, encoded, or with its middle starred out.
pub(super) fn words(text: &str, key: &str) -> String {
    if !key.is_ascii() {
        return text.replace(key, MASK);
    }
    let lower = text.to_ascii_lowercase();
    let mut found = Vec::new();
    for spelling in spellings(key) {
        let spelling = spelling.to_ascii_lowercase();
        found.extend(whole(&lower, &spelling));
        found.extend(pieces(lower.as_bytes(), spelling.as_bytes()));
    }
    found.extend(starred(&lower, &key.to_ascii_lowercase()));
    without(text, found)
}

/// `text` without the whole key, plain or encoded.
pub(super) fn answer(text: String, key: &str) -> String {
    if key.len() < SHORTEST_IN_ANSWERS {
        return text;
    }
    let found: Vec<_> = spellings(key).iter().flat_map(|spelling| whole(&text, spelling)).collect();
    if found.is_empty() { text } else { without(&text, found) }
}

/// The key, in percent encoding of what must be encoded and of all but letters and digits, and in base64 at each of the three places where it may begin within a group.
fn spellings(key: &str) -> Vec<String> {
    let mut spellings =
        vec![key.to_owned(), percent_encoded(key, b"-_.~"), percent_encoded(key, b"")];
    for before in 0..3 {
        let bytes: Vec<u8> = std::iter::repeat_n(0, before).chain(key.bytes()).collect();
        // Digits that hold bits of a neighbour differ from case to case.
        let begin = (before * 4).div_ceil(3);
        let end = bytes.len() * 4 / 3;
        for encoded in [STANDARD_NO_PAD.encode(&bytes), URL_SAFE_NO_PAD.encode(&bytes)] {
            spellings.extend(encoded.get(begin..end).map(str::to_owned));
        }
    }
    // Of a very short key, base64 leaves a digit or two, which would be found everywhere.
    spellings.retain(|spelling| spelling == key || spelling.len() >= PIECE);
    spellings
}

fn percent_encoded(key: &str, unreserved: &[u8]) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || unreserved.contains(&byte);
    key.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

fn whole<'a>(text: &'a str, spelling: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
    text.match_indices(spelling).map(|(at, found)| at..at + found.len())
}

/// Where the text shares [`PIECE`] bytes or more with the spelling.
fn pieces(text: &[u8], spelling: &[u8]) -> Vec<Range<usize>> {
    let known: HashSet<&[u8]> = spelling.windows(PIECE).collect();
    let shared = text.windows(PIECE).enumerate().filter(|(_, piece)| known.contains(piece));
    shared.map(|(at, _)| at..at + PIECE).collect()
}

/// What stands before and behind stars or dots, where it is the beginning and the end of the key.
fn starred(text: &str, key: &str) -> Vec<Range<usize>> {
    let is_star = |c: char| matches!(c, '*' | '•' | '…' | '.');
    let mut found = Vec::new();
    let mut rest = 0;
    while let Some(begin) = text[rest..].find(is_star).map(|at| rest + at) {
        let end = text[begin..].find(|c| !is_star(c)).map_or(text.len(), |at| begin + at);
        let before =
            (2..=key.len().min(begin)).rev().find(|len| text[..begin].ends_with(&key[..*len]));
        let behind =
            (2..=key.len()).rev().find(|len| text[end..].starts_with(&key[key.len() - len..]));
        // A full stop is no ellipsis, and one end alone may be a word.
        let (before, behind) = (before.unwrap_or(0), behind.unwrap_or(0));
        if text[begin..end] != *"." && (before > 0 && behind > 0 || before.max(behind) > 3) {
            found.push(begin - before..end + behind);
        }
        rest = end;
    }
    found
}

/// The text with a mask in the place of each range; ranges may overlap and are in no order.
fn without(text: &str, mut ranges: Vec<Range<usize>>) -> String {
    ranges.sort_unstable_by_key(|range| range.start);
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for range in ranges {
        if range.start >= at {
            // Pieces that touch are one.
            if range.start > at || !out.ends_with(MASK) {
                out.push_str(&text[at..range.start]);
                out.push_str(MASK);
            }
        }
        at = at.max(range.end);
    }
    out.push_str(&text[at..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    const KEY: &str = "sk-pl/nted+0f83aQ==Zx91";

    #[rstest]
    #[case::whole("bad key sk-pl/nted+0f83aQ==Zx91.", "bad key ***.")]
    #[case::twice("sk-pl/nted+0f83aQ==Zx91 sk-pl/nted+0f83aQ==Zx91", "*** ***")]
    #[case::another_case("SK-PL/NTED+0F83AQ==ZX91", "***")]
    #[case::cut("your key is sk-pl/nted+0…", "your key is ***")]
    #[case::the_end_of_it("ends in 83aQ==Zx91", "ends in ***")]
    #[case::starred("Incorrect API key: sk-pl************Zx91. See", "Incorrect API key: ***. See")]
    #[case::dotted("key sk-...x91 is not known", "key *** is not known")]
    #[case::in_a_query("GET /?k=sk-pl%2Fnted%2B0f83aQ%3D%3DZx91&v=1", "GET /?k=***&v=1")]
    #[case::all_of_it_encoded("k=sk%2Dpl%2Fnted%2B0f83aQ%3D%3DZx91", "k=***")]
    #[case::a_query_in_lower_case("k=sk-pl%2fnted%2b0f83aq%3d%3dzx91", "k=***")]
    fn what_is_echoed_of_a_key_is_masked(#[case] words_in: &str, #[case] expect: &str) {
        assert_eq!(words(words_in, KEY), expect);
    }

    #[test]
    fn a_key_in_base_64_is_masked_wherever_it_begins() {
        for user in ["", "a", "ab", "abc", "user:", ":"] {
            for encoded in [
                STANDARD_NO_PAD.encode(format!("{user}{KEY}\n")),
                URL_SAFE_NO_PAD.encode(format!("{user}{KEY}\n")),
            ] {
                let masked = words(&format!("Basic {encoded} refused"), KEY);
                // What is left are digits that a neighbour shares.
                assert!(masked.contains(MASK) && masked.len() <= 30, "{user}: {masked}");
            }
        }
    }

    #[rstest]
    #[case("The model `small` does not exist. Ask again... or not.")]
    #[case("Too many requests: **slow down**")]
    #[case("sk- is how keys begin")]
    fn what_only_looks_like_a_key_stays(#[case] text: &str) {
        assert_eq!(words(text, KEY), text);
    }

    #[test]
    fn answers_lose_a_whole_key_and_keep_the_words_of_a_placeholder() {
        assert_eq!(answer(format!("It is {KEY}!"), KEY), "It is ***!");
        let kept = "I run on ollama, by sk-pl/nted+0".to_owned();
        assert_eq!(answer(kept.clone(), "ollama"), kept);
        assert_eq!(answer(kept.clone(), KEY), kept);
    }

    #[rstest]
    #[case("x")]
    #[case("EMPTY")]
    #[case("schlüssel")]
    fn keys_of_any_length_and_letters_are_masked(#[case] key: &str) {
        assert_eq!(words(&format!("[{key}]"), key), "[***]");
    }
}
