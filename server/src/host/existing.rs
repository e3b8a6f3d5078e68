//! Looks whether a run folder belongs to a run already.

use super::{HostError, Hosting, absolute};
use skillopt_domain::ids::RunId;
use skillopt_store::RunRow;
use std::path::Path;

/// What is in a folder.
#[derive(Debug)]
pub enum Existing {
    /// Nothing of ours.
    None,
    /// A run of this data directory.
    Known(Box<RunRow>),
    /// A run folder that no run of this data directory owns.
    Foreign,
}

impl Hosting {
    /// Finds the run of a folder.
    ///
    /// # Errors
    /// [`HostError::Store`] when the store cannot be read.
    pub async fn existing(&self, out_root: &Path) -> Result<Existing, HostError> {
        let folder = absolute(out_root);
        let folder = folder.canonicalize().unwrap_or(folder);
        let name = folder.display().to_string();
        match self.shared.store.find_run_by_out_root(&name).await? {
            // An imported run is only a picture of its folder: nothing may go on in it.
            Some(id) if self.shared.store.import_origin(&id).await?.is_some() => {
                Ok(Existing::Foreign)
            }
            Some(id) => Ok(Existing::Known(Box::new(self.shared.store.run_row(&id).await?))),
            None if is_run_folder(&folder) => Ok(Existing::Foreign),
            None => Ok(Existing::None),
        }
    }

    /// Refuses to work on a run that was imported.
    ///
    /// # Errors
    /// [`HostError::Imported`] with the reason.
    pub(crate) async fn refuse_imported(&self, run: &RunId) -> Result<(), HostError> {
        match self.shared.store.import_origin(run).await? {
            Some(origin) => Err(HostError::Imported { reason: origin.why_not_resumable }),
            None => Ok(()),
        }
    }
}

/// A `config.json` alone is what a process leaves that dies before the run is noted: nothing was done then.
fn is_run_folder(folder: &Path) -> bool {
    ["history.json", "runtime_state.json"].iter().any(|name| folder.join(name).exists())
}
