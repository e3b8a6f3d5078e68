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
    /// `None` when it is not known what the provider takes for writing to its cache.
    cache_write: Option<u128>,
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
        Some(Self { read, cached, cache_write: None, write: scaled(write?)? })
    }

    /// The same with dollars for a million tokens that the provider writes to its cache, where that is known. `None` when
    /// it is no price.
    #[must_use]
    pub fn with_cache_write(self, dollars: Option<f64>) -> Option<Self> {
        let Some(dollars) = dollars else { return Some(self) };
        Some(Self { cache_write: Some(scaled(dollars)?), ..self })
    }

    /// What so many tokens cost, in millionths of a dollar, rounded up, so that a cap is never passed by rounding. `None`
    /// when some were written to a cache and nobody says what that costs.
    #[must_use]
    pub fn cost_usd_micros(self, usage: Usage) -> Option<u64> {
        let created = usage.cache_write_tokens.unwrap_or_default().min(usage.prompt_tokens);
        let cache_write = if created == 0 { self.read } else { self.cache_write? };
        let others = usage.prompt_tokens - created;
        let cached = usage.cached_prompt_tokens.unwrap_or_default().min(others);
        let parts = [
            (others - cached, self.read),
            (cached, self.cached),
            (created, cache_write),
            (usage.completion_tokens, self.write),
        ];
        Some(total(parts))
    }

    /// The most that so many tokens can cost: each costs what the dearest kind does. A price of writing to a cache counts
    /// where it is known.
    #[must_use]
    pub fn most_usd_micros(self, usage: Usage) -> u64 {
        let dearest = self.read.max(self.cached).max(self.cache_write.unwrap_or_default());
        total([(usage.prompt_tokens, dearest), (usage.completion_tokens, self.write)])
    }

    /// What so many tokens cost without any cache, in millionths of a dollar, rounded up.
    #[must_use]
    pub fn plain_usd_micros(self, prompt_tokens: u64, completion_tokens: u64) -> u64 {
        total([(prompt_tokens, self.read), (completion_tokens, self.write)])
    }
}

/// Tokens at prices, in millionths of a dollar, rounded up.
fn total<const N: usize>(parts: [(u64, u128); N]) -> u64 {
    let exact = parts.into_iter().fold(0u128, |sum, (tokens, price)| {
        sum.saturating_add(u128::from(tokens).saturating_mul(price))
    });
    u64::try_from(exact.div_ceil(SCALE)).unwrap_or(u64::MAX)
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
        let price = Price::new(Some(read), cached, Some(write)).expect("a price");
        price.cost_usd_micros(usage).expect("a known cost")
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
    fn c47_what_is_written_to_a_cache_costs_its_own_price_or_nobody_knows() {
        let price = Price::new(Some(2.0), Some(0.5), Some(10.0)).expect("a price");
        let created = Usage {
            cached_prompt_tokens: Some(600),
            cache_write_tokens: Some(300),
            ..usage(1_000, 10)
        };
        assert_eq!(price.cost_usd_micros(created), None, "unknown, not zero");
        let none = Usage { cache_write_tokens: Some(0), ..created };
        assert_eq!(price.cost_usd_micros(none), Some(2 * 400 + 300 + 100));
        let priced = price.with_cache_write(Some(2.5)).expect("a price");
        assert_eq!(priced.cost_usd_micros(created), Some(2 * 100 + 300 + 750 + 100));
        assert_eq!(priced.most_usd_micros(created), 2_600);
        assert_eq!(price.with_cache_write(Some(-1.0)), None);
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
