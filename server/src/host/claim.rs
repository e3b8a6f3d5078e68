//! The folder of a new run: one run at a time is made in it, and it is taken from no run that did anything.

use super::{DiskRunFolder, Existing, HostError, Hosting, absolute};
use skillopt_domain::ids::RunId;
use skillopt_store::RunRow;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

/// A run that was tried again and again without getting beyond its set-up has fewer events.
const MOST_SET_UP_EVENTS: u32 = 500;

/// A folder in which nobody else makes a run until this is dropped.
#[derive(Debug)]
pub(super) struct Claim {
    /// Its real path.
    pub(super) folder: PathBuf,
    /// The run that had it until now.
    pub(super) former: Option<Box<RunRow>>,
    _making: Option<File>,
    _former: Option<DiskRunFolder>,
}

impl Hosting {
    /// Whether a run ended before it did anything but set itself up, so that a new one may have its folder.
    ///
    /// # Errors
    /// [`HostError::Store`] when the store cannot be read.
    pub async fn gives_way(&self, row: &RunRow) -> Result<bool, HostError> {
        if !row.status.is_resumable() || row.lease.is_some() {
            return Ok(false);
        }
        let events = self.shared.store.events_after(&row.id, 0, MOST_SET_UP_EVENTS).await?;
        let is_whole = u32::try_from(events.len()).is_ok_and(|n| n < MOST_SET_UP_EVENTS);
        Ok(is_whole && events.iter().all(|event| event.kind.is_set_up()))
    }

    /// The run that has a folder until a new one gets it; `None` when it is free.
    ///
    /// # Errors
    /// [`HostError::Folder`] when a new run cannot have it.
    pub(crate) async fn former(&self, path: &Path) -> Result<Option<Box<RunRow>>, HostError> {
        match self.existing(path).await? {
            Existing::None if is_in_a_file(path) => Err(folder_error(path, &"it is no folder")),
            Existing::None => Ok(None),
            Existing::Known(row) if self.gives_way(&row).await? => Ok(Some(row)),
            Existing::Known(_) => {
                Err(folder_error(path, &"it holds a run already; choose an empty folder"))
            }
            Existing::Foreign => Err(folder_error(
                path,
                &"it holds a run, or files that a run would write over; choose an empty folder",
            )),
        }
    }

    /// Makes the folder of a new run and keeps it from others. A folder that holds a run is given to another one only
    /// if that run did nothing.
    ///
    /// # Errors
    /// [`HostError::Folder`] when it cannot be made or is taken.
    pub(super) async fn claim(&self, path: &Path) -> Result<Claim, HostError> {
        // Nothing is made where the run is refused.
        self.former(path).await?;
        let wanted = absolute(path);
        let locked = tokio::task::spawn_blocking(move || make_and_lock(&wanted)).await;
        let (folder, making) = locked.map_err(|err| folder_error(path, &err))??;
        let Some(row) = self.former(path).await? else {
            return Ok(Claim { folder, former: None, _making: making, _former: None });
        };
        let root = folder.clone();
        let held = tokio::task::spawn_blocking(move || DiskRunFolder::open(&root)).await;
        let held = held.map_err(|err| folder_error(path, &err))??;
        // It may have been resumed meanwhile; from now on it cannot be.
        let row = self.shared.store.run_row(&row.id).await?;
        if !self.gives_way(&row).await? {
            return Err(folder_error(path, &"its run was resumed meanwhile"));
        }
        Ok(Claim { folder, former: Some(Box::new(row)), _making: making, _former: Some(held) })
    }

    /// Refuses to go on with a run that was imported, or whose folder another run has now.
    ///
    /// # Errors
    /// [`HostError::Imported`] or [`HostError::Displaced`].
    pub(crate) async fn refuse_unresumable(&self, run: &RunId) -> Result<(), HostError> {
        self.refuse_imported(run).await?;
        let row = self.shared.store.run_row(run).await?;
        match self.shared.store.find_run_by_out_root(&row.out_root).await? {
            Some(by) if by != row.id => {
                Err(HostError::Displaced { run: row.id, by, folder: row.out_root })
            }
            _ => Ok(()),
        }
    }
}

pub(super) fn folder_error(folder: &Path, err: &dyn std::fmt::Display) -> HostError {
    HostError::Folder { path: folder.display().to_string(), message: err.to_string() }
}

/// The path, or what of it is there, is a file.
fn is_in_a_file(path: &Path) -> bool {
    let path = absolute(path);
    path.ancestors().find(|part| part.exists()).is_some_and(|part| !part.is_dir())
}

/// The real path of a folder, and the lock under which runs are made in it. That is not the lock of the run: who is
/// refused here must not be in the way of a run that was made a moment ago.
fn make_and_lock(folder: &Path) -> Result<(PathBuf, Option<File>), HostError> {
    std::fs::create_dir_all(folder).map_err(|err| folder_error(folder, &err))?;
    let folder = folder.canonicalize().map_err(|err| folder_error(folder, &err))?;
    // Not every system opens folders.
    let Ok(lock) = File::open(&folder) else { return Ok((folder, None)) };
    match lock.try_lock() {
        Ok(()) => Ok((folder, Some(lock))),
        Err(TryLockError::WouldBlock) => {
            Err(folder_error(&folder, &"another run is being made in it; choose an empty folder"))
        }
        Err(TryLockError::Error(err)) => {
            tracing::warn!("cannot lock the folder of a new run: {err}");
            Ok((folder, None))
        }
    }
}
