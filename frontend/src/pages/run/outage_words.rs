//! Sentences about an endpoint that does not answer.

use crate::time;
use skillopt_domain::outage::Outage;

/// Which one, as a sentence.
pub(crate) fn outage_title(outage: &Outage) -> String {
    format!("{} at {} does not answer.", outage.model, outage.endpoint)
}

/// Since when, when the next call tries, and the last error.
pub(crate) fn outage_words(outage: &Outage) -> String {
    let since = time::clock_seconds(outage.since_ms);
    let next = time::clock_seconds(outage.next_try_ms);
    format!("Since {since}; calls wait, the next try is at {next}. Last error: {}", outage.error)
}

/// All of it for a narrow row: what changes first.
pub(crate) fn outage_row(outage: &Outage) -> String {
    let since = time::clock_seconds(outage.since_ms);
    let next = time::clock_seconds(outage.next_try_ms);
    let (model, endpoint, error) = (&outage.model, &outage.endpoint, &outage.error);
    format!("No answer since {since}, next try at {next}: {model} at {endpoint}: {error}")
}
