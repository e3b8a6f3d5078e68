//! Owns the runs of this process: a queue, a limit, and a task a run. Commands go through the store, so that
//! a run is paused or cancelled in the same way whichever process owns it.
//! How a run works is the host's business, what a step does the engine's.

mod desk;

use crate::causes::causes;
use async_trait::async_trait;
use desk::{Desk, Waiting};
use skillopt_domain::api::RunQuery;
use skillopt_domain::ids::RunId;
use skillopt_domain::run::RunStatus;
use skillopt_engine::ctx::{RunControl, RunCtx};
use skillopt_engine::ports::Clock;
use skillopt_store::{Command, Signal, Store, StoreFailure, TransitionError};
use std::fmt::Debug;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How often runs are looked for whose owner died.
const REAP: Duration = Duration::from_secs(2);
/// How long an action waits for the run to take it up before it answers with the state as it is.
const SETTLE: Duration = Duration::from_secs(1);

/// Drives one run from its lease to its end.
#[async_trait]
pub trait Driver: Send + Sync + Debug {
    /// Works until the run is over, and leaves its last state in the store. A run that is no longer in the state
    /// `from` when it is taken is left alone: a person has changed it in the meantime. When `interrupt` fires it
    /// stops soon and leaves the run `interrupted`, to be resumed later.
    async fn drive(
        &self,
        run: &RunId,
        from: RunStatus,
        leash: (RunControl, RunCtx),
        interrupt: CancellationToken,
    );
}

