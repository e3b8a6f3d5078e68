//! What people decide about a night: adopt, reject, put back. The rules are those of `skillopt_sleep::adopt`; each
//! decision gets its row in the audit log. Which folder is meant is the business of `folder`.

use super::choice::{chosen, previewed};
use super::queue::keep_folder;
use crate::host::Hosting;
use crate::sleep::beside;
use skillopt_domain::api::{DerivedDocument, EditChoice, NightAdoption};
use skillopt_sleep::adopt::{
    AdoptError, Adoption, Derived, Places, Receipt, Reverted, Selection, adopt, recover, reject,
    reopen, revert,
};
use skillopt_sleep::redact::redact;
use skillopt_sleep::stage::{Manifest, Role, SkillName};
use skillopt_store::AuditRow;
use std::path::Path;

/// Why not everything was adopted.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DecisionError {
    /// The rules, the files, or the system; the live documents are as they were.
    #[error(transparent)]
    Adopt(#[from] AdoptError),
    /// Some documents are live, and the others are not.
    #[error("adopted: {}; the rest was not: {cause}", paths(.receipts))]
    Partly {
        /// What is live.
        receipts: Vec<Receipt>,
        /// Why the rest is not.
        cause: AdoptError,
    },
}

fn paths(receipts: &[Receipt]) -> String {
    let shown = receipts.iter().map(|receipt| receipt.live_path.display().to_string());
    shown.collect::<Vec<_>>().join(", ")
}

/// The name of a document in requests: `skill`, `memory`, or `skill:` and a name.
pub(crate) fn key_of(role: &Role) -> String {
    match role {
        Role::ManagedSkill => "skill".to_owned(),
        Role::Memory => "memory".to_owned(),
        Role::Skill(name) => format!("skill:{}", name.as_str()),
    }
}

pub(super) fn role_of(key: &str) -> Result<Role, AdoptError> {
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

fn roles_of(keys: &[String]) -> Result<Vec<Role>, AdoptError> {
    keys.iter().map(|key| role_of(key)).collect()
}

/// A person's yes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AdoptionOrder<'a> {
    /// Documents by name; all of them when there are none.
    pub(crate) keys: &'a [String],
    /// Documents of which only some edits are taken.
    pub(crate) edits: &'a [EditChoice],
    /// Who.
    pub(crate) actor: &'a str,
}

/// Adopts the documents of an order. The managed pair is one adoption, skills of their own are another.
///
/// # Errors
/// [`DecisionError`]; [`DecisionError::Partly`] when the first adoption stands and the second failed.
pub(crate) async fn adopt_keys(
    hosting: &Hosting,
    dir: &Path,
    order: AdoptionOrder<'_>,
    places: &Places,
) -> Result<Vec<Receipt>, DecisionError> {
    let mut roles = roles_of(order.keys)?;
    if roles.is_empty() {
        let folder = dir.to_owned();
        let manifest = beside(move || Manifest::read(&folder)).await.map_err(AdoptError::from)?;
        roles = manifest.rows.into_iter().map(|row| row.role).collect();
    }
    let (folder, edits) = (dir.to_owned(), order.edits.to_vec());
    let derived = beside(move || chosen(&folder, &edits)).await?;
    if let Some(one) = derived.iter().find(|one| !roles.contains(&one.role)) {
        return Err(stray(&one.role).into());
    }
    let mut receipts = Vec::new();
    for selection in selections(&roles) {
        let is_skills = matches!(selection, Selection::Skills(_));
        let is_its = |one: &&Derived| matches!(one.role, Role::Skill(_)) == is_skills;
        let its: Vec<Derived> = derived.iter().filter(is_its).cloned().collect();
        match adopt_selection(hosting, dir, (selection, its), places, order.actor).await {
            Ok(more) => receipts.extend(more),
            Err(cause) if receipts.is_empty() => return Err(cause.into()),
            Err(cause) => return Err(DecisionError::Partly { receipts, cause }),
        }
    }
    Ok(receipts)
}

/// Edits are chosen of a document that is not.
pub(super) fn stray(role: &Role) -> AdoptError {
    AdoptError::InvalidSelection(format!("{role} is not among what is adopted"))
}

/// The documents that chosen edits make. Nothing is written.
///
/// # Errors
/// [`AdoptError`] when they cannot be chosen so.
pub(crate) async fn preview_keys(
    dir: &Path,
    wanted: NightAdoption,
) -> Result<Vec<DerivedDocument>, AdoptError> {
    let (dir, roles) = (dir.to_owned(), roles_of(&wanted.keys)?);
    beside(move || previewed(&dir, &roles, &wanted.edits)).await
}

