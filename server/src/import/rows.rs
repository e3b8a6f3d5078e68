//! The rows of finished steps: `history.json` first, then the records of steps that it does not have.

use super::json::{self, Fields};
use super::reader::Reader;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

const HISTORY: &str = "history.json";
/// Larger numbers of steps are no numbers of steps, but a fault or an attack.
const MAX_STEP: u32 = 1_000_000;

/// The record of one finished step.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) step: u32,
    pub(super) object: Map<String, Value>,
    pub(super) at_ms: u64,
    file: String,
    place: String,
}

impl Row {
    pub(super) fn fields(&self) -> Fields<'_> {
        Fields { file: &self.file, place: self.place.clone(), object: &self.object }
    }
}

/// What is known about steps.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// Finished steps, rising.
    pub(super) finished: Vec<Row>,
    /// Steps that began and did not end.
    pub(super) begun: Vec<u32>,
}

impl Rows {
    pub(super) fn read(reader: &mut Reader) -> Self {
        let mut by_step: BTreeMap<u32, Row> = BTreeMap::new();
        read_history(reader, &mut by_step);
        let in_history = !by_step.is_empty();
        let dirs = step_dirs(reader);
        let mut begun = Vec::new();
        for step in
            dirs.iter().filter(|step| !by_step.contains_key(step)).copied().collect::<Vec<_>>()
        {
            match read_record(reader, step) {
                Some(row) => {
                    if in_history {
                        let message = format!("step {step} is not in it; its own record was read");
                        reader.findings.add(HISTORY, "", message);
                    }
                    by_step.insert(step, row);
                }
                None => begun.push(step),
            }
        }
        let last = by_step.keys().next_back().copied().unwrap_or_default();
        name_gaps(reader, by_step.keys().copied());
        begun.retain(|step| *step > last);
        for row in by_step.values_mut() {
            let record = format!("{}/step_record.json", step_dir(row.step));
            row.at_ms = reader.folder.changed_at(&record).unwrap_or(row.at_ms);
        }
        Self { finished: by_step.into_values().collect(), begun }
    }
}

/// The directory of a step.
pub(super) fn step_dir(step: u32) -> String {
    format!("steps/step_{step:04}")
}

/// Steps between those that are known, as ranges: the work is that of the known ones.
fn name_gaps(reader: &mut Reader, known: impl Iterator<Item = u32>) {
    let mut before = 0;
    for step in known {
        let message = match step - before {
            0 | 1 => None,
            2 => Some(format!("step {} has no record; it is not shown", before + 1)),
            _ => {
                let (first, last) = (before + 1, step - 1);
                Some(format!("steps {first} to {last} have no records; they are not shown"))
            }
        };
        if let Some(message) = message {
            reader.findings.add(HISTORY, "", message);
        }
        before = step;
    }
}

/// Steps by the names of their directories.
fn step_dirs(reader: &mut Reader) -> BTreeSet<u32> {
    let mut steps = BTreeSet::new();
    for name in reader.folder.names("steps") {
        match step_of(&name) {
            Some(step) if step > MAX_STEP => {
                let message = format!("no step has a number above {MAX_STEP}; left out");
                reader.findings.add(&format!("steps/{name}"), "", message);
            }
            Some(step) => {
                steps.insert(step);
            }
            None => {}
        }
    }
    steps
}

fn step_of(name: &str) -> Option<u32> {
    let digits = name.strip_prefix("step_")?;
    let step = digits.parse().ok()?;
    (step > 0 && step_dir(step).ends_with(name)).then_some(step)
}

fn read_history(reader: &mut Reader, by_step: &mut BTreeMap<u32, Row>) {
    let file = match reader.folder.read(HISTORY) {
        Ok(Some(file)) => file,
        Ok(None) => return,
        Err(problem) => return reader.findings.add(HISTORY, "", problem.to_string()),
    };
    let rows = json::array(HISTORY, &file.text, &mut reader.findings);
    for (at, row) in rows.into_iter().enumerate() {
        let place = format!("row {}", at + 1);
        let Value::Object(object) = row else {
            reader.findings.add(HISTORY, &place, "expected an object; the row is left out");
            continue;
        };
        if let Some(row) = row_of(reader, HISTORY, place, object, file.at_ms)
            && let Some(earlier) = by_step.insert(row.step, row)
        {
            let message = format!("step {} has a later row; that one counts", earlier.step);
            reader.findings.add(HISTORY, &earlier.place, message);
        }
    }
}

fn read_record(reader: &mut Reader, step: u32) -> Option<Row> {
    let file = format!("{}/step_record.json", step_dir(step));
    let Value::Object(object) = reader.json(&file)? else {
        reader.findings.add(&file, "", "expected an object; left out");
        return None;
    };
    let row = row_of(reader, &file, String::new(), object, 0)?;
    if row.step == step {
        return Some(row);
    }
    reader.findings.add(
        &file,
        "step",
        format!("is {} in the folder of step {step}; left out", row.step),
    );
    None
}

fn row_of(
    reader: &mut Reader,
    file: &str,
    place: String,
    object: Map<String, Value>,
    at_ms: u64,
) -> Option<Row> {
    let fields = Fields { file, place: place.clone(), object: &object };
    match fields.count("step", &mut reader.findings).filter(|step| *step > 0) {
        Some(step) if step > MAX_STEP => {
            let message = format!("is {step}, and no step has a number above {MAX_STEP}; left out");
            reader.findings.add(file, format!("{place} step").trim_start(), message);
            None
        }
        Some(step) => Some(Row { step, object, at_ms, file: file.to_owned(), place }),
        None => {
            reader.findings.add(file, &place, "no step number; the row is left out");
            None
        }
    }
}
