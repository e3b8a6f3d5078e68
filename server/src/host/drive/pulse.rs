//! Signs of life of a run at work: renews the lease, obeys what people ask for, confirms pauses.

use super::worked::Worked;
use crate::causes::causes;
use crate::host::{Hosting, LEASE_MS};
use skillopt_domain::ids::RunId;
use skillopt_engine::ctx::RunControl;
use skillopt_store::{Command, LeaseError, RunJournal, Signal};
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast::{Receiver, error::RecvError};
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

const BEAT: Duration = Duration::from_secs(1);
/// While a pause is under way, so that it is confirmed soon after the last call.
const PAUSE_CHECK: Duration = Duration::from_millis(50);

/// Whether a pause is asked for and confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pausing {
    No,
    Asked,
    Confirmed,
}

/// The heart of one run at work.
#[derive(Debug)]
pub(super) struct Pulse<'a> {
    hosting: &'a Hosting,
    run: &'a RunId,
    journal: Arc<RunJournal>,
    control: RunControl,
    worked: Worked,
    pausing: Pausing,
    interrupted: bool,
    lost: bool,
}

impl<'a> Pulse<'a> {
    pub(super) fn new(
        hosting: &'a Hosting,
        run: &'a RunId,
        journal: Arc<RunJournal>,
        control: RunControl,
        prior_active_ms: u64,
    ) -> Self {
        Self {
            hosting,
            run,
            journal,
            control,
            worked: Worked::since_now(prior_active_ms),
            pausing: Pausing::No,
            interrupted: false,
            lost: false,
        }
    }

    /// The process was asked to stop.
    pub(super) fn was_interrupted(&self) -> bool {
        self.interrupted
    }

    /// Another process owns the run now.
    pub(super) fn lost_lease(&self) -> bool {
        self.lost
    }

    /// Beats until `work` ends.
    pub(super) async fn keep_until<T>(
        &mut self,
        work: impl Future<Output = T>,
        interrupt: CancellationToken,
    ) -> T {
        tokio::pin!(work);
        let mut signals = self.hosting.store().subscribe();
        let mut beats = tokio::time::interval(BEAT);
        beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut pause_checks = tokio::time::interval(PAUSE_CHECK);
        pause_checks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            // Each arm may be dropped: ticks come again, a lost signal is made good by the next beat.
            tokio::select! {
                ended = &mut work => {
                    // What people asked for in the last moment is in the store already.
                    return ended;
                }
                _ = beats.tick() => self.beat().await,
                () = command_for(self.run, &mut signals) => self.beat().await,
                _ = pause_checks.tick(), if self.pausing == Pausing::Asked => self.check_pause().await,
                () = interrupt.cancelled(), if !self.interrupted => {
                    self.interrupted = true;
                    self.control.cancel();
                }
            }
        }
    }

    async fn beat(&mut self) {
        if self.lost {
            return;
        }
        match self.journal.heartbeat(LEASE_MS, Some(self.worked.ms())).await {
            Ok(Some(Command::Pause)) => {
                self.control.pause();
                self.pausing = Pausing::Asked;
            }
            Ok(Some(Command::Unpause)) => {
                self.worked.go_on();
                self.pausing = Pausing::No;
                self.control.unpause();
            }
            Ok(Some(Command::Cancel)) => self.control.cancel(),
            Ok(None) => {}
            Err(LeaseError::Lost { .. } | LeaseError::Held { .. }) => {
                self.lost = true;
                self.control.cancel();
            }
            // The lease outlives some missed beats; writes of the engine end the run if it is serious.
            Err(LeaseError::Store(err)) => {
                tracing::warn!(run.id = %self.run, "missed a heartbeat: {}", causes(&err));
            }
        }
    }

    async fn check_pause(&mut self) {
        if self.control.in_flight() > 0 {
            return;
        }
        match self.hosting.confirm_pause(self.run).await {
            Ok(()) => {
                self.pausing = Pausing::Confirmed;
                self.worked.pause();
            }
            Err(err) => {
                tracing::warn!(run.id = %self.run, "cannot confirm the pause: {}", causes(&err));
            }
        }
    }
}

/// Returns when this process is told of a command for the run. Never returns when nobody can tell.
async fn command_for(run: &RunId, signals: &mut Receiver<Signal>) {
    loop {
        match signals.recv().await {
            Ok(Signal::Command { run: about }) if about == *run => return,
            // Some were missed: there may have been a command among them.
            Err(RecvError::Lagged(_)) => return,
            Ok(_) => {}
            Err(RecvError::Closed) => std::future::pending().await,
        }
    }
}
