//! Which files may be written: the one place that turns a typed path into a file to touch.
//! Reads the file system, writes nothing.

use skillopt_sleep::stage::real_path;
use std::io;
use std::path::{Component, Path, PathBuf};

const MAX_LEN: usize = 4096;
const FILE_FORM: &str = "give a path from the root, such as /home/me/SKILL.md or ~/SKILL.md";
const FOLDER_FORM: &str = "give a path from the root, such as /home/me/project or ~/project";

/// Where skills may be adopted.
#[derive(Clone, Debug)]
pub struct AdoptRoots {
    home: Option<PathBuf>,
    // Invariant: each is canonical, so that `starts_with` compares real places.
    roots: Vec<PathBuf>,
}

/// Why a path may not be written, or a folder not read. The texts are shown as they are.
#[derive(Debug, thiserror::Error)]
pub enum PathError {
    /// Not of the wanted form.
    #[error("{0}")]
    Form(&'static str),
    /// The folder of the file is missing.
    #[error("the folder {0} does not exist; create it first")]
    NoFolder(PathBuf),
    /// The folder that is to be read is missing.
    #[error("the folder {0} does not exist")]
    NoFolderToRead(PathBuf),
    /// A symlink whose target is missing.
    #[error("{0} is a symlink that points to nothing")]
    DanglingLink(PathBuf),
    /// A folder, a device or the like.
    #[error("{0} is not an ordinary file")]
    NotAFile(PathBuf),
    /// Outside of all allowed folders.
    #[error(
        "{real} is outside of the folders where skills may be adopted ({roots}); \
         start with `skillopt serve --adopt-root FOLDER` to allow another one"
    )]
    Outside {
        /// Where the path really leads.
        real: PathBuf,
        /// The allowed folders.
        roots: String,
    },
    /// A folder outside of all that may be read.
    #[error(
        "{real} is outside of the folders that this server may read ({roots}); \
         start with `skillopt serve --adopt-root FOLDER` to allow another one"
    )]
    OutsideToRead {
        /// Where the path really leads.
        real: PathBuf,
        /// The allowed folders.
        roots: String,
    },
    /// The file system does not answer.
    #[error("cannot look at {path}: {reason}")]
    Unreadable {
        /// The path.
        path: PathBuf,
        /// The words of the operating system.
        reason: io::Error,
    },
}

/// A path that passed all rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LivePath {
    /// As it was typed.
    pub(crate) given: String,
    /// The file to write, symlinks followed.
    pub(crate) real: PathBuf,
    /// The typed path is a symlink.
    pub(crate) is_symlink: bool,
}

impl AdoptRoots {
    /// Folders that do not exist are left out.
    #[must_use]
    pub fn new(home: Option<PathBuf>, folders: impl IntoIterator<Item = PathBuf>) -> Self {
        let mut roots: Vec<PathBuf> = Vec::new();
        for folder in home.clone().into_iter().chain(folders) {
            if let Ok(real) = folder.canonicalize()
                && !roots.contains(&real)
            {
                roots.push(real);
            }
        }
        Self { home, roots }
    }

    /// The allowed folders for people.
    #[must_use]
    pub fn shown(&self) -> Vec<String> {
        self.roots.iter().map(|root| root.display().to_string()).collect()
    }

    /// Checks a typed path against all rules.
    ///
    /// # Errors
    /// [`PathError`] that says which rule it breaks.
    pub fn resolve(&self, typed: &str) -> Result<LivePath, PathError> {
        let path = self.expand(typed)?;
        let unreadable = |reason| PathError::Unreadable { path: path.clone(), reason };
        let (real, is_symlink) = match path.symlink_metadata() {
            Ok(meta) if meta.is_symlink() => {
                (path.canonicalize().map_err(|_| PathError::DanglingLink(path.clone()))?, true)
            }
            Ok(_) => (path.canonicalize().map_err(unreadable)?, false),
            Err(err) if err.kind() == io::ErrorKind::NotFound => (new_file(&path)?, false),
            Err(err) => return Err(unreadable(err)),
        };
        if !self.roots.iter().any(|root| real.starts_with(root)) {
            return Err(PathError::Outside { real, roots: self.shown().join(", ") });
        }
        if !is_markdown(&real) {
            return Err(PathError::Form("the symlink points to a file that does not end in .md"));
        }
        if real.exists() && !real.is_file() {
            return Err(PathError::NotAFile(real));
        }
        Ok(LivePath { given: typed.to_owned(), real, is_symlink })
    }

