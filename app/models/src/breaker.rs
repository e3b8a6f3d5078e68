//! Whether calls to an endpoint are made at all: after failures in a row none is, for a while that grows, and then
//! a single one tries. Pure.

use std::time::Duration;

/// Failures in a row that are no accident any more.
const MOST_FAILURES: u32 = 3;
const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// The breaker of one endpoint. Instants are times since some fixed moment.
#[derive(Debug, Default)]
pub(crate) struct Breaker {
    state: State,
    /// Failures without a sign of life between them.
    failures: u32,
    /// When the first of them came.
    since: Duration,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum State {
    /// Calls are made.
    #[default]
    Closed,
    /// No call is made until then. `tries` counts the calls that tried in vain.
    Open { until: Duration, tries: u32 },
    /// One call tries, the others wait for what becomes of it.
    HalfOpen { tries: u32 },
}

/// What a call may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leave {
    Go,
    /// Go, as the one that tries.
    Try,
    /// Ask again then, or when something changed.
    Wait {
        until: Duration,
    },
    /// Ask again when something changed.
    WaitForTry,
}

impl Breaker {
    pub(crate) fn state(&self) -> State {
        self.state
    }

    /// When the failures in a row began; `None` when there are none.
    pub(crate) fn since(&self) -> Option<Duration> {
        (self.failures > 0).then_some(self.since)
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.state == State::Closed
    }

    pub(crate) fn ask(&mut self, now: Duration) -> Leave {
        match self.state {
            State::Closed => Leave::Go,
            State::Open { until, .. } if now < until => Leave::Wait { until },
            State::Open { tries, .. } => {
                self.state = State::HalfOpen { tries };
                Leave::Try
            }
            State::HalfOpen { .. } => Leave::WaitForTry,
        }
    }

    /// The endpoint said something, if only that it refuses. True when that ends an outage.
    pub(crate) fn alive(&mut self) -> bool {
        let was_down = !self.is_closed();
        *self = Self::default();
        was_down
    }

    /// A call failed hard; the endpoint may have named a wait. True when that opens the breaker: the last of the
    /// failures in a row, or the one call that tried.
    pub(crate) fn failed(&mut self, now: Duration, is_try: bool, named: Option<Duration>) -> bool {
        if self.failures == 0 {
            self.since = now;
        }
        self.failures = self.failures.saturating_add(1);
        let tries = match self.state {
            State::Closed if self.failures >= MOST_FAILURES => 0,
            State::HalfOpen { tries } if is_try => tries.saturating_add(1),
            // Calls that were under way when it opened.
            _ => return false,
        };
        let wait = FIRST_WAIT.saturating_mul(1 << tries.min(6)).min(LONGEST_WAIT);
        let until = now.saturating_add(wait.max(named.unwrap_or_default()));
        self.state = State::Open { until, tries };
        true
    }

    /// The call that tried was given up before it ended: the next one tries.
    pub(crate) fn try_abandoned(&mut self, now: Duration) {
        if let State::HalfOpen { tries } = self.state {
            self.state = State::Open { until: now, tries };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn s(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    /// A breaker that opened at second 10.
    fn opened() -> Breaker {
        let mut breaker = Breaker::default();
        let opens: Vec<bool> = (8..=10).map(|at| breaker.failed(s(at), false, None)).collect();
        assert_eq!(opens, [false, false, true]);
        breaker
    }

    #[test]
    fn three_failures_in_a_row_open_it_and_a_sign_of_life_between_them_does_not() {
        let breaker = opened();
        assert_eq!(breaker.state(), State::Open { until: s(11), tries: 0 });
        assert_eq!(breaker.since(), Some(s(8)));

        let mut breaker = Breaker::default();
        for at in 0..9 {
            assert!(!breaker.failed(s(at), false, None));
            assert!(!breaker.failed(s(at), false, None));
            assert!(!breaker.alive(), "it was not down");
        }
        assert!(breaker.is_closed());
    }

    #[test]
    fn one_call_tries_and_the_others_wait_for_it() {
        let mut breaker = opened();
        assert_eq!(breaker.ask(s(10)), Leave::Wait { until: s(11) });
        assert_eq!(breaker.ask(s(11)), Leave::Try);
        assert_eq!(breaker.ask(s(11)), Leave::WaitForTry);
        assert!(breaker.alive(), "it was down");
        assert_eq!(breaker.ask(s(12)), Leave::Go);
        assert_eq!(breaker.since(), None);
    }

    #[test]
    fn each_try_in_vain_doubles_the_wait_up_to_a_minute() {
        let mut breaker = opened();
        let mut now = s(11);
        let waits: Vec<u64> = (0..8)
            .map(|_| {
                assert_eq!(breaker.ask(now), Leave::Try);
                assert!(breaker.failed(now, true, None));
                let State::Open { until, .. } = breaker.state() else { panic!("not open") };
                let wait = until - now;
                now = until;
                wait.as_secs()
            })
            .collect();
        assert_eq!(waits, [2, 4, 8, 16, 32, 60, 60, 60]);
        assert_eq!(breaker.since(), Some(s(8)), "it is one outage");
    }

    #[test]
    fn calls_that_were_under_way_do_not_end_the_try() {
        let mut breaker = opened();
        assert!(!breaker.failed(s(10), false, None));
        assert_eq!(breaker.ask(s(11)), Leave::Try);
        assert!(!breaker.failed(s(11), false, None));
        assert_eq!(breaker.state(), State::HalfOpen { tries: 0 });
        breaker.try_abandoned(s(12));
        assert_eq!(breaker.ask(s(12)), Leave::Try);
    }

    #[test]
    fn a_wait_that_the_endpoint_named_is_kept() {
        let mut breaker = Breaker::default();
        for _ in 0..3 {
            breaker.failed(s(5), false, Some(s(120)));
        }
        assert_eq!(breaker.ask(s(5)), Leave::Wait { until: s(125) });
    }
}
