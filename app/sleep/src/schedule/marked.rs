//! Files of ours among those of others: each has a mark in it, and nothing without the mark is written over or removed.

use super::InstallError;
use crate::adopt::live_file::{self, Mode};
use std::fs;
use std::path::Path;

/// The file is there and has our mark in it.
pub(super) fn is_marked(path: &Path, mark: &str) -> Result<bool, InstallError> {
    match fs::read(path) {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).contains(mark)),
        Err(err) if err.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(reason) => Err(InstallError::Io { action: "read", path: path.to_owned(), reason }),
    }
}

/// Writes a file of ours, never over one that is not.
pub(super) fn write_marked(path: &Path, text: &str, mark: &str) -> Result<(), InstallError> {
    if path.symlink_metadata().is_ok() && !is_marked(path, mark)? {
        return Err(InstallError::NotOurs(path.to_owned()));
    }
    let parent = path.parent().unwrap_or(path);
    let io = |action, reason| InstallError::Io { action, path: path.to_owned(), reason };
    fs::create_dir_all(parent).map_err(|reason| io("make the folder of", reason))?;
    live_file::replace(path, text.as_bytes(), Mode::New).map_err(|reason| io("write", reason))
}

/// Removes a file of ours; one that is not ours, or not there, stays as it is.
pub(super) fn remove(path: &Path, mark: &str) -> Result<(), InstallError> {
    if !is_marked(path, mark)? {
        return Ok(());
    }
    live_file::discard(path).map_err(|reason| InstallError::Io {
        action: "remove",
        path: path.to_owned(),
        reason,
    })
}

/// Names of our files in a folder, without their suffix and in order. A folder that is not there has none.
pub(super) fn installed(
    folder: &Path,
    (prefix, suffix): (&str, &str),
    mark: &str,
) -> Result<Vec<String>, InstallError> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(Vec::new()) };
    let mut names = Vec::new();
    for entry in entries.filter_map(Result::ok) {
        let file = entry.file_name().to_string_lossy().into_owned();
        let name = file.strip_suffix(suffix).filter(|name| name.starts_with(prefix));
        if let Some(name) = name
            && is_marked(&entry.path(), mark)?
        {
            names.push(name.to_owned());
        }
    }
    names.sort();
    Ok(names)
}
