//! Drives one run from its lease to its end: start, heartbeat, commands of people, end state.

mod attempt;
mod pulse;
mod worked;

use super::{HostError, Hosting};
use crate::causes::causes;
use crate::supervisor::Driver;
use async_trait::async_trait;
pub(super) use attempt::kept_skill;
use attempt::{Attempt, Ended};
use pulse::Pulse;
use skillopt_domain::ids::RunId;
use skillopt_domain::run::{RunStatus, RunTransition};
use skillopt_engine::ctx::{RunControl, RunCtx};
use skillopt_store::{Author, Change, LeaseError, RunJournal, RunRow, TransitionError};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

impl Hosting {
    /// Takes the lease of a run, works until it is over, and leaves its last state in the store. When
    /// `interrupt` fires, the engine is stopped and the run is left `interrupted`.
    ///
    /// # Errors
    /// [`HostError`] when the run cannot be taken, or was lost on the way. Failures of the run itself are
    /// no errors here: they are its state.
    pub async fn drive(
        &self,
        run: &RunId,
        leash: (RunControl, RunCtx),
        interrupt: CancellationToken,
    ) -> Result<RunStatus, HostError> {
        self.refuse_unresumable(run).await?;
        let from = self.shared.store.run_row(run).await?.status;
        self.drive_from(run, from, leash, interrupt).await
    }

    /// As [`Hosting::drive`], but only if the run is still in the state `from` when its lease is taken. From then
    /// on people reach the run through its owner.
    async fn drive_from(
        &self,
        run: &RunId,
        from: RunStatus,
        leash: (RunControl, RunCtx),
        interrupt: CancellationToken,
    ) -> Result<RunStatus, HostError> {
        self.take_lease(run).await?;
        let driven = match self.shared.store.run_row(run).await {
            Ok(row) if row.status == from => self.drive_owned(row, leash, interrupt).await,
            Ok(row) => Ok(row.status),
            Err(err) => Err(err.into()),
        };
        self.shared.store.release_lease(run, &self.shared.owner).await?;
        driven
    }

    async fn take_lease(&self, run: &RunId) -> Result<(), HostError> {
        let taken = self.shared.store.acquire_lease(run, &self.lease_term(), self.now_ms()).await;
        taken.map_err(|err| match err {
            LeaseError::Held { owner, .. } => HostError::Held { run: run.clone(), owner },
            other => other.into(),
        })
    }

    async fn drive_owned(
        &self,
        mut row: RunRow,
        (control, ctx): (RunControl, RunCtx),
        interrupt: CancellationToken,
    ) -> Result<RunStatus, HostError> {
        // A process that was killed could not add what it had paid for in its last moments.
        row.spend = row.spend.at_least(self.shared.store.paid_by(&row.id).await?);
        let run = &row.id;
        self.change(run, RunTransition::Start, None).await?;
        let journal =
            RunJournal::open(&self.shared.store, run, &self.shared.owner, self.clock()).await?;
        let journal = Arc::new(journal);
        let mut attempt = match Attempt::start(self, &row, ctx, journal.clone()).await {
            Ok(attempt) => attempt,
            Err(message) => return self.change(run, RunTransition::Fail, Some(message)).await,
        };
        let mut pulse = Pulse::new(self, run, journal, control, row.active_ms);
        let ended = pulse.keep_until(attempt.ended(), interrupt).await;
        if pulse.lost_lease() {
            return Err(HostError::Lost { run: run.clone() });
        }
        self.close(&row, &ended, pulse.was_interrupted()).await
    }

    /// Totals and end state of an attempt.
    async fn close(
        &self,
        row: &RunRow,
        ended: &Ended,
        interrupted: bool,
    ) -> Result<RunStatus, HostError> {
        if let Some((spent, active_ms)) = ended.spent() {
            let mut spend = row.spend;
            spend += spent;
            let (store, owner) = (&self.shared.store, &self.shared.owner);
            store.set_totals(&row.id, owner, &spend, row.active_ms + active_ms).await?;
        }
        let (transition, detail) = ended.transition(interrupted);
        match self.change(&row.id, transition, detail.clone()).await {
            // It finished in the moment in which it was to be paused.
            Err(HostError::Forbidden(_)) => {
                self.change(&row.id, RunTransition::Unpause, None).await?;
                self.change(&row.id, transition, detail).await
            }
            changed => changed,
        }
    }

    async fn change(
        &self,
        run: &RunId,
        transition: RunTransition,
        detail: Option<String>,
    ) -> Result<RunStatus, HostError> {
        let by = Author::Owner(&self.shared.owner);
        let change = Change { transition, detail, by, at_ms: self.now_ms() };
        Ok(self.shared.store.transition(run, change).await?)
    }

    /// Says that a pause is complete; a run that went on meanwhile stays as it is.
    async fn confirm_pause(&self, run: &RunId) -> Result<(), HostError> {
        let by = Author::Owner(&self.shared.owner);
        let at_ms = self.now_ms();
        let change = Change { transition: RunTransition::ConfirmPause, detail: None, by, at_ms };
        match self.shared.store.transition(run, change).await {
            Ok(_) | Err(TransitionError::Forbidden(_)) => Ok(()),
            Err(err) => Err(err.into()),
        }
    }
}

#[async_trait]
impl Driver for Hosting {
    async fn drive(
        &self,
        run: &RunId,
        from: RunStatus,
        leash: (RunControl, RunCtx),
        interrupt: CancellationToken,
    ) {
        match self.drive_from(run, from, leash, interrupt).await {
            Ok(status) => tracing::info!(run.id = %run, %status, "the run ended"),
            Err(err) => {
                tracing::error!(run.id = %run, "the run was not driven to its end: {}", causes(&err));
            }
        }
    }
}
