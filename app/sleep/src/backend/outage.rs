//! When a night does not wait for an endpoint any more: one that answered no call of it is more likely wrong than out.
//! Decides nothing about one that did answer; calls wait for that.

use skillopt_domain::outage::Outage;
use skillopt_engine::ports::Model;
use std::sync::atomic::{AtomicBool, Ordering};

/// An endpoint that has not answered for so long, its next try included, is given up.
const LONG_MS: u64 = 30_000;

/// Waits for a long outage of a model that has answered nothing. What was known before does not count (a new receiver has
/// seen it), since it may be over: a call has to fail first. Safe to drop: it only looks.
pub(super) async fn never_answered(model: &dyn Model, has_answered: &AtomicBool) -> Outage {
    if let Some(mut outages) = model.outages() {
        while outages.changed().await.is_ok() {
            let outage = outages.borrow_and_update().clone().filter(is_long);
            if let Some(outage) = outage
                && !has_answered.load(Ordering::Acquire)
            {
                return outage;
            }
        }
    }
    std::future::pending().await
}

/// Whether two models are out together: what one of them knows of its endpoint counts for the other one.
pub(super) fn is_same_endpoint(one: &dyn Model, other: &dyn Model) -> bool {
    one.outages().zip(other.outages()).is_some_and(|(one, other)| one.same_channel(&other))
}

fn is_long(outage: &Outage) -> bool {
    outage.next_try_ms.saturating_sub(outage.since_ms) > LONG_MS
}
