//! Rows of evidence: what stands in their line. Each row is an object with fields of its own kind. Pure.

use skillopt_domain::json::Json;

/// Longest gist of a row, in characters.
const MAX_GIST: usize = 160;
/// What has a place of its own in the line.
const PLACED: [&str; 4] = ["seq", "ts", "stage", "event"];

/// A row as the list holds it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct EvidenceRow {
    pub(super) seq: u64,
    /// RFC 3339; may be empty.
    pub(super) ts: String,
    pub(super) stage: String,
    pub(super) event: String,
    pub(super) gist: String,
    pub(super) all: Json,
}

impl EvidenceRow {
    /// A row without a number is told under the one that it is given.
    pub(super) fn of(row: Json, else_seq: u64) -> Self {
        let text = |name| match field(&row, name) {
            Some(Json::Text(text)) => text.clone(),
            _ => String::new(),
        };
        let seq = match field(&row, "seq") {
            Some(Json::Unsigned(seq)) => *seq,
            _ => else_seq,
        };
        Self {
            seq,
            ts: text("ts"),
            stage: text("stage"),
            event: text("event"),
            gist: gist(&row),
            all: row,
        }
    }

    /// The whole row, indented.
    pub(super) fn text(&self) -> String {
        format!("{:#}", self.all)
    }
}

/// Takes in a page; rows that are known already are left out.
pub(super) fn add(rows: &mut Vec<EvidenceRow>, page: Vec<Json>) {
    for row in page {
        let last = rows.last().map_or(0, |row| row.seq);
        let row = EvidenceRow::of(row, last + 1);
        if row.seq > last {
            rows.push(row);
        }
    }
}

fn field<'a>(row: &'a Json, name: &str) -> Option<&'a Json> {
    match row {
        Json::Object(fields) => fields.iter().find(|(key, _)| key == name).map(|(_, value)| value),
        _ => None,
    }
}

/// Names and values of the short fields, cut to what a line can hold.
fn gist(row: &Json) -> String {
    let Json::Object(fields) = row else { return String::new() };
    let mut words = String::new();
    for (name, value) in fields.iter().filter(|(name, _)| !PLACED.contains(&name.as_str())) {
        let value = match value {
            Json::Null | Json::List(_) | Json::Object(_) => continue,
            Json::Text(text) => text.split_whitespace().collect::<Vec<_>>().join(" "),
            other => other.to_string(),
        };
        if !words.is_empty() {
            words.push_str(", ");
        }
        words.push_str(&name.replace('_', " "));
        words.push(' ');
        words.push_str(&value);
    }
    let mut cut: String = words.chars().take(MAX_GIST).collect();
    if cut.len() < words.len() {
        cut.push('…');
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Json {
        Json::parse(text).expect("is JSON")
    }

    #[test]
    fn a_row_is_told_by_its_short_fields() {
        let row = json(
            r#"{"seq": 7, "ts": "2026-11-30T03:00:00Z", "stage": "replay", "event": "attempt",
                "task_id": "t-1", "hard": 0.5, "response": "a\n b", "checks": [1], "judge": null}"#,
        );
        let row = EvidenceRow::of(row, 1);
        assert_eq!((row.seq, row.stage.as_str(), row.event.as_str()), (7, "replay", "attempt"));
        assert_eq!(row.gist, "task id t-1, hard 0.5, response a b");
        assert!(row.text().contains("\"checks\""));
    }

    #[test]
    fn a_long_text_is_cut_in_its_line_and_whole_below() {
        let row = EvidenceRow::of(json(&format!(r#"{{"prompt": "{}"}}"#, "é".repeat(400))), 1);
        assert_eq!(row.gist.chars().count(), MAX_GIST + 1);
        assert!(row.text().chars().count() > 400);
    }

    #[test]
    fn rows_that_come_twice_are_shown_once() {
        let mut rows = Vec::new();
        add(&mut rows, vec![json(r#"{"seq": 1}"#), json(r#"{"seq": 2}"#)]);
        add(&mut rows, vec![json(r#"{"seq": 2}"#), json(r#"{"seq": 3}"#), json("5")]);
        assert_eq!(rows.iter().map(|row| row.seq).collect::<Vec<_>>(), [1, 2, 3, 4]);
    }
}
