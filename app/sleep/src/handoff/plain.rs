//! Files and folders of a handoff as they are read: only ordinary ones, and no more of them than is asked for. Writes
//! nothing.

use super::files::{HandoffError, io_error};
use crate::plain::open_plain;
use std::fs::{File, FileType};
use std::io::{self, Read};
use std::path::Path;

/// The text of a file of at most `most` bytes; `None` when there is no such file.
pub(super) fn read_text(path: &Path, most: usize) -> Result<Option<String>, HandoffError> {
    let damaged =
        |reason: &str| HandoffError::Damaged { path: path.to_owned(), reason: reason.to_owned() };
    let Some(file) = open(path)? else { return Ok(None) };
    let mut bytes = Vec::new();
    let limit = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
    file.take(limit).read_to_end(&mut bytes).map_err(io_error("read", path))?;
    if bytes.len() > most {
        return Err(damaged(&format!("it has more than {most} bytes")));
    }
    String::from_utf8(bytes).map(Some).map_err(|_| damaged("it is no UTF-8 text"))
}

fn open(path: &Path) -> Result<Option<File>, HandoffError> {
    match open_plain(path) {
        Ok(file) => Ok(Some(file)),
        Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(err) if err.kind() == io::ErrorKind::InvalidInput => {
            Err(HandoffError::NotPlain(path.to_owned()))
        }
        Err(err) => Err(io_error("read", path)(err)),
    }
}

/// Refuses what is no folder, such as a link to one.
pub(super) fn check_dir(path: &Path) -> Result<(), HandoffError> {
    check(path, FileType::is_dir)
}

/// Refuses what is no ordinary file.
pub(super) fn check_file(path: &Path) -> Result<(), HandoffError> {
    check(path, FileType::is_file)
}

fn check(path: &Path, is_right: fn(&FileType) -> bool) -> Result<(), HandoffError> {
    match path.symlink_metadata() {
        Ok(meta) if is_right(&meta.file_type()) => Ok(()),
        Ok(_) => Err(HandoffError::NotPlain(path.to_owned())),
        Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(err) => Err(io_error("read", path)(err)),
    }
}
