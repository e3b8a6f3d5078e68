//! Time as the retries see it, behind a small trait so that tests need not wait.

use async_trait::async_trait;
use std::fmt::Debug;
use std::time::{Duration, SystemTime};
use tokio::time::Instant;

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
