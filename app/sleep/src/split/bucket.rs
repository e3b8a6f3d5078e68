//! The hash that decides: the same number as in the reference system, so that splits agree for a seed and an id.

use sha2::{Digest, Sha256};

/// Where an id stands. Ordered by the whole hash as one number, then by id.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bucket {
    /// The hash, most significant byte first, so that comparing bytes compares numbers.
    hash: [u8; 32],
    id: String,
}

/// Hashes the decimal `seed` followed by `id`.
#[must_use]
pub fn bucket(seed: i64, id: &str) -> Bucket {
    Bucket { hash: Sha256::digest(format!("{seed}{id}")).into(), id: id.to_owned() }
}

impl Bucket {
    /// The hash as a number of 256 bits, modulo 100: `0..=99`.
    #[must_use]
    pub fn percent(&self) -> u32 {
        self.hash.iter().fold(0, |rest, byte| (rest * 256 + u32::from(*byte)) % 100)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    // Expected numbers: int(hashlib.sha256((str(seed) + id).encode()).hexdigest(), 16) % 100.
    #[rstest]
    #[case(42, "task_0", 97)]
    #[case(42, "task_1", 99)]
    #[case(42, "task_2", 19)]
    #[case(0, "", 5)]
    #[case(-7, "llm_é中", 26)]
    #[case(42, "task_deadbeef0123", 83)]
    #[case(43, "task_0", 97)]
    fn buckets_are_those_of_the_reference_system(
        #[case] seed: i64,
        #[case] id: &str,
        #[case] percent: u32,
    ) {
        assert_eq!(bucket(seed, id).percent(), percent);
    }
}
