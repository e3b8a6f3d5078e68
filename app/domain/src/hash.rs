//! Content addresses. Everything that is cached, compared or deduplicated goes through these.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt;

/// A full SHA-256 in lower-case hex: 64 characters.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(value_type = String))]
pub struct Sha256Hex(String);

/// The text is not 64 lower-case hex digits.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected 64 lower-case hex digits")]
pub struct NotASha256;

impl Sha256Hex {
    /// Hashes bytes.
    #[must_use]
    pub fn of(bytes: impl AsRef<[u8]>) -> Self {
        Self(hex(&Sha256::digest(bytes.as_ref())))
    }

    /// Parses 64 lower-case hex digits.
    ///
    /// # Errors
    /// [`NotASha256`] for anything else.
    pub fn parse(text: &str) -> Result<Self, NotASha256> {
        let valid =
            text.len() == 64 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        if valid { Ok(Self(text.to_owned())) } else { Err(NotASha256) }
    }

    /// All 64 digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The first 16 digits: the `skill_hash` of Python run folders.
    #[must_use]
    pub fn short(&self) -> &str {
        &self.0[..16]
    }
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut out = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        out.push(char::from(DIGITS[usize::from(byte >> 4)]));
        out.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    out
}

impl fmt::Debug for Sha256Hex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Sha256Hex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for Sha256Hex {
    type Error = NotASha256;
    fn try_from(text: String) -> Result<Self, NotASha256> {
        Self::parse(&text)
    }
}

impl From<Sha256Hex> for String {
    fn from(hash: Sha256Hex) -> Self {
        hash.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hash_equals_the_published_vector_for_abc() {
        let hash = Sha256Hex::of("abc");
        assert_eq!(
            hash.as_str(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        assert_eq!(hash.short(), "ba7816bf8f01cfea");
    }

    #[test]
    fn parse_refuses_upper_case_and_short_text() {
        assert!(Sha256Hex::parse("AB").is_err());
        assert!(Sha256Hex::parse(&"A".repeat(64)).is_err());
    }
}
