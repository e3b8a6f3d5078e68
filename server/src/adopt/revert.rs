//! Taking an adoption back: the bytes from before return, if the live file is still what was adopted.

use super::adopter::{Adopter, blocking};
use super::error::AdoptError;
use super::write::{Write, read_live, write_live};
use skillopt_domain::api::Receipt;
use skillopt_domain::ids::AdoptionId;
use skillopt_sleep::adopt::live_file;
use skillopt_store::AdoptionState;
use std::path::{Path, PathBuf};
use std::sync::Arc;

impl Adopter {
    /// Restores what was there before. Doing it twice gives the same receipt.
    ///
    /// # Errors
    /// [`AdoptError::FileChanged`] when the file was edited since; nothing is written then.
    pub async fn revert(&self, id: AdoptionId, actor: &str) -> Result<Receipt, AdoptError> {
        let (adopter, actor) = (self.clone(), actor.to_owned());
        self.to_the_end(async move { adopter.revert_now(&id, &actor).await }).await
    }

    async fn revert_now(&self, id: &AdoptionId, actor: &str) -> Result<Receipt, AdoptError> {
        let adoption = self.store.adoption(id).await?;
        let adoption =
            adoption.ok_or_else(|| AdoptError::NotFound(format!("there is no adoption {id}")))?;
        let path = PathBuf::from(&adoption.receipt.real_path);
        let lock = self.lock_of(&path);
        let _held = lock.lock().await;
        // Read again: another request may have reverted it while this one waited.
        let state =
            self.store.adoption(id).await?.map(|adoption| (adoption.state, adoption.receipt));
        match state {
            Some((AdoptionState::Reverted, receipt)) => return Ok(receipt),
            Some((AdoptionState::Done, _)) => {}
            _ => {
                return Err(AdoptError::Refused(
                    "only a finished adoption can be reverted".to_owned(),
                ));
            }
        }
        let (receipt, roots) = (adoption.receipt, self.roots.clone());
        blocking(move || {
            // The rules hold for this write too: a symlink may lead elsewhere by now.
            let allowed = roots.resolve(&receipt.real_path)?;
            if allowed.real != path {
                return Err(AdoptError::Refused(format!(
                    "{} leads to another file now",
                    path.display()
                )));
            }
            restore(&receipt, &path)
        })
        .await?;
        Ok(self.store.mark_reverted(id, actor, self.clock.now_ms()).await?)
    }
}

fn restore(receipt: &Receipt, path: &Path) -> Result<(), AdoptError> {
    let live = read_live(path)?.map(|live| live.sha);
    if live == receipt.before {
        // A crash came between the write and the note in the store.
        return Ok(());
    }
    if live.as_ref() != Some(&receipt.after) {
        return Err(AdoptError::FileChanged { path: path.to_owned(), live });
    }
    match (&receipt.before, &receipt.backup) {
        (None, _) => live_file::remove(path).map_err(|reason| AdoptError::Io {
            action: "remove",
            path: path.to_owned(),
            reason,
        }),
        (Some(before), Some(backup)) => {
            let backup = PathBuf::from(backup);
            let kept = read_live(&backup)?.filter(|kept| kept.sha == *before).ok_or_else(|| {
                AdoptError::Refused(format!(
                    "the backup {} is gone or was changed",
                    backup.display()
                ))
            })?;
            let write = Write {
                id: receipt.id.clone(),
                path: path.to_owned(),
                expected: Some(receipt.after.clone()),
                bytes: kept.bytes,
                backup: None,
            };
            write_live(&write, &(Arc::new(|_| Ok(())) as _))
        }
        (Some(_), None) => Err(AdoptError::Refused("the adoption has no backup".to_owned())),
    }
}
