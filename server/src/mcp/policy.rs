//! What the operator allows, and where the server stands. Nothing here comes from a client.

use std::time::Duration;

/// What holds for all calls of one server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Policy {
    /// A client may ask for a night that adopts by itself.
    pub(crate) auto_adopt: bool,
    /// Every tool that works on a project must name it: the folder that the server stands in is nobody's project.
    pub(crate) needs_project: bool,
    /// How long commands may take.
    pub(crate) limits: TimeLimits,
}

/// How long commands may take, by their kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TimeLimits {
    /// Nights and harvests.
    pub(crate) night: Duration,
    /// Training runs and evaluations.
    pub(crate) run: Duration,
    /// Everything else.
    pub(crate) short: Duration,
}

impl Default for TimeLimits {
    fn default() -> Self {
        Self {
            night: Duration::from_secs(60 * 60),
            run: Duration::from_secs(6 * 60 * 60),
            short: Duration::from_secs(2 * 60),
        }
    }
}

impl TimeLimits {
    /// Nights and runs may take so long, whatever the usual limits are.
    pub(crate) fn of_minutes(minutes: u32) -> Self {
        let limit = Duration::from_secs(u64::from(minutes) * 60);
        Self { night: limit, run: limit, ..Self::default() }
    }
}

impl Policy {
    /// A client that started the server itself, in its own folder.
    pub(crate) fn of_stdio(auto_adopt: bool, limits: TimeLimits) -> Self {
        Self { auto_adopt, needs_project: false, limits }
    }

    /// Clients of a server that serves many.
    pub(crate) fn of_http() -> Self {
        Self { auto_adopt: false, needs_project: true, limits: TimeLimits::default() }
    }
}
