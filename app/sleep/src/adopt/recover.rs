//! An adoption that did not come to its end is taken back: the bytes from before return where the proposal is live.
//! What a person wrote since stays, and the bytes from before stay in the backup then.

use super::Places;
use super::error::AdoptError;
use super::journal::{Journal, JournalReceipt, JournalTarget, file_id};
use super::live_file::{self, LiveFile, Mode};
use super::locks::{lock_staging, lock_targets};
use super::transaction::check_place;
use std::fs;
use std::path::{Path, PathBuf};

/// What recovery found and did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// Documents that have their bytes from before again.
    pub rolled_back: Vec<PathBuf>,
    /// Documents that somebody changed since; they stayed as they are.
    pub kept: Vec<PathBuf>,
}

/// Takes an interrupted adoption back, if there is one. Doing it twice does nothing more.
///
/// # Errors
/// [`AdoptError`]; the journal stays then, and it can be tried again.
pub fn recover(dir: &Path, places: &Places) -> Result<Recovered, AdoptError> {
    let dir = super::transaction::canonical(dir)?;
    let _held = lock_staging(&dir)?;
    recover_locked(&dir, places)
}

/// As [`recover`], by one who holds the lock of the folder.
pub(super) fn recover_locked(dir: &Path, places: &Places) -> Result<Recovered, AdoptError> {
    let Some(journal) = Journal::read(dir)? else { return Ok(Recovered::default()) };
    let paths = journal.targets.iter().map(|target| target.live_path.as_path());
    let _held = lock_targets(paths, places)?;
    take_back(dir, &journal, places)
}

/// Takes the adoption of a journal back, by one who holds all locks.
pub(super) fn take_back(
    dir: &Path,
    journal: &Journal,
    places: &Places,
) -> Result<Recovered, AdoptError> {
    let mut found = Recovered::default();
    for target in &journal.targets {
        check_place(&target.live_path, places)?;
    }
    take_back_receipt(&journal.receipt)?;
    for target in journal.targets.iter().rev() {
        take_back_target(target, &mut found)?;
    }
    for target in journal.targets.iter().rev() {
        remove_folders(target);
    }
    Journal::remove(dir)?;
    Ok(found)
}

fn take_back_target(target: &JournalTarget, found: &mut Recovered) -> Result<(), AdoptError> {
    let path = &target.live_path;
    // Our own waiting bytes only.
    let _ = live_file::discard(&live_file::staged_path(path, "adopt"));
    let is_plain = path.symlink_metadata().map_or(true, |meta| meta.is_file());
    let now =
        if is_plain { LiveFile::read(path).map_err(AdoptError::io("read", path))? } else { None };
    let sha = now.as_ref().map(|live| live.sha.clone());
    if is_plain && sha == target.baseline() {
        return remove_backup(target);
    }
    if !is_plain || sha.as_ref() != Some(&target.proposed_sha256) {
        keep_backup(target)?;
        found.kept.push(path.clone());
        return Ok(());
    }
    let restored = match target.original() {
        None => live_file::remove(path),
        Some(bytes) => {
            let mode = target.original_mode.map_or(Mode::New, Mode::Bits);
            let staged = live_file::staged_path(path, "adopt");
            live_file::stage(&staged, &bytes, mode)
                .and_then(|()| live_file::put_in_place(&staged, path))
        }
    };
    restored.map_err(AdoptError::io("restore", path))?;
    found.rolled_back.push(path.clone());
    remove_backup(target)
}

/// The bytes from before are live again, so nobody needs them twice.
fn remove_backup(target: &JournalTarget) -> Result<(), AdoptError> {
    let Some(backup) = target.backup() else { return Ok(()) };
    let _ = live_file::discard(&live_file::staged_path(backup, "adopt"));
    let sha = live_file::sha_of(backup).map_err(AdoptError::io("read", backup))?;
    if sha.is_some() && sha == target.baseline() {
        live_file::remove(backup).map_err(AdoptError::io("remove", backup))?;
    }
    Ok(())
}

/// The journal goes, and with it the bytes in it: they must be in the backup before.
fn keep_backup(target: &JournalTarget) -> Result<(), AdoptError> {
    let (Some(backup), Some(bytes)) = (target.backup(), target.original()) else { return Ok(()) };
    if live_file::sha_of(backup).map_err(AdoptError::io("read", backup))? == target.baseline() {
        return Ok(());
    }
    let parent = backup.parent().unwrap_or(backup);
    fs::create_dir_all(parent).map_err(AdoptError::io("make the folder", parent))?;
    live_file::replace(backup, &bytes, Mode::Private).map_err(AdoptError::io("write", backup))
}

fn take_back_receipt(receipt: &JournalReceipt) -> Result<(), AdoptError> {
    let path = &receipt.path;
    let now = live_file::sha_of(path).map_err(AdoptError::io("read", path))?;
    if now == receipt.baseline() {
        return Ok(());
    }
    if now.as_ref() != Some(&receipt.proposed_sha256) {
        let text = format!(
            "the receipts {} are neither old nor new; look at them by hand",
            path.display()
        );
        return Err(AdoptError::InvalidStaging(text));
    }
    let restored = match receipt.original() {
        None => live_file::remove(path),
        Some(bytes) => live_file::replace(
            path,
            &bytes,
            receipt.original_mode.map_or(Mode::Private, Mode::Bits),
        ),
    };
    restored.map_err(AdoptError::io("restore", path))
}

/// Folders that the adoption made, when they are still those and empty. What stands in their way stays.
fn remove_folders(target: &JournalTarget) {
    for (folder, id) in target.created_dirs.iter().zip(&target.created_dir_ids).rev() {
        if id.is_some() && *id == file_id(folder) {
            let _ = fs::remove_dir(folder);
        }
    }
}
