//! Reading a run folder that nobody vouches for: never out of it, never through a symlink, never more than
//! the limits. Writes nothing.

mod place;

use place::Root;
use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::UNIX_EPOCH;

/// The longest file that is read: a long history, or the results of a large split.
const MAX_FILE_BYTES: u64 = 64 << 20;
/// The longest file of conversations: all that was said in the attempts of a rollout set.
const MAX_LONG_FILE_BYTES: u64 = 512 << 20;
/// All that is read of one folder.
const MAX_TOTAL_BYTES: u64 = 1 << 30;
/// Entries of one directory that are looked at.
const MAX_ENTRIES: usize = 100_000;

/// A run folder.
#[derive(Debug)]
pub(super) struct Folder {
    /// Canonical, to be shown.
    root: PathBuf,
    place: Root,
    left: AtomicU64,
}

/// Why a file of the folder was not read.
#[derive(Debug, thiserror::Error)]
pub(super) enum FileProblem {
    /// The name leads out of the folder.
    #[error("the name leads out of the folder; not read")]
    Outside,
    /// A link.
    #[error("is a symlink, or stands behind one; not read")]
    Symlink,
    /// A directory, a pipe or a device.
    #[error("is not an ordinary file; not read")]
    NotAFile,
    /// Too long.
    #[error("is longer than {} MiB; not read", .0 >> 20)]
    TooLong(u64),
    /// The folder as a whole is too large.
    #[error("not read: {} MiB of the folder were read already, which is the limit", MAX_TOTAL_BYTES >> 20)]
    TooMuch,
    /// Not text.
    #[error("is not UTF-8 text; not read")]
    NotText,
    /// The file system does not answer.
    #[error("cannot be read: {0}")]
    Io(#[from] io::Error),
}

/// A text with the time of its file.
#[derive(Debug)]
pub(super) struct Text {
    pub(super) text: String,
    /// Last change, in milliseconds since 1970-01-01 UTC; 0 when it is not known.
    pub(super) at_ms: u64,
}

impl Folder {
    /// Opens a folder by the path that a person gave, which may itself be a symlink.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let root = path.canonicalize()?;
        if !root.is_dir() {
            return Err(io::Error::new(io::ErrorKind::NotADirectory, "is no folder"));
        }
        let place = Root::open(&root)?;
        Ok(Self { root, place, left: AtomicU64::new(MAX_TOTAL_BYTES) })
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// A file's text; `None` when there is no such file.
    pub(super) fn read(&self, relative: &str) -> Result<Option<Text>, FileProblem> {
        self.read_within(relative, MAX_FILE_BYTES)
    }

    /// The same of a file that may be long.
    pub(super) fn read_long(&self, relative: &str) -> Result<Option<Text>, FileProblem> {
        self.read_within(relative, MAX_LONG_FILE_BYTES)
    }

    fn read_within(&self, relative: &str, limit: u64) -> Result<Option<Text>, FileProblem> {
        let Some((file, meta)) = self.find(relative)? else { return Ok(None) };
        if !meta.is_file() {
            return Err(FileProblem::NotAFile);
        }
        if meta.len() > limit {
            return Err(FileProblem::TooLong(limit));
        }
        let mut bytes = Vec::new();
        // A file that grows meanwhile is cut, too.
        file.take(limit + 1).read_to_end(&mut bytes)?;
        let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        if size > limit {
            return Err(FileProblem::TooLong(limit));
        }
        let less = |left: u64| left.checked_sub(size);
        if self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_err() {
            return Err(FileProblem::TooMuch);
        }
        let text = String::from_utf8(bytes).map_err(|_| FileProblem::NotText)?;
        Ok(Some(Text { text, at_ms: changed_at(&meta) }))
    }

    /// Names in a directory, sorted; none when there is no such directory. Symlinks are left out.
    pub(super) fn names(&self, relative: &str) -> Vec<String> {
        let found = parts(relative).and_then(|parts| self.place.names(&parts, MAX_ENTRIES));
        let mut names = found.unwrap_or_default();
        names.sort();
        names
    }

    /// Last change of a file, in milliseconds since 1970-01-01 UTC.
    pub(super) fn changed_at(&self, relative: &str) -> Option<u64> {
        let (_, meta) = self.find(relative).ok().flatten()?;
        Some(changed_at(&meta)).filter(|at_ms| *at_ms > 0)
    }

    pub(super) fn has_dir(&self, relative: &str) -> bool {
        matches!(self.find(relative), Ok(Some((_, meta))) if meta.is_dir())
    }

    /// A file or directory, opened, with what it is.
    fn find(&self, relative: &str) -> Result<Option<(File, Metadata)>, FileProblem> {
        let Some(file) = self.place.find(&parts(relative)?)? else { return Ok(None) };
        let meta = file.metadata()?;
        Ok(Some((file, meta)))
    }
}

/// The parts of a name that stays within the folder.
fn parts(relative: &str) -> Result<Vec<&OsStr>, FileProblem> {
    if relative.is_empty() || relative.contains('\0') {
        return Err(FileProblem::Outside);
    }
    let part = |part| match part {
        Component::Normal(name) => Ok(name),
        _ => Err(FileProblem::Outside),
    };
    Path::new(relative).components().map(part).collect()
}

fn changed_at(meta: &Metadata) -> u64 {
    let since = meta.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    since.and_then(|since| u64::try_from(since.as_millis()).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn folder() -> (tempfile::TempDir, Folder) {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::create_dir_all(dir.path().join("run/a")).expect("made");
        std::fs::write(dir.path().join("run/a/b.txt"), "here").expect("written");
        std::fs::write(dir.path().join("secret.txt"), "not yours").expect("written");
        let folder = Folder::open(&dir.path().join("run")).expect("opened");
        (dir, folder)
    }

    #[rstest]
    #[case("../secret.txt")]
    #[case("a/../../secret.txt")]
    #[case("/etc/passwd")]
    #[case("a/..")]
    #[case("")]
    #[case("a\0b")]
    fn c71_no_name_leads_out_of_the_folder(#[case] name: &str) {
        let (_dir, folder) = folder();
        assert!(matches!(folder.read(name), Err(FileProblem::Outside)));
    }

    #[test]
    fn a_missing_file_is_none_and_a_directory_is_refused() {
        let (_dir, folder) = folder();
        assert_eq!(folder.read("a/b.txt").expect("read").expect("there").text, "here");
        assert!(folder.read("a/none.txt").expect("looked").is_none());
        assert!(folder.read("a/b.txt/c").expect("looked").is_none());
        assert!(folder.read(&"x".repeat(5000)).expect("looked").is_none());
        assert!(matches!(folder.read("a"), Err(FileProblem::NotAFile)));
        assert_eq!(folder.names("a"), ["b.txt"]);
    }

    #[cfg(unix)]
    #[test]
    fn symlinks_are_never_followed() {
        let (dir, folder) = folder();
        let run = dir.path().join("run");
        std::os::unix::fs::symlink(dir.path().join("secret.txt"), run.join("file")).expect("link");
        std::os::unix::fs::symlink(dir.path(), run.join("dir")).expect("link");
        for name in ["file", "dir/secret.txt"] {
            assert!(matches!(folder.read(name), Err(FileProblem::Symlink)), "{name}");
        }
        assert!(folder.names("dir").is_empty());
    }
}
