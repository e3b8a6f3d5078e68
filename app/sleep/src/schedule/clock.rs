//! The built-in clock, as a pure function of what was served and what time it is: once a day at a time of day of a
//! zone, one run after missed nights, none twice. Which of several servers runs is decided by whoever keeps
//! [`Plan::served`]: it is written only if it is still what the plan was made from.

use super::job::At;
use crate::instant::timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

/// A run that starts later than this after its time is a catch-up, in milliseconds.
const LATE_MS: u64 = 10 * 60 * 1000;

/// The most days that are looked back for skipped nights.
const MAX_DAYS: usize = 400;

/// A time of day in a zone.
#[derive(Clone, Debug)]
pub struct Daily {
    /// The time of day.
    pub at: At,
    /// The zone.
    pub zone: TimeZone,
}

/// There is no such zone.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no time zone that this machine knows; give an IANA name, such as Europe/Berlin or UTC"
)]
pub struct UnknownZone(pub String);

/// The zone of this machine by its IANA name; UTC when it has none.
#[must_use]
pub fn system_zone() -> String {
    TimeZone::system().iana_name().unwrap_or("UTC").to_owned()
}

/// A night that has to run now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// When it should have begun, in milliseconds since 1970.
    pub due_ms: u64,
    /// It is late.
    pub is_catch_up: bool,
}

/// Why a night did not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkipReason {
    /// Nothing was running at the time, and a later night is run instead.
    Missed,
    /// The clock of the machine had been ahead by days and was set back.
    ClockSetBack,
}

impl SkipReason {
    /// For people.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::Missed => {
                "the machine was off or asleep, or no server ran; one night runs for all that were missed"
            }
            Self::ClockSetBack => "the clock of the machine had been ahead and was set back",
        }
    }
}

/// A night that did not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// When it should have begun, in milliseconds since 1970.
    pub due_ms: u64,
    /// Why.
    pub reason: SkipReason,
}

/// What to do now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The night to run.
    pub run: Option<Due>,
    /// Nights that will never run.
    pub skipped: Vec<Skipped>,
    /// The day that is served with it, as `2026-11-30`; kept by the caller, and given back next time.
    pub served: String,
    /// When to look again, in milliseconds since 1970.
    pub next_ms: u64,
}

impl Daily {
    /// A time of day in the zone of a name.
    ///
    /// # Errors
    /// [`UnknownZone`].
    pub fn named(at: At, zone: &str) -> Result<Self, UnknownZone> {
        let zone = zone.trim();
        // Another spelling of a name is that name; a fixed distance from UTC has none.
        match TimeZone::get(zone) {
            Ok(found) if found.iana_name().is_some() => Ok(Self { at, zone: found }),
            _ => Err(UnknownZone(zone.to_owned())),
        }
    }

    /// A time of day in UTC.
    #[must_use]
    pub fn in_utc(at: At) -> Self {
        Self { at, zone: TimeZone::UTC }
    }

    /// The IANA name of the zone.
    #[must_use]
    pub fn zone_name(&self) -> &str {
        self.zone.iana_name().unwrap_or("UTC")
    }

    /// What to do now. `served` is that of the plan before; `None` when the schedule is new, and then nothing is due
    /// before its next time.
    #[must_use]
    pub fn plan(&self, served: Option<&str>, now_ms: u64) -> Plan {
        let today = self.day_of(now_ms);
        let last_due = if self.due_ms(today) <= now_ms { today } else { back(today) };
        let Some(served) = served.and_then(|day| day.parse::<Date>().ok()) else {
            return self.wait(last_due, Vec::new(), now_ms);
        };
        if served > next(today) {
            // Waiting for a day in the far future would end all nights.
            let skipped = Skipped { due_ms: self.due_ms(served), reason: SkipReason::ClockSetBack };
            return self.wait(last_due, vec![skipped], now_ms);
        }
        if served >= last_due {
            return self.wait(served, Vec::new(), now_ms);
        }
        let mut days = Vec::new();
        let mut day = next(served);
        while day < last_due {
            days.push(day);
            day = next(day);
        }
        let recent = days.len().saturating_sub(MAX_DAYS);
        let missed = |day: &Date| Skipped { due_ms: self.due_ms(*day), reason: SkipReason::Missed };
        let skipped = days[recent..].iter().map(missed).collect();
        let due_ms = self.due_ms(last_due);
        let run = Due { due_ms, is_catch_up: now_ms - due_ms > LATE_MS };
        Plan { run: Some(run), ..self.wait(last_due, skipped, now_ms) }
    }

    /// The next time after a moment, in milliseconds since 1970.
    #[must_use]
    pub fn next_after(&self, now_ms: u64) -> u64 {
        let today = self.day_of(now_ms);
        let due = self.due_ms(today);
        if due > now_ms { due } else { self.due_ms(next(today)) }
    }

    fn wait(&self, served: Date, skipped: Vec<Skipped>, now_ms: u64) -> Plan {
        let next_ms = self.next_after(now_ms).max(self.due_ms(next(served)));
        Plan { run: None, skipped, served: served.to_string(), next_ms }
    }

    fn day_of(&self, at_ms: u64) -> Date {
        timestamp(at_ms).to_zoned_datetime(self.zone.clone()).date()
    }

    /// When a day's night begins. A time that the clocks jump over comes as much later, one that they show twice is
    /// taken the first time.
    fn due_ms(&self, day: Date) -> u64 {
        let (hour, minute) = (signed(self.at.hour()), signed(self.at.minute()));
        let due = self.zone.to_ambiguous_timestamp(day.at(hour, minute, 0, 0)).compatible();
        due.ok().and_then(|due| u64::try_from(due.as_millisecond()).ok()).unwrap_or(u64::MAX)
    }
}

fn signed(part: u8) -> i8 {
    // Hours and minutes are below 60.
    i8::try_from(part).unwrap_or(0)
}

fn next(day: Date) -> Date {
    day.tomorrow().unwrap_or(day)
}

fn back(day: Date) -> Date {
    day.yesterday().unwrap_or(day)
}
