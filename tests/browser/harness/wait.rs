//! Waiting for a condition with a deadline. Nothing else in the journeys waits.

use std::time::{Duration, Instant};

const PAUSE: Duration = Duration::from_millis(60);
const SOON: Duration = Duration::from_secs(15);

/// Looks again and again until there is something. An error counts as "not yet" and is told when time is up.
pub(crate) async fn eventually<T>(
    what: &str,
    within: Duration,
    mut look: impl AsyncFnMut() -> anyhow::Result<Option<T>>,
) -> anyhow::Result<T> {
    let start = Instant::now();
    loop {
        let last = match look().await {
            Ok(Some(found)) => return Ok(found),
            Ok(None) => None,
            Err(err) => Some(err),
        };
        if start.elapsed() > within {
            let told = format!("waited {} s in vain: {what}", within.as_secs());
            return Err(
                last.map_or_else(|| anyhow::anyhow!("{told}"), |err| err.context(told.clone()))
            );
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// [`eventually`] for what a page does by itself.
pub(crate) async fn soon<T>(
    what: &str,
    look: impl AsyncFnMut() -> anyhow::Result<Option<T>>,
) -> anyhow::Result<T> {
    eventually(what, SOON, look).await
}
