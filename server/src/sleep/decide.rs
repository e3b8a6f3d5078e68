//! What people decide about a night: adopt, reject, put back. The rules are those of `skillopt_sleep::adopt`; each
//! decision gets its row in the audit log.

use crate::host::Hosting;
use skillopt_sleep::adopt::{
    AdoptError, Adoption, Places, Receipt, Reverted, Selection, adopt, reject, revert,
};
use skillopt_sleep::stage::{Manifest, Role, SkillName};
use skillopt_store::{AuditRow, StoreFailure};
use std::path::{Path, PathBuf};

/// Why nothing was done.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DecisionError {
    /// The rules, the files, or the system.
    #[error(transparent)]
    Adopt(#[from] AdoptError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreFailure),
}

/// The name of a document in requests: `skill`, `memory`, or `skill:` and a name.
pub(crate) fn key_of(role: &Role) -> String {
    match role {
        Role::ManagedSkill => "skill".to_owned(),
        Role::Memory => "memory".to_owned(),
        Role::Skill(name) => format!("skill:{}", name.as_str()),
    }
}

fn role_of(key: &str) -> Result<Role, AdoptError> {
    let unknown = || AdoptError::InvalidSelection(format!("the night has no document {key:?}"));
    match key {
        "skill" => Ok(Role::ManagedSkill),
        "memory" => Ok(Role::Memory),
        _ => {
            let name = key.strip_prefix("skill:").ok_or_else(unknown)?;
            Ok(Role::Skill(SkillName::parse(name).map_err(|_| unknown())?))
        }
    }
}

/// Adopts the documents with these names, all of them when there are none. The managed pair is one adoption, skills of
/// their own are another: when the second fails the first stands, and says so by its receipts.
///
/// # Errors
/// [`DecisionError`]; documents of the failed adoption are as they were.
pub(crate) async fn adopt_keys(
    hosting: &Hosting,
    dir: &Path,
    keys: &[String],
    places: &Places,
    actor: &str,
) -> Result<Vec<Receipt>, DecisionError> {
    let manifest = Manifest::read(dir).map_err(AdoptError::from)?;
    let mut roles = keys.iter().map(|key| role_of(key)).collect::<Result<Vec<_>, _>>()?;
    if roles.is_empty() {
        roles = manifest.rows.iter().map(|row| row.role.clone()).collect();
    }
    let mut receipts = Vec::new();
    for selection in selections(&roles) {
        receipts.extend(adopt_selection(hosting, dir, selection, places, actor).await?);
    }
    Ok(receipts)
}

/// Adopts what is selected.
///
/// # Errors
/// [`DecisionError`]; the live documents are as they were.
pub(crate) async fn adopt_selection(
    hosting: &Hosting,
    dir: &Path,
    selection: Selection,
    places: &Places,
    actor: &str,
) -> Result<Vec<Receipt>, DecisionError> {
    let at_ms = hosting.clock().now_ms();
    let adoption = Adoption { selection, derived: Vec::new(), actor: actor.to_owned(), at_ms };
    let (dir_of_work, places) = (dir.to_owned(), places.clone());
    let receipts = blocking(move || adopt(&dir_of_work, &adoption, &places)).await?;
    for receipt in &receipts {
        let subject = receipt.live_path.display().to_string();
        note(hosting, "adopt_night", actor, dir, subject).await?;
    }
    Ok(receipts)
}

fn selections(roles: &[Role]) -> Vec<Selection> {
    let has = |role: &Role| roles.contains(role);
    let managed = match (has(&Role::ManagedSkill), has(&Role::Memory)) {
        (true, true) => Some(Selection::Managed),
        (true, false) => Some(Selection::ManagedSkill),
        (false, true) => Some(Selection::Memory),
        (false, false) => None,
    };
    let skills: Vec<String> = roles
        .iter()
        .filter_map(|role| match role {
            Role::Skill(name) => Some(name.as_str().to_owned()),
            Role::ManagedSkill | Role::Memory => None,
        })
        .collect();
    let skills = (!skills.is_empty()).then_some(Selection::Skills(skills));
    managed.into_iter().chain(skills).collect()
}

/// Turns all proposals of a night down.
///
/// # Errors
/// [`DecisionError`]; nothing is noted then.
pub(crate) async fn reject_night(
    hosting: &Hosting,
    dir: &Path,
    reason: &str,
    actor: &str,
) -> Result<(), DecisionError> {
    let at_ms = hosting.clock().now_ms();
    let (folder, why, who) = (dir.to_owned(), reason.to_owned(), actor.to_owned());
    blocking(move || reject(&folder, &[], &why, &who, at_ms)).await?;
    note(hosting, "reject_night", actor, dir, reason.to_owned()).await?;
    Ok(())
}

/// Puts everything back that a night's adoption replaced.
///
/// # Errors
/// [`DecisionError`]; a document that was edited since is not touched.
pub(crate) async fn revert_night(
    hosting: &Hosting,
    dir: &Path,
    places: &Places,
    actor: &str,
) -> Result<Vec<Reverted>, DecisionError> {
    let at_ms = hosting.clock().now_ms();
    let (folder, who, places) = (dir.to_owned(), actor.to_owned(), places.clone());
    let reverted = blocking(move || revert(&folder, &[], &who, at_ms, &places)).await?;
    for one in &reverted {
        let subject = one.receipt.live_path.display().to_string();
        note(hosting, "revert_night", actor, dir, subject).await?;
    }
    Ok(reverted)
}

async fn note(
    hosting: &Hosting,
    action: &str,
    actor: &str,
    dir: &Path,
    detail: String,
) -> Result<(), StoreFailure> {
    let row = AuditRow {
        at_ms: hosting.clock().now_ms(),
        actor: actor.to_owned(),
        action: action.to_owned(),
        subject: dir.display().to_string(),
        detail,
    };
    hosting.store().audit(&row).await
}

/// File work that is begun comes to its end, also when the one who asked has hung up.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, AdoptError> + Send + 'static,
) -> Result<T, AdoptError> {
    tokio::task::spawn_blocking(work).await.unwrap_or(Err(AdoptError::Interrupted))
}

/// The folder of a night of this project, by its name or its path; the last one when none is named.
///
/// # Errors
/// [`AdoptError::NoStaging`] when there is none.
pub(crate) fn staging_of(project: &Path, named: Option<&Path>) -> Result<PathBuf, AdoptError> {
    if let Some(dir) = named {
        let dir = if dir.is_absolute() { dir.to_owned() } else { project.join(dir) };
        return if dir.is_dir() { Ok(dir) } else { Err(AdoptError::NoStaging(dir)) };
    }
    let latest = skillopt_sleep::stage::latest(project).ok().flatten();
    latest
        .map(|night| night.dir)
        .ok_or_else(|| AdoptError::NoStaging(skillopt_sleep::stage::staging_root(project)))
}
