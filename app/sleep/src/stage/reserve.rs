//! The folder of a night, made before the night has anything to tell, so that evidence has a place.

use crate::instant;
use crate::lock::{Lock, LockError};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A staging folder without manifest: it is no proposal yet.
#[derive(Debug)]
pub struct Reserved {
    project: PathBuf,
    dir: PathBuf,
}

impl Reserved {
    /// The folder.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The project.
    #[must_use]
    pub fn project(&self) -> &Path {
        &self.project
    }

    /// Removes the folder with what is in it: the night came to nothing, or goes on later.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn give_up(self) -> io::Result<()> {
        fs::remove_dir_all(&self.dir)
    }
}

/// `<project>/.skillopt-sleep/staging`.
#[must_use]
pub fn staging_root(project: &Path) -> PathBuf {
    project.join(".skillopt-sleep").join("staging")
}

/// Takes the lock of a project's nights: two at a time would read and propose the same. It ends with its process.
///
/// # Errors
/// [`LockError`]; [`LockError::Busy`] while another night of the project runs.
pub fn lock_project(project: &Path) -> Result<Lock, LockError> {
    let folder = project.join(".skillopt-sleep");
    let path = folder.join("run.lock");
    let made = make_folder(&folder).and_then(|()| ignore_in_git(&folder));
    made.map_err(|reason| LockError::Io { path: path.clone(), reason })?;
    Lock::take(&path)
}

/// Makes the folder of a night: named after the moment (UTC), with `-2`, `-3` … when the name is taken. What lies in
/// `.skillopt-sleep` quotes a person's sessions, so git is told to leave it out.
///
/// # Errors
/// What the operating system says; also when `.skillopt-sleep` or `staging` is a symlink.
pub fn reserve(project: &Path, at_ms: u64) -> io::Result<Reserved> {
    let root = staging_root(project);
    for folder in root.parent().into_iter().chain([root.as_path()]) {
        make_folder(folder)?;
    }
    ignore_in_git(&project.join(".skillopt-sleep"))?;
    let stamp = instant::stamp(at_ms);
    for nth in 1..10_000u32 {
        let name = if nth == 1 { stamp.clone() } else { format!("{stamp}-{nth}") };
        let dir = root.join(name);
        match create_private(&dir) {
            Ok(()) => {
                return Ok(Reserved { project: project.to_owned(), dir: dir.canonicalize()? });
            }
            Err(err) if err.kind() == io::ErrorKind::AlreadyExists => {}
            Err(err) => return Err(err),
        }
    }
    Err(io::Error::other(format!("there are too many nights of {stamp}")))
}

fn make_folder(folder: &Path) -> io::Result<()> {
    match create_private(folder) {
        Err(err) if err.kind() == io::ErrorKind::AlreadyExists => {}
        other => other?,
    }
    if folder.symlink_metadata()?.is_dir() {
        return Ok(());
    }
    Err(io::Error::other(format!("{} is no folder of its own", folder.display())))
}

/// A folder that only its owner may look into: what lies in it quotes a person's sessions.
fn create_private(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

fn ignore_in_git(folder: &Path) -> io::Result<()> {
    let path = folder.join(".gitignore");
    match fs::OpenOptions::new().write(true).create_new(true).open(path) {
        Ok(mut file) => io::Write::write_all(&mut file, b"*\n"),
        Err(err) if err.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(err) => Err(err),
    }
}
