//! Counts what a run spends and stops it before the call that would pass a cap.
//!
//! A cap is hard: a call is admitted only if its worst case still fits beside everything that is spent or
//! in flight. While calls in flight may yet turn out cheaper, further ones wait instead of stopping the run.

use crate::ctx::RunCtx;
use crate::ports::{ChatReply, Clock, ModelError, WorstCase};
use skillopt_domain::config::Limits;
use skillopt_domain::spend::{Role, Spend, SpendByRole};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;

/// What earlier attempts of the same run spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prior {
    /// Calls, tokens, money.
    pub spend: SpendByRole,
    /// Working time in milliseconds.
    pub active_ms: u64,
}

/// A hard cap stopped the run before a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CapReached {
    /// Which cap.
    pub cap: Cap,
    /// Its value, in the cap's unit.
    pub limit: u64,
    /// What is spent.
    pub spent: u64,
    /// What the next call could have cost at most.
    pub next_call: u64,
}

/// The caps of section `limits`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cap {
    /// Calls.
    Calls,
    /// Tokens.
    Tokens,
    /// Millionths of a dollar.
    Cost,
    /// Milliseconds of work.
    Time,
}

impl fmt::Display for CapReached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { limit, spent, next_call, .. } = self;
        match self.cap {
            Cap::Calls if *next_call <= 1 => {
                write!(f, "{spent} of {limit} calls are made; raise limits.max_calls")
            }
            Cap::Calls => write!(
                f,
                "{spent} of {limit} calls are made and the next one could take {next_call} with its further \
                 attempts; raise limits.max_calls"
            ),
            Cap::Tokens => write!(
                f,
                "{spent} of {limit} tokens are spent and the next call could take {next_call}; \
                 raise limits.max_tokens"
            ),
            Cap::Cost => write!(
                f,
                "${} of ${} are spent and the next call could cost ${}; raise limits.max_cost_usd",
                dollars(*spent),
                dollars(*limit),
                dollars(*next_call)
            ),
            Cap::Time => write!(
                f,
                "{} of {} minutes are used; raise limits.max_minutes",
                minutes(*spent, *limit),
                minutes(*limit, *limit)
            ),
        }
    }
}

/// Below a minute, hundredths would show small caps as none.
fn minutes(ms: u64, limit_ms: u64) -> String {
    let text = if limit_ms < 60_000 {
        let n = ms / 6;
        format!("{}.{:04}", n / 10_000, n % 10_000)
    } else {
        let n = ms / 600;
        format!("{}.{:02}", n / 100, n % 100)
    };
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn dollars(micros: u64) -> String {
    format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000)
}

/// The meter of one attempt of a run.
#[derive(Debug)]
pub struct Meter {
    limits: Limits,
    prior: Prior,
    clock: Arc<dyn Clock>,
    started: Duration,
    state: Mutex<State>,
    settled: Notify,
}

#[derive(Debug, Default)]
struct State {
    spend: SpendByRole,
    in_flight: u64,
    reserved_calls: u64,
    reserved_tokens: u64,
    reserved_cost: u64,
    /// Worst cases of calls whose tokens were not reported: unknown must not mean free for a cap.
    assumed_tokens: u64,
    /// The most that calls without a cost can have taken, in millionths of a dollar.
    assumed_cost: u64,
    pause_began: Option<Duration>,
    paused: Duration,
}

/// A call that was admitted. It must be settled or dropped.
#[derive(Debug)]
pub struct Admission<'a> {
    meter: &'a Meter,
    worst: WorstCase,
}

impl Meter {
    /// A meter that starts now.
    #[must_use]
    pub fn new(limits: Limits, prior: Prior, clock: Arc<dyn Clock>) -> Self {
        let started = clock.monotonic();
        Self { limits, prior, clock, started, state: Mutex::default(), settled: Notify::new() }
    }

