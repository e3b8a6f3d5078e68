//! Taking up a run that ended before it was done: from a process that died.

use super::{DiskRunFolder, HostError, Hosting};
use skillopt_domain::ids::RunId;
use skillopt_domain::run::RunTransition;
use skillopt_store::{Author, Change, Lease, RunRow};
use std::path::Path;
use std::time::Duration;

const LOOK_AGAIN: Duration = Duration::from_millis(250);

impl Hosting {
    /// Waits until nobody works on a run. A process that died is noticed at once where its id can be
    /// looked up, else when its lease has run out.
    ///
    /// # Errors
    /// [`HostError::Held`] when another process is alive and works on it.
    pub async fn wait_until_free(&self, run: &RunId) -> Result<(), HostError> {
        let store = &self.shared.store;
        let mut seen: Option<Lease> = None;
        loop {
            store.reap_orphans(self.now_ms()).await?;
            let row = store.run_row(run).await?;
            let Some(lease) = row.lease.clone().filter(|lease| lease.owner != self.shared.owner)
            else {
                return Ok(());
            };
            let is_renewed = seen.as_ref().is_some_and(|seen| seen.until_ms < lease.until_ms);
            if is_renewed {
                return Err(HostError::Held { run: run.clone(), owner: lease.owner });
            }
            // Nobody reaps a run that is over; its lease may have been left behind all the same.
            let is_left_over = lease.until_ms < self.now_ms();
            if is_left_over || is_dead(&lease, &row) {
                return self.take_from_the_dead(run, &lease, &row).await;
            }
            seen = Some(lease);
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    /// Takes a run from a process that died, where that can be seen at once. Waits for nothing.
    ///
    /// # Errors
    /// [`HostError::Store`] when the store cannot be read or written.
    pub async fn take_if_dead(&self, run: &RunId) -> Result<(), HostError> {
        let row = self.shared.store.run_row(run).await?;
        match &row.lease {
            Some(lease) if lease.owner != self.shared.owner && is_dead(lease, &row) => {
                self.take_from_the_dead(run, lease, &row).await
            }
            _ => Ok(()),
        }
    }

    async fn take_from_the_dead(
        &self,
        run: &RunId,
        lease: &Lease,
        row: &RunRow,
    ) -> Result<(), HostError> {
        let store = &self.shared.store;
        store.release_lease(run, &lease.owner).await?;
        if row.status.after(RunTransition::LoseOwner).is_ok() {
            let detail = Some("the process that worked on it is gone".to_owned());
            let (by, at_ms) = (Author::System, self.now_ms());
            store
                .transition(run, Change { transition: RunTransition::LoseOwner, detail, by, at_ms })
                .await?;
        }
        Ok(())
    }
}

/// Both signs together: its process is gone here, and nobody holds the run folder. One alone could lie
/// when processes cannot see each other. A folder that is not there, as on another machine, tells nothing, nor does one
/// that cannot be locked.
fn is_dead(lease: &Lease, row: &RunRow) -> bool {
    let pid = lease.owner.split(':').next().and_then(|pid| pid.parse::<u32>().ok());
    let proc = Path::new("/proc");
    let is_gone =
        pid.is_some_and(|pid| proc.join("self").exists() && !proc.join(pid.to_string()).exists());
    let folder = Path::new(&row.out_root);
    is_gone && folder.is_dir() && DiskRunFolder::open(folder).is_ok_and(|held| held.is_locked())
}
