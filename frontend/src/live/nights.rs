//! Nights that run: told by the stream, and asked for once a second while it is down and the tab is shown. All such asking
//! is here.

use super::runs::use_runs_live;
use super::{LiveState, LiveStates, use_live_states};
use crate::api::ApiResult;
use crate::state::effect::on_change;
use crate::time;
use leptos::prelude::*;
use leptos::task::spawn_local;
use skillopt_domain::api::NightItem;
use std::pin::Pin;
use std::rc::Rc;
use std::time::Duration;

const PERIOD: Duration = Duration::from_secs(1);

/// A question to the server. Who asks takes its answer in before it ends.
pub(crate) type Asking = Pin<Box<dyn Future<Output = ApiResult<()>>>>;

/// Whom to ask, and how long.
pub(crate) struct NightPlan {
    /// Something can change. Read by a clock, so it must not follow signals.
    pub(crate) is_running: Box<dyn Fn() -> bool>,
    pub(crate) ask: Box<dyn Fn() -> Asking>,
    /// Takes in a night that changed.
    pub(crate) on_night: Box<dyn Fn(&NightItem)>,
}

/// Where the asking stands.
#[derive(Clone, Copy)]
struct Poll {
    states: LiveStates,
    /// Place in the badge; `None` while nothing runs.
    place: StoredValue<Option<u32>>,
    is_asking: StoredValue<bool>,
    /// The first of the questions in a row that failed.
    failed_at: StoredValue<Option<u64>>,
}

/// Calls `on_night` with each night that changes, until the calling component is gone. A row of a newer server that cannot
/// be read is skipped; the next load tells why.
pub(crate) fn on_night(on_night: impl Fn(&NightItem) + 'static) {
    use_runs_live().on_night(move |text| {
        if let Ok(night) = serde_json::from_str(text) {
            on_night(&night);
        }
    });
}

/// Follows what runs until the calling component is gone. One question at a time.
pub(crate) fn follow(plan: NightPlan) {
    let poll = Poll {
        states: use_live_states(),
        place: StoredValue::new(None),
        is_asking: StoredValue::new(false),
        failed_at: StoredValue::new(None),
    };
    let live = use_runs_live();
    let plan = Rc::new(plan);
    let told = Rc::clone(&plan);
    on_night(move |night| (told.on_night)(night));
    let again = Rc::clone(&plan);
    // What changed meanwhile was told to nobody.
    on_change(
        move || live.back(),
        move |_| {
            let answer = (again.ask)();
            spawn_local(async move {
                // The stream is there: what fails now is told by the next change.
                let _ = answer.await;
            });
        },
    );
    let clock = set_interval_with_handle(
        move || match live.is_open() {
            true => poll.leave(),
            false => poll.tick(&plan),
        },
        PERIOD,
    )
    .ok();
    on_cleanup(move || {
        if let Some(clock) = clock {
            clock.clear();
        }
        poll.leave();
    });
}

impl Poll {
    fn tick(self, plan: &NightPlan) {
        if !(plan.is_running)() {
            return self.leave();
        }
        if self.is_asking.get_value() || document().hidden() {
            return;
        }
        if self.place.get_value().is_none() {
            self.place.set_value(Some(self.states.add()));
        }
        self.is_asking.set_value(true);
        let answer = (plan.ask)();
        spawn_local(async move {
            let is_answered = answer.await.is_ok();
            // The page may be gone by now.
            if self.is_asking.try_set_value(false).is_none() {
                self.told(is_answered);
            }
        });
    }

    fn told(self, is_answered: bool) {
        let failed_at =
            (!is_answered).then(|| self.failed_at.get_value().unwrap_or_else(time::now_ms));
        self.failed_at.set_value(failed_at);
        if let Some(place) = self.place.get_value() {
            let state = failed_at.map_or(LiveState::Live, |since_ms| LiveState::Stale { since_ms });
            self.states.set(place, state);
        }
    }

    fn leave(self) {
        if let Some(place) = self.place.try_get_value().flatten() {
            self.place.set_value(None);
            self.states.remove(place);
        }
    }
}
