//! What a limiter knows of its endpoint, for people.

use super::Limiter;
use crate::breaker;
use skillopt_domain::api::{CallError, EndpointState};
use skillopt_domain::outage::BreakerState;
use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};

/// More errors are not kept.
const MOST_ERRORS: usize = 10;

/// The last errors of an endpoint, newest first.
#[derive(Debug, Default)]
pub(super) struct Errors(VecDeque<CallError>);

impl Limiter {
    /// Keeps an error to be shown; its words have no secret in them.
    pub(crate) fn note_error(&self, kind: &str, message: &str) {
        let at_ms = self.wall_ms(self.timer.monotonic());
        let error = CallError { at_ms, kind: kind.to_owned(), message: message.to_owned() };
        let errors = &mut self.state().errors.0;
        errors.truncate(MOST_ERRORS - 1);
        errors.push_front(error);
    }

    /// All that is known now, except what the limiter is not told: the key and what was learned.
    pub(crate) fn describe(&self) -> EndpointState {
        let now = self.timer.monotonic();
        let state = self.state();
        EndpointState {
            address: self.place.address.clone(),
            model: self.place.model.clone(),
            limit_now: count(state.window.limit()),
            limit_configured: count(state.window.size()),
            in_flight: count(state.window.in_flight()),
            waiting: count(self.waiting.load(Ordering::Relaxed)),
            answers: state.answers,
            refusals: state.refusals,
            paused_until_ms: (state.not_before > now).then(|| self.wall_ms(state.not_before)),
            breaker: match state.breaker.state() {
                breaker::State::Closed => BreakerState::Closed,
                breaker::State::Open { .. } => BreakerState::Open,
                breaker::State::HalfOpen { .. } => BreakerState::HalfOpen,
            },
            outage: self.outage.borrow().clone(),
            errors: state.errors.0.iter().cloned().collect(),
            ..EndpointState::default()
        }
    }

    /// The date of a moment of the timer, in milliseconds since 1970-01-01 UTC.
    pub(super) fn wall_ms(&self, at: Duration) -> u64 {
        let (now, wall) = (self.timer.monotonic(), self.timer.wall());
        let date = if at >= now { wall + (at - now) } else { wall - (now - at) };
        let since_1970 = date.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since_1970.as_millis()).unwrap_or(u64::MAX)
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
