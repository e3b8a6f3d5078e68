//! Looks whether a run folder belongs to a run already.

use super::plain_file::read_plain;
use super::{HostError, Hosting, absolute};
use serde_json::{Map, Value};
use skillopt_domain::ids::RunId;
use skillopt_store::RunRow;
use std::io::ErrorKind;
use std::path::Path;

/// Ours have some kilobytes.
const MOST_CONFIG_BYTES: u64 = 1 << 20;

/// What is in a folder.
#[derive(Debug)]
pub enum Existing {
    /// Nothing of ours.
    None,
    /// A run of this data directory.
    Known(Box<RunRow>),
    /// A run folder that no run of this data directory owns, or files that a run would write over.
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

/// What a run writes over without a look.
const WRITTEN: [&str; 4] = ["history.json", "runtime_state.json", "summary.json", "best_skill.md"];

fn is_run_folder(folder: &Path) -> bool {
    WRITTEN.iter().any(|name| folder.join(name).exists()) || has_other_config(folder)
}

/// A `config.json` of ours alone is what a process leaves that dies before the run is noted: nothing was done then.
/// Anybody else's is not ours to write over.
fn has_other_config(folder: &Path) -> bool {
    let is_ours = |bytes: Vec<u8>| {
        let keys = serde_json::from_slice::<Map<String, Value>>(&bytes);
        keys.is_ok_and(|keys| keys.contains_key("out_root"))
    };
    match read_plain(&folder.join("config.json"), MOST_CONFIG_BYTES) {
        Ok(bytes) => !is_ours(bytes),
        Err(err) => !matches!(err.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory),
    }
}
