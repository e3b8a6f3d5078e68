//! A rollout directory: `results.jsonl` and what was said in each attempt. A row without a usable score is left
//! out and named; it is never a zero.

use super::conversation::{self, message};
use super::findings::Findings;
use super::folder::Folder;
use super::json::{self, Fields};
use crate::host::run_folder::predictions::FILE as PREDICTIONS;
use serde_json::Value;
use skillopt_domain::api::TrajectoryMessage;
use skillopt_domain::file_name::safe_file_name;
use skillopt_domain::ids::TaskId;
use skillopt_domain::outcome::{Outcome, TaskOutcome};
use skillopt_domain::score::{Score, TaskScore};
use std::collections::{BTreeMap, HashMap};

const TITLE_CHARS: usize = 300;

/// What a directory holds: one conversation an outcome, in the same order.
#[derive(Debug, Default)]
pub(super) struct RolloutDir {
    pub(super) outcomes: Vec<TaskOutcome>,
    pub(super) conversations: Vec<Vec<TrajectoryMessage>>,
}

/// Reads a directory; `None` when it has no results.
pub(super) fn read(folder: &Folder, dir: &str, findings: &mut Findings) -> Option<RolloutDir> {
    let file = format!("{dir}/results.jsonl");
    let text = match folder.read(&file) {
        Ok(Some(text)) => text.text,
        Ok(None) => {
            if folder.has_dir(dir) {
                findings.add(&file, "", "missing; the attempts are not shown");
            }
            return None;
        }
        Err(problem) => {
            findings.add(&file, "", problem.to_string());
            return None;
        }
    };
    let rows = rows(&file, &text, findings);
    let mut said = said_in_all(folder, dir, findings);
    let mut found = RolloutDir::default();
    for row in rows {
        let of_row = said.remove(row.outcome.task.as_str());
        let said = of_row.unwrap_or_else(|| conversation(folder, dir, &row, findings));
        found.conversations.push(said);
        found.outcomes.push(row.outcome);
    }
    Some(found)
}

struct Row {
    outcome: TaskOutcome,
    object: serde_json::Map<String, Value>,
}

/// Rows in the order of the file when this program wrote it, which is that of the tasks. The Python system
/// writes in the order of arrival, so that its rows are put in the order of their ids.
fn rows(file: &str, text: &str, findings: &mut Findings) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let (mut in_task_order, mut n_not_ok) = (true, 0u32);
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let place = format!("line {}", at + 1);
        let parsed: Result<Value, _> = serde_json::from_str(line);
        let Ok(Value::Object(object)) = parsed else {
            findings.add(file, &place, "no JSON object; the row is left out");
            continue;
        };
        let fields = Fields { file, place: place.clone(), object: &object };
        let Some(outcome) = task_outcome(&fields, findings) else { continue };
        in_task_order &= object.contains_key("outcome");
        let failed = object.get("agent_ok") == Some(&Value::Bool(false));
        n_not_ok += u32::from(failed && outcome.outcome.score().is_some());
        let row = Row { outcome, object };
        match places.get(row.outcome.task.as_str()) {
            Some(known) => {
                findings.add(file, &place, "its task has a row already; the later one counts");
                rows[*known] = row;
            }
            None => {
                places.insert(row.outcome.task.as_str().to_owned(), rows.len());
                rows.push(row);
            }
        }
    }
    if n_not_ok > 0 {
        let message = format!(
            "{n_not_ok} attempts did not work (`agent_ok` is false); the Python system scored them, and \
             its means count them"
        );
        findings.add(file, "", message);
    }
    if !in_task_order {
        rows.sort_by(|left, right| left.outcome.task.cmp(&right.outcome.task));
    }
    rows
}

fn task_outcome(fields: &Fields<'_>, findings: &mut Findings) -> Option<TaskOutcome> {
    let id = match fields.get("id") {
        Some(Value::String(id)) if !id.is_empty() => id.clone(),
        Some(Value::Number(id)) => id.to_string(),
        _ => {
            findings.add(fields.file, &fields.place, "no id; the row is left out");
            return None;
        }
    };
    let outcome = outcome(fields, findings)?;
    let title = ["question", "task_description", "instruction"]
        .into_iter()
        .find_map(|key| fields.get(key).and_then(Value::as_str))
        .unwrap_or(&id);
    let title = title.chars().take(TITLE_CHARS).collect();
    let task_type = fields.get("task_type").and_then(Value::as_str).unwrap_or_default().to_owned();
    Some(TaskOutcome { task: TaskId(id), title, task_type, outcome, call: None, cached: false })
}

