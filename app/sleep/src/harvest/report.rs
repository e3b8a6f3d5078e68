//! What a harvest says about a source: what was there, what was kept, and why the rest was not.

use super::{Instant, Source};
use crate::redact::Counts;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// Files that are named at most; the others are only counted.
const NOTES: usize = 50;

/// Why a record was skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LineReason {
    /// The last record of a file that is still being written, or was cut.
    Truncated,
    /// It is no JSON.
    NotJson,
    /// It is nested too deeply.
    TooDeep,
    /// It is JSON of another shape.
    WrongShape,
    /// It is of a type that is not known.
    UnknownType,
    /// It is longer than the cap.
    Oversized,
}

/// Why a file or a database was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileReason {
    /// It is empty.
    Empty,
    /// It is a folder, a pipe or the like.
    NotAFile,
    /// The system refused, or a link leads nowhere.
    Unreadable,
    /// It is compressed, which is not read.
    Compressed,
    /// It is larger than a document may be.
    TooLarge,
    /// It is not what this source writes.
    WrongShape,
}

/// Why a session is not among the digests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DropReason {
    /// Handed out before, and not changed since.
    Unchanged,
    /// It has no words of a person.
    NoUserTurn,
    /// A call that we, or the reference system, made.
    OwnCall,
    /// A run of an agent below another one.
    Subagent,
    /// Another plugin's session.
    OtherPlugin,
    /// It belongs to no project that was asked for.
    OutOfScope,
    /// It has no folder, so no project.
    NoProject,
    /// It ended before the window.
    BeforeWindow,
    /// There were newer ones enough; it waits for the next harvest.
    OverLimit,
    /// It is in another file too.
    Duplicate,
    /// A record that the others depend on is broken.
    Broken,
}

impl DropReason {
    /// What a number of sessions is said to be.
    fn words(self) -> &'static str {
        match self {
            Self::Unchanged => "unchanged",
            Self::NoUserTurn => "without a person's words",
            Self::OwnCall => "our own calls",
            Self::Subagent => "of sub-agents",
            Self::OtherPlugin => "of other plugins",
            Self::OutOfScope => "of other projects",
            Self::NoProject => "without a project",
            Self::BeforeWindow => "too old",
            Self::OverLimit => "beyond the limit",
            Self::Duplicate => "copies",
            Self::Broken => "broken",
        }
    }
}

impl FileReason {
    /// What a number of files is said to be.
    fn words(self) -> &'static str {
        match self {
            Self::Empty => "empty files",
            Self::NotAFile => "entries that are no files",
            Self::Unreadable => "unreadable files",
            Self::Compressed => "compressed files",
            Self::TooLarge => "files that are too large",
            Self::WrongShape => "files of another shape",
        }
    }
}

/// A file with the reason why it yielded nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileNote {
    /// The file.
    pub path: String,
    /// Why.
    pub reason: FileReason,
}

/// Whether a source could be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceState {
    /// Nobody said where it is.
    #[default]
    NotConfigured,
    /// It is not there.
    Missing,
    /// It was read.
    Read,
    /// Its database is being written to.
    Locked,
    /// Its database is not of a known shape.
    Unsupported,
    /// The system refused.
    Failed,
}

/// Tokens of the agent's messages, each message counted once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Messages with usage.
    pub messages: u64,
    /// Tokens read, without what came from a cache.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
}

/// What one source had.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceReport {
    /// Which.
    pub source: Source,
    /// Where it was looked for.
    pub root: String,
    /// Whether it could be read.
    pub state: SourceState,
    /// What a person should know: a reason, a warning. Empty when all is well.
    pub remarks: Vec<String>,
    /// Files that were there.
    pub files: u64,
    /// Files that were written to in the last minutes.
    pub live: u64,
    /// Bytes that were read.
    pub bytes: u64,
    /// Sessions that were found.
    pub sessions: u64,
    /// Digests that were handed out.
    pub kept: u64,
    /// Records that were skipped, by reason.
    pub skipped: BTreeMap<LineReason, u64>,
    /// Sessions that were dropped, by reason.
    pub dropped: BTreeMap<DropReason, u64>,
    /// Files that were not read, by reason.
    pub refused: BTreeMap<FileReason, u64>,
    /// The first of those files.
    pub notes: Vec<FileNote>,
    /// Secrets that were masked in what was kept, by kind.
    pub redactions: Counts,
    /// What the agent's messages used.
    pub usage: Usage,
    /// When the oldest session that was read ended.
    pub oldest: Option<Instant>,
}

impl SourceReport {
    pub(crate) fn new(source: Source, root: &Path) -> Self {
        Self {
            source,
            root: root.display().to_string(),
            state: SourceState::Read,
            remarks: Vec::new(),
            files: 0,
            live: 0,
            bytes: 0,
            sessions: 0,
            kept: 0,
            skipped: BTreeMap::new(),
            dropped: BTreeMap::new(),
            refused: BTreeMap::new(),
            notes: Vec::new(),
            redactions: Counts::new(),
            usage: Usage::default(),
            oldest: None,
        }
    }

    /// One that yields nothing, and why.
    pub(crate) fn without(source: Source, root: &Path, state: SourceState, why: String) -> Self {
        Self { state, remarks: vec![why], ..Self::new(source, root) }
    }

    pub(crate) fn count_dropped(&mut self, reason: DropReason) {
        *self.dropped.entry(reason).or_default() += 1;
    }

    pub(crate) fn refuse(&mut self, path: &Path, reason: FileReason) {
        *self.refused.entry(reason).or_default() += 1;
        if self.notes.len() < NOTES {
            self.notes.push(FileNote { path: path.display().to_string(), reason });
        }
    }

    /// Why this source yields nothing, or what it yields.
    pub fn explanation(&self) -> String {
        let source = self.source;
        match self.state {
            SourceState::Read if self.kept > 0 => format!("{source} has {} sessions", self.kept),
            SourceState::Read if self.files == 0 => {
                format!("{source} has no transcripts in {}", self.root)
            }
            SourceState::Read => format!("{source} has no session to take ({})", self.reasons()),
            _ => self.remarks.first().cloned().unwrap_or_else(|| format!("{source} is not set up")),
        }
    }

    fn reasons(&self) -> String {
        let dropped = self.dropped.iter().map(|(reason, n)| format!("{n} {}", reason.words()));
        let refused = self.refused.iter().map(|(reason, n)| format!("{n} {}", reason.words()));
        dropped.chain(refused).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_without_sessions_says_why_in_words() {
        let mut report = SourceReport::new(Source::Claude, Path::new("/home/ann/.claude"));
        report.files = 40;
        report.dropped.insert(DropReason::Unchanged, 39);
        report.refused.insert(FileReason::WrongShape, 1);
        let text = report.explanation();
        assert_eq!(text, "claude has no session to take (39 unchanged, 1 files of another shape)");
    }
}
