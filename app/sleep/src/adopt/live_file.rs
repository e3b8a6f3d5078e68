//! Reading and replacing a live file: staged write beside it, atomic rename, mode kept, hash compared.
//! Knows bytes and files; nothing of nights, runs, requests or a store.

use skillopt_domain::hash::Sha256Hex;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A live file as it was read.
#[derive(Debug)]
pub struct LiveFile {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Their hash.
    pub sha: Sha256Hex,
    permissions: Permissions,
}

impl LiveFile {
    /// `None` when there is no such file.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn read(path: &Path) -> io::Result<Option<Self>> {
        let bytes = match fs::read(path) {
            Ok(bytes) => bytes,
            Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(err) => return Err(err),
        };
        let permissions = fs::metadata(path)?.permissions();
        Ok(Some(Self { sha: Sha256Hex::of(&bytes), bytes, permissions }))
    }

    /// Permission bits in octal.
    #[must_use]
    pub fn mode(&self) -> Option<String> {
        self.mode_bits().map(|bits| format!("{bits:o}"))
    }

    /// Permission bits, where the system has them.
    #[must_use]
    pub fn mode_bits(&self) -> Option<u32> {
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            Some(self.permissions.mode() & 0o7777)
        }
        #[cfg(not(unix))]
        None
    }
}

/// Which mode a written file gets.
#[derive(Clone, Copy, Debug)]
pub enum Mode<'a> {
    /// That of a new file: the process' default.
    New,
    /// Only the owner may read it.
    Private,
    /// That of the file which it replaces.
    Like(&'a LiveFile),
    /// These bits, where the system has them.
    Bits(u32),
}

impl<'a> Mode<'a> {
    /// The mode of the file that is there, or that of a new one.
    #[must_use]
    pub fn of(live: Option<&'a LiveFile>) -> Self {
        live.map_or(Self::New, Self::Like)
    }
}

/// Hash of a file; `None` when there is no such file.
///
/// # Errors
/// What the operating system says.
pub fn sha_of(path: &Path) -> io::Result<Option<Sha256Hex>> {
    Ok(LiveFile::read(path)?.map(|live| live.sha))
}

/// The name under which new bytes wait for the rename. It is the operation's own, so that a crash leaves
/// nothing that could be taken for a skill.
#[must_use]
pub fn staged_path(path: &Path, operation: &str) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.skillopt-{operation}.tmp"))
}

/// Writes bytes to the disk under a waiting name, with the mode that the file will have.
///
/// # Errors
/// What the operating system says; something may be left under the waiting name then.
pub fn stage(staged: &Path, bytes: &[u8], mode: Mode<'_>) -> io::Result<()> {
    discard(staged)?;
    let mut options = OpenOptions::new();
    // Never through something that another program put there.
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        // Nobody else reads it before it has its mode. A new file gets what the process gives to all its files.
        options.mode(if matches!(mode, Mode::New) { 0o666 } else { 0o600 });
    }
    let mut file = options.open(staged)?;
    file.write_all(bytes)?;
    set_mode(&file, mode)?;
    file.sync_all()
}

#[cfg(unix)]
fn set_mode(file: &File, mode: Mode<'_>) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    match mode {
        Mode::New | Mode::Private => Ok(()),
        Mode::Like(live) => file.set_permissions(live.permissions.clone()),
        Mode::Bits(bits) => file.set_permissions(Permissions::from_mode(bits)),
    }
}

#[cfg(not(unix))]
fn set_mode(file: &File, mode: Mode<'_>) -> io::Result<()> {
    match mode {
        Mode::Like(live) => file.set_permissions(live.permissions.clone()),
        Mode::New | Mode::Private | Mode::Bits(_) => Ok(()),
    }
}

/// The staged bytes become the file, in one step.
///
/// # Errors
/// What the operating system says; the file is as it was then.
pub fn put_in_place(staged: &Path, path: &Path) -> io::Result<()> {
    fs::rename(staged, path)?;
    settle(path);
    Ok(())
}

