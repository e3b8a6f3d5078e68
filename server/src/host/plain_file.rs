//! Files that a config names. A name may lead to a pipe or a device, which would hold the reader for ever, or to a file
//! that fills the memory.

use std::fs::File;
use std::io::{Error, ErrorKind, Read, Result};
use std::path::Path;

/// The bytes of an ordinary file of at most `most` bytes. Blocks.
///
/// # Errors
/// What the file system says, or that it is no ordinary file, or too long.
pub(super) fn read_plain(path: &Path, most: u64) -> Result<Vec<u8>> {
    let invalid = |message: String| Error::new(ErrorKind::InvalidInput, message);
    // Looked at before it is opened: opening a pipe waits for its other end.
    if !std::fs::metadata(path)?.is_file() {
        return Err(invalid("it is no ordinary file".to_owned()));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(most + 1).read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > most {
        return Err(invalid(format!("it is longer than {} KiB", most >> 10)));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_devices_and_long_files_are_refused() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("a.txt");
        std::fs::write(&path, vec![b'x'; 2 << 20]).expect("written");
        assert_eq!(read_plain(&path, 2 << 20).expect("read").len(), 2 << 20);
        let said = |path: &Path| read_plain(path, 1 << 20).expect_err("refused").to_string();
        assert_eq!(said(&path), "it is longer than 1024 KiB");
        assert_eq!(said(dir.path()), "it is no ordinary file");
        #[cfg(unix)]
        assert_eq!(said(Path::new("/dev/zero")), "it is no ordinary file");
        assert_eq!(
            read_plain(&dir.path().join("none"), 1).expect_err("none").kind(),
            ErrorKind::NotFound
        );
    }
}
