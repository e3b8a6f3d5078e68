//! Throwing away what old nights left. What an adoption needs to be shown and taken back stays for good.

use super::nights::{Night, modified_ms, nights};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Which nights stay whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// So many of the newest nights.
    pub keep_nights: u32,
    /// Nights that are younger, in days.
    pub keep_days: u32,
}

/// What went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Purged {
    /// Folders that are gone.
    pub removed: Vec<PathBuf>,
    /// Adopted nights that lost their evidence and kept the rest.
    pub thinned: Vec<PathBuf>,
}

const DAY_MS: u64 = 86_400_000;

/// What an adopted night can do without.
const EVIDENCE: [&str; 2] = ["evidence.jsonl", "diagnostics.json"];

/// Removes nights that are neither among the newest nor young. A night with an adoption loses its evidence only; one
/// with an open journal is left alone.
///
/// # Errors
/// What the operating system says; what went before is gone.
pub fn purge(project: &Path, retention: Retention, now_ms: u64) -> io::Result<Purged> {
    let mut purged = Purged::default();
    let keep = usize::try_from(retention.keep_nights).unwrap_or(usize::MAX);
    for night in nights(project)?.into_iter().skip(keep) {
        let age = now_ms.saturating_sub(written_ms(&night).unwrap_or(now_ms));
        if age < u64::from(retention.keep_days) * DAY_MS || has(&night, ".adopt-transaction.json") {
            continue;
        }
        if !has(&night, "adopted_skills.json") && !has(&night, "adopted_legacy.json") {
            fs::remove_dir_all(&night.dir)?;
            purged.removed.push(night.dir);
        } else if thin(&night)? {
            purged.thinned.push(night.dir);
        }
    }
    Ok(purged)
}

/// Where nights of a project leave more than their folders.
#[derive(Clone, Copy, Debug)]
pub struct LeftIn<'a> {
    /// The project.
    pub project: &'a Path,
    /// The folder of the state.
    pub state_dir: &'a Path,
    /// The folder that projects share for handoffs, where one is named.
    pub shared_handoffs: Option<&'a Path>,
}

/// Removes handoffs that came to their end, and evidence of dry runs, when they are older than so many days.
///
/// # Errors
/// What the operating system says; what went before is gone.
pub fn purge_leftovers(
    left_in: LeftIn<'_>,
    keep_days: u32,
    now_ms: u64,
) -> io::Result<Vec<PathBuf>> {
    let LeftIn { project, state_dir, shared_handoffs } = left_in;
    let is_dry_run = |name: &str| name.starts_with("dryrun-") && name.ends_with(".jsonl");
    let mut found = named(&state_dir.join("evidence"), &is_dry_run)?;
    for (folder, start) in crate::handoff::places(project, shared_handoffs) {
        found.extend(named(&folder, &|name: &str| crate::handoff::is_done(name, &start))?);
    }
    let is_old = |path: &PathBuf| {
        let age = now_ms.saturating_sub(modified_ms(path).unwrap_or(now_ms));
        age >= u64::from(keep_days) * DAY_MS
    };
    found.retain(is_old);
    for path in &found {
        if path.symlink_metadata()?.is_dir() {
            fs::remove_dir_all(path)?;
        } else {
            fs::remove_file(path)?;
        }
    }
    Ok(found)
}

/// Entries of a folder with such names; a missing folder has none.
fn named(folder: &Path, is_wanted: &dyn Fn(&str) -> bool) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other?,
    };
    let wanted = entries
        .filter_map(Result::ok)
        .filter(|entry| is_wanted(&entry.file_name().to_string_lossy()));
    Ok(wanted.map(|entry| entry.path()).collect())
}

/// A night without manifest is as old as its folder.
fn written_ms(night: &Night) -> Option<u64> {
    night.published_ms.or_else(|| modified_ms(&night.dir))
}

fn has(night: &Night, file: &str) -> bool {
    night.dir.join(file).symlink_metadata().is_ok()
}

fn thin(night: &Night) -> io::Result<bool> {
    let mut went = false;
    for file in EVIDENCE.into_iter().filter(|file| has(night, file)) {
        fs::remove_file(night.dir.join(file))?;
        went = true;
    }
    Ok(went)
}
