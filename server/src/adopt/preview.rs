//! What an adoption would write, for a person to look at first. Changes nothing.

use super::adopter::{Adopter, blocking};
use super::error::AdoptError;
use super::path::AdoptRoots;
use super::write::read_live;
use skillopt_domain::api::{AdoptPreview, AdoptPreviewRequest};
use skillopt_domain::diff::diff;
use skillopt_domain::hash::Sha256Hex;
use skillopt_sleep::adopt::live_file::{self, LiveFile};

impl Adopter {
    /// What an adoption would write. Changes nothing.
    ///
    /// # Errors
    /// [`AdoptError`] for a path or version that can never be adopted.
    pub async fn preview(&self, request: &AdoptPreviewRequest) -> Result<AdoptPreview, AdoptError> {
        let text = self.version_text(&request.run, &request.skill).await?;
        let blockers = self.blockers(&request.run, &request.skill).await?;
        let roots = self.roots.clone();
        let (typed, skill) = (request.path.clone(), request.skill.clone());
        blocking(move || preview_of(&roots, &typed, &skill, &text, blockers)).await
    }
}

fn preview_of(
    roots: &AdoptRoots,
    typed: &str,
    skill: &Sha256Hex,
    text: &str,
    blockers: Vec<String>,
) -> Result<AdoptPreview, AdoptError> {
    let path = roots.resolve(typed)?;
    let live = read_live(&path.real)?;
    let io_error =
        |reason| AdoptError::Io { action: "look for backups of", path: path.real.clone(), reason };
    let backup = live.as_ref().map(|live| live_file::backup_path(&path.real, &live.sha));
    let backup = backup.transpose().map_err(io_error)?;
    let before = live.as_ref().map(|live| String::from_utf8_lossy(&live.bytes));
    Ok(AdoptPreview {
        real_path: path.real.display().to_string(),
        is_symlink: path.is_symlink,
        is_same: live.as_ref().is_some_and(|live| live.sha == *skill),
        diff: diff(before.as_deref().unwrap_or_default(), text),
        mode: live.as_ref().and_then(LiveFile::mode),
        backup: backup.map(|backup| backup.display().to_string()),
        live: live.map(|live| live.sha),
        blockers,
    })
}
