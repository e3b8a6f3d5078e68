//! The price table that a user keeps: what models charge, from when and by whose word. A run takes its prices from it once,
//! when it is made; later changes do not change what was counted.

use super::Price;
use serde::{Deserialize, Serialize};

/// The highest price that a row may hold, in dollars for a million tokens. The limit of the config's own prices.
pub const MOST_DOLLARS: f64 = 100_000.0;
/// The most rows of a table.
pub const MOST_ROWS: usize = 1000;
const MOST_CHARS: usize = 300;

/// What one model, or all models with the same beginning of their names, charge.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PriceRow {
    /// Name of the model; with `*` at its end all names that begin so.
    pub model: String,
    /// Host of the endpoint, such as `api.example.com`; empty for any.
    #[serde(default)]
    pub host: String,
    /// US dollars for a million tokens read.
    pub input: f64,
    /// US dollars for a million tokens that the provider had cached; those of `input` when `None`.
    #[serde(default)]
    pub cached_input: Option<f64>,
    /// US dollars for a million tokens that the provider writes to its cache; not known when `None`, and then neither is
    /// what a call costs that writes some.
    #[serde(default)]
    pub cache_write: Option<f64>,
    /// US dollars for a million tokens written, those of reasoning among them.
    pub output: f64,
    /// The day from which on the price is known to hold, as `2026-11-30`.
    pub as_of: String,
    /// Where the price is from, for people.
    #[serde(default)]
    pub source: String,
}

/// All rows, with a number that rises with each change.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PriceTable {
    /// 0 before the first change.
    pub version: u64,
    /// When it was changed last, in milliseconds since 1970-01-01 UTC; `None` before that.
    pub changed_at_ms: Option<u64>,
    /// By whom.
    #[serde(default)]
    pub changed_by: String,
    /// In the order of the user.
    pub rows: Vec<PriceRow>,
}

/// A row that cannot be taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PriceProblem {
    /// The row, from 0.
    pub row: usize,
    /// The field, by its name in JSON.
    pub field: String,
    /// What is wrong, and what to do.
    pub message: String,
}

impl std::fmt::Display for PriceProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "row {}, {}: {}", self.row + 1, self.field, self.message)
    }
}

impl PriceRow {
    /// The prices in the form in which calls are counted.
    #[must_use]
    pub fn price(&self) -> Option<Price> {
        Price::new(Some(self.input), self.cached_input, Some(self.output))?
            .with_cache_write(self.cache_write)
    }

    /// How well the row fits a model: `None` for not at all. A host counts most, then a whole name, then a longer beginning.
    fn fit(&self, model: &str, host: &str) -> Option<(bool, bool, usize)> {
        let has_host = !self.host.is_empty();
        if has_host && !self.host.eq_ignore_ascii_case(host) {
            return None;
        }
        let (beginning, whole) = match self.model.strip_suffix('*') {
            Some(beginning) => (beginning, false),
            None => (self.model.as_str(), true),
        };
        let fits = if whole { model == beginning } else { model.starts_with(beginning) };
        fits.then_some((has_host, whole, beginning.len()))
    }

    fn problems(&self) -> Vec<(&'static str, String)> {
        let mut all = Vec::new();
        let mut add = |field: &'static str, message: &str| all.push((field, message.to_owned()));
        if self.model.trim().is_empty() {
            add("model", "name the model, such as gpt-x or gpt-*");
        } else if self.model.trim() != self.model {
            add("model", "take off the spaces around the name");
        } else if self.model.trim_end_matches('*').contains('*') || self.model.ends_with("**") {
            add("model", "a * may stand at the end only, once");
        }
        if self.host.contains(['/', ' ', '@', '?']) {
            add(
                "host",
                "the name of a host alone, such as api.example.com, without https:// and path",
            );
        }
        let range = format!("a number of dollars from 0 to {MOST_DOLLARS:.0}");
        for (field, price) in [
            ("input", Some(self.input)),
            ("cached_input", self.cached_input),
            ("cache_write", self.cache_write),
            ("output", Some(self.output)),
        ] {
            if price.is_some_and(|price| !(0.0..=MOST_DOLLARS).contains(&price)) {
                add(field, &range);
            }
        }
        if !is_day(&self.as_of) {
            add("as_of", "a day, such as 2026-11-30");
        }
        for (field, text) in
            [("model", &self.model), ("host", &self.host), ("source", &self.source)]
        {
            if text.chars().count() > MOST_CHARS || text.chars().any(char::is_control) {
                add(field, "at most 300 characters, on one line");
            }
        }
        all
    }
}

impl PriceTable {
    /// The row that fits a model best; of equal ones the first.
    #[must_use]
    pub fn find(&self, model: &str, host: &str) -> Option<&PriceRow> {
        let fits = self.rows.iter().filter_map(|row| Some((row.fit(model, host)?, row)));
        fits.fold(None, |best: Option<((bool, bool, usize), &PriceRow)>, one| match best {
            Some(known) if known.0 >= one.0 => Some(known),
            _ => Some(one),
        })
        .map(|(_, row)| row)
    }
}

