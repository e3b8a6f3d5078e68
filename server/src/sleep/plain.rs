//! Files of a night's folder: only ordinary ones, and no more of them than is asked for.

use skillopt_sleep::plain::open_plain;
use std::io::{self, Read};
use std::path::Path;

/// The largest file of a night's folder that is read as a whole, in bytes.
const MOST_BYTES: u64 = 8 << 20;

/// The text of an ordinary file. Blocks.
///
/// # Errors
/// What the operating system says, or that it is no ordinary file, too long, or no text.
pub(crate) fn read_plain_text(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let n_read = open_plain(path)?.take(MOST_BYTES + 1).read_to_string(&mut text)?;
    if u64::try_from(n_read).unwrap_or(u64::MAX) > MOST_BYTES {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is longer than 8 MiB"));
    }
    Ok(text)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn links_and_folders_are_not_read() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (dir.path().join("a"), dir.path().join("b"));
        std::fs::write(&file, "text").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert_eq!(read_plain_text(&file).unwrap(), "text");
        assert!(read_plain_text(&link).is_err());
        assert!(read_plain_text(dir.path()).is_err());
    }
}
