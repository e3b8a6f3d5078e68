//! Locks between processes that end with their process, and that honour the lock files of the reference system.
//! A lock is a file with `pid=N` in it, made exclusively (that is all the reference system looks at), and held by an
//! advisory lock of the system besides, which a dead process cannot hold. No waiting here: a lock that is taken is an
//! answer.

use crate::adopt::live_file::has_no_links;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// The second line of our lock files: with it, nothing but the advisory lock counts.
const OURS: &str = "skillopt";

/// A lock that is held. Letting go removes its file.
#[derive(Debug)]
pub struct Lock {
    path: PathBuf,
    file: Option<File>,
}

/// Why a lock was not taken.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Somebody holds it.
    #[error("{} is held{}", .path.display(), holder_text(*.pid))]
    Busy {
        /// The lock file.
        path: PathBuf,
        /// The process that wrote it, when it says so.
        pid: Option<u32>,
    },
    /// The file system refused.
    #[error("cannot lock {}: {reason}", .path.display())]
    Io {
        /// The lock file.
        path: PathBuf,
        /// The words of the operating system.
        reason: io::Error,
    },
}

fn holder_text(pid: Option<u32>) -> String {
    pid.map_or_else(String::new, |pid| format!(" by process {pid}"))
}

impl Lock {
    /// Takes a lock, or says at once that it is taken. A file that a dead process left is cleared.
    ///
    /// # Errors
    /// [`LockError`].
    pub fn take(path: &Path) -> Result<Self, LockError> {
        let io_error = |reason| LockError::Io { path: path.to_owned(), reason };
        // Few rounds: each ends with the lock, with a holder, or after somebody else cleared a file.
        for _ in 0..8 {
            if let Some(file) = create(path).map_err(io_error)? {
                return Ok(Self { path: path.to_owned(), file: Some(file) });
            }
            clear_if_stale(path)?;
        }
        Err(LockError::Busy { path: path.to_owned(), pid: None })
    }

