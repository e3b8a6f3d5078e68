//! The nights of a project, as its staging folders tell. Reads only, also folders of the reference system.

use super::manifest::{Manifest, ManifestError};
use super::reserve::staging_root;
use skillopt_domain::night::report::SleepReport;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// A staging folder.
#[derive(Debug)]
pub struct Night {
    /// The name of the folder: `20261130-031700`, perhaps with `-2`.
    pub id: String,
    /// The folder.
    pub dir: PathBuf,
    /// When it was published, in milliseconds since 1970; `None` while it has no manifest.
    pub published_ms: Option<u64>,
    /// What is proposed, or why that cannot be told.
    pub manifest: Result<Manifest, ManifestError>,
    /// The report; `None` when there is none, or it cannot be understood.
    pub report: Option<SleepReport>,
}

/// All nights of a project, newest first. Folders without manifest are among them: nights that broke off.
///
/// # Errors
/// What the operating system says; a missing folder is no error.
pub fn nights(project: &Path) -> io::Result<Vec<Night>> {
    let root = staging_root(project);
    let entries = match fs::read_dir(&root) {
        Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other?,
    };
    let mut ids: Vec<String> = entries
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|id| is_night_id(id))
        .collect();
    ids.sort_by_key(|id| sort_key(id));
    Ok(ids.into_iter().rev().map(|id| look(&root, id)).collect())
}

/// One night by its name.
///
/// # Errors
/// What the operating system says, also when there is no such night.
pub fn night(project: &Path, id: &str) -> io::Result<Night> {
    let root = staging_root(project);
    let is_there = is_night_id(id) && root.join(id).symlink_metadata()?.is_dir();
    if is_there {
        return Ok(look(&root, id.to_owned()));
    }
    Err(io::Error::new(io::ErrorKind::NotFound, format!("there is no night {id:?}")))
}

/// The night that was published last: the one that `.latest` names, or else the newest manifest.
///
/// # Errors
/// What the operating system says.
pub fn latest(project: &Path) -> io::Result<Option<Night>> {
    let pointer = staging_root(project).join(".latest");
    let is_file = pointer.symlink_metadata().is_ok_and(|meta| meta.is_file());
    let named = if is_file { fs::read_to_string(&pointer).ok() } else { None };
    if let Some(id) = named
        && let Ok(night) = night(project, id.trim())
        && night.published_ms.is_some()
    {
        return Ok(Some(night));
    }
    let nights = nights(project)?.into_iter().filter(|night| night.published_ms.is_some());
    Ok(nights.max_by_key(|night| (night.published_ms, sort_key(&night.id))))
}

/// `20261130-031700`, or that with `-2`, `-3` …
fn is_night_id(id: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let parts: Vec<&str> = id.split('-').collect();
    matches!(parts.as_slice(), [day, time] | [day, time, _] if day.len() == 8 && time.len() == 6)
        && parts.iter().all(|part| digits(part))
}

fn sort_key(id: &str) -> (String, u32) {
    let nth = id.get(16..).and_then(|nth| nth.parse().ok()).unwrap_or(1);
    (id.get(..15).unwrap_or(id).to_owned(), nth)
}

fn look(root: &Path, id: String) -> Night {
    let dir = root.join(&id);
    let report = fs::read(dir.join("report.json")).ok();
    Night {
        published_ms: modified_ms(&dir.join("manifest.json")),
        manifest: Manifest::read(&dir),
        report: report.and_then(|bytes| serde_json::from_slice(&bytes).ok()),
        id,
        dir,
    }
}

pub(super) fn modified_ms(path: &Path) -> Option<u64> {
    let at: SystemTime = path.symlink_metadata().ok()?.modified().ok()?;
    u64::try_from(at.duration_since(UNIX_EPOCH).ok()?.as_millis()).ok()
}
