//! Files of a handoff as they are read: without following a symlink, only ordinary ones, and no more of them than is
//! asked for. What lies in a cloned project may have been put there by anybody. Writes nothing.

use super::files::{HandoffError, io_error};
use std::fs::{File, OpenOptions};
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
    // Looked at before it is opened: opening a pipe waits for its other end.
    match path.symlink_metadata() {
        Ok(meta) if meta.is_file() => {}
        Ok(_) => return Err(HandoffError::NotPlain(path.to_owned())),
        Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(err) => return Err(io_error("read", path)(err)),
    }
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        options.custom_flags(i32::try_from(flags.bits()).unwrap_or_default());
    }
    let file = options.open(path).map_err(io_error("read", path))?;
    match file.metadata() {
        Ok(meta) if meta.is_file() => Ok(Some(file)),
        Ok(_) => Err(HandoffError::NotPlain(path.to_owned())),
        Err(err) => Err(io_error("read", path)(err)),
    }
}
