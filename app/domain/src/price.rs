//! What a model charges, and what a call costs by that, in whole millionths of a dollar. An unknown price stays unknown.

mod table;

use crate::spend::Usage;
pub use table::{
    MOST_DOLLARS, MOST_ROWS, PriceProblem, PriceRow, PriceTable, host_of, price_problems,
};

/// Prices of one model, in billionths of a millionth of a dollar for a token.
///
/// A dollar for a million tokens is a millionth of a dollar for one token, so the factor of the
/// configuration is already in the unit of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Price {
    read: u128,
    cached: u128,
    write: u128,
}

const SCALE: u128 = 1_000_000_000;

const HIGHEST_PRICE: f64 = 1e9;

impl Price {
    /// From dollars for a million tokens: read, read from the provider's cache, written. Cached tokens without a price of
    /// their own cost what others do. `None` when one of the others is missing or no price.
    #[must_use]
    pub fn new(read: Option<f64>, cached: Option<f64>, write: Option<f64>) -> Option<Self> {
        let read = scaled(read?)?;
        let cached = cached.map_or(Some(read), scaled)?;
        Some(Self { read, cached, write: scaled(write?)? })
    }

    /// What so many tokens cost, in millionths of a dollar, rounded up, so that a cap is never passed by rounding.
    #[must_use]
    pub fn cost_usd_micros(self, usage: Usage) -> u64 {
        let cached = usage.cached_prompt_tokens.unwrap_or_default().min(usage.prompt_tokens);
        let part = |tokens: u64, price: u128| u128::from(tokens).saturating_mul(price);
        let exact = part(usage.prompt_tokens - cached, self.read)
            .saturating_add(part(cached, self.cached))
            .saturating_add(part(usage.completion_tokens, self.write));
        u64::try_from(exact.div_ceil(SCALE)).unwrap_or(u64::MAX)
    }

    /// The most that so many tokens can cost: none of them is assumed to be cached at a lower price.
    #[must_use]
    pub fn most_usd_micros(self, usage: Usage) -> u64 {
        Self { read: self.read.max(self.cached), cached: self.read.max(self.cached), ..self }
            .cost_usd_micros(usage)
    }
}

fn scaled(price: f64) -> Option<u128> {
    if !(0.0..=HIGHEST_PRICE).contains(&price) {
        return None;
    }
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked above to lie between 0 and 1e18"
    )]
    Some((price * 1e9).round() as u128)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(read: f64, cached: Option<f64>, write: f64, usage: Usage) -> u64 {
        Price::new(Some(read), cached, Some(write)).expect("a price").cost_usd_micros(usage)
    }

    fn usage(read: u64, written: u64) -> Usage {
        Usage::new(read, written)
    }

    #[test]
    fn c47_cost_is_exact_and_rounded_up() {
        assert_eq!(cost(0.15, None, 0.6, usage(1_000, 1)), 151);
        assert_eq!(cost(3.0, None, 15.0, usage(1_000, 1)), 3_015);
    }

    #[test]
    fn c47_a_free_model_costs_zero_and_that_is_known() {
        assert_eq!(cost(0.0, None, 0.0, usage(1_000, 1)), 0);
    }

    #[test]
    fn cached_tokens_have_a_price_of_their_own_where_one_is_known() {
        let read = Usage { cached_prompt_tokens: Some(800), ..usage(1_000, 0) };
        assert_eq!(cost(2.0, Some(0.5), 0.0, read), 2 * 200 + 400);
        assert_eq!(cost(2.0, None, 0.0, read), 2_000, "without one they cost what others do");
        assert_eq!(cost(2.0, Some(0.5), 0.0, usage(1_000, 0)), 2_000, "not told is not cached");
        let worst = Price::new(Some(2.0), Some(0.5), Some(0.0)).expect("a price");
        assert_eq!(worst.most_usd_micros(read), 2_000);
    }

    #[test]
    fn c47_a_price_that_is_no_price_is_unknown() {
        for bad in [-1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(Price::new(Some(bad), None, Some(1.0)), None);
            assert_eq!(Price::new(Some(1.0), Some(bad), Some(1.0)), None);
        }
        assert_eq!(Price::new(Some(1.0), None, None), None);
    }
}
