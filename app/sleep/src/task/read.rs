//! Reads a task field by field, so that an error says which field it was.

use super::TaskRecord;
use serde::de::DeserializeOwned;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

/// A field that is not what it should be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("field `{field}`: {message}")]
pub struct TaskFieldError {
    /// Its name.
    pub field: &'static str,
    /// What is wrong with it.
    pub message: String,
}

impl TryFrom<Map<String, Value>> for TaskRecord {
    type Error = TaskFieldError;

    fn try_from(mut fields: Map<String, Value>) -> Result<Self, TaskFieldError> {
        let fields = &mut fields;
        Ok(Self {
            id: take(fields, "id")?,
            project: take(fields, "project")?,
            intent: take(fields, "intent")?,
            context_excerpt: take(fields, "context_excerpt")?,
            system: take(fields, "system")?,
            attempted_solution: take(fields, "attempted_solution")?,
            outcome: take(fields, "outcome")?,
            reference_kind: take(fields, "reference_kind")?,
            reference: take(fields, "reference")?,
            judge: take(fields, "judge").map(empty_is_none)?,
            tags: take(fields, "tags")?,
            source_sessions: take(fields, "source_sessions")?,
            split: take(fields, "split")?,
            origin: take(fields, "origin")?,
            derived_from: take(fields, "derived_from")?,
            skill_hint: take(fields, "skill_hint")?,
        })
    }
}

/// `{}` is how the reference system writes no judge.
fn empty_is_none(judge: Value) -> Value {
    if judge.as_object().is_some_and(Map::is_empty) { Value::Null } else { judge }
}

/// Writes `{}` for no judge: the reference system reads nothing else.
pub(super) fn object_at_least<S: Serializer>(judge: &Value, out: S) -> Result<S::Ok, S::Error> {
    if judge.is_null() { Map::<String, Value>::new().serialize(out) } else { judge.serialize(out) }
}

/// A field that is missing, null or a blank text has its default.
fn take<T: DeserializeOwned + Default>(
    fields: &mut Map<String, Value>,
    field: &'static str,
) -> Result<T, TaskFieldError> {
    match fields.remove(field) {
        None | Some(Value::Null) => Ok(T::default()),
        Some(Value::String(text)) if text.is_empty() => Ok(T::default()),
        Some(value) => serde_json::from_value(value)
            .map_err(|err| TaskFieldError { field, message: err.to_string() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::{ReferenceKind, Split, TaskOutcome};
    use rstest::rstest;
    use serde_json::json;

    fn read(value: Value) -> Result<TaskRecord, serde_json::Error> {
        serde_json::from_value(value)
    }

    #[rstest]
    #[case("replay", Split::Train)]
    #[case("holdout", Split::Val)]
    #[case("train", Split::Train)]
    #[case("val", Split::Val)]
    #[case("test", Split::Test)]
    #[case("", Split::Train)]
    fn older_names_of_splits_are_read(#[case] name: &str, #[case] split: Split) {
        let task = read(json!({"id": "a", "split": name})).expect("read");
        assert_eq!(task.split, split);
    }

    #[test]
    fn unknown_and_null_fields_are_no_error() {
        let task = read(json!({"id": "a", "judge": null, "outcome": null, "novel": {"x": 1}}));
        let task = task.expect("read");
        assert_eq!(task.outcome, TaskOutcome::Unknown);
        assert_eq!(task.reference_kind, ReferenceKind::None);
        assert_eq!(task.judge, Value::Null);
    }

    #[rstest]
    #[case(json!({"tags": "one"}), "tags")]
    #[case(json!({"outcome": "great"}), "outcome")]
    #[case(json!({"intent": 7}), "intent")]
    fn an_error_names_the_field(#[case] value: Value, #[case] field: &str) {
        let err = read(value).expect_err("refused").to_string();
        assert!(err.contains(&format!("`{field}`")), "{err}");
    }

    #[test]
    fn a_task_without_a_judge_is_written_with_an_empty_one() {
        let text = serde_json::to_value(TaskRecord::default()).expect("json");
        assert_eq!(text["judge"], json!({}));
    }

    #[test]
    fn what_is_written_is_read_again() {
        let task = TaskRecord {
            id: "task_1".into(),
            judge: json!({"kind": "rule", "checks": []}),
            split: Split::Val,
            ..TaskRecord::default()
        };
        let text = serde_json::to_value(&task).expect("json");
        assert_eq!(read(text).expect("read"), task);
    }
}
