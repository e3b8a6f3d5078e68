//! When a night does not wait for an endpoint any more: one that answered no call of it is more likely wrong than out.
//! Decides nothing about one that did answer; calls wait for that.

use skillopt_domain::outage::Outage;
use skillopt_engine::ports::Model;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::time::Instant;

/// An endpoint that a call has tried for so long, in vain, is given up. A server on this machine that loads its model
/// meanwhile is there by then.
const LONG: Duration = Duration::from_secs(60);

/// What a night knows of the endpoint of a role.
#[derive(Debug, Default)]
pub(super) struct Contact {
    has_answered: AtomicBool,
    given_up: OnceLock<Outage>,
}

impl Contact {
    pub(super) fn note_answer(&self) {
        self.has_answered.store(true, Ordering::Release);
    }

    /// The outage for which the night ends: what is asked behind the first call is not tried for as long again.
    pub(super) fn given_up(&self) -> Option<&Outage> {
        self.given_up.get()
    }

    /// Waits for a long outage of a model that has answered nothing. What was known before does not count (a new receiver
    /// has seen it), since it may be over: a call has to fail first. Safe to drop: it only looks.
    pub(super) async fn never_answered(&self, model: &dyn Model) -> Outage {
        if let Some(mut outages) = model.outages() {
            let mut since = None;
            while outages.changed().await.is_ok() {
                let Some(outage) = outages.borrow_and_update().clone() else {
                    since = None;
                    continue;
                };
                let first = *since.get_or_insert_with(Instant::now);
                if first.elapsed() >= LONG && !self.has_answered.load(Ordering::Acquire) {
                    return self.given_up.get_or_init(|| outage).clone();
                }
            }
        }
        std::future::pending().await
    }
}

/// Whether two models are out together: what one of them knows of its endpoint counts for the other one.
pub(super) fn is_same_endpoint(one: &dyn Model, other: &dyn Model) -> bool {
    one.outages().zip(other.outages()).is_some_and(|(one, other)| one.same_channel(&other))
}
