//! A reward of several parts: how good, how many tokens, how long. Pure.

/// Tokens at which the share of tokens is worth nothing.
const TOKENS_REF: f64 = 2000.0;
/// Milliseconds at which the share of time is worth nothing.
const LATENCY_REF_MS: f64 = 15_000.0;

/// What the parts weigh. Only their proportions count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RewardWeights {
    /// How good the answer is.
    pub accuracy: f64,
    /// How few tokens it took.
    pub tokens: f64,
    /// How soon it came.
    pub latency: f64,
}

impl Default for RewardWeights {
    /// Accuracy alone.
    fn default() -> Self {
        Self { accuracy: 1.0, tokens: 0.0, latency: 0.0 }
    }
}

/// The weighted mean of the parts, `0..=1`. `accuracy` is `0..=1`. `None` when a part that weighs something is unknown,
/// or when nothing weighs anything.
#[must_use]
pub fn reward(
    accuracy: f64,
    tokens: Option<f64>,
    latency_ms: Option<f64>,
    weights: &RewardWeights,
) -> Option<f64> {
    let cheapness =
        |used: Option<f64>, reference: f64| used.map(|used| (1.0 - used / reference).max(0.0));
    let parts = [
        (weights.accuracy, Some(accuracy)),
        (weights.tokens, cheapness(tokens, TOKENS_REF)),
        (weights.latency, cheapness(latency_ms, LATENCY_REF_MS)),
    ];
    let (mut sum, mut total) = (0.0, 0.0);
    for (weight, value) in parts.into_iter().filter(|(weight, _)| *weight > 0.0) {
        sum += weight * value?;
        total += weight;
    }
    (total > 0.0).then(|| sum / total)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case((1.0, 0.0, 0.0), None, Some(0.5))]
    #[case((1.0, 1.0, 0.0), Some(1000.0), Some(0.5))]
    #[case((1.0, 1.0, 0.0), Some(9000.0), Some(0.25))]
    #[case((1.0, 1.0, 0.0), None, None)]
    #[case((0.0, 0.0, 0.0), None, None)]
    #[case((1.0, 0.0, 3.0), None, Some((0.5 + 3.0 * 0.8) / 4.0))]
    fn parts_count_by_their_weights_and_unknown_is_not_free(
        #[case] (accuracy, tokens, latency): (f64, f64, f64),
        #[case] used: Option<f64>,
        #[case] expect: Option<f64>,
    ) {
        let weights = RewardWeights { accuracy, tokens, latency };
        let got = reward(0.5, used, Some(3000.0), &weights);
        assert_eq!(got.is_some(), expect.is_some());
        assert!(
            got.zip(expect).is_none_or(|(got, expect)| (got - expect).abs() < 1e-12),
            "{got:?}"
        );
    }
}