fn outcome(fields: &Fields<'_>, findings: &mut Findings) -> Option<Outcome> {
    let text = |key: &str| match fields.get(key) {
        None => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    let reason = text("fail_reason");
    let after = |head: &str| reason.strip_prefix(head).unwrap_or(&reason).to_owned();
    match fields.get("outcome").and_then(Value::as_str) {
        Some("refused") => return Some(Outcome::Refused { reason: after("refused: ") }),
        Some("judge_error") => return Some(Outcome::JudgeError { message: after("judge: ") }),
        Some("infra_error") => {
            let (code, message) = reason.split_once(": ").unwrap_or(("error", &reason));
            return Some(Outcome::InfraError { code: code.into(), message: message.into() });
        }
        Some(_) | None => {}
    }
    let score = |key: &str, findings: &mut Findings| {
        let number = match fields.get(key) {
            Some(Value::Bool(passed)) => Some(f64::from(u8::from(*passed))),
            Some(_) => fields.share(key, findings),
            None => {
                findings.add(fields.file, &fields.place, format!("no `{key}`"));
                None
            }
        };
        number.and_then(|number| Score::try_new(number).ok())
    };
    let (hard, soft) = (score("hard", findings), score("soft", findings));
    let (Some(hard), Some(soft)) = (hard, soft) else {
        let message = "no usable score; the row is left out, not counted as 0";
        findings.add(fields.file, &fields.place, message);
        return None;
    };
    Some(Outcome::Scored {
        score: TaskScore { hard, soft },
        predicted: text("predicted_answer"),
        fail_reason: reason,
        truncated: false,
    })
}

/// What was said in each attempt by its task, where one file holds it for all of them: that of our own runs.
fn said_in_all(
    folder: &Folder,
    dir: &str,
    findings: &mut Findings,
) -> HashMap<String, Vec<TrajectoryMessage>> {
    let file = format!("{dir}/{PREDICTIONS}");
    let text = match folder.read_long(&file) {
        Ok(text) => text.map(|text| text.text).unwrap_or_default(),
        Err(problem) => {
            findings.add(&file, "", problem.to_string());
            return HashMap::new();
        }
    };
    let mut all = HashMap::new();
    for (number, line) in (1..).zip(text.lines()) {
        let attempt: Option<Value> = serde_json::from_str(line).ok();
        let said = attempt.as_ref().and_then(|attempt| {
            let messages = conversation::messages(attempt.get("conversation")?)?;
            Some((attempt.get("id")?.as_str()?.to_owned(), messages))
        });
        match said {
            Some((id, messages)) => _ = all.insert(id, messages),
            None => findings.add(
                &file,
                &format!("line {number}"),
                "no attempt with a list of messages; not shown",
            ),
        }
    }
    all
}

/// What was said, in the layout of the Python system: the conversation file of the attempt, with the prompts before it where it does not begin with them.
fn conversation(
    folder: &Folder,
    dir: &str,
    row: &Row,
    findings: &mut Findings,
) -> Vec<TrajectoryMessage> {
    let id = row.outcome.task.as_str();
    let mut said = Vec::new();
    let (mut system, mut user) =
        (of_row(row, "target_system_prompt"), of_row(row, "target_user_prompt"));
    if let Some(place) = prediction_dir(folder, dir, id) {
        let file = format!("{place}/conversation.json");
        match folder.read(&file) {
            Ok(Some(text)) => {
                let document = json::document(&file, &text.text, findings);
                match document.as_ref().and_then(conversation::messages) {
                    Some(messages) => said = messages,
                    None if document.is_some() => {
                        findings.add(&file, "", "no list of messages; not shown");
                    }
                    None => {}
                }
            }
            Ok(None) => {}
            Err(problem) => findings.add(&file, "", problem.to_string()),
        }
        let prompt = |name: &str| folder.read(&format!("{place}/{name}")).ok().flatten();
        system = prompt("target_system_prompt.txt").map_or(system, |text| text.text);
        user = prompt("target_user_prompt.txt").map_or(user, |text| text.text);
    }
    let response = of_row(row, "response");
    if said.is_empty() && !response.is_empty() {
        said.push(message("assistant", response));
    }
    let heard = |text: &str| said.iter().any(|one| one.content == text);
    let prompts: Vec<TrajectoryMessage> = [("system", system), ("user", user)]
        .into_iter()
        .filter(|(_, text)| !text.is_empty() && !heard(text))
        .map(|(role, text)| message(role, text))
        .collect();
    prompts.into_iter().chain(said).collect()
}

fn of_row(row: &Row, key: &str) -> String {
    row.object.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// The directory of an attempt: the id as it is, as the Python system writes it, or in our safe spelling. An id
/// that leads out of the folder names no directory.
fn prediction_dir(folder: &Folder, dir: &str, id: &str) -> Option<String> {
    let places = [safe_file_name(id), id.to_owned()];
    places
        .into_iter()
        .map(|name| format!("{dir}/predictions/{name}"))
        .find(|place| folder.has_dir(place))
}

#[cfg(test)]
mod tests {
    use super::*;
    use skillopt_domain::outcome::OutcomeKind;

    fn read_text(lines: &str) -> (Vec<TaskOutcome>, Vec<String>) {
        let mut findings = Findings::default();
        let rows = rows("r/results.jsonl", lines, &mut findings);
        (rows.into_iter().map(|row| row.outcome).collect(), findings.texts())
    }

    #[test]
    fn a_broken_row_is_named_by_its_line_and_never_a_zero() {
        let (outcomes, findings) = read_text(
            "{\"id\": \"b\", \"hard\": 1, \"soft\": 0.5}\n{\"id\": \"a\", \"hard\": tru\n\
             {\"id\": \"c\", \"soft\": 1}\n{\"id\": 7, \"hard\": false, \"soft\": 0}\n\
             {\"hard\": 1, \"soft\": 1}\n{\"id\": \"d\", \"hard\": 3, \"soft\": 0}\n",
        );
        let ids: Vec<&str> = outcomes.iter().map(|one| one.task.as_str()).collect();
        assert_eq!(ids, ["7", "b"], "in the order of ids");
        assert_eq!(
            findings,
            [
                "r/results.jsonl, line 2: no JSON object; the row is left out",
                "r/results.jsonl, line 3: no `hard`",
                "r/results.jsonl, line 3: no usable score; the row is left out, not counted as 0",
                "r/results.jsonl, line 5: no id; the row is left out",
                "r/results.jsonl, line 6, hard: expected a number from 0 to 1, got `3.0`; left out",
                "r/results.jsonl, line 6: no usable score; the row is left out, not counted as 0",
            ]
        );
    }

    #[test]
    fn own_rows_keep_their_order_and_their_kind() {
        let (outcomes, findings) = read_text(
            "{\"id\": \"b\", \"outcome\": \"infra_error\", \"fail_reason\": \"timeout: no answer\"}\n\
             {\"id\": \"a\", \"outcome\": \"passed\", \"hard\": 1.0, \"soft\": 1.0}\n\
             {\"id\": \"0\", \"outcome\": \"refused\", \"fail_reason\": \"refused: I cannot\"}\n",
        );
        let kinds: Vec<OutcomeKind> = outcomes.iter().map(|one| one.outcome.kind()).collect();
        assert_eq!(kinds, [OutcomeKind::InfraError, OutcomeKind::Passed, OutcomeKind::Refused]);
        assert_eq!(outcomes[2].outcome, Outcome::Refused { reason: "I cannot".into() });
        assert!(findings.is_empty(), "{findings:?}");
    }

    #[test]
    fn a_task_with_two_rows_counts_once() {
        let row = |hard: u8| format!("{{\"id\": \"a\", \"hard\": {hard}, \"soft\": {hard}}}\n");
        let (outcomes, findings) = read_text(&(row(0) + &row(1)));
        assert_eq!(outcomes[0].outcome.kind(), OutcomeKind::Passed);
        assert_eq!((outcomes.len(), findings.len()), (1, 1));
    }
}
