//! Holds back calls to one endpoint: so many at once as it has shown to take, and none before the moment that it
//! named while it refuses everything. A single refusal holds nobody but the call that got it.

mod window;

use crate::retry::{Jitter, spread};
use crate::timer::Timer;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Semaphore, SemaphorePermit};
use window::{Verdict, Window};

/// Shared by all runs that call the same endpoint.
#[derive(Debug)]
pub(crate) struct Limiter {
    permits: Semaphore,
    state: Mutex<State>,
    timer: Arc<dyn Timer>,
    jitter: Jitter,
}

#[derive(Debug)]
struct State {
    window: Window,
    /// Permits that the semaphore has given or will give; the window's limit, except within a change.
    permits: usize,
    /// Permits in use that are to vanish on return, because the limit was lowered meanwhile.
    surplus: usize,
    not_before: Duration,
    /// Calls that were answered, ever.
    answers: u64,
}

/// The right to make one call; given back on drop.
#[derive(Debug)]
pub(crate) struct Permit<'a> {
    limiter: &'a Limiter,
    permit: Option<SemaphorePermit<'a>>,
    has_started: bool,
}

impl Limiter {
    pub(crate) fn new(size: usize, timer: Arc<dyn Timer>) -> Self {
        let window = Window::new(size);
        let permits = window.limit();
        let state = State { window, permits, surplus: 0, not_before: Duration::ZERO, answers: 0 };
        let permits = Semaphore::new(permits);
        Self { permits, state: Mutex::new(state), timer, jitter: Jitter::default() }
    }

    /// Changes how many calls may be in flight. Calls above a lowered limit end as they would have.
    pub(crate) fn resize(&self, wanted: usize) {
        let mut state = self.state();
        state.window.resize(wanted);
        self.fit(&mut state);
    }

