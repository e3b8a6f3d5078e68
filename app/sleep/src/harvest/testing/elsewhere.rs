//! The same stores about another project, for programs that look at the project's folder.

use super::{PROJECT, Stores, databases};
use memchr::memmem;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

impl Stores {
    /// Writes all stores into the folder `root`, with `project` wherever [`PROJECT`] would stand. Times stay those of
    /// the stores. The path must have nothing in it that JSON or a URI escapes.
    ///
    /// # Errors
    /// What the file system or SQLite says.
    pub fn write_for(root: &Path, project: &str) -> io::Result<Self> {
        let stores = Self::write(root)?;
        for path in files_below(root)? {
            if path.extension().is_none_or(|extension| extension != "db") {
                rewrite(&path, project)?;
            }
        }
        databases::move_to(&stores.path("copilot.db"), &stores.path("opencode.db"), project)
            .map_err(io::Error::other)?;
        Ok(stores)
    }
}

fn files_below(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            files.extend(files_below(&entry.path())?);
        } else if kind.is_file() {
            files.push(entry.path());
        }
    }
    Ok(files)
}

fn rewrite(path: &Path, project: &str) -> io::Result<()> {
    let (bytes, modified) = (fs::read(path)?, fs::metadata(path)?.modified()?);
    let mut out = Vec::with_capacity(bytes.len());
    let mut from = 0;
    for at in memmem::find_iter(&bytes, PROJECT) {
        out.extend_from_slice(&bytes[from..at]);
        out.extend_from_slice(project.as_bytes());
        from = at + PROJECT.len();
    }
    out.extend_from_slice(&bytes[from..]);
    fs::write(path, out)?;
    File::options().append(true).open(path)?.set_modified(modified)
}
