//! The table as it is being edited: texts until they are sent. Pure but for the signals that hold it.

use skillopt_domain::price::{PriceProblem, PriceRow, price_problems};

/// One row as the fields hold it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct DraftRow {
    /// Stays with the row while others come and go.
    pub(super) id: u32,
    pub(super) texts: [String; FIELDS.len()],
}

/// A column.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    /// Its name in the API.
    pub(super) name: &'static str,
    pub(super) label: &'static str,
    pub(super) about: &'static str,
    pub(super) is_number: bool,
}

const fn field(
    name: &'static str,
    label: &'static str,
    about: &'static str,
    is_number: bool,
) -> Field {
    Field { name, label, about, is_number }
}

/// The columns in their order.
pub(super) const FIELDS: [Field; 8] = [
    field("model", "Model", "A name, or a beginning with * at its end", false),
    field("host", "Host", "Only at this endpoint; empty for any", false),
    field("input", "In", "Dollars for a million tokens read", true),
    field(
        "cached_input",
        "Cached",
        "Dollars for a million tokens that the provider had cached; empty for the price in",
        true,
    ),
    field(
        "cache_write",
        "Into cache",
        "Dollars for a million tokens that the provider writes to its cache; empty for unknown",
        true,
    ),
    field("output", "Out", "Dollars for a million tokens written, reasoning included", true),
    field("as_of", "As of", "The day from which on the price is known to hold", false),
    field("source", "Source", "Where the price is from", false),
];

impl DraftRow {
    pub(super) fn of(id: u32, row: &PriceRow) -> Self {
        let shown = |price: Option<f64>| price.map(|price| price.to_string()).unwrap_or_default();
        let texts = [
            row.model.clone(),
            row.host.clone(),
            row.input.to_string(),
            shown(row.cached_input),
            shown(row.cache_write),
            row.output.to_string(),
            row.as_of.clone(),
            row.source.clone(),
        ];
        Self { id, texts }
    }

    pub(super) fn empty(id: u32, today: String) -> Self {
        let mut row = Self { id, ..Self::default() };
        row.texts[6] = today;
        row
    }

    fn text(&self, at: usize) -> String {
        self.texts[at].trim().to_owned()
    }
}

/// The rows in the form in which they are sent, and everything that is wrong with them.
pub(super) fn read(rows: &[DraftRow]) -> (Vec<PriceRow>, Vec<PriceProblem>) {
    let mut problems = Vec::new();
    let mut read = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        let mut number = |field: usize| {
            let text = row.text(field);
            text.parse::<f64>().unwrap_or_else(|_| {
                let message = if text.is_empty() {
                    "dollars for a million tokens; 0 for free"
                } else {
                    "a number of dollars, such as 1.25"
                };
                problems.push(PriceProblem {
                    row: at,
                    field: FIELDS[field].name.to_owned(),
                    message: message.to_owned(),
                });
                0.0
            })
        };
        read.push(PriceRow {
            model: row.text(0),
            host: row.text(1),
            input: number(2),
            cached_input: (!row.text(3).is_empty()).then(|| number(3)),
            cache_write: (!row.text(4).is_empty()).then(|| number(4)),
            output: number(5),
            as_of: row.text(6),
            source: row.text(7),
        });
    }
    problems.extend(price_problems(&read));
    (read, problems)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> PriceRow {
        PriceRow {
            model: "m*".into(),
            host: "h.example".into(),
            input: 1.5,
            cached_input: None,
            cache_write: None,
            output: 6.0,
            as_of: "2026-11-30".into(),
            source: "their page".into(),
        }
    }

    #[test]
    fn what_is_read_is_what_was_shown() {
        let cached = PriceRow {
            cached_input: Some(0.15),
            cache_write: Some(1.875),
            model: "n".into(),
            ..row()
        };
        let drafts: Vec<DraftRow> =
            (0..).zip([&row(), &cached]).map(|(id, row)| DraftRow::of(id, row)).collect();
        assert_eq!(read(&drafts), (vec![row(), cached], Vec::new()));
    }

    #[test]
    fn an_empty_price_is_a_question_and_not_zero() {
        let (_, problems) = read(&[DraftRow::empty(0, "2026-11-30".into())]);
        let told: Vec<&str> = problems.iter().map(|one| one.field.as_str()).collect();
        assert_eq!(told, ["input", "output", "model"]);
        let mut words = DraftRow::of(0, &row());
        words.texts[2] = "1,5".into();
        assert_eq!(read(&[words]).1[0].message, "a number of dollars, such as 1.25");
    }
}