    /// Waits for a free place and for the end of a pause. Safe to drop: the place is given back.
    pub(crate) async fn acquire(&self) -> Permit<'_> {
        let permit = self.permits.acquire().await.ok();
        let mut permit = Permit { limiter: self, permit, has_started: false };
        loop {
            let wait = self.state().not_before.saturating_sub(self.timer.monotonic());
            if wait.is_zero() {
                break;
            }
            self.timer.sleep(spread(wait, self.jitter.fraction())).await;
        }
        permit.has_started = true;
        self.state().window.started();
        permit
    }

    /// Calls that were answered so far: whether the endpoint takes any at all.
    pub(crate) fn answers(&self) -> u64 {
        self.state().answers
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

impl Permit<'_> {
    /// The call was answered.
    pub(crate) fn answered(self) {
        let mut state = self.limiter.state();
        state.answers += 1;
        state.window.answered();
        self.limiter.fit(&mut state);
        // Before this permit is dropped, which takes the lock again.
        drop(state);
    }

    /// The endpoint refused the call as one too many, and may have named a wait.
    pub(crate) fn refused(self, wait: Option<Duration>) {
        let mut state = self.limiter.state();
        let verdict = state.window.refused();
        if let (Verdict::RefusesAll, Some(wait)) = (verdict, wait) {
            let until = self.limiter.timer.monotonic().saturating_add(wait);
            // Never shortens an earlier pause.
            state.not_before = until.max(state.not_before);
        }
        self.limiter.fit(&mut state);
        // Before this permit is dropped, which takes the lock again.
        drop(state);
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        let mut state = self.limiter.state();
        if self.has_started {
            state.window.ended();
        }
        if state.surplus > 0
            && let Some(permit) = self.permit.take()
        {
            state.surplus -= 1;
            permit.forget();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timer::SystemTimer;
    use futures::StreamExt;
    use futures::future::join_all;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn limiter(size: usize) -> Limiter {
        Limiter::new(size, Arc::new(SystemTimer::new()))
    }

    /// Runs calls of a second each and tells how many were in flight at the height, and how long it took.
    async fn peak_of(limiter: &Limiter, calls: usize) -> (usize, Duration) {
        let (running, peak) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let start = limiter.timer.monotonic();
        join_all((0..calls).map(|_| async {
            let _permit = limiter.acquire().await;
            peak.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            limiter.timer.sleep(Duration::from_secs(1)).await;
            running.fetch_sub(1, Ordering::SeqCst);
        }))
        .await;
        (peak.load(Ordering::SeqCst), limiter.timer.monotonic() - start)
    }

    #[tokio::test(start_paused = true)]
    async fn never_more_calls_than_the_limit_are_in_flight() {
        let (peak, took) = peak_of(&limiter(4), 40).await;
        assert_eq!((peak, took.as_secs()), (4, 10));
    }

    /// Calls that are refused one after the other, with the wait that the server names.
    async fn refuse(limiter: &Limiter, waits_s: &[u64]) {
        for wait in waits_s {
            let permit = limiter.acquire().await;
            permit.refused(Some(Duration::from_secs(*wait)));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn one_refusal_holds_up_no_other_call() {
        let limiter = limiter(4);
        let start = limiter.timer.monotonic();
        refuse(&limiter, &[30]).await;
        let _other = limiter.acquire().await;
        assert_eq!(limiter.timer.monotonic(), start);
    }

    #[tokio::test(start_paused = true)]
    async fn refusals_in_a_row_hold_their_own_endpoint_and_no_other() {
        let (paused, free) = (limiter(4), limiter(4));
        refuse(&paused, &[30, 30]).await;
        let start = paused.timer.monotonic();
        let _elsewhere = free.acquire().await;
        assert_eq!(paused.timer.monotonic(), start);
        drop(paused.acquire().await);
        let waited = paused.timer.monotonic() - start;
        assert!((30..=31).contains(&waited.as_secs()), "{waited:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_shorter_pause_does_not_end_a_longer_one() {
        let limiter = limiter(2);
        let (first, second) = tokio::join!(limiter.acquire(), limiter.acquire());
        let start = limiter.timer.monotonic();
        let third = limiter.acquire();
        first.refused(Some(Duration::from_secs(1)));
        second.refused(Some(Duration::from_secs(20)));
        third.await.refused(Some(Duration::from_secs(1)));
        assert!(limiter.timer.monotonic() - start >= Duration::from_secs(20));
        let _permit = limiter.acquire().await;
        assert!(limiter.timer.monotonic() - start >= Duration::from_secs(21));
    }

    /// A server that answers `room` calls at once within 200 ms and refuses all above for a second.
    async fn ask_narrow_server(limiter: &Limiter, running: &AtomicUsize, room: usize) {
        loop {
            let permit = limiter.acquire().await;
            if running.fetch_add(1, Ordering::SeqCst) < room {
                limiter.timer.sleep(Duration::from_millis(200)).await;
                running.fetch_sub(1, Ordering::SeqCst);
                return permit.answered();
            }
            running.fetch_sub(1, Ordering::SeqCst);
            let wait = Duration::from_secs(1);
            permit.refused(Some(wait));
            limiter.timer.sleep(wait).await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_takes_three_at_once_is_kept_as_busy_as_by_three() {
        let (limiter, running) = (limiter(16), AtomicUsize::new(0));
        let start = limiter.timer.monotonic();
        // Two runs with 16 workers each.
        let calls = futures::stream::iter(0..300).map(|_| ask_narrow_server(&limiter, &running, 3));
        calls.buffer_unordered(32).collect::<Vec<()>>().await;
        let took = limiter.timer.monotonic() - start;
        let by_three = Duration::from_millis(300 / 3 * 200);
        assert!(took <= by_three.mul_f64(1.15), "{took:?} instead of {by_three:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn the_limit_can_be_raised_and_lowered() {
        let limiter = limiter(2);
        limiter.resize(5);
        assert_eq!(peak_of(&limiter, 20).await.0, 5);
        let held = join_all((0..5).map(|_| limiter.acquire())).await;
        limiter.resize(2);
        drop(held);
        assert_eq!(peak_of(&limiter, 20).await.0, 2);
        let held = join_all((0..2).map(|_| limiter.acquire())).await;
        limiter.resize(1);
        limiter.resize(3);
        drop(held);
        assert_eq!(peak_of(&limiter, 20).await.0, 3);
    }
}
