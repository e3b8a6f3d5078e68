//! Prices of models that no config names, from the price table. What is taken stands in the config of the run from then on,
//! with the row that it came from, so that later changes of the table change nothing that was counted.

use super::resolve::{Resolved, ResolvedValue};
use super::typed::ModelRole;
use super::value::{Origin, Place, Value};
use crate::price::{PriceTable, host_of};
use crate::spend::Role;

/// What stands behind `model.<role>_`.
const PRICES: [&str; 4] = ["price_in", "price_cached_in", "price_cache_write", "price_out"];

impl Resolved {
    /// The same with prices from the table for each role that has none of its own, in the place of those of an earlier
    /// table. A config that names one of a role's prices is taken as it is.
    #[must_use]
    pub fn with_prices(&self, table: &PriceTable) -> Self {
        let mut priced = self.clone();
        for role in Role::ALL {
            let model = ModelRole::of(self, role);
            if has_own_price(self, role) {
                continue;
            }
            for path in PRICES.map(|key| format!("model.{role}_{key}")) {
                if priced.place(&path).is_some_and(|place| place.origin == Origin::Prices) {
                    priced.put(&path, Value::Null, Place::default_value());
                }
            }
            if model.is_simulated() {
                continue;
            }
            let Some(row) = table.find(&model.model, host_of(&model.base_url)) else { continue };
            let name = format!(
                "price table, version {}: {}, as of {}",
                table.version, row.model, row.as_of
            );
            let prices = [Some(row.input), row.cached_input, row.cache_write, Some(row.output)];
            for (key, price) in PRICES.into_iter().zip(prices) {
                let Some(price) = price else { continue };
                let place = Place { origin: Origin::Prices, name: name.clone(), line: None };
                priced.put(&format!("model.{role}_{key}"), Value::Float(price), place);
            }
        }
        priced
    }

    /// The same with the prices that `run` took from the table, where this config names none and has the same model:
    /// a run that goes on keeps its prices.
    #[must_use]
    pub fn with_prices_of(&self, run: &Self) -> Self {
        let mut priced = self.clone();
        for role in Role::ALL {
            let (model, before) = (ModelRole::of(self, role), ModelRole::of(run, role));
            if has_own_price(self, role)
                || (&model.model, &model.base_url) != (&before.model, &before.base_url)
            {
                continue;
            }
            for path in PRICES.map(|key| format!("model.{role}_{key}")) {
                if let Some(place) = run.place(&path).filter(|place| place.origin == Origin::Prices)
                {
                    priced.put(&path, run.get(&path).clone(), place.clone());
                }
            }
        }
        priced
    }

    fn put(&mut self, path: &str, value: Value, place: Place) {
        match self.values.iter_mut().find(|row| row.path == path) {
            Some(row) => (row.value, row.place) = (value, place),
            None => self.values.push(ResolvedValue { path: path.to_owned(), value, place }),
        }
    }
}

/// The config itself names a price of the role.
fn has_own_price(resolved: &Resolved, role: Role) -> bool {
    PRICES.iter().any(|key| {
        let path = format!("model.{role}_{key}");
        let is_own = resolved.place(&path).is_some_and(|place| place.origin != Origin::Prices);
        is_own && *resolved.get(&path) != Value::Null
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Setting, resolve};
    use crate::price::PriceRow;

    fn resolved(settings: &[(&str, &str)]) -> Resolved {
        let base = [
            ("model.backend", "openai_compatible"),
            ("model.target", "small-1"),
            ("model.optimizer", "big-1"),
            ("model.openai_compatible_base_url", "http://api.example/v1"),
        ];
        let setting = |(path, value): &(&str, &str)| Setting {
            path: (*path).to_owned(),
            value: Value::Text((*value).to_owned()),
            place: Place::flag(*path),
        };
        resolve(&base.iter().chain(settings).map(setting).collect::<Vec<_>>()).expect("valid")
    }

    fn table(input: f64) -> PriceTable {
        let row = |model: &str, cached_input| PriceRow {
            model: model.into(),
            input,
            cached_input,
            cache_write: cached_input.map(|_| 2.5),
            output: 4.0,
            as_of: "2026-11-30".into(),
            ..PriceRow::default()
        };
        PriceTable {
            version: 3,
            rows: vec![row("small*", Some(0.5)), row("huge", None)],
            ..PriceTable::default()
        }
    }

    #[test]
    fn the_table_prices_what_the_config_does_not_and_says_so() {
        let priced = resolved(&[]).with_prices(&table(2.0));
        let target = ModelRole::of(&priced, Role::Target);
        assert_eq!(
            (target.price_in, target.price_cached_in, target.price_out),
            (Some(2.0), Some(0.5), Some(4.0))
        );
        assert_eq!(target.price_cache_write, Some(2.5));
        let place = priced.place("model.target_price_in").expect("a place");
        assert_eq!(place.origin, Origin::Prices);
        assert!(place.name.contains("version 3: small*, as of 2026-11-30"), "{}", place.name);
        assert_eq!(
            ModelRole::of(&priced, Role::Optimizer).price(),
            None,
            "no row fits: unknown, not zero"
        );
    }

    #[test]
    fn a_price_in_the_config_wins_as_a_whole() {
        let own = resolved(&[("model.target_price_in", "9"), ("model.target_price_out", "9")]);
        let target = ModelRole::of(&own.with_prices(&table(2.0)), Role::Target);
        assert_eq!((target.price_in, target.price_cached_in), (Some(9.0), None));
    }

    #[test]
    fn a_run_that_goes_on_keeps_its_prices_unless_its_config_names_others() {
        let before = resolved(&[]).with_prices(&table(2.0));
        let same = resolved(&[]).with_prices(&table(7.0)).with_prices_of(&before);
        assert_eq!(ModelRole::of(&same, Role::Target).price_in, Some(2.0));
        let again = before.with_prices(&table(7.0));
        assert_eq!(
            ModelRole::of(&again, Role::Target).price_in,
            Some(7.0),
            "a new run has today's"
        );
        let own = resolved(&[("model.target_price_in", "9"), ("model.target_price_out", "9")]);
        assert_eq!(ModelRole::of(&own.with_prices_of(&before), Role::Target).price_in, Some(9.0));
        let other = resolved(&[("model.target", "small-2")]).with_prices_of(&before);
        assert_eq!(ModelRole::of(&other, Role::Target).price(), None, "the price of another model");
    }
}
