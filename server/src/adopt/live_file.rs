//! Reading and replacing a live file: backup beside it, atomic write, mode kept.
//! Knows bytes and files; nothing of runs, requests or the store.

use skillopt_domain::hash::Sha256Hex;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Permission bits of a file that did not exist before.
#[cfg(unix)]
const NEW_FILE_MODE: u32 = 0o644;

/// A live file as it was read.
#[derive(Debug)]
pub(crate) struct LiveFile {
    pub(crate) bytes: Vec<u8>,
    pub(crate) sha: Sha256Hex,
    permissions: Permissions,
}

impl LiveFile {
    /// `None` when there is no such file.
    pub(crate) fn read(path: &Path) -> io::Result<Option<Self>> {
        let bytes = match fs::read(path) {
            Ok(bytes) => bytes,
            Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(err) => return Err(err),
        };
        let permissions = fs::metadata(path)?.permissions();
        Ok(Some(Self { sha: Sha256Hex::of(&bytes), bytes, permissions }))
    }

    /// Permission bits in octal.
    pub(crate) fn mode(&self) -> Option<String> {
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            Some(format!("{:o}", self.permissions.mode() & 0o7777))
        }
        #[cfg(not(unix))]
        None
    }
}

/// Hash of a file; `None` when there is no such file.
pub(crate) fn sha_of(path: &Path) -> io::Result<Option<Sha256Hex>> {
    Ok(LiveFile::read(path)?.map(|live| live.sha))
}

/// Where a backup of these bytes goes: beside the file, named after its hash. A name that other bytes
/// already have is made longer.
pub(crate) fn backup_path(path: &Path, sha: &Sha256Hex) -> io::Result<PathBuf> {
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
pub(crate) fn write_backup(live: &LiveFile, backup: &Path) -> io::Result<()> {
    if sha_of(backup)?.as_ref() == Some(&live.sha) {
        return Ok(());
    }
    let staged = backup.with_added_extension("tmp");
    stage(&staged, &live.bytes, Some(&live.permissions))?;
    fs::rename(&staged, backup)?;
    sync_folder(backup)
}

/// The name under which new bytes wait for the rename. It is the operation's own, so that a crash leaves
/// nothing that could be taken for a skill.
pub(crate) fn staged_path(path: &Path, operation: &str) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.skillopt-{operation}.tmp"))
}

/// Writes bytes to the disk under a waiting name, with the mode that the file will have.
pub(crate) fn stage_like(staged: &Path, bytes: &[u8], like: Option<&LiveFile>) -> io::Result<()> {
    stage(staged, bytes, like.map(|live| &live.permissions))
}

/// The staged bytes become the file, in one step.
pub(crate) fn put_in_place(staged: &Path, path: &Path) -> io::Result<()> {
    fs::rename(staged, path)?;
    settle(path);
    Ok(())
}

/// Removes a file.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    fs::remove_file(path)?;
    settle(path);
    Ok(())
}

/// The change is made; whether it would outlive a power cut in the next second cannot undo it.
fn settle(path: &Path) {
    if let Err(err) = sync_folder(path) {
        tracing::warn!("cannot sync the folder of {}: {err}", path.display());
    }
}

/// Removes a staged file, if there is one.
pub(crate) fn discard(staged: &Path) -> io::Result<()> {
    match fs::remove_file(staged) {
        Err(err) if err.kind() != io::ErrorKind::NotFound => Err(err),
        _ => Ok(()),
    }
}

fn stage(staged: &Path, bytes: &[u8], permissions: Option<&Permissions>) -> io::Result<()> {
    discard(staged)?;
    let mut options = OpenOptions::new();
    // Never through something that another program put there.
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        // Nobody else reads it before it has its mode.
        options.mode(0o600);
    }
    let mut file = options.open(staged)?;
    file.write_all(bytes)?;
    match permissions {
        Some(permissions) => file.set_permissions(permissions.clone())?,
        None => set_new_file_mode(&file)?,
    }
    file.sync_all()
}

#[cfg(unix)]
fn set_new_file_mode(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(Permissions::from_mode(NEW_FILE_MODE))
}

#[cfg(not(unix))]
fn set_new_file_mode(_file: &File) -> io::Result<()> {
    Ok(())
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
