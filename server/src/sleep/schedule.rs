//! Nights every day: what a schedule asks of its nights, the clock that runs them while the server runs, and how both
//! are shown. When a night is due is the business of `skillopt_sleep::schedule`.

mod clock;
mod kept;
#[cfg(test)]
mod tests;
mod twice;
mod view;

pub(crate) use clock::{BeginScheduledError, NightClock};
pub(crate) use kept::KeptNight;
pub(crate) use twice::runs_twice;
pub(crate) use view::schedule_item;

use crate::config::Environment;
use skillopt_domain::ids::ScheduleId;
use skillopt_sleep::schedule::{At, BadTime, Daily, Launchd, SystemClocks, Systemd, UnknownZone};
use skillopt_store::{ScheduleRow, ScheduleTime};
use std::path::{Path, PathBuf};

/// What is wrong with the time of a schedule.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ScheduleProblem {
    /// The time of day.
    #[error(transparent)]
    Time(#[from] BadTime),
    /// The zone.
    #[error(transparent)]
    Zone(#[from] UnknownZone),
}

/// A time of day in a zone, from what somebody typed.
pub(crate) fn daily(hour: u32, minute: u32, zone: &str) -> Result<Daily, ScheduleProblem> {
    Ok(Daily::named(At::new(hour.into(), minute.into())?, zone)?)
}

/// The time of a schedule.
pub(crate) fn daily_of(row: &ScheduleRow) -> Result<Daily, ScheduleProblem> {
    let time = &row.terms.time;
    daily(time.hour.into(), time.minute.into(), &time.zone)
}

/// As the store keeps it.
pub(crate) fn time_of(daily: &Daily) -> ScheduleTime {
    ScheduleTime {
        hour: daily.at.hour(),
        minute: daily.at.minute(),
        zone: daily.zone_name().to_owned(),
    }
}

/// An id for a schedule.
pub(crate) fn new_schedule_id() -> ScheduleId {
    ScheduleId::parse(&uuid::Uuid::now_v7().to_string()).expect("a UUID is a schedule id")
}

/// Where the clocks of this system keep their jobs.
pub(crate) fn system_clocks(home: &Path, env: &Environment) -> SystemClocks {
    let config = env.get("XDG_CONFIG_HOME").filter(|path| !path.is_empty()).map(PathBuf::from);
    let config = config.unwrap_or_else(|| home.join(".config"));
    SystemClocks {
        systemd: Systemd { unit_dir: config.join("systemd/user") },
        launchd: Launchd { agent_dir: home.join("Library/LaunchAgents"), uid: user_number() },
    }
}

#[cfg(unix)]
fn user_number() -> u32 {
    rustix::process::getuid().as_raw()
}

#[cfg(not(unix))]
fn user_number() -> u32 {
    0
}
