//! Holds back calls to one endpoint: so many at once, and none before the moment that the provider named.

use crate::retry::{Jitter, spread};
use crate::timer::Timer;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{Semaphore, SemaphorePermit};

/// Shared by all runs that call the same endpoint.
#[derive(Debug)]
pub(crate) struct Limiter {
    permits: Semaphore,
    size: Mutex<usize>,
    /// Permits in use that are to vanish on return, because the limit was lowered meanwhile.
    surplus: AtomicUsize,
    not_before: Mutex<Duration>,
    timer: Arc<dyn Timer>,
    jitter: Jitter,
}

/// The right to make one call; given back on drop.
#[derive(Debug)]
pub(crate) struct Permit<'a> {
    limiter: &'a Limiter,
    permit: Option<SemaphorePermit<'a>>,
}

impl Limiter {
    pub(crate) fn new(size: usize, timer: Arc<dyn Timer>) -> Self {
        Self {
            permits: Semaphore::new(size),
            size: Mutex::new(size),
            surplus: AtomicUsize::new(0),
            not_before: Mutex::new(Duration::ZERO),
            timer,
            jitter: Jitter::default(),
        }
    }

    /// Changes how many calls may be in flight. Calls above a lowered limit end as they would have.
    pub(crate) fn resize(&self, wanted: usize) {
        let mut size = self.size.lock().unwrap_or_else(PoisonError::into_inner);
        if wanted > *size {
            let kept = self.take_surplus(wanted - *size);
            self.permits.add_permits(wanted - *size - kept);
        } else {
            let excess = *size - wanted;
            let removed = self.permits.forget_permits(excess);
            self.surplus.fetch_add(excess - removed, Ordering::AcqRel);
        }
        *size = wanted;
    }

    /// Waits for a free place and for the end of a pause. Safe to drop: the place is given back.
    pub(crate) async fn acquire(&self) -> Permit<'_> {
        let permit = self.permits.acquire().await.ok();
        let permit = Permit { limiter: self, permit };
        loop {
            let wait = self.not_before().saturating_sub(self.timer.monotonic());
            if wait.is_zero() {
                return permit;
            }
            self.timer.sleep(spread(wait, self.jitter.fraction())).await;
        }
    }

    /// No call starts for so long. Never shortens an earlier pause.
    pub(crate) fn pause(&self, wait: Duration) {
        let until = self.timer.monotonic().saturating_add(wait);
        let mut not_before = self.not_before.lock().unwrap_or_else(PoisonError::into_inner);
        *not_before = until.max(*not_before);
    }

    fn not_before(&self) -> Duration {
        *self.not_before.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes back up to `most` permits that were to vanish; says how many.
    fn take_surplus(&self, most: usize) -> usize {
        let mut taken = 0;
        let _ = self.surplus.fetch_update(Ordering::AcqRel, Ordering::Acquire, |surplus| {
            taken = surplus.min(most);
            (taken > 0).then(|| surplus - taken)
        });
        taken
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        if let Some(permit) = self.permit.take()
            && self.limiter.take_surplus(1) == 1
        {
            permit.forget();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timer::SystemTimer;
    use futures::future::join_all;

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

    #[tokio::test(start_paused = true)]
    async fn a_pause_holds_its_own_endpoint_and_no_other() {
        let (paused, free) = (limiter(4), limiter(4));
        paused.pause(Duration::from_secs(30));
        let start = paused.timer.monotonic();
        let _elsewhere = free.acquire().await;
        assert_eq!(paused.timer.monotonic(), start);
        join_all((0..4).map(|_| paused.acquire())).await;
        let waited = paused.timer.monotonic() - start;
        assert!((30..=31).contains(&waited.as_secs()), "{waited:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_shorter_pause_does_not_end_a_longer_one() {
        let limiter = limiter(1);
        limiter.pause(Duration::from_secs(20));
        limiter.pause(Duration::from_secs(1));
        let start = limiter.timer.monotonic();
        let _permit = limiter.acquire().await;
        assert!(limiter.timer.monotonic() - start >= Duration::from_secs(20));
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
