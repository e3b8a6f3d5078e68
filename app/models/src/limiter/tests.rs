use super::*;
use crate::timer::SystemTimer;
use futures::StreamExt;
use futures::future::join_all;
use std::sync::atomic::{AtomicUsize, Ordering};

fn limiter(size: usize) -> Limiter {
    let place = Place { address: "http://127.0.0.1/v1".to_owned(), model: "small".to_owned() };
    Limiter::new(place, size, Arc::new(SystemTimer::new()))
}

const PATIENCE: Patience = Patience {
    left: Duration::from_secs(900),
    is_back: false,
    outage: Some(Duration::from_secs(900)),
};

async fn acquire(limiter: &Limiter) -> Permit<'_> {
    limiter.acquire(PATIENCE).await.expect("patience enough")
}

/// Runs calls of a second each and tells how many were in flight at the height, and how long it took.
async fn peak_of(limiter: &Limiter, calls: usize) -> (usize, Duration) {
    let (running, peak) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let start = limiter.timer.monotonic();
    join_all((0..calls).map(|_| async {
        let _permit = acquire(limiter).await;
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
        let permit = acquire(limiter).await;
        permit.refused(Some(Duration::from_secs(*wait)));
    }
}

#[tokio::test(start_paused = true)]
async fn one_refusal_holds_up_no_other_call() {
    let limiter = limiter(4);
    let start = limiter.timer.monotonic();
    refuse(&limiter, &[30]).await;
    let _other = acquire(&limiter).await;
    assert_eq!(limiter.timer.monotonic(), start);
}

#[tokio::test(start_paused = true)]
async fn refusals_in_a_row_hold_their_own_endpoint_and_no_other() {
    let (paused, free) = (limiter(4), limiter(4));
    refuse(&paused, &[30, 30]).await;
    let start = paused.timer.monotonic();
    let _elsewhere = acquire(&free).await;
    assert_eq!(paused.timer.monotonic(), start);
    drop(acquire(&paused).await);
    let waited = paused.timer.monotonic() - start;
    assert!((30..=31).contains(&waited.as_secs()), "{waited:?}");
}

#[tokio::test(start_paused = true)]
async fn a_shorter_pause_does_not_end_a_longer_one() {
    let limiter = limiter(2);
    let (first, second) = tokio::join!(acquire(&limiter), acquire(&limiter));
    let start = limiter.timer.monotonic();
    let third = acquire(&limiter);
    first.refused(Some(Duration::from_secs(1)));
    second.refused(Some(Duration::from_secs(20)));
    third.await.refused(Some(Duration::from_secs(1)));
    assert!(limiter.timer.monotonic() - start >= Duration::from_secs(20));
    let _permit = acquire(&limiter).await;
    assert!(limiter.timer.monotonic() - start >= Duration::from_secs(21));
}

/// A server that answers `room` calls at once within 200 ms and refuses all above for a second.
async fn ask_narrow_server(limiter: &Limiter, running: &AtomicUsize, room: usize) {
    loop {
        let permit = acquire(limiter).await;
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

/// A server that is not there until `back` and then answers; each call finds out within 10 ms.
async fn ask_absent_server(limiter: &Limiter, sent: &AtomicUsize, back: Duration) {
    loop {
        let permit = acquire(limiter).await;
        sent.fetch_add(1, Ordering::SeqCst);
        limiter.timer.sleep(Duration::from_millis(10)).await;
        if limiter.timer.monotonic() >= back {
            return permit.answered();
        }
        permit.failed("connection refused", None);
    }
}

#[tokio::test(start_paused = true)]
async fn while_a_server_is_away_one_call_tries_now_and_then_and_all_go_on_when_it_is_back() {
    let (limiter, sent) = (limiter(16), AtomicUsize::new(0));
    let start = limiter.timer.monotonic();
    let calls =
        (0..100).map(|_| ask_absent_server(&limiter, &sent, start + Duration::from_secs(20)));
    join_all(calls).await;
    // In flight when it went away: 16. Tries in vain after 1, 2, 4 and 8 seconds more.
    assert_eq!(sent.load(Ordering::SeqCst), 100 + 16 + 4);
    let took = limiter.timer.monotonic() - start;
    assert!((31..33).contains(&took.as_secs()), "{took:?}");
    assert!(limiter.outages().borrow().is_none());
}

#[tokio::test(start_paused = true)]
async fn a_try_that_is_given_up_leaves_the_next_one_to_another_call() {
    let limiter = limiter(4);
    for _ in 0..3 {
        acquire(&limiter).await.failed("connection refused", None);
    }
    let tries = acquire(&limiter).await;
    let next = acquire(&limiter);
    tokio::pin!(next);
    assert!(futures::poll!(&mut next).is_pending());
    assert_eq!(limiter.describe().waiting, 1);
    drop(tries);
    next.await.answered();
    assert!(!limiter.is_down());
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_longer_than_its_patience() {
    let limiter = limiter(4);
    let start = limiter.timer.monotonic();
    for _ in 0..3 {
        acquire(&limiter).await.failed("connection refused", None);
    }
    let held = acquire(&limiter).await;
    let patience = Patience { left: Duration::from_secs(5), ..PATIENCE };
    let gave_up = limiter.acquire(patience).await.unwrap_err();
    assert_eq!(gave_up.down_for, Some(Duration::from_secs(6)));
    held.failed("connection refused", None);
    let short = Patience { outage: Some(Duration::from_secs(6)), ..PATIENCE };
    limiter.acquire(short).await.unwrap_err();
    assert_eq!(limiter.timer.monotonic() - start, Duration::from_secs(6), "it is known already");
}

#[tokio::test(start_paused = true)]
async fn the_limit_can_be_raised_and_lowered() {
    let limiter = limiter(2);
    limiter.resize(5);
    assert_eq!(peak_of(&limiter, 20).await.0, 5);
    let held = join_all((0..5).map(|_| acquire(&limiter))).await;
    limiter.resize(2);
    drop(held);
    assert_eq!(peak_of(&limiter, 20).await.0, 2);
    let held = join_all((0..2).map(|_| acquire(&limiter))).await;
    limiter.resize(1);
    limiter.resize(3);
    drop(held);
    assert_eq!(peak_of(&limiter, 20).await.0, 3);
}

async fn acquire_again(limiter: &Limiter) -> Permit<'_> {
    limiter.acquire(Patience { is_back: true, ..PATIENCE }).await.expect("patience enough")
}

#[tokio::test(start_paused = true)]
async fn a_call_that_comes_back_goes_before_those_that_have_not_had_their_turn() {
    let limiter = limiter(1);
    let held = acquire(&limiter).await;
    let (first, second) = (acquire(&limiter), acquire(&limiter));
    tokio::pin!(first, second);
    assert!(futures::poll!(&mut first).is_pending() && futures::poll!(&mut second).is_pending());
    let back = acquire_again(&limiter);
    tokio::pin!(back);
    assert!(futures::poll!(&mut back).is_pending());
    held.answered();
    assert!(futures::poll!(&mut first).is_pending(), "the place is for the one that came back");
    back.await.answered();
    first.await.answered();
    second.await.answered();
    assert!(limiter.state().back.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_place_given_to_a_call_that_is_cancelled_is_not_lost() {
    let limiter = limiter(1);
    let held = acquire(&limiter).await;
    {
        let gone = acquire_again(&limiter);
        let given = acquire_again(&limiter);
        tokio::pin!(gone, given);
        assert!(futures::poll!(&mut gone).is_pending() && futures::poll!(&mut given).is_pending());
        held.answered();
        // Both are dropped here: the first has been given the place and not taken it.
    }
    acquire(&limiter).await.answered();
    acquire_again(&limiter).await.answered();
}

#[tokio::test(start_paused = true)]
async fn a_refused_call_waits_as_long_as_it_was_told_and_not_behind_the_queue_of_another_run() {
    let limiter = limiter(3);
    let start = limiter.timer.monotonic();
    let refused = async {
        acquire(&limiter).await.refused(Some(Duration::from_secs(1)));
        limiter.timer.sleep(Duration::from_secs(1)).await;
        acquire_again(&limiter).await.answered();
        limiter.timer.monotonic() - start
    };
    let others = join_all((0..60).map(|_| async {
        let permit = acquire(&limiter).await;
        limiter.timer.sleep(Duration::from_millis(200)).await;
        permit.answered();
    }));
    let (took, _) = tokio::join!(refused, others);
    assert!(took <= Duration::from_millis(1200), "{took:?}: one of three ends every 200 ms");
    let all = limiter.timer.monotonic() - start;
    assert!(all <= Duration::from_millis(60 / 3 * 200 + 200), "{all:?}: no place stood empty");
}
