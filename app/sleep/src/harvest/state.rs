//! What one harvest tells the next one. A value: who keeps it, and where, is not known here.

use super::listing::Candidate;
use super::{DropReason, FileReason, Instant, Source};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What became of a file or of a session of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It was handed out.
    Kept,
    /// It was good, and there were newer ones enough. It comes with the next harvest, however old it is by then.
    Waiting,
    /// It was left out.
    Dropped(DropReason),
    /// It could not be read.
    Refused(FileReason),
}

/// What is known of a file or of a session of a database.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// Its length in bytes; 0 in a database.
    pub bytes: u64,
    /// When it was changed.
    pub modified: Instant,
    /// Its number in the file system; 0 where there is none.
    #[serde(default)]
    pub inode: u64,
    /// What became of it.
    pub outcome: Outcome,
    /// Its projects, so that another scope can be told without reading it.
    #[serde(default)]
    pub projects: Vec<String>,
    /// When it ended, so that another window can be told without reading it.
    #[serde(default)]
    pub ended: Option<Instant>,
}

impl Seen {
    /// It is there, and waits.
    pub(crate) fn new(candidate: &Candidate) -> Self {
        Self {
            bytes: candidate.bytes,
            modified: candidate.modified,
            inode: candidate.inode,
            outcome: Outcome::Waiting,
            projects: Vec::new(),
            ended: None,
        }
    }
}

/// What is known of all that was read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HarvestState {
    /// By source and path.
    seen: BTreeMap<Source, BTreeMap<String, Seen>>,
}

impl HarvestState {
    /// How many files and sessions are known.
    pub fn len(&self) -> usize {
        self.seen.values().map(BTreeMap::len).sum()
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn of(&self, source: Source) -> Option<&BTreeMap<String, Seen>> {
        self.seen.get(&source)
    }

    /// Files that are gone are forgotten; a source that is not there is not.
    pub(crate) fn replace(&mut self, source: Source, seen: Option<BTreeMap<String, Seen>>) {
        if let Some(seen) = seen {
            self.seen.insert(source, seen);
        }
    }

    /// Marks a session as one that was not handed out after all. Of a session in a file of many, the file.
    pub(crate) fn wait(&mut self, source: Source, path: &str) {
        let Some(seen) = self.seen.get_mut(&source) else { return };
        let file = path.rsplit_once('#').map_or(path, |(file, _)| file);
        let key = if seen.contains_key(path) { path } else { file };
        if let Some(seen) = seen.get_mut(key) {
            seen.outcome = Outcome::Waiting;
        }
    }
}
