//! Versions of plugins, as folders are named after them.

use std::cmp::Ordering;

/// A version that can be compared: numbers by their value, a release above its previews.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginVersion {
    numbers: Vec<u64>,
    /// Empty for a release.
    preview: Vec<String>,
}

impl PluginVersion {
    /// Reads `1.10.2`, `v2`, `1.0.0-rc.1` or `1.0+build`; `None` when it does not start with a number.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.strip_prefix('v').unwrap_or(text);
        let text = text.split_once('+').map_or(text, |(version, _)| version);
        let (numbers, preview) = text.split_once('-').unwrap_or((text, ""));
        let numbers: Option<Vec<u64>> = numbers.split('.').map(|part| part.parse().ok()).collect();
        let preview = preview.split('.').filter(|part| !part.is_empty()).map(str::to_owned);
        Some(Self { numbers: numbers?, preview: preview.collect() })
    }
}

impl Ord for PluginVersion {
    fn cmp(&self, other: &Self) -> Ordering {
        let n = self.numbers.len().max(other.numbers.len());
        let number = |version: &Self, at: usize| version.numbers.get(at).copied().unwrap_or(0);
        let by_number = (0..n).map(|at| number(self, at).cmp(&number(other, at)));
        by_number
            .fold(Ordering::Equal, Ordering::then)
            .then_with(|| self.preview.is_empty().cmp(&other.preview.is_empty()))
            .then_with(|| compare_previews(&self.preview, &other.preview))
            // `1.0` and `1.0.0` are two folders: equal only when they are written alike.
            .then_with(|| self.numbers.len().cmp(&other.numbers.len()))
    }
}

impl PartialOrd for PluginVersion {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

fn compare_previews(left: &[String], right: &[String]) -> Ordering {
    for (left, right) in left.iter().zip(right) {
        let order = match (left.parse::<u64>(), right.parse::<u64>()) {
            (Ok(left), Ok(right)) => left.cmp(&right),
            (Ok(_), Err(_)) => Ordering::Less,
            (Err(_), Ok(_)) => Ordering::Greater,
            (Err(_), Err(_)) => left.cmp(right),
        };
        if order != Ordering::Equal {
            return order;
        }
    }
    left.len().cmp(&right.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("1.9.0", "1.10.0")]
    #[case("1.0.0-rc.1", "1.0.0")]
    #[case("1.0.0-rc.2", "1.0.0-rc.10")]
    #[case("1.0.0-alpha", "1.0.0-beta")]
    #[case("1.9", "v2")]
    #[case("1.0+b9", "1.0.1+b1")]
    fn the_right_one_is_newer(#[case] older: &str, #[case] newer: &str) {
        assert!(PluginVersion::parse(older) < PluginVersion::parse(newer));
    }

    #[rstest]
    #[case("skills")]
    #[case("")]
    #[case("latest")]
    #[case("1.x")]
    fn other_folders_are_no_versions(#[case] text: &str) {
        assert_eq!(PluginVersion::parse(text), None);
    }
}