/// Adopts what is selected, with what was made of some of the edits in the place of what is proposed.
///
/// # Errors
/// [`AdoptError`]; the live documents are as they were.
pub(crate) async fn adopt_selection(
    hosting: &Hosting,
    dir: &Path,
    (selection, derived): (Selection, Vec<Derived>),
    places: &Places,
    actor: &str,
) -> Result<Vec<Receipt>, AdoptError> {
    let at_ms = hosting.clock().now_ms();
    let adoption = Adoption { selection, derived, actor: actor.to_owned(), at_ms };
    let (folder, places) = (dir.to_owned(), places.clone());
    let receipts = beside(move || adopt(&folder, &adoption, &places)).await?;
    note_adoptions(hosting, dir, &receipts, actor).await;
    keep_folder(hosting, dir).await;
    Ok(receipts)
}

/// Adds adoptions to the audit log.
pub(super) async fn note_adoptions(
    hosting: &Hosting,
    dir: &Path,
    receipts: &[Receipt],
    actor: &str,
) {
    for receipt in receipts {
        let subject = receipt.live_path.display().to_string();
        note(hosting, "adopt_night", actor, dir, subject).await;
    }
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

/// A person's no, or the end of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rejection<'a> {
    /// Documents by name; all that it can be about when there are none.
    pub(crate) keys: &'a [String],
    /// Why.
    pub(crate) reason: &'a str,
    /// Who.
    pub(crate) actor: &'a str,
}

/// Turns proposals of a night down. An adoption that was interrupted is taken back first.
///
/// # Errors
/// [`AdoptError`]; nothing is noted then.
pub(crate) async fn reject_night(
    hosting: &Hosting,
    dir: &Path,
    rejection: Rejection<'_>,
    places: &Places,
) -> Result<(), AdoptError> {
    let at_ms = hosting.clock().now_ms();
    let roles = roles_of(rejection.keys)?;
    let (folder, places) = (dir.to_owned(), places.clone());
    let (why, who) = (rejection.reason.to_owned(), rejection.actor.to_owned());
    let made = beside(move || {
        recover(&folder, &places)?;
        reject(&folder, &roles, &why, &who, at_ms)
    })
    .await?;
    if !made.is_empty() {
        let reason = redact(rejection.reason).text;
        note(hosting, "reject_night", rejection.actor, dir, reason).await;
    }
    keep_folder(hosting, dir).await;
    Ok(())
}

/// Opens proposals again that were turned down; gives the documents that were. An adoption that was interrupted is taken
/// back first.
///
/// # Errors
/// [`AdoptError`]; nothing is noted then.
pub(crate) async fn reopen_night(
    hosting: &Hosting,
    dir: &Path,
    reopening: Rejection<'_>,
    places: &Places,
) -> Result<Vec<String>, AdoptError> {
    let at_ms = hosting.clock().now_ms();
    let roles = roles_of(reopening.keys)?;
    let (folder, places) = (dir.to_owned(), places.clone());
    let (why, who) = (reopening.reason.to_owned(), reopening.actor.to_owned());
    let made = beside(move || {
        recover(&folder, &places)?;
        reopen(&folder, &roles, &why, &who, at_ms)
    })
    .await?;
    let keys: Vec<String> = made.into_iter().map(|decision| decision.target).collect();
    if !keys.is_empty() {
        let detail = format!("{}: {}", keys.join(", "), redact(reopening.reason).text);
        note(hosting, "reopen_night", reopening.actor, dir, detail).await;
    }
    keep_folder(hosting, dir).await;
    Ok(keys)
}

/// Puts everything back that a night's adoption replaced.
///
/// # Errors
/// [`AdoptError`]; a document that was edited since is not touched.
pub(crate) async fn revert_night(
    hosting: &Hosting,
    dir: &Path,
    places: &Places,
    actor: &str,
) -> Result<Vec<Reverted>, AdoptError> {
    let at_ms = hosting.clock().now_ms();
    let (folder, who, places) = (dir.to_owned(), actor.to_owned(), places.clone());
    let reverted = beside(move || revert(&folder, &[], &who, at_ms, &places)).await?;
    for one in reverted.iter().filter(|one| one.is_new) {
        let subject = one.receipt.live_path.display().to_string();
        note(hosting, "revert_night", actor, dir, subject).await;
    }
    keep_folder(hosting, dir).await;
    Ok(reverted)
}

/// What is done is done: a log that cannot be written is told, and does not turn it into a failure.
pub(crate) async fn note(hosting: &Hosting, action: &str, actor: &str, dir: &Path, detail: String) {
    let row = AuditRow {
        at_ms: hosting.clock().now_ms(),
        actor: actor.to_owned(),
        action: action.to_owned(),
        subject: dir.display().to_string(),
        detail,
    };
    if let Err(err) = hosting.store().audit(&row).await {
        tracing::error!(action, subject = row.subject, "the audit log cannot be written: {err}");
    }
}
