//! The folder of one call: an empty one that the program works in, and one beside it for what its arguments name. Both
//! vanish with the call.

use skillopt_domain::own_call::FOLDER_PREFIX;
use std::io;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The folders of one call.
#[derive(Debug)]
pub(super) struct Folder {
    root: TempDir,
    work: PathBuf,
}

impl Folder {
    /// Makes them, for nobody but us to read.
    pub(super) fn new() -> io::Result<Self> {
        let root = tempfile::Builder::new().prefix(FOLDER_PREFIX).tempdir()?;
        // The real path, so that a program that looks where it is finds the same.
        let work = root.path().canonicalize()?.join("work");
        std::fs::create_dir(&work)?;
        Ok(Self { root, work })
    }

    /// Where the program works.
    pub(super) fn work(&self) -> &Path {
        &self.work
    }

    /// A name for the call that no other call has.
    pub(super) fn name(&self) -> String {
        let name = self.root.path().file_name().and_then(|name| name.to_str()).unwrap_or_default();
        format!("{name}-{}", std::process::id())
    }

    /// Writes a file beside the working folder, for an argument; gives its path.
    pub(super) fn beside(&self, name: &'static str, text: &str) -> io::Result<String> {
        let path = self.work.with_file_name(name);
        std::fs::write(&path, text)?;
        Ok(path.to_string_lossy().into_owned())
    }

    /// Writes a file into a folder beside the working folder. Both names are ours, never a model's or a task's.
    pub(super) fn beside_in(&self, folder: &str, name: &str, text: &str) -> io::Result<()> {
        let folder = self.work.with_file_name(folder);
        std::fs::create_dir_all(&folder)?;
        std::fs::write(folder.join(name), text)
    }

    /// The path of what stands beside the working folder.
    pub(super) fn path_beside(&self, name: &str) -> String {
        self.work.with_file_name(name).to_string_lossy().into_owned()
    }

    /// Writes a file into the working folder; gives its path. The name is ours, never a model's or a task's.
    pub(super) fn place(&self, name: &str, bytes: &[u8]) -> io::Result<String> {
        let path = self.work.join(name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(&path, bytes)?;
        Ok(path.to_string_lossy().into_owned())
    }
}
