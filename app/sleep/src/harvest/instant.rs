//! Instants as transcripts spell them. Everything becomes UTC; a time without an offset is taken as UTC.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970 in UTC.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Instant(i64);

/// Numbers from here on are milliseconds, below they are seconds: the year 5138 and 1973.
const FIRST_MILLISECONDS: f64 = 1e11;

impl Instant {
    /// The instant `ms` milliseconds after 1970.
    pub const fn from_ms(ms: i64) -> Self {
        Self(ms)
    }

    /// Milliseconds since 1970.
    pub const fn as_ms(self) -> i64 {
        self.0
    }

    /// Reads RFC 3339, with a blank for the `T` and without an offset too, and numbers as text.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if let Ok(stamp) = text.parse::<Timestamp>() {
            return Some(Self(stamp.as_millisecond()));
        }
        if let Ok(civil) = text.parse::<DateTime>() {
            let stamp = TimeZone::UTC.to_timestamp(civil).ok()?;
            return Some(Self(stamp.as_millisecond()));
        }
        text.parse::<f64>().ok().and_then(Self::from_number)
    }

    /// Reads seconds, whole or not, or milliseconds, by their size.
    pub fn from_number(number: f64) -> Option<Self> {
        if !number.is_finite() || number <= 0.0 {
            return None;
        }
        let seconds = if number >= FIRST_MILLISECONDS { number / 1000.0 } else { number };
        let since = Duration::try_from_secs_f64(seconds).ok()?;
        i64::try_from(since.as_millis()).ok().map(Self)
    }

    /// Reads whole seconds or milliseconds, by their size.
    pub fn from_whole(number: u64) -> Option<Self> {
        const FIRST_MILLISECONDS: u64 = 100_000_000_000;
        let factor = if number >= FIRST_MILLISECONDS { 1 } else { 1000 };
        i64::try_from(number.checked_mul(factor)?).ok().filter(|ms| *ms > 0).map(Self)
    }

    /// Reads a time of the file system.
    pub fn from_system(time: SystemTime) -> Self {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }

    /// The instant `hours` before this one.
    pub fn hours_before(self, hours: u32) -> Self {
        Self(self.0.saturating_sub(i64::from(hours).saturating_mul(3_600_000)))
    }
}

/// RFC 3339 in UTC.
impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match Timestamp::from_millisecond(self.0) {
            Ok(stamp) => stamp.fmt(f),
            Err(_) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Instant;
    use rstest::rstest;

    #[rstest]
    #[case::utc("2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z")]
    #[case::millis("2026-01-02T03:04:05.678Z", "2026-01-02T03:04:05.678Z")]
    #[case::offset("2026-01-02T03:04:05+02:00", "2026-01-02T01:04:05Z")]
    #[case::blank("2026-01-02 03:04:05", "2026-01-02T03:04:05Z")]
    #[case::no_offset("2026-01-02T03:04:05", "2026-01-02T03:04:05Z")]
    #[case::seconds("1767323045", "2026-01-02T03:04:05Z")]
    #[case::float("1767323045.5", "2026-01-02T03:04:05.5Z")]
    #[case::milliseconds("1767323045000", "2026-01-02T03:04:05Z")]
    fn every_spelling_becomes_utc(#[case] text: &str, #[case] expected: &str) {
        assert_eq!(Instant::parse(text).map(|at| at.to_string()).as_deref(), Some(expected));
    }

    #[rstest]
    #[case("")]
    #[case("yesterday")]
    #[case("-5")]
    #[case("NaN")]
    fn what_is_no_time_is_none(#[case] text: &str) {
        assert_eq!(Instant::parse(text), None);
    }

    #[test]
    fn f23_times_with_offsets_compare_as_instants() {
        let east = Instant::parse("2026-01-02T01:00:00+09:00");
        let utc = Instant::parse("2026-01-01T20:00:00Z");
        assert!(east < utc);
    }
}
