//! What was put back waits again: its receipt goes before there is another one. In the reference system's lists a
//! document has one receipt at most, and none that waits.

use super::decision::{self, Action, Decision, Decisions};
use super::error::AdoptError;
use super::receipt;
use crate::stage::Role;
use std::path::Path;

/// Opens those of the documents that were put back. The caller holds the lock of the folder.
pub(super) fn open_again<'a>(
    dir: &Path,
    roles: impl Iterator<Item = &'a Role>,
    actor: &str,
    at_ms: u64,
) -> Result<(), AdoptError> {
    let decisions = Decisions::read(dir)?;
    let again: Vec<Role> =
        roles.filter(|role| decisions.put_back(role).is_some()).cloned().collect();
    if again.is_empty() {
        return Ok(());
    }
    // The note comes last: without it, a document without a receipt waits all the same.
    receipt::put_away(dir, &again)?;
    let notes = again.iter().map(|role| Decision::new(Action::Reopened, role, actor, at_ms));
    decision::append(dir, notes)
}
