//! When two texts say the same: letters and digits only, lower case.

use std::collections::BTreeSet;

/// The words of a text, lower case, without punctuation, separated by one space.
#[must_use]
pub fn normalised_words(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        if !out.is_empty() {
            out.push(' ');
        }
        out.extend(word.chars().flat_map(char::to_lowercase));
    }
    out
}

/// Share of words that two texts have in common, `0..=1`, whatever their order (Jaccard index).
#[must_use]
pub fn similarity(left: &str, right: &str) -> f64 {
    let (left, right) = (normalised_words(left), normalised_words(right));
    let left: BTreeSet<&str> = left.split_whitespace().collect();
    let right: BTreeSet<&str> = right.split_whitespace().collect();
    let all = left.union(&right).count();
    if all == 0 {
        return 0.0;
    }
    let common = u32::try_from(left.intersection(&right).count()).unwrap_or(u32::MAX);
    f64::from(common) / f64::from(u32::try_from(all).unwrap_or(u32::MAX))
}
