//! Working time of a run over all its attempts. A paused run does not work.

use std::time::Duration;
use tokio::time::Instant;

/// Counts from its making on.
#[derive(Debug)]
pub(super) struct Worked {
    earlier_ms: u64,
    started: Instant,
    /// How long pauses that are over took.
    paused: Duration,
    pause_began: Option<Instant>,
}

impl Worked {
    /// `earlier_ms` is what the attempts before worked.
    pub(super) fn since_now(earlier_ms: u64) -> Self {
        Self { earlier_ms, started: Instant::now(), paused: Duration::ZERO, pause_began: None }
    }

    /// Nothing is at work from now on.
    pub(super) fn pause(&mut self) {
        self.pause_began.get_or_insert_with(Instant::now);
    }

    /// Work goes on.
    pub(super) fn go_on(&mut self) {
        self.paused += self.pausing();
        self.pause_began = None;
    }

    /// Milliseconds of work so far.
    pub(super) fn ms(&self) -> u64 {
        let worked = self.started.elapsed().saturating_sub(self.paused + self.pausing());
        let worked_ms = u64::try_from(worked.as_millis()).unwrap_or(u64::MAX);
        self.earlier_ms.saturating_add(worked_ms)
    }

    fn pausing(&self) -> Duration {
        self.pause_began.map_or(Duration::ZERO, |began| began.elapsed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::advance;

    #[tokio::test(start_paused = true)]
    async fn pauses_do_not_count_whether_they_are_over_or_not() {
        let mut worked = Worked::since_now(1_000);
        advance(Duration::from_secs(2)).await;
        worked.pause();
        advance(Duration::from_secs(60)).await;
        assert_eq!(worked.ms(), 3_000, "a crash now would leave this");
        worked.go_on();
        advance(Duration::from_secs(5)).await;
        assert_eq!(worked.ms(), 8_000);
        worked.pause();
        worked.pause();
        advance(Duration::from_secs(9)).await;
        worked.go_on();
        assert_eq!(worked.ms(), 8_000);
    }
}
