//! The state's file: read, changed under a lock, written in one step.

use super::State;
use crate::adopt::live_file::{self, LiveFile, Mode};
use skillopt_domain::hash::Sha256Hex;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// `state.json` of a state folder.
#[derive(Clone, Debug)]
pub struct StateFile {
    path: PathBuf,
    lock_tries: u32,
}

/// A change takes milliseconds: whoever holds the lock for ten seconds hangs.
const LOCK_TRIES: u32 = 500;
const LOCK_PAUSE: Duration = Duration::from_millis(20);

/// Why the state cannot be used. The file is as it was.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// It cannot be understood.
    #[error(
        "{} cannot be understood ({reason}); a copy is in {}; mend the file, or move it away to begin anew",
        .path.display(), .copy.display()
    )]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// The copy.
        copy: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// A newer program wrote it.
    #[error("{} has version {version}, and this program knows version 1", .path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: u32,
    },
    /// Another process holds its lock.
    #[error("{} is being changed by another process, which does not come to its end", .path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// The file system refused.
    #[error("cannot {action} {}: {reason}", .path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The words of the operating system.
        reason: io::Error,
    },
}

impl StateFile {
    /// The state in this folder, whether it is there or not.
    #[must_use]
    pub fn new(state_dir: &Path) -> Self {
        Self { path: state_dir.join("state.json"), lock_tries: LOCK_TRIES }
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the state; a missing file is an empty one.
    ///
    /// # Errors
    /// [`StateError`]; a file that cannot be understood was copied beside itself then.
    pub fn read(&self) -> Result<State, StateError> {
        let live = LiveFile::read(&self.path).map_err(|reason| self.io("read", reason))?;
        let Some(live) = live else {
            return Ok(State::default());
        };
        let state: State = serde_json::from_slice(&live.bytes)
            .map_err(|err| self.corrupt(&live.bytes, err.to_string()))?;
        if state.version > 1 {
            return Err(StateError::Newer { path: self.path.clone(), version: state.version });
        }
        Ok(state)
    }

    /// Changes the state: reads it, changes it and writes it, while no other process of ours does. Blocks, some seconds
    /// at most.
    ///
    /// # Errors
    /// [`StateError`]; the file is as it was then.
    pub fn update<T>(&self, change: impl FnOnce(&mut State) -> T) -> Result<T, StateError> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder).map_err(|reason| self.io("make the folder of", reason))?;
        // A file of its own: the state is replaced, and a lock on it would go with the old file. The lock ends with
        // the process.
        let file = File::create(self.path.with_added_extension("lock"));
        let file = file.map_err(|reason| self.io("lock", reason))?;
        self.wait_for(&file)?;
        let mut state = self.read()?;
        let answer = change(&mut state);
        self.write(&state)?;
        Ok(answer)
    }

    fn wait_for(&self, lock: &File) -> Result<(), StateError> {
        for _ in 0..self.lock_tries {
            match lock.try_lock() {
                Ok(()) => return Ok(()),
                Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_PAUSE),
                Err(TryLockError::Error(reason)) => return Err(self.io("lock", reason)),
            }
        }
        Err(StateError::Busy { path: self.path.clone() })
    }

    fn write(&self, state: &State) -> Result<(), StateError> {
        let mut bytes = serde_json::to_vec_pretty(state)
            .map_err(|err| self.io("write", io::Error::other(err)))?;
        bytes.push(b'\n');
        let live = LiveFile::read(&self.path).map_err(|reason| self.io("read", reason))?;
        // Tasks in it are excerpts of a person's sessions.
        let mode = live.as_ref().map_or(Mode::Private, Mode::Like);
        live_file::replace(&self.path, &bytes, mode).map_err(|reason| self.io("write", reason))
    }

    fn io(&self, action: &'static str, reason: io::Error) -> StateError {
        StateError::Io { action, path: self.path.clone(), reason }
    }

    fn corrupt(&self, bytes: &[u8], reason: String) -> StateError {
        let sha = Sha256Hex::of(bytes);
        // One copy of one damage, however often it is read.
        let copy = self.path.with_added_extension(format!("corrupt-{}", &sha.as_str()[..8]));
        match live_file::replace(&copy, bytes, Mode::Private) {
            Ok(()) => StateError::Corrupt { path: self.path.clone(), copy, reason },
            Err(err) => {
                StateError::Io { action: "copy the damaged", path: self.path.clone(), reason: err }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_that_another_process_never_lets_go_is_an_error_and_no_wait_without_end() {
        let dir = tempfile::tempdir().unwrap();
        let file = StateFile { lock_tries: 1, ..StateFile::new(dir.path()) };
        let held = File::create(file.path().with_added_extension("lock")).unwrap();
        held.lock().unwrap();
        let err = file.update(|state| state.begin_night("/p")).unwrap_err();
        assert!(matches!(err, StateError::Busy { .. }), "{err}");
        drop(held);
        file.update(|state| state.begin_night("/p")).unwrap();
    }
}
