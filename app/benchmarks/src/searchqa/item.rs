//! One question with its passages and accepted answers.

use crate::data_file::RawRow;
use crate::error::RowProblem;
use crate::rows::RowReader;
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::ids::TaskId;
use skillopt_engine::ports::Task;

const DEFAULT_TASK_TYPE: &str = "qa";

/// A question, its passages and the answers that count as right.
///
/// Invariant: id, question, context and each answer hold more than spaces, and there is at least one answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Unique over all splits.
    pub id: TaskId,
    /// The question.
    pub question: String,
    /// Passages, each of which starts with `[DOC]`.
    pub context: String,
    /// Accepted answers.
    pub answers: Vec<String>,
    /// The kind of question; `qa` when the data does not say.
    pub task_type: String,
}

impl Item {
    /// Checks a row; what is wrong goes to `problems`.
    pub(crate) fn read(file: &str, raw: &RawRow, problems: &mut Vec<RowProblem>) -> Option<Self> {
        let before = problems.len();
        let mut reader = RowReader::new(file, raw.row, &raw.value, problems);
        let id = reader.text("id");
        let question = reader.text("question");
        let context = reader.text("context");
        let answers = reader.texts("answers");
        let task_type = reader.optional_text("task_type");
        if problems.len() > before {
            return None;
        }
        Some(Self {
            id: TaskId(id?),
            question: question?,
            context: context?,
            answers: answers?,
            task_type: task_type.unwrap_or_else(|| DEFAULT_TASK_TYPE.to_owned()),
        })
    }

    /// The task as the engine sees it.
    pub(crate) fn task(&self) -> Task {
        Task {
            id: self.id.clone(),
            title: self.question.split_whitespace().collect::<Vec<_>>().join(" "),
            task_type: self.task_type.clone(),
            content: self.content(),
        }
    }

    /// What makes the task what it is: case, spaces and the order of answers do not.
    fn content(&self) -> Sha256Hex {
        let mut answers: Vec<String> = self.answers.iter().map(|text| folded(text)).collect();
        answers.sort_unstable();
        let parts = serde_json::json!([folded(&self.question), folded(&self.context), answers]);
        Sha256Hex::of(parts.to_string())
    }
}

fn folded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}
