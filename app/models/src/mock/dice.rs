//! Dice that always fall the same way for the same words: numbers made from a hash.

use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::outcome::Sample;

const WORDS: f64 = 4_294_967_296.0;

/// An even number in `0..1` for the parts.
pub(super) fn roll(parts: &[&str]) -> f64 {
    f64::from(word(parts)) / WORDS
}

/// A number below `n` for the parts; 0 when `n` is 0.
pub(super) fn pick(parts: &[&str], n: usize) -> usize {
    usize::try_from(word(parts)).unwrap_or_default().checked_rem(n).unwrap_or_default()
}

/// Which draw is meant, as one word.
pub(super) fn sample_word(sample: &Sample) -> String {
    let fresh = sample.fresh.as_deref().unwrap_or_default();
    format!("{}/{}/{}/{fresh}", sample.seed, sample.epoch, sample.repeat)
}

fn word(parts: &[&str]) -> u32 {
    let hash = Sha256Hex::of(parts.join("\u{1f}"));
    u32::from_str_radix(&hash.as_str()[..8], 16).unwrap_or_default()
}
