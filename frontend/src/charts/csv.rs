//! A chart's numbers as CSV. Pure.

/// A table: names of columns and rows of cells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Table {
    pub(crate) head: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

impl Table {
    /// RFC 4180: quoted where needed, lines end in CRLF.
    pub(crate) fn to_csv(&self) -> String {
        let line = |cells: &Vec<String>| {
            cells.iter().map(|cell| quoted(cell)).collect::<Vec<_>>().join(",") + "\r\n"
        };
        std::iter::once(&self.head).chain(&self.rows).map(line).collect()
    }
}

fn quoted(cell: &str) -> String {
    // A formula in a spreadsheet starts with one of these; negative numbers are no formulas.
    let is_number =
        || cell.chars().all(|c| c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e'));
    let is_formula = cell.starts_with(['=', '+', '@']) || (cell.starts_with('-') && !is_number());
    let cell = if is_formula { format!("'{cell}") } else { cell.to_owned() };
    if cell.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell
    }
}

/// A number with all its digits; empty when missing.
pub(crate) fn number(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_and_never_formulas() {
        let table = Table {
            head: vec!["a".into(), "b,c".into()],
            rows: vec![vec!["say \"hi\"".into(), "=1+1".into()], vec!["-0.5".into(), number(None)]],
        };
        assert_eq!(table.to_csv(), "a,\"b,c\"\r\n\"say \"\"hi\"\"\",'=1+1\r\n-0.5,\r\n");
    }
}
