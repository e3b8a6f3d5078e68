//! What became of each proposal of a night, for people. Reads only.

use super::decision::{Action, Decision, Decisions};
use super::error::AdoptError;
use super::journal::Journal;
use super::live_file::{self, LiveFile};
use super::receipt::{self, Receipt};
use super::transaction::canonical;
use crate::stage::{Manifest, Role, Row};
use skillopt_domain::hash::Sha256Hex;
use std::path::Path;

/// What became of a proposal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowState {
    /// It waits for a decision.
    Pending,
    /// The live document is no longer what the night saw; it cannot be adopted.
    Stale {
        /// What is live now; `None` when the file is gone.
        live: Option<Sha256Hex>,
    },
    /// A person said no.
    Rejected(Decision),
    /// It is live, or was at the time.
    Adopted {
        /// The receipt.
        receipt: Receipt,
        /// Who and which edits; `None` for adoptions of the reference system.
        decision: Option<Decision>,
    },
    /// It was live, and was taken back.
    Reverted {
        /// The receipt of the adoption.
        receipt: Receipt,
        /// Who took it back.
        decision: Decision,
    },
}

/// One proposal with what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Review {
    /// The proposal.
    pub row: Row,
    /// What became of it.
    pub state: RowState,
}

/// All proposals of a night.
///
/// # Errors
/// [`AdoptError`]; also while an interrupted adoption waits for recovery.
pub fn review(dir: &Path) -> Result<Vec<Review>, AdoptError> {
    let dir = canonical(dir)?;
    if Journal::read(&dir)?.is_some() {
        return Err(AdoptError::InvalidStaging(
            "an interrupted adoption must be recovered first".to_owned(),
        ));
    }
    let manifest = Manifest::read(&dir)?;
    let (decisions, receipts) = (Decisions::read(&dir)?, receipt::all(&dir)?);
    let rows = manifest.rows.into_iter();
    Ok(rows.map(|row| Review { state: state_of(&row, &decisions, &receipts), row }).collect())
}

/// An adoption of the night did not come to its end: its journal is there.
#[must_use]
pub fn is_interrupted(dir: &Path) -> bool {
    Journal::is_there(dir)
}

/// The texts that a person compares; `None` where there is no file, or it is no text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Texts {
    /// The live document as the night saw it.
    pub baseline: Option<String>,
    /// What the night proposes.
    pub proposed: Option<String>,
    /// What is live now.
    pub live: Option<String>,
}

/// The texts of one proposal. What the manifest does not vouch for is left out.
#[must_use]
pub fn texts(dir: &Path, row: &Row) -> Texts {
    let text = |path: &Path| String::from_utf8(LiveFile::read(path).ok()??.bytes).ok();
    let with_hash = |name: &str, sha: Option<&Sha256Hex>| {
        text(&dir.join(name)).filter(|text| Some(&Sha256Hex::of(text)) == sha)
    };
    let live = text(&row.live_path);
    let kept = with_hash(&row.baseline_file(), row.live_sha256.as_ref());
    // A night of the reference system kept no copy, but the live document may still be the one that it saw.
    let same =
        || live.clone().filter(|text| Some(&Sha256Hex::of(text)) == row.live_sha256.as_ref());
    Texts {
        baseline: kept.or_else(same),
        proposed: with_hash(&row.proposed_file, Some(&row.sha256)),
        live,
    }
}

/// What was decided about a night, oldest first: without adoptions that never came to their end.
///
/// # Errors
/// [`AdoptError`].
pub fn decisions(dir: &Path) -> Result<Vec<Decision>, AdoptError> {
    let dir = canonical(dir)?;
    let receipts = receipt::all(&dir)?;
    let all = Decisions::read(&dir)?;
    let has_receipt = |decision: &Decision| {
        receipts.iter().any(|receipt| {
            let last = all.last(Action::Adopted, &receipt.role);
            last.is_some_and(|last| std::ptr::eq(last, decision))
                && decision.sha256_after.as_ref() == Some(&receipt.after)
        })
    };
    let counts = |&(at, decision): &(usize, &Decision)| {
        decision.action != Action::Adopted
            || has_receipt(decision)
            || was_put_back(decision, &all.decisions[at + 1..])
    };
    Ok(all.decisions.iter().enumerate().filter(counts).map(|(_, one)| one.clone()).collect())
}

/// Only what came to its end can be put back; the receipt of it may be gone by now.
fn was_put_back(adopted: &Decision, later: &[Decision]) -> bool {
    let mut of_target = later.iter().filter(|decision| {
        decision.target == adopted.target
            && matches!(decision.action, Action::Adopted | Action::Reverted)
    });
    of_target.next().is_some_and(|next| next.action == Action::Reverted)
}

fn state_of(row: &Row, decisions: &Decisions, receipts: &[Receipt]) -> RowState {
    let role: &Role = &row.role;
    if let Some(receipt) = receipts.iter().find(|receipt| receipt.role == *role).cloned() {
        return match decisions.put_back(role).cloned() {
            Some(decision) => RowState::Reverted { receipt, decision },
            // The decision is noted before the write: only that of this very adoption counts.
            None => RowState::Adopted {
                decision: decisions
                    .last(Action::Adopted, role)
                    .filter(|decision| decision.sha256_after.as_ref() == Some(&receipt.after))
                    .cloned(),
                receipt,
            },
        };
    }
    if let Some(decision) = decisions.rejection(role).cloned() {
        return RowState::Rejected(decision);
    }
    match live_file::sha_of(&row.live_path) {
        Ok(live) if live != row.live_sha256 => RowState::Stale { live },
        _ => RowState::Pending,
    }
}
