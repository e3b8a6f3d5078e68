//! How many of a hundred validate and test.

use crate::task::Split;

/// Shares of validation and test, checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fractions {
    // Invariant: both are 0..=100. Rounded, their sum may be 100 although the shares' sum is below 1.
    val_percent: u32,
    test_percent: u32,
}

/// The shares cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FractionsError {
    /// One is not in range.
    #[error("{name} must be a number from 0 to 1, got {value}")]
    OutOfRange {
        /// `val_fraction` or `test_fraction`.
        name: &'static str,
        /// What it was.
        value: f64,
    },
    /// Nothing is left to train on.
    #[error(
        "val_fraction and test_fraction must leave something to train on, but their sum is {0}"
    )]
    NothingLeft(f64),
}

impl Fractions {
    /// Checks both shares.
    ///
    /// # Errors
    /// [`FractionsError`] when one is not in `0..=1` or their sum is 1 or more.
    pub fn try_new(val_fraction: f64, test_fraction: f64) -> Result<Self, FractionsError> {
        let val_percent = percent("val_fraction", val_fraction)?;
        let test_percent = percent("test_fraction", test_fraction)?;
        let sum = val_fraction + test_fraction;
        if sum >= 1.0 {
            return Err(FractionsError::NothingLeft(sum));
        }
        Ok(Self { val_percent, test_percent })
    }

    /// Where a bucket in `0..=99` stands.
    #[must_use]
    pub fn split_of(self, bucket: u32) -> Split {
        if bucket < self.val_percent {
            Split::Val
        } else if bucket < self.val_percent + self.test_percent {
            Split::Test
        } else {
            Split::Train
        }
    }
}

impl Default for Fractions {
    /// 34 of 100 validate, none test.
    fn default() -> Self {
        Self { val_percent: 34, test_percent: 0 }
    }
}

/// Rounded to the next whole percent; halves go to the even one, as in the reference system.
fn percent(name: &'static str, value: f64) -> Result<u32, FractionsError> {
    if !(0.0..=1.0).contains(&value) {
        return Err(FractionsError::OutOfRange { name, value });
    }
    let rounded = (value * 100.0).round_ties_even();
    Ok((0..=100).find(|whole| f64::from(*whole) >= rounded).unwrap_or(100))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case(0.34, 0.0, 34, 0)]
    #[case(0.125, 0.375, 12, 38)]
    #[case(0.0, 0.0, 0, 0)]
    #[case(0.999, 0.0, 100, 0)]
    fn shares_become_whole_percents(
        #[case] val: f64,
        #[case] test: f64,
        #[case] val_percent: u32,
        #[case] test_percent: u32,
    ) {
        let expected = Fractions { val_percent, test_percent };
        assert_eq!(Fractions::try_new(val, test), Ok(expected));
    }

    #[rstest]
    #[case(-0.1, 0.0)]
    #[case(0.0, 1.5)]
    #[case(f64::INFINITY, 0.0)]
    #[case(0.5, 0.5)]
    #[case(1.0, 0.0)]
    fn shares_that_cannot_be_used_are_refused(#[case] val: f64, #[case] test: f64) {
        assert!(Fractions::try_new(val, test).is_err());
    }

    #[test]
    fn a_share_that_is_no_number_is_refused() {
        assert!(Fractions::try_new(f64::NAN, 0.0).is_err());
    }
}
