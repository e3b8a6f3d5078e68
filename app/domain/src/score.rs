//! Scores: finite, within 0..=1, and never without their n.

use crate::json::from_fields;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A finite number in `0.0..=1.0`.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(value_type = f64))]
pub struct Score(f64);

/// The number is not finite or not in `0..=1`.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("a score must be a finite number from 0 to 1, got {0}")]
pub struct ScoreOutOfRange(pub f64);

impl Score {
    /// The worst score.
    pub const ZERO: Self = Self(0.0);
    /// The best score.
    pub const ONE: Self = Self(1.0);

    /// Checks the range.
    ///
    /// # Errors
    /// [`ScoreOutOfRange`] for NaN, infinities and numbers outside `0..=1`.
    pub fn try_new(value: f64) -> Result<Self, ScoreOutOfRange> {
        if (0.0..=1.0).contains(&value) { Ok(Self(value)) } else { Err(ScoreOutOfRange(value)) }
    }

    /// One for true, zero for false.
    #[must_use]
    pub fn from_bool(passed: bool) -> Self {
        if passed { Self::ONE } else { Self::ZERO }
    }

    /// The number.
    #[must_use]
    pub fn get(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for Score {
    type Error = ScoreOutOfRange;
    fn try_from(value: f64) -> Result<Self, ScoreOutOfRange> {
        Self::try_new(value)
    }
}

impl From<Score> for f64 {
    fn from(score: Score) -> f64 {
        score.0
    }
}

/// Both measurements of one attempt: `hard` (did it pass?) and `soft` (how close was it?).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TaskScore {
    /// Pass or fail, as a number; a benchmark may give fractions.
    pub hard: Score,
    /// Partial credit.
    pub soft: Score,
}

/// Means over `n` scored tasks. There is no mean over zero tasks: use `Option<MeanScore>`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MeanScore {
    /// Mean of `hard`, 0..=1.
    pub hard: f64,
    /// Mean of `soft`, 0..=1.
    pub soft: f64,
    /// Number of scored tasks that the means rest on, at least 1.
    pub n: u32,
}

from_fields! { MeanScore { hard, soft, n } }

impl MeanScore {
    /// Means of all scores; `None` when there is none.
    #[must_use]
    pub fn of(scores: impl IntoIterator<Item = TaskScore>) -> Option<Self> {
        let (mut hard, mut soft, mut n) = (0.0, 0.0, 0u32);
        for score in scores {
            hard += score.hard.get();
            soft += score.soft.get();
            n += 1;
        }
        (n > 0).then(|| Self { hard: hard / f64::from(n), soft: soft / f64::from(n), n })
    }
}

/// Which number the gate compares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum GateMetric {
    /// The mean of `hard`.
    #[default]
    Hard,
    /// The mean of `soft`.
    Soft,
    /// `(1 - w) * hard + w * soft` with `w` = `evaluation.gate_mixed_weight`.
    Mixed,
}

impl GateMetric {
    /// Projects a pair on one number. `mixed_weight` is in `0..=1`.
    #[must_use]
    pub fn project(self, hard: f64, soft: f64, mixed_weight: f64) -> f64 {
        match self {
            Self::Hard => hard,
            Self::Soft => soft,
            Self::Mixed => (1.0 - mixed_weight) * hard + mixed_weight * soft,
        }
    }

    /// The name in configs: `hard`, `soft` or `mixed`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Hard => "hard",
            Self::Soft => "soft",
            Self::Mixed => "mixed",
        }
    }
}

impl fmt::Display for GateMetric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case(0.0, true)]
    #[case(1.0, true)]
    #[case(0.37, true)]
    #[case(-0.1, false)]
    #[case(1.0001, false)]
    #[case(f64::NAN, false)]
    #[case(f64::INFINITY, false)]
    fn score_is_finite_and_in_range(#[case] value: f64, #[case] ok: bool) {
        assert_eq!(Score::try_new(value).is_ok(), ok);
    }

    #[test]
    fn mean_of_nothing_is_missing_not_zero() {
        assert_eq!(MeanScore::of([]), None);
    }

    #[test]
    fn mixed_metric_weighs_both() {
        assert!((GateMetric::Mixed.project(1.0, 0.5, 0.25) - 0.875).abs() < 1e-12);
    }
}