/// Everything that is wrong with rows; empty when they may be kept.
#[must_use]
pub fn price_problems(rows: &[PriceRow]) -> Vec<PriceProblem> {
    let mut all = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        let problem = |(field, message): (&str, String)| PriceProblem {
            row: at,
            field: field.to_owned(),
            message,
        };
        all.extend(row.problems().into_iter().map(problem));
        let is_same = |other: &PriceRow| {
            other.model == row.model && other.host.eq_ignore_ascii_case(&row.host)
        };
        if let Some(first) = rows[..at].iter().position(is_same) {
            all.push(problem((
                "model",
                format!("row {} is for the same model and host; keep one of them", first + 1),
            )));
        }
    }
    if rows.len() > MOST_ROWS {
        all.push(PriceProblem {
            row: MOST_ROWS,
            field: "model".to_owned(),
            message: format!("at most {MOST_ROWS} rows"),
        });
    }
    all
}

/// `2026-11-30`.
fn is_day(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts.as_slice() else { return false };
    let number = |part: &str, digits: usize| {
        (part.len() == digits && part.bytes().all(|b| b.is_ascii_digit()))
            .then(|| part.parse::<u32>().ok())
            .flatten()
    };
    let (Some(year), Some(month), Some(day)) = (number(year, 4), number(month, 2), number(day, 2))
    else {
        return false;
    };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    (1..=days).contains(&day)
}

/// The host of an address such as `https://api.example.com:8080/v1`; empty when there is none.
#[must_use]
pub fn host_of(address: &str) -> &str {
    let rest = address.split_once("://").map_or("", |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let named = authority.rsplit_once('@').map_or(authority, |(_, named)| named);
    match named.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|b| b.is_ascii_digit()) => host,
        _ => named,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(model: &str, host: &str, input: f64) -> PriceRow {
        let as_of = "2026-11-30".to_owned();
        PriceRow {
            model: model.into(),
            host: host.into(),
            input,
            output: 1.0,
            as_of,
            ..PriceRow::default()
        }
    }

    fn found(model: &str, host: &str) -> Option<f64> {
        let rows = vec![
            row("big*", "", 1.0),
            row("big-2*", "", 2.0),
            row("big-2-mini", "", 3.0),
            row("*", "local.example", 0.0),
        ];
        PriceTable { rows, ..PriceTable::default() }.find(model, host).map(|row| row.input)
    }

    #[test]
    fn the_row_that_says_most_wins() {
        assert_eq!(found("big-1", ""), Some(1.0));
        assert_eq!(found("big-2-max", "api.example"), Some(2.0));
        assert_eq!(found("big-2-mini", "api.example"), Some(3.0));
        assert_eq!(found("big-2-mini-x", ""), Some(2.0), "a whole name is no beginning");
        assert_eq!(found("big-2-mini", "LOCAL.example"), Some(0.0));
        assert_eq!(found("other", "api.example"), None, "an unknown price is no zero");
    }

    #[test]
    fn what_is_wrong_with_a_row_is_said_with_its_field() {
        let bad = PriceRow {
            model: "a*b".into(),
            host: "https://x".into(),
            input: -1.0,
            cached_input: Some(f64::NAN),
            cache_write: Some(-2.0),
            output: 1e9,
            as_of: "2026-02-30".into(),
            source: "two\nlines".into(),
        };
        let fields: Vec<String> = price_problems(&[bad]).into_iter().map(|one| one.field).collect();
        assert_eq!(
            fields,
            ["model", "host", "input", "cached_input", "cache_write", "output", "as_of", "source"]
        );
        assert!(
            price_problems(&[row("a", "", 0.0), row("a*", "", 0.0), row("a", "h", 0.0)]).is_empty()
        );
        let twice = price_problems(&[row("a", "h", 0.0), row("a", "H", 1.0)]);
        assert_eq!((twice.len(), twice[0].row), (1, 1));
        assert!(twice[0].to_string().starts_with("row 2, model: row 1 is for the same model"));
    }

    #[test]
    fn days_are_days() {
        assert!(is_day("2024-02-29") && is_day("2026-11-30"));
        for no in
            ["2026-02-29", "2026-11-31", "2026-13-01", "26-1-1", "2026/11/30", "", "+026-01-01"]
        {
            assert!(!is_day(no), "{no}");
        }
    }

    #[test]
    fn the_host_of_an_address_has_no_port_and_no_path() {
        assert_eq!(host_of("https://api.example.com/v1"), "api.example.com");
        assert_eq!(host_of("http://user@127.0.0.1:8080"), "127.0.0.1");
        assert_eq!((host_of(""), host_of("api.example.com")), ("", ""));
        assert_eq!(host_of("http://[::1]:80/x"), "[::1]");
    }
}