/// The staged bytes become a new file; a file that has the name already stays, and that is an error.
///
/// # Errors
/// What the operating system says, such as that the name is taken.
pub fn publish_new(staged: &Path, path: &Path) -> io::Result<()> {
    match fs::hard_link(staged, path) {
        // Some file systems have no hard links; names of ours are written under a lock, so looking first is enough.
        Err(err) if has_no_links(&err) && path.symlink_metadata().is_err() => {
            fs::rename(staged, path)?;
        }
        linked => {
            linked?;
            discard(staged)?;
        }
    }
    settle(path);
    Ok(())
}

/// The file system cannot give a file a second name.
pub(crate) fn has_no_links(err: &io::Error) -> bool {
    matches!(err.kind(), io::ErrorKind::Unsupported | io::ErrorKind::PermissionDenied)
}

/// Replaces a file in one step; nobody ever sees half of it.
///
/// # Errors
/// What the operating system says; the file is as it was then.
pub fn replace(path: &Path, bytes: &[u8], mode: Mode<'_>) -> io::Result<()> {
    let staged = staged_path(path, "write");
    let done = stage(&staged, bytes, mode).and_then(|()| put_in_place(&staged, path));
    if done.is_err() {
        // Best effort: what is left is hidden and replaced by the next write.
        let _ = discard(&staged);
    }
    done
}

/// Removes a file.
///
/// # Errors
/// What the operating system says.
pub fn remove(path: &Path) -> io::Result<()> {
    fs::remove_file(path)?;
    settle(path);
    Ok(())
}

/// Removes a file, if there is one.
///
/// # Errors
/// What the operating system says.
pub fn discard(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(err) if err.kind() != io::ErrorKind::NotFound => Err(err),
        _ => Ok(()),
    }
}

/// Where a backup of these bytes goes: beside the file, named after its hash. A name that other bytes
/// already have is made longer.
///
/// # Errors
/// What the operating system says, or that every name is taken.
pub fn backup_path(path: &Path, sha: &Sha256Hex) -> io::Result<PathBuf> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    for digits in [8, 16, 64] {
        let backup =
            path.with_file_name(format!("{name}.skillopt-backup-{}", &sha.as_str()[..digits]));
        match sha_of(&backup)? {
            Some(other) if other != *sha => {}
            _ => return Ok(backup),
        }
    }
    Err(io::Error::other("another file has the name of the backup"))
}

/// Writes the backup, unless it is there already.
///
/// # Errors
/// What the operating system says.
pub fn write_backup(live: &LiveFile, backup: &Path) -> io::Result<()> {
    if sha_of(backup)?.as_ref() == Some(&live.sha) {
        return Ok(());
    }
    let staged = backup.with_added_extension("tmp");
    stage(&staged, &live.bytes, Mode::Like(live))?;
    fs::rename(&staged, backup)?;
    sync_folder(backup)
}

/// The change is made; whether it would outlive a power cut in the next second cannot undo it.
fn settle(path: &Path) {
    if let Err(err) = sync_folder(path) {
        tracing::warn!("cannot sync the folder of {}: {err}", path.display());
    }
}

/// Makes a rename last through a power cut. Folders that cannot be opened for it are left to the system.
fn sync_folder(path: &Path) -> io::Result<()> {
    match path.parent().map(File::open) {
        Some(Ok(folder)) => folder.sync_all().or_else(|err| match err.kind() {
            io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported => Ok(()),
            _ => Err(err),
        }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_published_file_is_never_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let (path, staged) = (dir.path().join("a"), dir.path().join("b"));
        fs::write(&path, "old").unwrap();
        stage(&staged, b"new", Mode::Private).unwrap();
        assert!(publish_new(&staged, &path).is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    }

    #[cfg(unix)]
    #[test]
    fn f22_a_new_file_gets_the_mode_of_the_process_and_not_0600() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let (usual, path) = (dir.path().join("usual"), dir.path().join("ours"));
        fs::write(&usual, "").unwrap();
        replace(&path, b"x", Mode::New).unwrap();
        let bits = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o7777;
        assert_eq!(bits(&path), bits(&usual));
    }
}
