//! What can be wrong with data, told so that a person can mend it: file, row, field, problem.

use serde::Serialize;
use skillopt_engine::splits::SplitError;
use std::fmt;
use std::path::PathBuf;

/// How many rows a message names; the table has them all.
const NAMED_ROWS: usize = 5;

/// Data that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DataError {
    /// A file or folder cannot be read.
    #[error("{path}: {source}")]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A split cannot be written.
    #[error("cannot write {path}: {source}")]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A split folder lacks one of its three folders.
    #[error(
        "{path} has no folder `{folder}`; a split folder holds train, val and test (a split that is meant to be empty holds a file with [])"
    )]
    NoSplitFolder {
        /// The split folder.
        path: PathBuf,
        /// What is missing.
        folder: &'static str,
    },
    /// A folder without data.
    #[error("{path} holds no .json or .jsonl file")]
    NoFile {
        /// The folder.
        path: PathBuf,
    },
    /// A folder with a choice that is not ours to make.
    #[error("{path} holds several data files ({names}); name one of them in env.data_path")]
    SeveralFiles {
        /// The folder.
        path: PathBuf,
        /// The files, separated by commas.
        names: String,
    },
    /// The bytes are not UTF-8.
    #[error("{path}: {problem}")]
    Encoding {
        /// The file.
        path: PathBuf,
        /// What the bytes look like and what to do.
        problem: String,
    },
    /// The file is not JSON.
    #[error("{path} is not valid JSON: {source}")]
    Json {
        /// The file.
        path: PathBuf,
        /// Where the parser stopped.
        source: serde_json::Error,
    },
    /// The file is JSON, but no list of items.
    #[error("{path}: expected {expected}, found {found}")]
    Shape {
        /// The file.
        path: PathBuf,
        /// What is accepted.
        expected: &'static str,
        /// What is there.
        found: &'static str,
    },
    /// Rows with missing or wrong fields.
    #[error("{0}")]
    Rows(RowProblems),
    /// The output folder holds a split of other data or of another ratio.
    #[error(
        "{path} holds another split already; remove it, or choose another folder with env.split_output_dir"
    )]
    OtherSplit {
        /// The folder.
        path: PathBuf,
    },
    /// The splits overlap, or there is nothing to train on.
    #[error(transparent)]
    Splits(#[from] SplitError),
}

impl DataError {
    /// The table of bad rows; empty for other errors.
    #[must_use]
    pub fn rows(&self) -> &[RowProblem] {
        match self {
            Self::Rows(problems) => &problems.0,
            _ => &[],
        }
    }
}

/// One field of one row that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RowProblem {
    /// The file, as given.
    pub file: String,
    /// The row from 1: place in the list, or line of a `.jsonl` file.
    pub row: usize,
    /// The field; empty when the whole row is meant.
    pub field: String,
    /// What is wrong.
    pub problem: String,
}

impl fmt::Display for RowProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, row {}", self.file, self.row)?;
        if !self.field.is_empty() {
            write!(f, ", field `{}`", self.field)?;
        }
        write!(f, ": {}", self.problem)
    }
}

/// All bad rows of a data set; never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowProblems(pub Vec<RowProblem>);

impl fmt::Display for RowProblems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named: Vec<String> = self.0.iter().take(NAMED_ROWS).map(ToString::to_string).collect();
        f.write_str(&named.join("; "))?;
        match self.0.len().saturating_sub(NAMED_ROWS) {
            0 => Ok(()),
            1 => f.write_str("; and 1 more problem"),
            more => write!(f, "; and {more} more problems"),
        }
    }
}
