//! The locks of an adoption: one for the staging folder, one for each live document, the latter shared by all nights
//! and with the reference system.

use super::{AdoptError, Places};
use crate::lock::Lock;
use crate::stage::folded_path;
use skillopt_domain::hash::Sha256Hex;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Locks of one operation, let go together.
#[derive(Debug)]
pub(super) struct Held(Vec<Lock>);

impl Held {
    /// As a process that dies: the files stay.
    pub(super) fn die(self) {
        self.0.into_iter().for_each(Lock::die);
    }

    pub(super) fn and(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }
}

/// Locks a staging folder.
pub(super) fn lock_staging(dir: &Path) -> Result<Held, AdoptError> {
    Ok(Held(vec![Lock::take(&dir.join(".adopt-skills.lock"))?]))
}

/// Locks live documents, in one order for all.
pub(super) fn lock_targets<'a>(
    paths: impl Iterator<Item = &'a Path>,
    places: &Places,
) -> Result<Held, AdoptError> {
    let root = lock_root(&places.temp_dir)?;
    let keys: BTreeSet<String> = paths.map(folded_path).collect();
    let locks =
        keys.iter().map(|key| Lock::take(&root.join(format!("{}.lock", Sha256Hex::of(key)))));
    Ok(Held(locks.collect::<Result<_, _>>()?))
}

/// A folder that nobody else can write, so that nobody can stop or fool an adoption.
fn lock_root(temp_dir: &Path) -> Result<PathBuf, AdoptError> {
    let root = temp_dir.join(format!("skillopt-sleep-adopt-{}", identity()));
    let failed =
        |reason| AdoptError::Failed { action: "use the lock folder", path: root.clone(), reason };
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    match builder.create(&root) {
        Err(err) if err.kind() == io::ErrorKind::AlreadyExists => {}
        other => other.map_err(failed)?,
    }
    let meta = root.symlink_metadata().map_err(failed)?;
    if !meta.is_dir() || !is_private(&meta) {
        return Err(failed(io::Error::other(
            "it is not a private folder of this user (mode 0700)",
        )));
    }
    Ok(root)
}

#[cfg(unix)]
fn identity() -> String {
    rustix::process::getuid().as_raw().to_string()
}

#[cfg(not(unix))]
fn identity() -> String {
    // The folder for temporary files is the user's own there.
    "user".to_owned()
}

#[cfg(unix)]
fn is_private(meta: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    meta.uid() == rustix::process::getuid().as_raw() && meta.mode() & 0o7777 == 0o700
}

#[cfg(not(unix))]
fn is_private(_meta: &fs::Metadata) -> bool {
    true
}
