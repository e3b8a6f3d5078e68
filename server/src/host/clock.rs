//! The clock of the machine. The only place of the host that reads it.

use skillopt_engine::ports::Clock;
use std::time::{Duration, Instant, SystemTime};

/// Wall clock and a monotonic one that starts at 0.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock {
    start: Instant,
}

impl SystemClock {
    /// Starts now.
    #[must_use]
    pub fn new() -> Self {
        Self { start: Instant::now() }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    fn monotonic(&self) -> Duration {
        self.start.elapsed()
    }

    fn now_ms(&self) -> u64 {
        // A clock before 1970 shows 1970: the number is for display only.
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }
}
