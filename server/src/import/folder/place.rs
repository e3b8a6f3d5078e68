//! Files and directories below a root, opened part by part so that no symlink is followed, whoever may swap a part
//! meanwhile. Where the operating system has no such calls, parts are looked at before they are opened.

#[cfg(not(unix))]
pub(super) use elsewhere::Root;
#[cfg(unix)]
pub(super) use unix::Root;

use std::io;

/// Also when a part of the path is a file, or when a task's id is longer than a name may be.
fn is_missing(err: &io::Error) -> bool {
    matches!(
        err.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::InvalidFilename
    )
}

#[cfg(unix)]
mod unix {
    use super::super::FileProblem;
    use super::is_missing;
    use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, open, openat, statat};
    use std::ffi::OsStr;
    use std::fs::File;
    use std::io;
    use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
    use std::path::Path;

    /// A directory that stays the one that was opened, also when its name is given to another.
    #[derive(Debug)]
    pub(in super::super) struct Root(OwnedFd);

    const DIRECTORY: OFlags =
        OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
    // Without NONBLOCK a pipe that takes the place of a file would hold the reader.
    const FILE: OFlags =
        OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

    impl Root {
        pub(in super::super) fn open(path: &Path) -> io::Result<Self> {
            Ok(Self(open(path, DIRECTORY, Mode::empty())?))
        }

        /// Opens a file or a directory; `None` when there is none.
        pub(in super::super) fn find(&self, parts: &[&OsStr]) -> Result<Option<File>, FileProblem> {
            let Some((last, above)) = parts.split_last() else { return Err(FileProblem::Outside) };
            let mut within: Option<OwnedFd> = None;
            for part in above {
                match child(within.as_ref().unwrap_or(&self.0).as_fd(), part, DIRECTORY)? {
                    Some(next) => within = Some(next),
                    None => return Ok(None),
                }
            }
            Ok(child(within.as_ref().unwrap_or(&self.0).as_fd(), last, FILE)?.map(File::from))
        }

        /// Names in a directory, without those of symlinks.
        pub(in super::super) fn names(
            &self,
            parts: &[&OsStr],
            most: usize,
        ) -> Result<Vec<String>, FileProblem> {
            let Some(dir) = self.find(parts)?.filter(is_dir) else {
                return Ok(Vec::new());
            };
            let mut names = Vec::new();
            for entry in Dir::read_from(&dir).map_err(io::Error::from)?.take(most) {
                let entry = entry.map_err(io::Error::from)?;
                let is_link = match entry.file_type() {
                    FileType::Unknown => kind_of(dir.as_fd(), entry.file_name())
                        .is_ok_and(|kind| kind == FileType::Symlink),
                    kind => kind == FileType::Symlink,
                };
                let name = entry.file_name().to_str().ok();
                let name = name.filter(|name| !is_link && !matches!(*name, "." | ".."));
                names.extend(name.map(str::to_owned));
            }
            Ok(names)
        }
    }

    fn is_dir(file: &File) -> bool {
        file.metadata().is_ok_and(|meta| meta.is_dir())
    }

    fn kind_of(dir: BorrowedFd<'_>, part: impl rustix::path::Arg) -> io::Result<FileType> {
        let stat = statat(dir, part, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(FileType::from_raw_mode(stat.st_mode))
    }

    /// Opens one part. What it is is looked at first, for a clear reason; that no symlink is followed is the open's doing.
    fn child(
        dir: BorrowedFd<'_>,
        part: &OsStr,
        flags: OFlags,
    ) -> Result<Option<OwnedFd>, FileProblem> {
        match kind_of(dir, part) {
            Ok(FileType::Symlink) => return Err(FileProblem::Symlink),
            Ok(FileType::RegularFile | FileType::Directory) => {}
            Ok(_) => return Err(FileProblem::NotAFile),
            Err(err) if is_missing(&err) => return Ok(None),
            Err(err) => return Err(err.into()),
        }
        match openat(dir, part, flags, Mode::empty()).map_err(io::Error::from) {
            Ok(opened) => Ok(Some(opened)),
            Err(err) if is_missing(&err) => Ok(None),
            Err(err) => Err(err.into()),
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_part_that_becomes_a_symlink_after_it_was_looked_at_is_not_followed() {
            let dir = tempfile::tempdir().expect("a folder");
            std::fs::write(dir.path().join("secret"), "not yours").expect("written");
            std::os::unix::fs::symlink("secret", dir.path().join("link")).expect("link");
            std::fs::create_dir(dir.path().join("real")).expect("made");
            std::os::unix::fs::symlink("real", dir.path().join("dir")).expect("link");
            let root = Root::open(dir.path()).expect("opened");
            // As it is when the look came before the swap: the open alone must refuse.
            for (name, flags) in [("link", FILE), ("dir", DIRECTORY)] {
                assert!(openat(&root.0, name, flags, Mode::empty()).is_err(), "{name}");
            }
        }

        #[test]
        fn the_root_stays_the_directory_that_was_opened() {
            let dir = tempfile::tempdir().expect("a folder");
            let (run, other) = (dir.path().join("run"), dir.path().join("other"));
            for folder in [&run, &other] {
                std::fs::create_dir(folder).expect("made");
            }
            std::fs::write(other.join("a"), "not yours").expect("written");
            let root = Root::open(&run).expect("opened");
            std::fs::rename(&run, dir.path().join("moved")).expect("moved");
            std::os::unix::fs::symlink(&other, &run).expect("link");
            assert!(root.find(&[OsStr::new("a")]).expect("looked").is_none());
        }

        #[test]
        fn a_pipe_is_no_file_and_holds_nobody() {
            let dir = tempfile::tempdir().expect("a folder");
            let root = Root::open(dir.path()).expect("opened");
            let mode = Mode::RUSR | Mode::WUSR;
            rustix::fs::mknodat(&root.0, "pipe", FileType::Fifo, mode, 0).expect("made");
            let found = root.find(&[OsStr::new("pipe")]);
            assert!(matches!(found, Err(FileProblem::NotAFile)));
        }
    }
}

#[cfg(not(unix))]
mod elsewhere {
    use super::super::FileProblem;
    use super::is_missing;
    use std::ffi::OsStr;
    use std::fs::File;
    use std::io;
    use std::path::{Path, PathBuf};

    #[derive(Debug)]
    pub(in super::super) struct Root(PathBuf);

    impl Root {
        pub(in super::super) fn open(path: &Path) -> io::Result<Self> {
            Ok(Self(path.to_owned()))
        }

        pub(in super::super) fn find(&self, parts: &[&OsStr]) -> Result<Option<File>, FileProblem> {
            match self.walk(parts)? {
                Some(path) if path.is_dir() => Err(FileProblem::NotAFile),
                Some(path) => Ok(Some(File::open(path)?)),
                None => Ok(None),
            }
        }

        pub(in super::super) fn names(
            &self,
            parts: &[&OsStr],
            most: usize,
        ) -> Result<Vec<String>, FileProblem> {
            let Some(path) = self.walk(parts)?.filter(|path| path.is_dir()) else {
                return Ok(Vec::new());
            };
            let entries = std::fs::read_dir(path)?.take(most).filter_map(Result::ok);
            Ok(entries
                .filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink()))
                .filter_map(|entry| entry.file_name().into_string().ok())
                .collect())
        }

        fn walk(&self, parts: &[&OsStr]) -> Result<Option<PathBuf>, FileProblem> {
            let mut path = self.0.clone();
            for part in parts {
                path.push(part);
                match path.symlink_metadata() {
                    Ok(found) if found.is_symlink() => return Err(FileProblem::Symlink),
                    Ok(_) => {}
                    Err(err) if is_missing(&err) => return Ok(None),
                    Err(err) => return Err(err.into()),
                }
            }
            Ok(Some(path))
        }
    }
}