    /// Checks the typed path of a folder that is to be read, and gives its real place.
    ///
    /// # Errors
    /// [`PathError`] that says which rule it breaks.
    pub fn resolve_folder(&self, typed: &str) -> Result<PathBuf, PathError> {
        let path = self.expand_any(typed, FOLDER_FORM)?;
        let real = path.canonicalize().map_err(|_| PathError::NoFolderToRead(path.clone()))?;
        if !self.roots.iter().any(|root| real.starts_with(root)) {
            return Err(PathError::OutsideToRead { real, roots: self.shown().join(", ") });
        }
        if real.is_dir() { Ok(real) } else { Err(PathError::NoFolderToRead(path)) }
    }

    /// Checks the typed path of a skill that a night is to improve: from the root as in [`AdoptRoots::resolve`], else
    /// below the project.
    ///
    /// # Errors
    /// [`PathError`] that says which rule it breaks.
    pub fn resolve_target(&self, project: &Path, typed: &str) -> Result<PathBuf, PathError> {
        if typed.starts_with('~') || Path::new(typed).is_absolute() {
            return Ok(self.resolve(typed)?.real);
        }
        let live = self.resolve(&project.join(typed).to_string_lossy())?;
        if live.real.starts_with(project) {
            return Ok(live.real);
        }
        Err(PathError::Outside { real: live.real, roots: project.display().to_string() })
    }

    /// Of these folders those that may be written.
    #[must_use]
    pub fn within(&self, folders: Vec<PathBuf>) -> Vec<PathBuf> {
        let is_allowed = |folder: &PathBuf| {
            real_path(folder).is_ok_and(|real| self.roots.iter().any(|root| real.starts_with(root)))
        };
        folders.into_iter().filter(is_allowed).collect()
    }

    fn expand(&self, typed: &str) -> Result<PathBuf, PathError> {
        let path = self.expand_any(typed, FILE_FORM)?;
        if typed.ends_with('/') || !is_markdown(&path) {
            return Err(PathError::Form("the path must end in .md"));
        }
        Ok(path)
    }

    /// A path from the root, without `..`. `form` says how one looks.
    fn expand_any(&self, typed: &str, form: &'static str) -> Result<PathBuf, PathError> {
        if typed.len() > MAX_LEN || typed.chars().any(char::is_control) {
            return Err(PathError::Form("the path is too long or has control characters in it"));
        }
        let path = match (typed.strip_prefix("~/"), &self.home) {
            (Some(rest), Some(home)) => home.join(rest.trim_start_matches('/')),
            (Some(_), None) => return Err(PathError::Form("there is no home folder for `~/`")),
            (None, _) => PathBuf::from(typed),
        };
        if !path.is_absolute() {
            return Err(PathError::Form(form));
        }
        if path.components().any(|part| part == Component::ParentDir) {
            return Err(PathError::Form("give the path without `..`"));
        }
        Ok(path)
    }
}

/// The real place of a file that does not exist yet.
fn new_file(path: &Path) -> Result<PathBuf, PathError> {
    let no_folder = || PathError::NoFolder(path.parent().unwrap_or(path).to_owned());
    let folder = path.parent().ok_or_else(no_folder)?.canonicalize().map_err(|_| no_folder())?;
    let name = path.file_name().ok_or_else(no_folder)?;
    if folder.is_dir() { Ok(folder.join(name)) } else { Err(no_folder()) }
}

fn is_markdown(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "md")
}
