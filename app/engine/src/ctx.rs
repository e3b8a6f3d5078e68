//! The leash of a run: cancel and pause, passed down explicitly. No state of a run lives elsewhere.

use std::sync::Arc;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

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
    leash: watch::Receiver<Leash>,
}

/// The other end, held by whoever hosts the run.
#[derive(Clone, Debug)]
pub struct RunControl {
    cancel: CancellationToken,
    leash: Arc<watch::Sender<Leash>>,
}

impl RunControl {
    /// A pair for one run.
    #[must_use]
    pub fn new() -> (Self, RunCtx) {
        let cancel = CancellationToken::new();
        let (sender, receiver) = watch::channel(Leash::Run);
        (
            Self { cancel: cancel.clone(), leash: Arc::new(sender) },
            RunCtx { cancel, leash: receiver },
        )
    }

    /// No new call is made; calls in flight are ended, what was answered is kept.
    pub fn cancel(&self) {
        self.cancel.cancel();
    }

    /// No new call is made until [`RunControl::unpause`].
    pub fn pause(&self) {
        self.leash.send_replace(Leash::Pause);
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

    /// Returns when the run may make a call, or when it is cancelled. Safe to drop: it holds nothing.
    pub async fn ready(&self) {
        let mut leash = self.leash.clone();
        tokio::select! {
            () = self.cancel.cancelled() => {}
            _ = leash.wait_for(|leash| *leash == Leash::Run) => {}
        }
    }
}
