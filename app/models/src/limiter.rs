//! Holds back calls to one endpoint: so many at once as it has shown to take, none before the moment that it
//! named while it refuses everything, and none but a try while it does not answer at all. A single refusal or
//! failure holds nobody but the call that got it.

mod describe;
mod gate;
mod permit;
#[cfg(test)]
mod tests;
mod window;

pub(crate) use gate::{GaveUp, Patience};
pub(crate) use permit::Permit;

use crate::breaker::Breaker;
use crate::retry::Jitter;
use crate::timer::Timer;
use describe::Errors;
use skillopt_domain::outage::Outage;
use std::collections::VecDeque;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, oneshot, watch};
use window::Window;

/// How many calls may be in flight, and whether a known limiter takes that over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    /// At least 1.
    pub(crate) calls: usize,
    /// A run asks: a test call must not change what a run may do.
    pub(crate) is_for_run: bool,
}

impl Size {
    pub(crate) fn new(max_concurrency: u32, is_for_run: bool) -> Self {
        let calls = usize::try_from(max_concurrency.max(1)).unwrap_or(usize::MAX);
        Self { calls, is_for_run }
    }
}

/// Shared by all runs that call the same endpoint.
#[derive(Debug)]
pub(crate) struct Limiter {
    place: Place,
    permits: Arc<Semaphore>,
    state: Mutex<State>,
    /// Wakes calls that wait for the endpoint to answer again.
    changed: Notify,
    outage: watch::Sender<Option<Outage>>,
    /// Calls that have not started yet.
    waiting: AtomicUsize,
    timer: Arc<dyn Timer>,
    jitter: Jitter,
}

/// Which endpoint it is, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Its address, without anything secret.
    pub(crate) address: String,
    pub(crate) model: String,
}

#[derive(Debug)]
struct State {
    window: Window,
    breaker: Breaker,
    /// Permits that the semaphore has given or will give; the window's limit, except within a change.
    permits: usize,
    /// Permits in use that are to vanish on return, because the limit was lowered meanwhile.
    surplus: usize,
    not_before: Duration,
    /// Calls that were answered, ever.
    answers: u64,
    /// Calls that were refused as one too many, ever.
    refusals: u64,
    /// Calls that had their turn before and were sent away, in the order in which they came back: the next places are
    /// theirs.
    back: VecDeque<oneshot::Sender<OwnedSemaphorePermit>>,
    errors: Errors,
}

impl Limiter {
    pub(crate) fn new(place: Place, size: usize, timer: Arc<dyn Timer>) -> Self {
        let window = Window::new(size);
        let permits = window.limit();
        let state = State {
            window,
            breaker: Breaker::default(),
            permits,
            surplus: 0,
            not_before: Duration::ZERO,
            answers: 0,
            refusals: 0,
            back: VecDeque::new(),
            errors: Errors::default(),
        };
        Self {
            place,
            permits: Arc::new(Semaphore::new(permits)),
            state: Mutex::new(state),
            changed: Notify::new(),
            outage: watch::Sender::new(None),
            waiting: AtomicUsize::new(0),
            timer,
            jitter: Jitter::default(),
        }
    }

    /// Changes how many calls may be in flight. Calls above a lowered limit end as they would have.
    pub(crate) fn resize(&self, wanted: usize) {
        let mut state = self.state();
        state.window.resize(wanted);
        self.fit(&mut state);
    }

    /// Calls that were answered so far: whether the endpoint takes any at all.
    pub(crate) fn answers(&self) -> u64 {
        self.state().answers
    }

    /// The endpoint does not answer, and only tries are made.
    pub(crate) fn is_down(&self) -> bool {
        !self.state().breaker.is_closed()
    }

    /// The last error of an outage; empty when there is none.
    pub(crate) fn last_outage_error(&self) -> String {
        self.outage.borrow().as_ref().map(|outage| outage.error.clone()).unwrap_or_default()
    }

    /// Tells when the endpoint stops answering and when it answers again.
    pub(crate) fn outages(&self) -> watch::Receiver<Option<Outage>> {
        self.outage.subscribe()
    }

    /// Brings the permits in line with the window.
    fn fit(&self, state: &mut State) {
        let limit = state.window.limit();
        if limit > state.permits {
            let kept = state.surplus.min(limit - state.permits);
            state.surplus -= kept;
            self.permits.add_permits(limit - state.permits - kept);
        } else {
            let excess = state.permits - limit;
            state.surplus += excess - self.permits.forget_permits(excess);
        }
        state.permits = limit;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
