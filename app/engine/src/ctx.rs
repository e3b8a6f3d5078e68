//! The leash of a run: cancel and pause, passed down explicitly. No state of a run lives elsewhere.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// How long calls in flight may go on after a cancel: they are paid for, so their answers are worth a wait.
pub const GRACE: Duration = Duration::from_secs(8);

/// What a person last asked of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leash {
    /// Go on.
    Run,
    /// Make no new call until told to go on.
    Pause,
}

/// Passed to everything that makes calls.
#[derive(Clone, Debug)]
pub struct RunCtx {
    cancel: CancellationToken,
    abort: CancellationToken,
    leash: watch::Receiver<Leash>,
    in_flight: Arc<AtomicU32>,
}

/// The other end, held by whoever hosts the run.
#[derive(Clone, Debug)]
pub struct RunControl {
    cancel: CancellationToken,
    leash: Arc<watch::Sender<Leash>>,
    in_flight: Arc<AtomicU32>,
}

impl RunControl {
    /// A pair for one run.
    #[must_use]
    pub fn new() -> (Self, RunCtx) {
        let cancel = CancellationToken::new();
        let (sender, receiver) = watch::channel(Leash::Run);
        let in_flight = Arc::new(AtomicU32::new(0));
        (
            Self {
                cancel: cancel.clone(),
                leash: Arc::new(sender),
                in_flight: Arc::clone(&in_flight),
            },
            RunCtx { cancel, abort: CancellationToken::new(), leash: receiver, in_flight },
        )
    }

    /// No new call is made; calls in flight have [`GRACE`] to be answered and recorded.
    pub fn cancel(&self) {
        self.cancel.cancel();
    }

    /// No new call is made until [`RunControl::unpause`].
    pub fn pause(&self) {
        self.leash.send_replace(Leash::Pause);
    }

    /// Calls that wait for a model right now; a pause is complete at 0.
    #[must_use]
    pub fn in_flight(&self) -> u32 {
        self.in_flight.load(Ordering::Acquire)
    }

    /// Goes on.
    pub fn unpause(&self) {
        self.leash.send_replace(Leash::Run);
    }
}

impl RunCtx {
    /// Fires when the run is cancelled.
    #[must_use]
    pub fn cancel_token(&self) -> &CancellationToken {
        &self.cancel
    }

    /// Fires when calls in flight are given up: some time after the run was cancelled.
    #[must_use]
    pub(crate) fn abort_token(&self) -> &CancellationToken {
        &self.abort
    }

    /// Gives up calls in flight when the run has been cancelled for [`GRACE`]. Never returns. Safe to drop.
    pub async fn abort_after_grace(&self) -> std::convert::Infallible {
        self.cancel.cancelled().await;
        tokio::time::sleep(GRACE).await;
        self.abort.cancel();
        std::future::pending().await
    }

    /// The run was cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// A pause is asked for.
    #[must_use]
    pub fn is_paused(&self) -> bool {
        *self.leash.borrow() == Leash::Pause
    }

    /// Counts a call as in flight until the guard is dropped.
    #[must_use]
    pub(crate) fn enter_call(&self) -> InFlight {
        self.in_flight.fetch_add(1, Ordering::AcqRel);
        InFlight(Arc::clone(&self.in_flight))
    }

    /// Returns when the run may make a call, or when it is cancelled. Safe to drop: it holds nothing.
    pub async fn ready(&self) {
        let mut leash = self.leash.clone();
        tokio::select! {
            () = self.cancel.cancelled() => {}
            _ = leash.wait_for(|leash| *leash == Leash::Run) => {}
        }
    }
}

/// One call in flight.
#[derive(Debug)]
pub(crate) struct InFlight(Arc<AtomicU32>);

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}
