//! How a call gets its turn: a free place, then the end of a pause and of an outage.

use super::{Limiter, Permit};
use crate::breaker::Leave;
use crate::retry::spread;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, oneshot};

/// How long a call waits once it has a place. The wait for a place has no end: it only says that others are
/// being answered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    pub(crate) left: Duration,
    /// It had its turn before and was sent away: calls that have not had theirs stand behind it. A stage waits for its
    /// last call, and that is often one that was refused.
    pub(crate) is_back: bool,
    /// An outage that has lasted so long is not waited for; with `None` none is, because the call asks whether the
    /// endpoint answers now.
    pub(crate) outage: Option<Duration>,
}

/// The patience ended before the call was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GaveUp {
    /// How long the endpoint has not answered; `None` when it only asked to wait.
    pub(crate) down_for: Option<Duration>,
}

enum Turn {
    Now { is_try: bool },
    NotBefore { at: Duration, end: Duration, spread: bool },
    Never(GaveUp),
}

impl Limiter {
    /// Waits for a free place and for the endpoint to take calls. Safe to drop: the place is given back.
    ///
    /// # Errors
    /// [`GaveUp`] when `patience` ends first.
    pub(crate) async fn acquire(&self, patience: Patience) -> Result<Permit<'_>, GaveUp> {
        let waiting = Waiting::new(&self.waiting);
        let permit = self.place(patience.is_back).await;
        let mut permit = Permit::new(self, permit);
        let arrived = self.timer.monotonic();
        loop {
            // Made before the look at the state, so that no change after it is missed.
            let changed = self.changed.notified();
            let now = self.timer.monotonic();
            match self.turn(patience, arrived, now) {
                Turn::Now { is_try } => {
                    permit.start(is_try, now.saturating_sub(arrived));
                    drop(waiting);
                    return Ok(permit);
                }
                Turn::Never(gave_up) => return Err(gave_up),
                Turn::NotBefore { at, end, spread: is_spread } => {
                    let wait = at.saturating_sub(now);
                    let wait = if is_spread { spread(wait, self.jitter.fraction()) } else { wait };
                    let wait = wait.min(end.saturating_sub(now));
                    tokio::select! {
                        () = changed => {}
                        () = self.timer.sleep(wait) => {}
                    }
                }
            }
        }
    }

    /// A free place. Safe to drop: a place that was given meanwhile goes to the next.
    async fn place(&self, is_back: bool) -> Option<OwnedSemaphorePermit> {
        let in_line = Arc::clone(&self.permits).acquire_owned();
        if !is_back {
            return in_line.await.ok();
        }
        let given = {
            // Under the lock that every place is given back under, so that none is missed.
            let mut state = self.state();
            if let Ok(permit) = Arc::clone(&self.permits).try_acquire_owned() {
                return Some(permit);
            }
            let (give, given) = oneshot::channel();
            state.back.push_back(give);
            given
        };
        tokio::select! {
            permit = in_line => permit.ok(),
            Ok(permit) = given => Some(permit),
        }
    }

    fn turn(&self, patience: Patience, arrived: Duration, now: Duration) -> Turn {
        let mut state = self.state();
        let end = arrived.saturating_add(patience.left);
        if state.not_before > now {
            return if now < end {
                Turn::NotBefore { at: state.not_before, end, spread: true }
            } else {
                Turn::Never(GaveUp { down_for: None })
            };
        }
        let Some(longest) = patience.outage else { return Turn::Now { is_try: false } };
        let since = state.breaker.since().unwrap_or(now);
        let (at, end) = match state.breaker.ask(now) {
            Leave::Go => return Turn::Now { is_try: false },
            Leave::Try => return Turn::Now { is_try: true },
            Leave::Wait { until } => (until, end.min(since.saturating_add(longest))),
            Leave::WaitForTry => (Duration::MAX, end),
        };
        if now < end {
            Turn::NotBefore { at, end, spread: false }
        } else {
            Turn::Never(GaveUp { down_for: Some(now.saturating_sub(since)) })
        }
    }
}

/// Counts a call as waiting until it is dropped.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
