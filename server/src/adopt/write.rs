//! Compare and swap of a live file: what is done in which order, so that a crash leaves old or new bytes entirely.
//! Blocking; knows nothing of the store.

use super::error::AdoptError;
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::ids::AdoptionId;
use skillopt_sleep::adopt::live_file::{self, LiveFile, Mode};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Permission bits of a file that did not exist before.
const NEW_FILE_MODE: u32 = 0o644;

/// The moments of a write at which a crash leaves different traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WritePoint {
    /// The intent is in the store, nothing else happened.
    Intended,
    /// The backup is on the disk.
    BackedUp,
    /// The new bytes are on the disk under their waiting name.
    Staged,
    /// The new bytes are the live file; the store does not know it.
    InPlace,
}

/// Called at each point; only tests stop there.
pub(crate) type Watcher = Arc<dyn Fn(WritePoint) -> io::Result<()> + Send + Sync>;

/// Everything that one write needs, decided before the first byte.
#[derive(Clone, Debug)]
pub(super) struct Write {
    pub(super) id: AdoptionId,
    pub(super) path: PathBuf,
    pub(super) expected: Option<Sha256Hex>,
    pub(super) bytes: Vec<u8>,
    pub(super) backup: Option<PathBuf>,
}

pub(super) fn read_live(path: &Path) -> Result<Option<LiveFile>, AdoptError> {
    LiveFile::read(path).map_err(|reason| AdoptError::Io {
        action: "read",
        path: path.to_owned(),
        reason,
    })
}

/// Compare and swap: the file is read, backed up, and replaced only if it still has the expected bytes right
/// before the rename. What was staged is removed on failure.
pub(super) fn write_live(write: &Write, watcher: &Watcher) -> Result<(), AdoptError> {
    let staged = live_file::staged_path(&write.path, write.id.as_str());
    let done = write_steps(write, &staged, watcher);
    if done.is_err() && !matches!(done, Err(AdoptError::Interrupted)) {
        // Best effort: a leftover is hidden, harmless and removed by the next recovery.
        let _ = live_file::discard(&staged);
    }
    done
}

fn write_steps(write: &Write, staged: &Path, watcher: &Watcher) -> Result<(), AdoptError> {
    let failed = |action| {
        let path = write.path.clone();
        move |reason| AdoptError::Io { action, path, reason }
    };
    let reached = |point| watcher(point).map_err(|_| AdoptError::Interrupted);
    let live = read_live(&write.path)?;
    expect(write, live.as_ref().map(|live| &live.sha))?;
    reached(WritePoint::Intended)?;
    if let (Some(live), Some(backup)) = (&live, &write.backup) {
        live_file::write_backup(live, backup).map_err(failed("back up"))?;
    }
    reached(WritePoint::BackedUp)?;
    let mode = live.as_ref().map_or(Mode::Bits(NEW_FILE_MODE), Mode::Like);
    live_file::stage(staged, &write.bytes, mode).map_err(failed("write beside"))?;
    reached(WritePoint::Staged)?;
    expect(write, live_file::sha_of(&write.path).map_err(failed("read"))?.as_ref())?;
    live_file::put_in_place(staged, &write.path).map_err(failed("replace"))?;
    reached(WritePoint::InPlace)
}

fn expect(write: &Write, live: Option<&Sha256Hex>) -> Result<(), AdoptError> {
    if live == write.expected.as_ref() {
        Ok(())
    } else {
        Err(AdoptError::FileChanged { path: write.path.clone(), live: live.cloned() })
    }
}
