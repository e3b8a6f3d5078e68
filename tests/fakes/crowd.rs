//! A server that takes few calls at once and refuses all above with 429, as providers do; and what came of it.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::{Json, http::header::RETRY_AFTER};
use serde_json::json;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What the server allows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// Calls that are answered at once.
    pub(crate) room: usize,
    /// What `Retry-After` says, in seconds.
    pub(crate) retry_after_s: Option<u64>,
    /// Of a hundred calls so many are refused although there is room.
    pub(crate) percent_refused: usize,
}

/// What it saw.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    /// Calls that were answered.
    pub(crate) answered: usize,
    /// Calls that were refused.
    pub(crate) refused: usize,
    /// Most calls that were being answered at once.
    pub(crate) peak: usize,
    /// Time that calls took, added up.
    pub(crate) busy: Duration,
}

/// A server's crowd; shared by its handlers.
#[derive(Clone, Debug)]
pub(crate) struct Crowd {
    rules: Rules,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    inside: usize,
    came: usize,
    tally: Tally,
}

impl Crowd {
    pub(crate) fn new(rules: Rules) -> Self {
        Self { rules, state: Arc::default() }
    }

    pub(crate) fn tally(&self) -> Tally {
        self.state().tally
    }

    /// Lets a call in, or gives the answer that refuses it.
    pub(crate) fn enter(&self) -> Result<Inside, Box<Response>> {
        let mut state = self.state();
        state.came += 1;
        // Spread evenly and the same every time.
        let is_unlucky = state.came * 37 % 100 < self.rules.percent_refused;
        if is_unlucky || state.inside >= self.rules.room {
            state.tally.refused += 1;
            return Err(Box::new(self.refusal()));
        }
        state.inside += 1;
        state.tally.peak = state.tally.peak.max(state.inside);
        Ok(Inside { crowd: self.clone(), since: Instant::now() })
    }

    fn refusal(&self) -> Response {
        let body = Json(json!({"error": {"message": "too many requests"}}));
        let mut refusal = (StatusCode::TOO_MANY_REQUESTS, body).into_response();
        if let Some(seconds) = self.rules.retry_after_s {
            refusal.headers_mut().insert(RETRY_AFTER, seconds.into());
        }
        refusal
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call that is being answered.
#[derive(Debug)]
pub(crate) struct Inside {
    crowd: Crowd,
    since: Instant,
}

impl Drop for Inside {
    fn drop(&mut self) {
        let mut state = self.crowd.state();
        state.inside -= 1;
        state.tally.answered += 1;
        state.tally.busy += self.since.elapsed();
    }
}
