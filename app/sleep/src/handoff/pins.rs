//! What a night pins, and which pins are of this machine. A project that was cloned can bring pins, and a night that took
//! them would do tasks that nobody here has looked at. So their hashes are noted in the state folder, outside of projects:
//! nothing in a project can be in it.

use super::files::{Handoff, HandoffError, io_error, json_bytes};
use super::plain;
use crate::adopt::live_file::{self, Mode};
use serde_json::Value;
use skillopt_domain::hash::Sha256Hex;
use std::fs;
use std::path::{Path, PathBuf};

/// The largest file of what is pinned that is read, in bytes: the sessions of a night are in it.
const MAX_PINNED_BYTES: usize = 256 << 20;
/// More than a hash has, in bytes.
const MAX_RECORD_BYTES: usize = 1 << 10;

/// What a night pins in its first round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pinned {
    /// `digests.json`
    Digests,
    /// `tasks.json`
    Tasks,
}

/// The hashes of pins that this machine wrote, each in a file that is named after where the pins lie.
#[derive(Clone, Debug)]
pub(super) struct OwnPins {
    dir: PathBuf,
}

impl Pinned {
    pub(super) const ALL: [Self; 2] = [Self::Digests, Self::Tasks];

    /// The file in the folder.
    pub(crate) fn file_name(self) -> &'static str {
        match self {
            Self::Digests => "digests.json",
            Self::Tasks => "tasks.json",
        }
    }
}

impl Handoff {
    /// Pins what the first round saw, so that later rounds ask the same.
    ///
    /// # Errors
    /// [`HandoffError`] when the file cannot be written.
    pub fn pin(&self, what: Pinned, value: &Value) -> Result<(), HandoffError> {
        self.make_dir(self.dir())?;
        let path = self.dir().join(what.file_name());
        let bytes = json_bytes(&path, value)?;
        self.own_pins.note(&path, &bytes)?;
        self.write(&path, &bytes)
    }

    /// What the first round pinned; `None` before it did. Pins that this machine did not write count for nothing.
    ///
    /// # Errors
    /// [`HandoffError`] when the file cannot be read or understood.
    pub fn pinned(&self, what: Pinned) -> Result<Option<Value>, HandoffError> {
        let path = self.dir().join(what.file_name());
        let Some(text) = self.read_text(&path, MAX_PINNED_BYTES)? else { return Ok(None) };
        match self.own_pins.has(&path, &text)? {
            true => parsed_pins(path, &text).map(Some),
            false => Ok(None),
        }
    }

    /// What is told of pins that this machine did not write; `None` when there are none.
    ///
    /// # Errors
    /// [`HandoffError`] when a file cannot be read.
    pub fn foreign_pins(&self) -> Result<Option<String>, HandoffError> {
        let mut foreign = Vec::new();
        for what in Pinned::ALL {
            let path = self.dir().join(what.file_name());
            let text = self.read_text(&path, MAX_PINNED_BYTES)?;
            if let Some(text) = text
                && !self.own_pins.has(&path, &text)?
            {
                foreign.push(what.file_name());
            }
        }
        let words = format!(
            "pins that no night of this machine wrote, or that were changed since, are not used, and the night begins \
             anew: {} in {}",
            foreign.join(" and "),
            self.dir().display()
        );
        Ok(Some(words).filter(|_| !foreign.is_empty()))
    }
}

impl OwnPins {
    pub(super) fn new(state_dir: &Path) -> Self {
        Self { dir: state_dir.join("handoff-pins") }
    }

    /// Notes pins that are about to be written: without a record they are nobody's.
    pub(super) fn note(&self, pins: &Path, bytes: &[u8]) -> Result<(), HandoffError> {
        fs::create_dir_all(&self.dir).map_err(io_error("make", &self.dir))?;
        let (path, sha) = (self.record_of(pins), Sha256Hex::of(bytes));
        live_file::replace(&path, sha.as_str().as_bytes(), Mode::Private)
            .map_err(io_error("write", &path))
    }

    pub(super) fn has(&self, pins: &Path, text: &str) -> Result<bool, HandoffError> {
        let known = plain::read_text(&self.record_of(pins), MAX_RECORD_BYTES)?;
        Ok(known.is_some_and(|known| known == Sha256Hex::of(text).as_str()))
    }

    pub(super) fn forget(&self, pins: &Path) -> Result<(), HandoffError> {
        let path = self.record_of(pins);
        live_file::discard(&path).map_err(io_error("remove", &path))
    }

    /// The folder of the pins may be named in several ways.
    fn record_of(&self, pins: &Path) -> PathBuf {
        let folder = pins.parent().and_then(|folder| folder.canonicalize().ok());
        let name = pins.file_name().unwrap_or_default();
        let real = folder.map_or_else(|| pins.to_owned(), |folder| folder.join(name));
        self.dir.join(Sha256Hex::of(real.as_os_str().as_encoded_bytes()).as_str())
    }
}

/// What is pinned in a folder, whoever wrote it: enough to tell whose it is, and nothing that a night may take.
pub(super) fn pinned_by_anybody(dir: &Path, what: Pinned) -> Result<Option<Value>, HandoffError> {
    let path = dir.join(what.file_name());
    let Some(text) = plain::read_text(&path, MAX_PINNED_BYTES)? else { return Ok(None) };
    parsed_pins(path, &text).map(Some)
}

fn parsed_pins(path: PathBuf, text: &str) -> Result<Value, HandoffError> {
    let damaged = |err: serde_json::Error| HandoffError::Damaged { path, reason: err.to_string() };
    serde_json::from_str(text).map_err(damaged)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pins_are_of_this_machine_as_they_were_written_and_where_they_were_written() {
        let dir = tempfile::tempdir().unwrap();
        let own = OwnPins::new(&dir.path().join("state"));
        let folder = dir.path().join("project");
        fs::create_dir(&folder).unwrap();
        let pins = folder.join("tasks.json");
        assert!(!own.has(&pins, "[]").unwrap(), "there is no record");
        own.note(&pins, b"[]").unwrap();
        assert!(own.has(&pins, "[]").unwrap());
        assert!(own.has(&folder.join("../project/tasks.json"), "[]").unwrap());
        assert!(!own.has(&pins, "[1]").unwrap(), "somebody changed them");
        for other in ["project/digests.json", "tasks.json"] {
            assert!(!own.has(&dir.path().join(other), "[]").unwrap(), "{other}");
        }
        own.forget(&pins).unwrap();
        assert!(!own.has(&pins, "[]").unwrap());
    }
}
