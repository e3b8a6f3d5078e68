//! The right to make one call, and what the call says about its endpoint when it ends.

use super::window::Verdict;
use super::{Limiter, State};
use crate::breaker::{self, Breaker};
use skillopt_domain::outage::Outage;
use std::sync::MutexGuard;
use std::time::Duration;
use tokio::sync::OwnedSemaphorePermit;

/// The right to make one call; given back on drop.
#[derive(Debug)]
pub(crate) struct Permit<'a> {
    limiter: &'a Limiter,
    permit: Option<OwnedSemaphorePermit>,
    has_started: bool,
    /// The others wait for what becomes of it.
    is_try: bool,
    waited: Duration,
}

impl<'a> Permit<'a> {
    pub(super) fn new(limiter: &'a Limiter, permit: Option<OwnedSemaphorePermit>) -> Self {
        Self { limiter, permit, has_started: false, is_try: false, waited: Duration::ZERO }
    }

    pub(super) fn start(&mut self, is_try: bool, waited: Duration) {
        self.has_started = true;
        self.is_try = is_try;
        self.waited = waited;
        self.limiter.state().window.started();
    }

    /// How long the endpoint held the call back after it had its place.
    pub(crate) fn waited(&self) -> Duration {
        self.waited
    }

    /// The call was answered.
    pub(crate) fn answered(mut self) {
        let mut state = self.limiter.state();
        state.answers += 1;
        state.window.answered();
        self.limiter.fit(&mut state);
        self.alive(state);
    }

    /// The endpoint refused the call as one too many, and may have named a wait.
    pub(crate) fn refused(mut self, wait: Option<Duration>) {
        let mut state = self.limiter.state();
        self.narrow(&mut state, wait);
        self.alive(state);
    }

    /// The endpoint said something else that is no answer, such as that the request is wrong.
    pub(crate) fn replied(mut self) {
        let state = self.limiter.state();
        self.alive(state);
    }

    /// The endpoint failed, or could not be reached; the words have no secret in them. With a wait that it named it
    /// also takes fewer calls than it got.
    pub(crate) fn failed(mut self, words: &str, wait: Option<Duration>) {
        let limiter = self.limiter;
        let now = limiter.timer.monotonic();
        let mut state = limiter.state();
        if wait.is_some() {
            self.narrow(&mut state, wait);
        }
        let opens = state.breaker.failed(now, self.is_try, wait);
        self.is_try = false;
        if opens {
            limiter.tell_outage(&state.breaker, words);
            limiter.changed.notify_waiters();
        }
        // Before this permit is dropped, which takes the lock again.
        drop(state);
    }

    fn narrow(&self, state: &mut State, wait: Option<Duration>) {
        state.refusals += 1;
        let verdict = state.window.refused();
        if let (Verdict::RefusesAll, Some(wait)) = (verdict, wait) {
            let until = self.limiter.timer.monotonic().saturating_add(wait);
            // Never shortens an earlier pause.
            state.not_before = until.max(state.not_before);
        }
        self.limiter.fit(state);
    }

    /// Ends an outage, if there is one. Lets go of the state before the permit is dropped, which takes it again.
    fn alive(&mut self, mut state: MutexGuard<'_, State>) {
        self.is_try = false;
        if state.breaker.alive() {
            self.limiter.outage.send_replace(None);
            self.limiter.changed.notify_waiters();
        }
    }
}

impl Limiter {
    /// Called with the state locked, so that what is told is in the order in which it happened.
    fn tell_outage(&self, breaker: &Breaker, words: &str) {
        let breaker::State::Open { until, .. } = breaker.state() else { return };
        self.outage.send_modify(|outage| {
            let begun_ms = || self.wall_ms(breaker.since().unwrap_or(until));
            *outage = Some(Outage {
                endpoint: self.place.address.clone(),
                model: self.place.model.clone(),
                since_ms: outage.as_ref().map_or_else(begun_ms, |known| known.since_ms),
                next_try_ms: self.wall_ms(until),
                error: words.to_owned(),
            });
        });
    }
}

impl State {
    /// The place vanishes if the limit was lowered, else goes to a call that came back, else to whoever stands in line.
    fn give_back(&mut self, permit: OwnedSemaphorePermit) {
        if self.surplus > 0 {
            self.surplus -= 1;
            permit.forget();
            return;
        }
        let mut place = permit;
        while let Some(next) = self.back.pop_front() {
            match next.send(place) {
                Ok(()) => return,
                // It was cancelled, or got its place in line.
                Err(unwanted) => place = unwanted,
            }
        }
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        let mut state = self.limiter.state();
        if self.has_started {
            state.window.ended();
        }
        if let Some(permit) = self.permit.take() {
            state.give_back(permit);
        }
        if self.is_try {
            state.breaker.try_abandoned(self.limiter.timer.monotonic());
            drop(state);
            self.limiter.changed.notify_waiters();
        }
    }
}
