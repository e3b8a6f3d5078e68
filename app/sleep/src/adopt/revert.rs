//! Taking an adoption back: the bytes from before return, if the live document is still what was adopted.

use super::Places;
use super::decision::{self, Action, Decision, Decisions};
use super::error::{AdoptError, Refusal};
use super::live_file::{self, LiveFile, Mode};
use super::locks::{lock_staging, lock_targets};
use super::receipt::{self, Receipt};
use super::recover::recover_locked;
use super::transaction::{canonical, check_place};
use crate::stage::{Role, TargetFault, check_file, real_path};
use std::path::Path;

/// What a revert did to one document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reverted {
    /// The adoption that is taken back.
    pub receipt: Receipt,
    /// Who took it back, and when.
    pub decision: Decision,
    /// It was taken back now, and not by an earlier call.
    pub is_new: bool,
}

/// Takes adopted documents back; without `roles`, all that are adopted. Doing it twice gives the same answer.
///
/// # Errors
/// [`AdoptError`]; a document that was edited since is not touched. Documents before it in the list are back already.
pub fn revert(
    dir: &Path,
    roles: &[Role],
    actor: &str,
    at_ms: u64,
    places: &Places,
) -> Result<Vec<Reverted>, AdoptError> {
    let dir = canonical(dir)?;
    let _held = lock_staging(&dir)?;
    recover_locked(&dir, places)?;
    let adopted = receipt::all(&dir)?;
    if let Some(role) =
        roles.iter().find(|role| !adopted.iter().any(|receipt| receipt.role == **role))
    {
        return Err(Refusal::NotAdopted(role.clone()).into());
    }
    let chosen: Vec<Receipt> = adopted
        .into_iter()
        .filter(|receipt| roles.is_empty() || roles.contains(&receipt.role))
        .collect();
    let _targets = lock_targets(chosen.iter().map(|receipt| receipt.live_path.as_path()), places)?;
    let decisions = Decisions::read(&dir)?;
    for receipt in &chosen {
        check_place(&receipt.live_path, places)?;
        if decisions.put_back(&receipt.role).is_none() {
            check(receipt)?;
        }
    }
    let mut reverted = Vec::new();
    for receipt in chosen {
        let (decision, is_new) = match decisions.put_back(&receipt.role) {
            Some(done) => (done.clone(), false),
            None => (revert_one(&dir, &receipt, actor, at_ms)?, true),
        };
        reverted.push(Reverted { receipt, decision, is_new });
    }
    Ok(reverted)
}

/// Everything that can stand against it, before the first write.
fn check(receipt: &Receipt) -> Result<(), AdoptError> {
    let path = &receipt.live_path;
    let refused = |fault| Refusal::Target { role: receipt.role.clone(), path: path.clone(), fault };
    check_file(path).map_err(refused)?;
    if real_path(path).map_err(|err| refused(TargetFault::Unreadable(err)))? != *path {
        return Err(refused(TargetFault::Symlink).into());
    }
    let live = live_file::sha_of(path).map_err(AdoptError::io("read", path))?;
    // The bytes from before are live when a crash came between the write and the note of it.
    if live.as_ref() != Some(&receipt.after) && live != receipt.before {
        return Err(
            Refusal::Changed { role: receipt.role.clone(), path: path.clone(), live }.into()
        );
    }
    match &receipt.backup {
        Some(backup) if receipt::backup_bytes(receipt).is_none() => {
            Err(Refusal::NoBackup(backup.clone()).into())
        }
        _ => Ok(()),
    }
}

fn revert_one(
    dir: &Path,
    receipt: &Receipt,
    actor: &str,
    at_ms: u64,
) -> Result<Decision, AdoptError> {
    let path = &receipt.live_path;
    check(receipt)?;
    let live = LiveFile::read(path).map_err(AdoptError::io("read", path))?;
    if live.as_ref().map(|live| &live.sha) != receipt.before.as_ref() {
        match receipt::backup_bytes(receipt) {
            Some(bytes) => live_file::replace(path, &bytes, Mode::of(live.as_ref())),
            None => live_file::remove(path),
        }
        .map_err(AdoptError::io("restore", path))?;
    }
    let decision = Decision {
        sha256_before: Some(receipt.after.clone()),
        sha256_after: receipt.before.clone(),
        ..Decision::new(Action::Reverted, &receipt.role, actor, at_ms)
    };
    decision::append(dir, [decision.clone()])?;
    Ok(decision)
}
