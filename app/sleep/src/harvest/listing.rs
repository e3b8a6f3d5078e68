//! Which files a store has. Looks at names, lengths and times only; opens nothing.

use super::Instant;
use super::report::{DropReason, FileReason, SourceReport};
use std::fs;
use std::path::{Path, PathBuf};

/// Folders inside of folders that are looked into.
const DEPTH: usize = 12;

/// A file that may hold sessions.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) path: PathBuf,
    pub(crate) bytes: u64,
    pub(crate) modified: Instant,
    pub(crate) inode: u64,
}

/// What a file's name says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Take {
    /// It may hold sessions.
    Read,
    /// It is none of this source's.
    Ignore,
    /// It is an agent's below another one.
    Subagent,
    /// It is compressed.
    Compressed,
}

/// All files under `root` that `take` wants, newest first. What is refused is in the report.
pub(crate) fn list(
    root: &Path,
    report: &mut SourceReport,
    take: &dyn Fn(&Path) -> Take,
) -> Vec<Candidate> {
    let mut found = Vec::new();
    visit(root, DEPTH, report, take, &mut found);
    sort(&mut found);
    found
}

/// Newest first; of the same time, by name.
pub(crate) fn sort(found: &mut [Candidate]) {
    found.sort_by(|a, b| b.modified.cmp(&a.modified).then_with(|| a.path.cmp(&b.path)));
}

/// The file itself, where it is one that can be read.
pub(crate) fn candidate(path: PathBuf, report: &mut SourceReport) -> Option<Candidate> {
    report.files += 1;
    let reason = match fs::metadata(&path) {
        Err(_) => FileReason::Unreadable,
        Ok(meta) if !meta.is_file() => FileReason::NotAFile,
        Ok(meta) if meta.len() == 0 => FileReason::Empty,
        Ok(meta) => {
            let modified = meta.modified().map(Instant::from_system).unwrap_or_default();
            return Some(Candidate { path, bytes: meta.len(), modified, inode: inode(&meta) });
        }
    };
    report.refuse(&path, reason);
    None
}

fn visit(
    folder: &Path,
    depth: usize,
    report: &mut SourceReport,
    take: &dyn Fn(&Path) -> Take,
    found: &mut Vec<Candidate>,
) {
    let Ok(entries) = fs::read_dir(folder) else {
        report.refuse(folder, FileReason::Unreadable);
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        // A link to a folder is not followed: it may lead out of the store, or in a circle.
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        match take(&path) {
            Take::Ignore if is_folder && depth > 0 => visit(&path, depth - 1, report, take, found),
            Take::Ignore => {}
            Take::Subagent => count_subagent(&path, is_folder, report),
            Take::Compressed => {
                report.files += 1;
                report.refuse(&path, FileReason::Compressed);
            }
            Take::Read => found.extend(candidate(path, report)),
        }
    }
}

/// A folder of subagents counts as many as it has files.
fn count_subagent(path: &Path, is_folder: bool, report: &mut SourceReport) {
    let n = if is_folder {
        fs::read_dir(path).map_or(0, |entries| entries.flatten().count())
    } else {
        1
    };
    for _ in 0..n {
        report.files += 1;
        report.sessions += 1;
        report.count_dropped(DropReason::Subagent);
    }
}

#[cfg(unix)]
fn inode(meta: &fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(meta)
}

#[cfg(not(unix))]
fn inode(_: &fs::Metadata) -> u64 {
    0
}
