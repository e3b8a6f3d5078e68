//! Opens ordinary files and nothing else, without following a symlink. What lies in a project may have been put there by
//! anybody.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

/// Opens an ordinary file. Blocks.
///
/// # Errors
/// What the operating system says, or `InvalidInput` for what is no ordinary file.
pub fn open_plain(path: &Path) -> io::Result<File> {
    let refused = || io::Error::new(io::ErrorKind::InvalidInput, "it is no ordinary file");
    // Looked at before it is opened: opening a pipe waits for its other end.
    if !path.symlink_metadata()?.is_file() {
        return Err(refused());
    }
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        options.custom_flags(i32::try_from(flags.bits()).unwrap_or_default());
    }
    let file = options.open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(refused()) }
}
