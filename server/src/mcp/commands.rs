//! What a tool asks of our own program, and what comes back. Who starts it stands in `own_program`.

use async_trait::async_trait;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How long a command is likely to take: short ones never wait for long ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Length {
    /// It looks or decides.
    Short,
    /// A night, a harvest, a run.
    Long,
}

/// One command of our own program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CommandLine {
    /// Its arguments, the subcommand first. Texts of a client stand behind the `=` of a flag only.
    pub(crate) arguments: Vec<String>,
    /// Where it works; the folder of the server when there is none.
    pub(crate) folder: Option<PathBuf>,
    /// How long it may take.
    pub(crate) time_limit: Duration,
    /// Which others it waits for.
    pub(crate) length: Length,
}

impl CommandLine {
    /// As a person types it into a terminal.
    pub(crate) fn typed(&self) -> String {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_=./:,@".contains(c);
        let word = |word: &String| match word.chars().all(is_plain) && !word.is_empty() {
            true => word.clone(),
            false => format!("'{}'", word.replace('\'', "'\\''")),
        };
        let words: Vec<String> = self.arguments.iter().map(word).collect();
        format!("skillopt {}", words.join(" "))
    }
}

/// A command that is over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Finished {
    /// How it ended; `None` when it did not end by itself, and `stderr` says why.
    pub(crate) exit_code: Option<i32>,
    /// All that it wrote.
    pub(crate) stdout: String,
    /// The last of its notes and errors.
    pub(crate) stderr: String,
}

/// Runs commands of our own program.
#[async_trait]
pub(crate) trait Commands: fmt::Debug + Send + Sync {
    /// Runs one to its end. Cancelling ends it with all that it started.
    async fn run(&self, line: CommandLine, cancel: &CancellationToken) -> Finished;
}