    /// Lets go as a process does that dies: the file stays.
    pub(crate) fn die(mut self) {
        self.file = None;
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Removed while it is still held, so that nobody takes a file that is about to go.
        if let Some(file) = &self.file
            && is_same_file(file, &self.path)
        {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// `None` when the file is there already. It appears under its name only when it is written and held.
fn create(path: &Path) -> io::Result<Option<File>> {
    let own = path.with_added_extension(format!("{}-{}", std::process::id(), unique()));
    let made = write_held(&own).and_then(|file| fs::hard_link(&own, path).map(|()| file));
    let _ = fs::remove_file(&own);
    let made = match made {
        // Without hard links it is written where it stands, and whoever looks meanwhile takes it for held.
        Err(err) if has_no_links(&err) => write_held(path),
        other => other,
    };
    match made {
        Ok(file) => Ok(Some(file)),
        Err(err) if err.kind() == io::ErrorKind::AlreadyExists => Ok(None),
        Err(err) => Err(err),
    }
}

/// A new file with our number in it, held by this process.
fn write_held(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    let mut file = options.open(path)?;
    file.lock()?;
    file.write_all(format!("pid={}\n{OURS}\n", std::process::id()).as_bytes())?;
    Ok(file)
}

fn unique() -> u64 {
    static NEXT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
    NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
}

/// Removes the file when its process is dead; an error tells who lives.
fn clear_if_stale(path: &Path) -> Result<(), LockError> {
    let io_error = |reason| LockError::Io { path: path.to_owned(), reason };
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(err) => return Err(io_error(err)),
    };
    let mut text = String::new();
    let _ = (&mut file).take(200).read_to_string(&mut text);
    let pid = text.lines().next().and_then(|line| line.strip_prefix("pid=")?.trim().parse().ok());
    let busy = || LockError::Busy { path: path.to_owned(), pid };
    if file.try_lock().is_err() {
        return Err(busy());
    }
    let is_ours = text.lines().nth(1) == Some(OURS);
    if !is_ours && !is_dead(pid) && !is_older_than_boot(&file) {
        return Err(busy());
    }
    // While this file is held, nobody else clears it; if the name has another file by now, that one is looked at next.
    if is_same_file(&file, path) {
        fs::remove_file(path).map_err(io_error)?;
    }
    Ok(())
}

/// A lock without advisory lock in it was left when its process is gone, or when it has our own number and is not ours.
#[cfg(unix)]
fn is_dead(pid: Option<u32>) -> bool {
    let Some(pid) = pid.and_then(|pid| i32::try_from(pid).ok()).filter(|pid| *pid > 0) else {
        return false;
    };
    if u32::try_from(pid) == Ok(std::process::id()) {
        return true;
    }
    let pid = rustix::process::Pid::from_raw(pid);
    pid.is_some_and(|pid| rustix::process::test_kill_process(pid) == Err(rustix::io::Errno::SRCH))
}

#[cfg(not(unix))]
fn is_dead(_pid: Option<u32>) -> bool {
    false
}

/// Written before the machine started: whoever wrote it is gone, whatever has its number now.
fn is_older_than_boot(file: &File) -> bool {
    let written = file.metadata().and_then(|meta| meta.modified()).ok();
    let written = written.and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
    let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
    let boot =
        stat.lines().find_map(|line| line.strip_prefix("btime ")?.trim().parse::<u64>().ok());
    match (written, boot) {
        // The start is known to the second only.
        (Some(written), Some(boot)) => written.as_secs() + 1 < boot,
        _ => false,
    }
}

#[cfg(unix)]
fn is_same_file(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), fs::symlink_metadata(path)) {
        (Ok(held), Ok(named)) => (held.dev(), held.ino()) == (named.dev(), named.ino()),
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_same_file(_file: &File, path: &Path) -> bool {
    path.exists()
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    fn place() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.lock");
        (dir, path)
    }

    #[test]
    fn a_lock_is_held_once_and_leaves_nothing() {
        let (dir, path) = place();
        let lock = Lock::take(&path).unwrap();
        let own = std::process::id();
        assert!(
            matches!(Lock::take(&path), Err(LockError::Busy { pid: Some(pid), .. }) if pid == own)
        );
        assert!(fs::read_to_string(&path).unwrap().starts_with(&format!("pid={own}\n")));
        drop(lock);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn f45_a_lock_of_ours_whose_process_died_is_cleared() {
        let (_dir, path) = place();
        Lock::take(&path).unwrap().die();
        assert!(path.exists());
        Lock::take(&path).unwrap();
    }

    #[test]
    fn f45_a_lock_of_the_reference_system_whose_process_died_is_cleared() {
        let (_dir, path) = place();
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let pid = child.id();
        child.wait().unwrap();
        fs::write(&path, format!("pid={pid}\n")).unwrap();
        Lock::take(&path).unwrap();
    }

    #[test]
    fn a_lock_of_a_living_process_of_the_reference_system_is_honoured() {
        let (_dir, path) = place();
        // Process 1 lives as long as the machine or the container.
        fs::write(&path, "pid=1\n").unwrap();
        assert!(matches!(Lock::take(&path), Err(LockError::Busy { pid: Some(1), .. })));
        assert_eq!(fs::read_to_string(&path).unwrap(), "pid=1\n");
    }

    #[test]
    fn f45_a_lock_from_before_the_machine_started_is_cleared() {
        let (_dir, path) = place();
        fs::write(&path, "pid=1\n").unwrap();
        let file = OpenOptions::new().write(true).open(&path).unwrap();
        file.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_hours(24)).unwrap();
        if cfg!(target_os = "linux") {
            Lock::take(&path).unwrap();
        }
    }

    #[test]
    fn twenty_threads_find_one_stale_lock_and_one_of_them_takes_it() {
        let (_dir, path) = place();
        Lock::take(&path).unwrap().die();
        let barrier = std::sync::Barrier::new(20);
        let taken: Vec<Option<Lock>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..20)
                .map(|_| {
                    scope.spawn(|| {
                        barrier.wait();
                        Lock::take(&path).ok()
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(taken.iter().flatten().count() <= 1);
    }
}
