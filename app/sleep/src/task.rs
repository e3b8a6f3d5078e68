//! A task of a night: what is asked, how an answer is scored, and where it came from. Reading is tolerant of fields
//! that are unknown or null, and names the field that it cannot read. How answers are scored is in `judge`.

mod clean;
mod read;

pub use read::TaskFieldError;

use serde::{Deserialize, Serialize};

/// What became of the attempt in the session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskOutcome {
    /// The person was content.
    Success,
    /// The person was not.
    Fail,
    /// It took several turns.
    Mixed,
    /// Nothing tells.
    #[default]
    Unknown,
}

/// What an answer is held against.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReferenceKind {
    /// The answer contains the reference.
    Exact,
    /// A model scores by the reference as a rubric.
    Rubric,
    /// The checks of the judge.
    Rule,
    /// An evaluator outside of the product.
    Answer,
    /// Nothing is known.
    #[default]
    None,
}

/// What a task is used for. `replay` and `holdout` are the older words for `train` and `val`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Split {
    /// Edits come from it.
    #[default]
    #[serde(alias = "replay")]
    Train,
    /// The gate measures on it.
    #[serde(alias = "holdout")]
    Val,
    /// Measured at the end, fed to nobody.
    Test,
}

/// Whether a task happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskOrigin {
    /// It was asked.
    #[default]
    Real,
    /// It is a variant of one that was.
    Dream,
}

/// One check of a rule judge.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// The operation, such as `contains`.
    pub op: String,
    /// Its argument.
    #[serde(default)]
    pub arg: serde_json::Value,
}

/// A task. The field names are those of the reference system's files; unknown fields are ignored.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "serde_json::Map<String, serde_json::Value>")]
pub struct TaskRecord {
    /// Stable over nights.
    pub id: String,
    /// Absolute path of the project.
    pub project: String,
    /// What is asked.
    pub intent: String,
    /// What was said around it.
    pub context_excerpt: String,
    /// A benchmark's own system prompt; empty for others.
    pub system: String,
    /// What the agent answered then.
    pub attempted_solution: String,
    /// What became of it then.
    pub outcome: TaskOutcome,
    /// What an answer is held against.
    pub reference_kind: ReferenceKind,
    /// The reference.
    pub reference: String,
    /// `{"kind": "rule", "checks": [{"op", "arg"}]}`, or null for none, which files have as `{}`.
    #[serde(serialize_with = "read::object_at_least")]
    pub judge: serde_json::Value,
    /// Words about it, such as `rule:json-only`.
    pub tags: Vec<String>,
    /// Sessions that it came from.
    pub source_sessions: Vec<String>,
    /// What it is used for.
    pub split: Split,
    /// Whether it happened.
    pub origin: TaskOrigin,
    /// The task that it is a variant of; empty for real ones.
    pub derived_from: String,
    /// The skill that the session used, if it was one; else empty.
    pub skill_hint: String,
}

impl TaskRecord {
    /// The checks of its judge, as far as they have the form of checks. For scoring there is `judge::Judge`.
    #[must_use]
    pub fn checks(&self) -> Vec<Check> {
        let checks = self.judge.get("checks").and_then(serde_json::Value::as_array);
        checks.into_iter().flatten().filter_map(|check| Check::deserialize(check).ok()).collect()
    }

    /// It was asked by a person, so it may validate and test.
    #[must_use]
    pub fn is_real(&self) -> bool {
        self.origin == TaskOrigin::Real
    }
}
