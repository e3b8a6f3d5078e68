//! Moments as texts and back: RFC 3339 in UTC in everything that we write, and the local times without offset that the
//! reference system left in its files. Reads no clock.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// A moment as RFC 3339 in UTC, whole seconds; the first moment of 1970 for one that no calendar has.
#[must_use]
pub fn utc_text(at_ms: u64) -> String {
    timestamp(at_ms).strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// A moment as the name of a staging folder: `20261130-031700`, in UTC.
#[must_use]
pub fn stamp(at_ms: u64) -> String {
    timestamp(at_ms).strftime("%Y%m%d-%H%M%S").to_string()
}

/// The moment that a text names, in milliseconds since 1970. A text without offset is a local time of `zone`.
#[must_use]
pub fn parse(text: &str, zone: &TimeZone) -> Option<u64> {
    let at = match text.trim().parse::<Timestamp>() {
        Ok(at) => at,
        Err(_) => zone.to_timestamp(text.trim().parse::<DateTime>().ok()?).ok()?,
    };
    u64::try_from(at.as_millisecond()).ok()
}

pub(crate) fn timestamp(at_ms: u64) -> Timestamp {
    let millis = i64::try_from(at_ms).unwrap_or(i64::MAX);
    Timestamp::from_millisecond(millis).unwrap_or(Timestamp::UNIX_EPOCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: u64 = 1_780_000_000_000;

    #[test]
    fn a_moment_survives_its_text() {
        assert_eq!(utc_text(AT), "2026-05-28T20:26:40Z");
        assert_eq!(stamp(AT), "20260528-202640");
        assert_eq!(parse(&utc_text(AT), &TimeZone::UTC), Some(AT));
    }

    #[test]
    fn f23_a_local_time_without_offset_is_read_as_local() {
        let zone = TimeZone::fixed(jiff::tz::offset(2));
        assert_eq!(parse("2026-05-28T22:26:40", &zone), Some(AT));
        assert_eq!(parse("2026-05-28T22:26:40+02:00", &TimeZone::UTC), Some(AT));
        assert_eq!(parse("yesterday", &zone), None);
    }
}
