//! What can be wrong with a file of tasks.

use crate::judge::JudgeError;
use crate::task::TaskFieldError;
use std::path::PathBuf;

/// A file of tasks that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", path.display())]
pub struct TasksFileError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong.
    pub problem: TasksFileProblem,
}

/// What is wrong with the file.
#[derive(Debug, thiserror::Error)]
pub enum TasksFileProblem {
    /// It cannot be read.
    #[error("cannot be read: {0}")]
    Unreadable(std::io::Error),
    /// It cannot be written.
    #[error("cannot be written: {0}")]
    Unwritable(std::io::Error),
    /// It is no JSON.
    #[error("is not JSON: {0}")]
    Syntax(serde_json::Error),
    /// It says that it is something else.
    #[error("has the format `{found}`, expected `{}`", super::FORMAT)]
    OtherFormat {
        /// What it says.
        found: String,
    },
    /// There is no list of tasks.
    #[error("expected a list of tasks, or an object with the list `tasks`")]
    NoTasks,
    /// A field of the file is no text.
    #[error("field `{0}` must be a text")]
    NotAText(&'static str),
    /// A field of the file is no list.
    #[error("field `{0}` must be a list")]
    NotAList(&'static str),
    /// A field of the file is no object of texts.
    #[error("field `{0}` must be an object whose values are texts")]
    NotNamedTexts(&'static str),
    /// An entry of the list is no task.
    #[error("task {0} is not an object")]
    NotATask(usize),
    /// A field of a task cannot be read.
    #[error("task {number} (`{id}`): {error}")]
    Field {
        /// Place in the list, from 1.
        number: usize,
        /// Its id; empty when it has none.
        id: String,
        /// The field.
        error: TaskFieldError,
    },
    /// A field of a task is empty that must not be.
    #[error("task {number} (`{id}`): field `{field}` is empty")]
    Blank {
        /// Place in the list, from 1.
        number: usize,
        /// Its id; empty when it has none.
        id: String,
        /// The field.
        field: &'static str,
    },
    /// Two tasks have one id.
    #[error("two tasks have the id `{0}`")]
    SameId(String),
    /// Judges cannot be used.
    #[error("{}", listed(.0))]
    Judges(Vec<JudgeError>),
}

fn listed(errors: &[JudgeError]) -> String {
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}
