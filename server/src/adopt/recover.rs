//! After a crash: what became of adoptions whose end the store does not know. Looks at live files and never
//! writes them, so that an edit made since is safe.

use super::adopter::{Adopter, blocking};
use super::error::AdoptError;
use super::write::read_live;
use skillopt_sleep::adopt::live_file;
use skillopt_store::Adoption;
use std::path::Path;

enum Found {
    Written,
    Untouched,
    Other,
    Unreadable(String),
}

impl Adopter {
    /// Closes all open intents. Call it once, before requests are served.
    ///
    /// # Errors
    /// [`AdoptError::Store`] when the store cannot be read or written.
    pub async fn recover(&self) -> Result<(), AdoptError> {
        for adoption in self.store.open_adoptions().await? {
            let id = adoption.receipt.id.clone();
            let found = blocking(move || Ok(look(&adoption))).await?;
            let reason = match found {
                Found::Written => {
                    self.store.finish_adoption(&id).await?;
                    continue;
                }
                Found::Untouched => "the server stopped before the file was written".to_owned(),
                Found::Other => "the server stopped, and the file was changed since".to_owned(),
                Found::Unreadable(reason) => format!("the server stopped: {reason}"),
            };
            tracing::warn!(adoption.id = %id, "adoption not completed: {reason}");
            self.store.fail_adoption(&id, &reason).await?;
        }
        Ok(())
    }
}

fn look(adoption: &Adoption) -> Found {
    let receipt = &adoption.receipt;
    let path = Path::new(&receipt.real_path);
    // Our own staged bytes only; a failure leaves a hidden file and nothing else.
    let _ = live_file::discard(&live_file::staged_path(path, receipt.id.as_str()));
    match read_live(path).map(|live| live.map(|live| live.sha)) {
        Ok(Some(live)) if live == receipt.after => Found::Written,
        Ok(live) if live == receipt.before => Found::Untouched,
        Ok(_) => Found::Other,
        Err(err) => Found::Unreadable(err.to_string()),
    }
}
