//! What a call costs, in whole millionths of a dollar. An unknown price stays unknown.

use skillopt_domain::config::ModelRole;
use skillopt_domain::spend::Usage;

/// Prices of one model.
///
/// A dollar for a million tokens is a millionth of a dollar for one token, so the factor of the
/// configuration is already in the unit of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Prices {
    /// Billionths of a millionth of a dollar for a token.
    read: u128,
    write: u128,
}

const SCALE: u128 = 1_000_000_000;

impl Prices {
    /// Both prices must be known.
    pub(crate) fn of(config: &ModelRole) -> Option<Self> {
        Some(Self { read: scaled(config.price_in?)?, write: scaled(config.price_out?)? })
    }

    /// Rounded up, so that a cap is never passed by rounding.
    pub(crate) fn cost_usd_micros(self, usage: Usage) -> u64 {
        let exact = u128::from(usage.prompt_tokens)
            .saturating_mul(self.read)
            .saturating_add(u128::from(usage.completion_tokens).saturating_mul(self.write));
        u64::try_from(exact.div_ceil(SCALE)).unwrap_or(u64::MAX)
    }
}

fn scaled(price: f64) -> Option<u128> {
    const HIGHEST: f64 = 1e9;
    if !(0.0..=HIGHEST).contains(&price) {
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

    fn prices(read: f64, write: f64) -> Prices {
        Prices { read: scaled(read).unwrap(), write: scaled(write).unwrap() }
    }

    #[test]
    fn c47_cost_is_exact_and_rounded_up() {
        let usage = Usage::new(1_000, 1);
        assert_eq!(prices(0.15, 0.6).cost_usd_micros(usage), 151);
        assert_eq!(prices(3.0, 15.0).cost_usd_micros(usage), 3_015);
    }

    #[test]
    fn c47_a_free_model_costs_zero_and_that_is_known() {
        let usage = Usage::new(1_000, 1);
        assert_eq!(prices(0.0, 0.0).cost_usd_micros(usage), 0);
    }

    #[test]
    fn c47_a_price_that_is_no_price_is_unknown() {
        assert_eq!(scaled(-1.0), None);
        assert_eq!(scaled(f64::NAN), None);
        assert_eq!(scaled(f64::INFINITY), None);
    }
}
