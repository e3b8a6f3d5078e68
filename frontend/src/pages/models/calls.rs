//! Test calls of this page: which are on their way, and what each said.

use crate::api::{self, ApiError};
use crate::components::look::Look;
use crate::fmt;
use crate::state::signal::RwSignal;
use crate::time;
use leptos::task::spawn_local;
use skillopt_domain::api::{ModelTest, ModelTestRequest, ModelUse};

/// How a call stands.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum CallState {
    /// On its way.
    Going,
    /// The model, or its server, said this.
    Told(ModelTest),
    /// It was not made.
    NotMade(ApiError),
}

/// The calls by model, the latest of each.
#[derive(Clone, Copy)]
pub(super) struct Calls(RwSignal<Vec<(String, CallState)>>);

impl Calls {
    pub(super) fn new() -> Self {
        Self(RwSignal::new(Vec::new()))
    }

    /// The latest call of a model: of this page, else the one that the server remembers. Follows it.
    pub(super) fn of(self, one: &ModelUse) -> Option<CallState> {
        let here = self.0.with(|calls| {
            calls.iter().find(|(id, _)| *id == one.id).map(|(_, state)| state.clone())
        });
        here.or_else(|| one.last_test.clone().map(CallState::Told))
    }

    pub(super) fn is_going(self, id: &str) -> bool {
        self.0.with(|calls| {
            calls.iter().any(|(known, state)| known == id && *state == CallState::Going)
        })
    }

    /// Makes the call; with `probe` further ones, to see what the server accepts.
    pub(super) fn make(self, id: &str, probe: bool) {
        let request = ModelTestRequest { id: id.to_owned(), probe };
        self.put(&request.id, CallState::Going);
        spawn_local(async move {
            let state = match api::test_model(&request).await {
                Ok(test) => CallState::Told(test),
                Err(error) => CallState::NotMade(error),
            };
            self.put(&request.id, state);
        });
    }

    fn put(self, id: &str, state: CallState) {
        self.0.update(|calls| {
            calls.retain(|(known, _)| known != id);
            calls.push((id.to_owned(), state));
        });
    }
}

const fn look(status: &'static str, icon: &'static str) -> Look {
    Look { status, icon, word: "" }
}

/// How the latest call looks in the table: shape and words.
pub(super) fn in_words(state: Option<&CallState>) -> (Look, String) {
    match state {
        None => (look("idle", "noimp"), "never called".to_owned()),
        Some(CallState::Going) => (look("running", "running"), "calling".to_owned()),
        Some(CallState::NotMade(_)) => (look("warning", "warning"), "not called".to_owned()),
        Some(CallState::Told(test)) => {
            let (look, outcome) = outcome(test);
            (look, format!("{outcome}, {}", time::clock(test.at_ms)))
        }
    }
}

/// How a made call ended, without its hour: the browser's clock is needed for that alone.
fn outcome(test: &ModelTest) -> (Look, String) {
    match (test.ok, test.latency_ms) {
        (true, Some(latency)) => (look("done", "accepted"), latency_words(latency)),
        (true, None) => (look("done", "accepted"), "answered".to_owned()),
        (false, _) => (look("failed", "error"), "no answer".to_owned()),
    }
}

/// Milliseconds as they are below a second: a quick model differs from a slow one there.
pub(super) fn latency_words(ms: u64) -> String {
    if ms < 1000 { format!("{ms} ms") } else { fmt::duration(ms) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test(ok: bool, latency_ms: Option<u64>) -> ModelTest {
        ModelTest {
            at_ms: 0,
            ok,
            error: String::new(),
            reply: String::new(),
            latency_ms,
            attempts: 1,
            prompt_tokens: None,
            completion_tokens: None,
            cost_usd_micros: None,
            adaptations: Vec::new(),
            probes: Vec::new(),
        }
    }

    #[test]
    fn a_latency_of_nothing_is_a_latency_and_a_missing_one_is_none() {
        assert_eq!(latency_words(0), "0 ms");
        assert_eq!(latency_words(999), "999 ms");
        assert_eq!(outcome(&test(true, Some(12))).1, "12 ms");
        assert_eq!(outcome(&test(true, None)).1, "answered");
        assert_eq!(outcome(&test(false, None)).1, "no answer");
        assert_eq!(in_words(None).1, "never called");
    }
}
