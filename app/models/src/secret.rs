//! A key that cannot be printed by accident. Where keys come from is the host's business.

mod mask;

use skillopt_domain::hash::Sha256Hex;
use std::fmt;

/// A key. Its `Debug` and `Display` print `***`.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Takes a key without the white space around it; `None` when nothing is left.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        (!text.is_empty()).then(|| Self(text.to_owned()))
    }

    /// The key itself, for the one header that carries it.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }

    /// Tells keys apart without holding them: the beginning of a hash.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        Sha256Hex::of(&self.0).short().to_owned()
    }

    /// Words that came from outside, such as an error, without the key: neither whole, nor in part, nor encoded.
    pub(crate) fn mask(&self, words: &str) -> String {
        mask::words(words, &self.0)
    }

    /// A model's answer without the key. Answers are kept as they are, so only what is the whole key is hidden.
    pub(crate) fn mask_answer(&self, answer: String) -> String {
        mask::answer(answer, &self.0)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printing_a_secret_shows_nothing_of_it() {
        let secret = Secret::new("  sk-live-1234\n").unwrap();
        assert_eq!(format!("{secret} {secret:?}"), "*** ***");
        assert_eq!(secret.expose(), "sk-live-1234");
        assert_eq!(secret.mask("bad key sk-live-1234."), "bad key ***.");
    }

    #[test]
    fn a_blank_key_is_no_key() {
        assert_eq!(Secret::new(" \n"), None);
    }
}
