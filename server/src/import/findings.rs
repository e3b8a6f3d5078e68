//! What was not taken over from a run folder, and why. Texts come from the folder: they are shortened here
//! and nowhere trusted.

use skillopt_domain::import::Finding;

/// More than these are counted only.
const MAX_FINDINGS: usize = 200;
const MAX_CHARS: usize = 400;

/// Findings in the order in which they were made.
#[derive(Debug, Default)]
pub(super) struct Findings {
    rows: Vec<Finding>,
    n_more: u64,
}

impl Findings {
    pub(super) fn add(&mut self, file: &str, place: &str, message: impl AsRef<str>) {
        let finding = Finding {
            file: shortened(file),
            place: shortened(place),
            message: shortened(message.as_ref()),
        };
        if self.rows.contains(&finding) {
            return;
        }
        if self.rows.len() < MAX_FINDINGS {
            self.rows.push(finding);
        } else {
            self.n_more += 1;
        }
    }

    /// Findings, and how many more there are.
    pub(super) fn into_rows(self) -> (Vec<Finding>, u64) {
        (self.rows, self.n_more)
    }

    #[cfg(test)]
    pub(super) fn texts(&self) -> Vec<String> {
        self.rows.iter().map(ToString::to_string).collect()
    }
}

/// One line of at most 400 characters.
pub(super) fn shortened(text: &str) -> String {
    let line: String = text
        .chars()
        .take(MAX_CHARS)
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .collect();
    if text.chars().count() > MAX_CHARS { line + "…" } else { line }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_findings_are_counted_and_long_ones_cut() {
        let mut findings = Findings::default();
        for at in 0..250 {
            findings.add("a", &at.to_string(), "x\ny".repeat(300));
        }
        findings.add("a", "0", "x\ny".repeat(300));
        let (rows, more) = findings.into_rows();
        assert_eq!((rows.len(), more), (200, 50));
        assert!(rows[0].message.ends_with('…') && !rows[0].message.contains('\n'));
    }
}