    /// Admits a call now, or says that it must wait for calls in flight to settle.
    ///
    /// # Errors
    /// [`CapReached`] when it can never be admitted.
    pub fn admit(&self, worst: WorstCase) -> Result<Option<Admission<'_>>, CapReached> {
        match self.try_admit(worst) {
            Ok(()) => Ok(Some(Admission { meter: self, worst })),
            Err(Wait::Over(reached)) => Err(reached),
            Err(Wait::ForOthers) => Ok(None),
        }
    }

    /// Waits until `worst` may fit, or the run is cancelled. Safe to drop: it holds nothing.
    pub async fn wait_for_room(&self, worst: WorstCase, ctx: &RunCtx) {
        let settled = self.settled.notified();
        tokio::pin!(settled);
        settled.as_mut().enable();
        if let Ok(Some(_)) | Err(_) = self.admit(worst) {
            return;
        }
        tokio::select! {
            () = settled => {}
            () = ctx.cancel_token().cancelled() => {}
        }
    }

    /// Waits while the run is paused. The time does not count as work.
    pub async fn wait_while_paused(&self, ctx: &RunCtx) {
        if !ctx.is_paused() {
            return;
        }
        self.lock().pause_began.get_or_insert(self.clock.monotonic());
        ctx.ready().await;
        let mut state = self.lock();
        if let Some(began) = state.pause_began.take() {
            state.paused += self.clock.monotonic().saturating_sub(began);
        }
    }

    /// A call was answered by the ledger.
    pub fn count_cached(&self, role: Role) {
        self.lock().spend.of_mut(role).cached += 1;
    }

    /// What this attempt spent.
    #[must_use]
    pub fn spend(&self) -> SpendByRole {
        self.lock().spend
    }

    /// What all attempts spent.
    #[must_use]
    pub fn total_spend(&self) -> SpendByRole {
        let mut total = self.prior.spend;
        total += self.spend();
        total
    }

    /// Working time of this attempt in milliseconds.
    #[must_use]
    pub fn active_ms(&self) -> u64 {
        self.active_ms_of(&self.lock())
    }

    fn active_ms_of(&self, state: &State) -> u64 {
        let now = self.clock.monotonic();
        let pausing = state.pause_began.map_or(Duration::ZERO, |began| now.saturating_sub(began));
        let elapsed = now.saturating_sub(self.started).saturating_sub(state.paused + pausing);
        u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)
    }

    fn try_admit(&self, worst: WorstCase) -> Result<(), Wait> {
        let mut state = self.lock();
        let spent = self.prior.spend.total() + state.spend.total();
        let others = state.in_flight;
        let over = |cap, limit: Option<u64>, spent: u64, reserved: u64, next_call: u64| match limit
        {
            Some(limit) if spent + next_call > limit => {
                Some((CapReached { cap, limit, spent, next_call }, others == 0))
            }
            Some(limit) if spent + reserved + next_call > limit => {
                Some((CapReached { cap, limit, spent, next_call }, false))
            }
            _ => None,
        };
        let cost = worst.cost_usd_micros.unwrap_or_default();
        let time = self.prior.active_ms + self.active_ms_of(&state);
        let calls = u64::from(worst.calls);
        let reached =
            over(Cap::Calls, self.limits.max_calls, spent.calls, state.reserved_calls, calls)
                .or_else(|| {
                    let limit = self.limits.max_tokens;
                    let spent = spent.tokens() + state.assumed_tokens;
                    over(Cap::Tokens, limit, spent, state.reserved_tokens, worst.tokens)
                })
                .or_else(|| {
                    let limit = self.limits.max_cost_usd_micros;
                    let spent = spent.cost_usd_micros + state.assumed_cost;
                    over(Cap::Cost, limit, spent, state.reserved_cost, cost)
                })
                .or_else(|| {
                    over(Cap::Time, self.limits.max_ms, time, 0, 1).map(|(cap, _)| (cap, true))
                });
        match reached {
            Some((reached, true)) => Err(Wait::Over(reached)),
            Some((_, false)) => Err(Wait::ForOthers),
            None => {
                state.in_flight += 1;
                state.reserved_calls += calls;
                state.reserved_tokens += worst.tokens;
                state.reserved_cost += cost;
                Ok(())
            }
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        // The state is only added to; a panic elsewhere cannot leave it half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

enum Wait {
    Over(CapReached),
    ForOthers,
}

impl Admission<'_> {
    /// The call was answered.
    pub fn settle(self, role: Role, reply: &ChatReply) {
        let mut spend = Spend {
            calls: 1,
            failed_attempts: u64::from(reply.attempts.saturating_sub(1)),
            unmetered_calls: u64::from(reply.usage.is_none()),
            cost_usd_micros: reply.cost_usd_micros.unwrap_or_default(),
            unpriced_calls: u64::from(reply.cost_usd_micros.is_none()),
            ..Spend::default()
        };
        spend.add_usage(reply.usage.unwrap_or_default());
        let mut state = self.meter.lock();
        *state.spend.of_mut(role) += spend;
        let assumed = self.worst.of_attempt();
        if reply.usage.is_none() {
            state.assumed_tokens += assumed.tokens;
        }
        if reply.cost_usd_micros.is_none() {
            state.assumed_cost += assumed.cost_usd_micros.unwrap_or_default();
        }
        if let Some(earlier) = &reply.earlier {
            self.add_failure(&mut state, role, earlier);
        }
    }

    /// The call brought no answer that can be used. What the provider took for it counts all the same.
    pub fn settle_failed(self, role: Role, error: &ModelError) {
        self.add_failure(&mut self.meter.lock(), role, error);
    }

    fn add_failure(&self, state: &mut State, role: Role, error: &ModelError) {
        let billed = error.billed;
        billed.add_to(state.spend.of_mut(role), error.attempts.into());
        let assumed = self.worst.of_attempt();
        state.assumed_tokens += assumed.tokens.saturating_mul(billed.unmetered.into());
        if billed.cost_usd_micros.is_none() {
            let cost = assumed.cost_usd_micros.unwrap_or_default();
            state.assumed_cost += cost.saturating_mul(billed.answers.into());
        }
    }
}

impl Drop for Admission<'_> {
    fn drop(&mut self) {
        let mut state = self.meter.lock();
        state.in_flight = state.in_flight.saturating_sub(1);
        state.reserved_calls = state.reserved_calls.saturating_sub(self.worst.calls.into());
        state.reserved_tokens = state.reserved_tokens.saturating_sub(self.worst.tokens);
        let cost = self.worst.cost_usd_micros.unwrap_or_default();
        state.reserved_cost = state.reserved_cost.saturating_sub(cost);
        drop(state);
        self.meter.settled.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::{Billed, ModelErrorKind};
    use crate::testing::TickingClock;
    use skillopt_domain::spend::Usage;

    fn spend_of(billed: Billed) -> Spend {
        let limits = Limits {
            max_calls: None,
            max_tokens: None,
            max_cost_usd_micros: None,
            max_ms: None,
            error_share: 0.1,
        };
        let meter = Meter::new(limits, Prior::default(), Arc::new(TickingClock::default()));
        let admission = meter.admit(WorstCase::default()).expect("no cap").expect("room");
        let (kind, message) = (ModelErrorKind::Empty, "nothing".to_owned());
        admission.settle_failed(Role::Target, &ModelError { kind, message, attempts: 3, billed });
        meter.spend().target
    }

    #[test]
    fn c47_a_billed_failure_without_a_price_makes_the_cost_unknown() {
        let usage = Usage::new(30, 3);
        let unknown = spend_of(Billed { answers: 3, usage, ..Billed::default() });
        assert_eq!((unknown.calls, unknown.unpriced_calls), (3, 3));
        assert_eq!(unknown.known_cost_usd_micros(), None);
        let known =
            spend_of(Billed { answers: 3, usage, cost_usd_micros: Some(7), ..Billed::default() });
        assert_eq!(known.known_cost_usd_micros(), Some(7));
        let free = spend_of(Billed::default());
        assert_eq!((free.calls, free.known_cost_usd_micros()), (0, Some(0)));
    }

    #[test]
    fn c47_attempts_that_told_nothing_count_as_calls_and_for_a_cap_as_their_worst_case() {
        let limits = Limits {
            max_calls: Some(10),
            max_tokens: Some(900),
            max_cost_usd_micros: None,
            max_ms: None,
            error_share: 0.1,
        };
        let meter = Meter::new(limits, Prior::default(), Arc::new(TickingClock::default()));
        let worst = WorstCase { calls: 3, tokens: 300, cost_usd_micros: None };
        let admit = || meter.admit(worst).map(|admission| admission.expect("nothing in flight"));
        let mut billed = Billed::default();
        billed.add(None, None);
        billed.add(Some(Usage::new(5, 5)), None);
        let (kind, message) = (ModelErrorKind::Server, "cut".to_owned());
        let failed = ModelError { kind, message, attempts: 2, billed };
        admit().expect("room").settle_failed(Role::Target, &failed);
        let spend = meter.spend().target;
        assert_eq!((spend.calls, spend.unmetered_calls, spend.unpriced_calls), (2, 1, 2));
        assert_eq!((spend.failed_attempts, spend.tokens()), (2, 10));

        // The same before an answer: 100 for each that told nothing, 10 for the one that did.
        let earlier = Some(Box::new(ModelError { attempts: 0, ..failed }));
        let reply = ChatReply { attempts: 3, earlier, ..ChatReply::default() };
        admit().expect("room").settle(Role::Target, &reply);
        let spend = meter.spend().target;
        assert_eq!((spend.calls, spend.unmetered_calls, spend.failed_attempts), (5, 3, 4));
        assert_eq!(meter.lock().assumed_tokens, 300);
        admit().expect("320 are spent or assumed").settle_failed(
            Role::Target,
            &ModelError {
                kind,
                message: String::new(),
                attempts: 3,
                billed: Billed { answers: 3, unmetered: 3, ..billed },
            },
        );
        let reached = admit().expect_err("8 of 10 calls, and the next could take 3");
        assert_eq!((reached.cap, reached.spent, reached.next_call), (Cap::Calls, 8, 3));
    }

    #[test]
    fn a_call_with_further_attempts_holds_room_for_each_of_them() {
        let limits = Limits {
            max_calls: Some(5),
            max_tokens: None,
            max_cost_usd_micros: None,
            max_ms: None,
            error_share: 0.1,
        };
        let meter = Meter::new(limits, Prior::default(), Arc::new(TickingClock::default()));
        let worst = WorstCase { calls: 3, ..WorstCase::default() };
        let first = meter.admit(worst).expect("no cap").expect("room");
        assert!(meter.admit(worst).expect("it may yet take fewer").is_none());
        drop(first);
        assert!(meter.admit(worst).expect("no cap").is_some());
    }
}