/// Why an action was not done.
#[derive(Debug, thiserror::Error)]
pub enum ActionError {
    /// The state of the run does not know it.
    #[error("a run that is {status} cannot be {action}")]
    WrongState {
        /// What was asked, as in "cannot be paused".
        action: &'static str,
        /// The state.
        status: RunStatus,
    },
    /// The run was imported.
    #[error("{reason}")]
    Imported {
        /// Why it cannot be resumed.
        reason: String,
    },
    /// The store refused or failed.
    #[error(transparent)]
    Transition(#[from] TransitionError),
    /// The store failed.
    #[error("the store failed")]
    Store(#[from] StoreFailure),
}

/// Hosts runs. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Supervisor {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    store: Store,
    driver: Arc<dyn Driver>,
    clock: Arc<dyn Clock>,
    desk: Mutex<Desk>,
    wake: Notify,
    tasks: TaskTracker,
    stop: CancellationToken,
}

impl Supervisor {
    /// Starts nothing by itself; see [`Supervisor::watch`].
    #[must_use]
    pub fn new(
        store: Store,
        driver: Arc<dyn Driver>,
        clock: Arc<dyn Clock>,
        max_parallel: usize,
    ) -> Self {
        let inner = Inner {
            store,
            driver,
            clock,
            desk: Mutex::new(Desk::new(max_parallel)),
            wake: Notify::new(),
            tasks: TaskTracker::new(),
            stop: CancellationToken::new(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Starts queued runs as places get free, and looks for runs whose owner died. Ends with
    /// [`Supervisor::shut_down`].
    pub async fn watch(&self) {
        if let Err(err) = self.take_up_queue().await {
            tracing::error!("cannot read the queue of runs: {}", causes(&err));
        }
        let mut reap = tokio::time::interval(REAP);
        loop {
            self.fill_places().await;
            // A lost tick or wake-up is made good by the next one.
            tokio::select! {
                () = self.inner.stop.cancelled() => return,
                () = self.inner.wake.notified() => {}
                _ = reap.tick() => self.reap().await,
            }
        }
    }

    /// Queues a new run.
    pub fn launch(&self, run: RunId) {
        self.enqueue(Waiting { run, from: RunStatus::Queued });
    }

    /// Pauses a run: calls in flight are finished, no new one is made.
    ///
    /// # Errors
    /// [`ActionError`] when the run is not at work.
    pub async fn pause(&self, run: &RunId, actor: &str) -> Result<RunStatus, ActionError> {
        self.command(run, Command::Pause, "paused", actor).await
    }

    /// Cancels a run. One that waits for its turn leaves the queue.
    ///
    /// # Errors
    /// [`ActionError`] when the run is over.
    pub async fn cancel(&self, run: &RunId, actor: &str) -> Result<RunStatus, ActionError> {
        let status = self.command(run, Command::Cancel, "cancelled", actor).await?;
        self.desk().forget(run);
        Ok(status)
    }

    /// Goes on after a pause, or takes up a run that ended before it was done.
    ///
    /// # Errors
    /// [`ActionError`] when there is nothing to resume.
    pub async fn resume(&self, run: &RunId, actor: &str) -> Result<RunStatus, ActionError> {
        let status = self.inner.store.run_row(run).await?.status;
        if let Some(origin) = self.inner.store.import_origin(run).await? {
            return Err(ActionError::Imported { reason: origin.why_not_resumable });
        }
        match status {
            RunStatus::Paused | RunStatus::Pausing => {
                self.command(run, Command::Unpause, "resumed", actor).await
            }
            from if from.is_resumable() => {
                self.enqueue(Waiting { run: run.clone(), from });
                self.settle(run, from).await
            }
            RunStatus::Queued | RunStatus::Running => Ok(status),
            status => Err(ActionError::WrongState { action: "resumed", status }),
        }
    }

    /// Interrupts all runs, so that they can be resumed, and waits for them a while.
    pub async fn shut_down(&self, patience: Duration) {
        self.inner.stop.cancel();
        self.inner.tasks.close();
        if tokio::time::timeout(patience, self.inner.tasks.wait()).await.is_err() {
            tracing::warn!(
                "some runs did not stop in time; they can be resumed after their lease ran out"
            );
        }
    }

    fn desk(&self) -> MutexGuard<'_, Desk> {
        // The desk is whole even if a thread died while it held the lock.
        self.inner.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enqueue(&self, waiting: Waiting) {
        self.desk().enqueue(waiting);
        self.inner.wake.notify_one();
    }

    async fn command(
        &self,
        run: &RunId,
        command: Command,
        action: &'static str,
        actor: &str,
    ) -> Result<RunStatus, ActionError> {
        match self.inner.store.request(run, command, actor, self.inner.clock.now_ms()).await {
            Ok(status) => Ok(status),
            Err(TransitionError::Forbidden(refused)) => {
                Err(ActionError::WrongState { action, status: refused.from })
            }
            Err(err) => Err(err.into()),
        }
    }

    /// The state once the run was taken up; the old one when all places are taken.
    async fn settle(&self, run: &RunId, from: RunStatus) -> Result<RunStatus, ActionError> {
        let mut signals = self.inner.store.subscribe();
        let changed = async {
            loop {
                let status = self.inner.store.run_row(run).await?.status;
                if status != from {
                    return Ok(status);
                }
                // Any signal will do, and so will a lost one: the state is read again.
                while matches!(signals.recv().await, Ok(signal) if !is_about(&signal, run)) {}
            }
        };
        tokio::time::timeout(SETTLE, changed).await.unwrap_or(Ok(from))
    }

    /// Runs that were queued when the server stopped. Those with a lease belong to another process.
    async fn take_up_queue(&self) -> Result<(), StoreFailure> {
        let mut query = RunQuery {
            status: Some(RunStatus::Queued),
            sort: Some("created".to_owned()),
            limit: Some(500),
            ..RunQuery::default()
        };
        loop {
            let page = self.inner.store.list_runs(&query).await?;
            for summary in page.items {
                if self.inner.store.run_row(&summary.id).await?.lease.is_none() {
                    self.launch(summary.id);
                }
            }
            match page.next {
                Some(cursor) => query.cursor = Some(cursor),
                None => return Ok(()),
            }
        }
    }

    async fn fill_places(&self) {
        while !self.inner.stop.is_cancelled() {
            let Some(waiting) = self.desk().next() else { return };
            // A person may have cancelled or resumed it elsewhere while it waited.
            match self.inner.store.run_row(&waiting.run).await {
                Ok(row) if row.status == waiting.from => self.start(waiting),
                Ok(_) => self.desk().leave(&waiting.run),
                Err(err) => {
                    tracing::error!(run.id = %waiting.run, "cannot start the run: {}", causes(&err));
                    self.desk().leave(&waiting.run);
                }
            }
        }
    }

    fn start(&self, waiting: Waiting) {
        let place = Place { supervisor: self.clone(), run: waiting.run };
        let interrupt = self.inner.stop.child_token();
        let driver = self.inner.driver.clone();
        self.inner.tasks.spawn(async move {
            driver.drive(&place.run, waiting.from, RunControl::new(), interrupt).await;
        });
    }

    async fn reap(&self) {
        if let Err(err) = self.inner.store.reap_nights(self.inner.clock.now_ms()).await {
            tracing::error!("cannot look for orphaned nights: {}", causes(&err));
        }
        match self.inner.store.reap_orphans(self.inner.clock.now_ms()).await {
            Ok(orphans) => {
                for run in orphans {
                    tracing::warn!(run.id = %run, "the process that owned the run is gone");
                }
            }
            Err(err) => tracing::error!("cannot look for orphaned runs: {}", causes(&err)),
        }
    }
}

/// Frees the place of a run, also when its task panics.
struct Place {
    supervisor: Supervisor,
    run: RunId,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.supervisor.desk().leave(&self.run);
        self.supervisor.inner.wake.notify_one();
    }
}

fn is_about(signal: &Signal, run: &RunId) -> bool {
    match signal {
        Signal::Run(id) | Signal::Progress { run: id, .. } | Signal::Command { run: id } => {
            id == run
        }
    }
}

#[cfg(test)]
mod tests;
