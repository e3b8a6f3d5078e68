//! Which folder a decision is about. A project that was cloned can bring folders that look like nights: without a
//! person's word only those count that this machine's history of nights names.

use super::order::NightSetup;
use skillopt_sleep::adopt::{AdoptError, Refusal, RowState, review};
use skillopt_sleep::stage::{Night, latest, nights, staging_root};
use skillopt_sleep::state::{KnownNights, StateFile};
use skillopt_store::NightRow;
use std::path::{Path, PathBuf};

/// Which night is meant when none is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// The last one.
    Latest,
    /// The last one of which something is adopted; the last one when nothing is.
    LatestAdopted,
}

/// The folder of a night of this project, by its name or its path; the wanted one when none is named.
///
/// # Errors
/// [`AdoptError::NoStaging`] when there is none, [`Refusal::Foreign`] when no history names what is there.
pub(crate) fn staging_of(
    setup: &NightSetup,
    named: Option<&Path>,
    wanted: Wanted,
) -> Result<PathBuf, AdoptError> {
    let project = &setup.config.invoked_project;
    if let Some(dir) = named {
        let dir = if dir.is_absolute() { dir.to_owned() } else { project.join(dir) };
        return if dir.is_dir() { Ok(dir) } else { Err(AdoptError::NoStaging(dir)) };
    }
    let history = known_nights(setup)?;
    let pointed = latest(project).ok().flatten();
    let own = |night: &Night| history.has(&night.dir);
    let mut known = nights(project).unwrap_or_default();
    known.retain(|night| night.published_ms.is_some() && own(night));
    if wanted == Wanted::LatestAdopted
        && let Some(adopted) = known.iter().find(|night| has_adopted(night))
    {
        return Ok(adopted.dir.clone());
    }
    match (pointed, known.into_iter().next()) {
        (Some(night), _) if own(&night) => Ok(night.dir),
        (_, Some(night)) => Ok(night.dir),
        (Some(foreign), None) => Err(Refusal::Foreign(foreign.dir).into()),
        (None, None) => Err(AdoptError::NoStaging(staging_root(project))),
    }
}

fn known_nights(setup: &NightSetup) -> Result<KnownNights, AdoptError> {
    let state = StateFile::new(&setup.config.state_dir).read();
    let state = state.map_err(|err| AdoptError::InvalidStaging(err.to_string()))?;
    Ok(KnownNights::of(&state.history_of(&setup.project())))
}

fn has_adopted(night: &Night) -> bool {
    let reviews = review(&night.dir).unwrap_or_default();
    reviews.iter().any(|review| matches!(review.state, RowState::Adopted { .. }))
}

/// The folder of a night of the store. `None` when it laid nothing aside.
///
/// # Errors
/// [`AdoptError::NoStaging`] when it is gone, [`AdoptError::InvalidStaging`] when it is not where nights of its project
/// are, or something on the way there is a symlink.
pub(crate) fn staging_of_row(row: &NightRow) -> Result<Option<PathBuf>, AdoptError> {
    let Some(dir) = row.staging.as_deref().map(PathBuf::from) else { return Ok(None) };
    let real = dir.canonicalize().map_err(|_| AdoptError::NoStaging(dir.clone()))?;
    let is_there = dir.parent() == Some(staging_root(Path::new(&row.project)).as_path());
    if is_there && real == dir && real.is_dir() {
        return Ok(Some(dir));
    }
    let text = format!("{} is not where nights of {} are", dir.display(), row.project);
    Err(AdoptError::InvalidStaging(text))
}

#[cfg(test)]
mod tests;
