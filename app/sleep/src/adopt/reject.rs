//! A person says no to proposals, with a reason, and may think better of it.

use super::decision::{self, Action, Decision, Decisions};
use super::error::{AdoptError, Refusal};
use super::journal::Journal;
use super::locks::lock_staging;
use super::receipt;
use super::transaction::canonical;
use crate::redact::redact;
use crate::stage::{Manifest, Role};
use std::path::Path;

/// Rejects proposals of a night; without `roles`, all that are not adopted, those that were put back among them. What is
/// rejected already stays so.
///
/// # Errors
/// [`AdoptError`]; nothing is noted then.
pub fn reject(
    dir: &Path,
    roles: &[Role],
    reason: &str,
    actor: &str,
    at_ms: u64,
) -> Result<Vec<Decision>, AdoptError> {
    if reason.trim().is_empty() {
        return Err(Refusal::NoReason.into());
    }
    decide(dir, roles, Action::Rejected, reason, actor, at_ms)
}

/// Opens proposals again that were rejected, or adopted and put back; without `roles`, all of them.
///
/// # Errors
/// [`AdoptError`]; nothing is noted then.
pub fn reopen(
    dir: &Path,
    roles: &[Role],
    reason: &str,
    actor: &str,
    at_ms: u64,
) -> Result<Vec<Decision>, AdoptError> {
    decide(dir, roles, Action::Reopened, reason, actor, at_ms)
}

fn decide(
    dir: &Path,
    roles: &[Role],
    action: Action,
    reason: &str,
    actor: &str,
    at_ms: u64,
) -> Result<Vec<Decision>, AdoptError> {
    let dir = canonical(dir)?;
    let _held = lock_staging(&dir)?;
    if Journal::read(&dir)?.is_some() {
        return Err(AdoptError::InvalidStaging(
            "an interrupted adoption must be recovered first".to_owned(),
        ));
    }
    let manifest = Manifest::read(&dir)?;
    let known: Vec<Role> = manifest.rows.iter().map(|row| row.role.clone()).collect();
    if let Some(unknown) = roles.iter().find(|role| !known.contains(role)) {
        return Err(AdoptError::InvalidSelection(format!(
            "the night proposes nothing for {unknown}"
        )));
    }
    let (decisions, receipts) = (Decisions::read(&dir)?, receipt::all(&dir)?);
    let has_receipt = |role: &Role| receipts.iter().any(|receipt| receipt.role == *role);
    let is_back = |role: &Role| has_receipt(role) && decisions.put_back(role).is_some();
    let is_open = |role: &Role| !has_receipt(role) || is_back(role);
    let mut back = Vec::new();
    let mut made = Vec::new();
    for role in known.iter().filter(|role| roles.is_empty() || roles.contains(role)) {
        if !is_open(role) {
            if roles.is_empty() && known.iter().any(is_open) {
                continue;
            }
            return Err(Refusal::AlreadyAdopted(role.clone()).into());
        }
        let is_rejected = decisions.rejection(role).is_some();
        if is_back(role) {
            back.push(role.clone());
        } else if is_rejected == (action == Action::Rejected) {
            continue;
        }
        made.push(Decision {
            // A person may quote what was wrong, secrets and all.
            reason: redact(reason.trim()).text,
            ..Decision::new(action, role, actor, at_ms)
        });
    }
    if !made.is_empty() {
        // The decision comes last: without it, a document without a receipt waits.
        receipt::put_away(&dir, &back)?;
        decision::append(&dir, made.clone())?;
    }
    Ok(made)
}
