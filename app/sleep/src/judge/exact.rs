//! Answers that a reply has to contain.

use super::{Judged, share};
use skillopt_domain::score::Score;
use std::collections::BTreeSet;

/// Lower case, anything but letters, digits and `_` as a space, single spaces.
fn normalise(text: &str) -> String {
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The normalised reply contains the normalised reference. An empty reference is contained in nothing.
#[must_use]
pub fn contains_exactly(reference: &str, reply: &str) -> bool {
    let reference = normalise(reference);
    !reference.is_empty() && normalise(reply).contains(&reference)
}

/// Share of the reference's different words of more than 2 characters that occur in the reply, `0..=1`. A reference
/// without such words counts as a whole.
#[must_use]
pub fn keyword_share(reference: &str, reply: &str) -> Score {
    let (words, reply_words) = (normalise(reference), normalise(reply));
    let keywords: BTreeSet<&str> =
        words.split(' ').filter(|word| word.chars().count() > 2).collect();
    if keywords.is_empty() {
        return Score::from_bool(contains_exactly(reference, reply));
    }
    let n_found = keywords.iter().filter(|word| reply_words.contains(**word)).count();
    share(n_found, keywords.len())
}

/// Hard by the whole, soft by keywords.
pub(super) fn score(reference: &str, reply: &str) -> Judged {
    let passed = contains_exactly(reference, reply);
    let rationale = if passed { "the answer is there" } else { "the expected answer is missing" };
    Judged {
        hard: Score::from_bool(passed),
        soft: if passed { Score::ONE } else { keyword_share(reference, reply) },
        rationale: rationale.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("arXiv:1706.03762", "See <answer>ARXIV 1706.03762</answer>.", true)]
    #[case("Zürich", "in ZÜRICH!", true)]
    #[case("Bern", "in Zürich", false)]
    #[case("", "anything", false)]
    #[case("...", "anything", false)]
    fn the_reference_is_found_whatever_its_case_and_marks(
        #[case] reference: &str,
        #[case] reply: &str,
        #[case] expect: bool,
    ) {
        assert_eq!(contains_exactly(reference, reply), expect);
    }

    #[rstest]
    #[case("fix the login bug", "the login works", 2.0 / 4.0)]
    #[case("fix fix fix now", "fix it", 0.5)]
    #[case("42", "it is 42", 1.0)]
    #[case("42", "it is 41", 0.0)]
    fn keywords_count_once_each(#[case] reference: &str, #[case] reply: &str, #[case] expect: f64) {
        assert!((keyword_share(reference, reply).get() - expect).abs() < 1e-12);
    }
}
