//! Time as the retries see it, behind a small trait so that tests need not wait.

use async_trait::async_trait;
use std::fmt::Debug;
use std::time::{Duration, SystemTime};
use tokio::time::Instant;

/// A time limit of the config, in seconds. What is no time is a long one: the config is checked elsewhere.
pub(crate) fn time_limit(seconds: f64) -> Duration {
    const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);
    Duration::try_from_secs_f64(seconds).map_or(LONGEST, |time| time.min(LONGEST))
}

#[async_trait]
pub(crate) trait Timer: Send + Sync + Debug {
    /// Time since some fixed moment.
    fn monotonic(&self) -> Duration;

    /// The date, which a provider may name as the end of a wait.
    fn wall(&self) -> SystemTime;

    /// Waits. Safe to drop: it holds nothing.
    async fn sleep(&self, wait: Duration);
}

/// The real time.
#[derive(Debug)]
pub(crate) struct SystemTimer(Instant);

impl SystemTimer {
    pub(crate) fn new() -> Self {
        Self(Instant::now())
    }
}

#[async_trait]
impl Timer for SystemTimer {
    fn monotonic(&self) -> Duration {
        self.0.elapsed()
    }

    fn wall(&self) -> SystemTime {
        SystemTime::now()
    }

    async fn sleep(&self, wait: Duration) {
        tokio::time::sleep(wait).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_limit_is_never_longer_than_a_day_and_nonsense_is_a_day() {
        let seconds = [1.5, 86_401.0, f64::INFINITY, f64::NAN, -1.0].map(time_limit);
        assert_eq!(seconds[0], Duration::from_millis(1_500));
        assert!(seconds[1..].iter().all(|limit| limit.as_secs() == 86_400), "{seconds:?}");
    }
}
