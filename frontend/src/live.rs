//! Server-sent events: one `EventSource` at a time per stream, opened again when it breaks, closed when its page goes
//! or its tab is hidden (a browser allows six connections to a server, over all tabs). No data is kept here.

pub(crate) mod nights;
pub(crate) mod run;
pub(crate) mod runs;
mod source;

pub(crate) use source::{Message, StreamHandle, StreamPlan, open};

use crate::state::signal::RwSignal;
use leptos::prelude::*;

/// How current a stream is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LiveState {
    /// Nothing to follow.
    Idle,
    /// Up to date.
    Live,
    /// The first connection is being made.
    Connecting,
    /// Broken since this moment; a new connection is being tried.
    Stale { since_ms: u64 },
    /// The browser itself has no network.
    Offline,
}

/// The states of all open streams; the badge shows the worst.
#[derive(Clone, Copy)]
pub(crate) struct LiveStates(RwSignal<States>);

/// One or two: a stream for the runs and one for the run that is shown.
type States = Vec<(u32, LiveState)>;

impl LiveStates {
    /// What the badge shows.
    pub(crate) fn worst(self) -> LiveState {
        self.0.with(worst)
    }

    fn add(self) -> u32 {
        let id =
            self.0.with_untracked(|states| states.iter().map(|(id, _)| id + 1).max().unwrap_or(0));
        self.set(id, LiveState::Connecting);
        id
    }

    fn set(self, id: u32, state: LiveState) {
        if self.get(id) != Some(state) {
            self.0.update(|states| match states.iter_mut().find(|(known, _)| *known == id) {
                Some(known) => known.1 = state,
                None => states.push((id, state)),
            });
        }
    }

    fn get(self, id: u32) -> Option<LiveState> {
        self.0.with_untracked(|states| {
            states.iter().find(|(known, _)| *known == id).map(|(_, state)| *state)
        })
    }

    fn remove(self, id: u32) {
        // The signal is gone when the whole application is.
        let _ = self.0.try_update(|states| states.retain(|(known, _)| *known != id));
    }
}

fn worst(states: &States) -> LiveState {
    states.iter().map(|(_, state)| *state).max().unwrap_or(LiveState::Idle)
}

pub(crate) fn provide() {
    provide_context(LiveStates(RwSignal::new(States::new())));
}

pub(crate) fn use_live_states() -> LiveStates {
    expect_context()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_badge_tells_the_worst_of_all_streams() {
        let stale = LiveState::Stale { since_ms: 5 };
        let states = vec![(0, LiveState::Live), (1, stale)];
        assert_eq!(worst(&states), stale);
        assert_eq!(worst(&States::new()), LiveState::Idle);
    }
}
