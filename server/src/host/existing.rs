//! Looks whether a run folder belongs to a run already, and whether that is the run that is wanted.

use super::inputs::with_absolute_paths;
use super::{HostError, Hosting, absolute};
use skillopt_domain::config::{Resolved, Value};
use skillopt_domain::ids::RunId;
use skillopt_store::RunRow;
use std::path::Path;

/// Keys that may differ when a run is resumed: they shape no answer.
const FREE: [&str; 2] = ["env.out_root", "limits."];

/// What is in a folder.
#[derive(Debug)]
pub enum Existing {
    /// Nothing of ours.
    None,
    /// A run with the same config, caps aside.
    Same(Box<RunRow>),
    /// A run with another config.
    Different(Vec<Difference>),
    /// A run folder that no run of this data directory owns.
    Foreign,
}

/// A key with two values.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// `section.key`.
    pub path: String,
    /// In the run that is there.
    pub there: Value,
    /// In the config that is wanted.
    pub wanted: Value,
}

impl Hosting {
    /// Finds the run of a folder and compares its config with the wanted one.
    ///
    /// # Errors
    /// [`HostError::Store`] when the store cannot be read.
    pub async fn existing(
        &self,
        out_root: &Path,
        wanted: &Resolved,
    ) -> Result<Existing, HostError> {
        let folder = absolute(out_root);
        let folder = folder.canonicalize().unwrap_or(folder);
        let name = folder.display().to_string();
        match self.shared.store.find_run_by_out_root(&name).await? {
            // An imported run is only a picture of its folder: nothing may go on in it.
            Some(id) if self.shared.store.import_origin(&id).await?.is_some() => {
                Ok(Existing::Foreign)
            }
            Some(id) => {
                let row = self.shared.store.run_row(&id).await?;
                let differences = differences(&row.config, &with_absolute_paths(wanted));
                Ok(if differences.is_empty() {
                    Existing::Same(Box::new(row))
                } else {
                    Existing::Different(differences)
                })
            }
            None if is_run_folder(&folder) => Ok(Existing::Foreign),
            None => Ok(Existing::None),
        }
    }
}

impl Hosting {
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

fn differences(there: &Resolved, wanted: &Resolved) -> Vec<Difference> {
    let is_free = |path: &str| FREE.iter().any(|free| path.starts_with(free));
    let there = there.completed();
    wanted
        .values
        .iter()
        .filter(|row| !is_free(&row.path) && there.get(&row.path) != &row.value)
        .map(|row| Difference {
            path: row.path.clone(),
            there: there.get(&row.path).clone(),
            wanted: row.value.clone(),
        })
        .collect()
}
