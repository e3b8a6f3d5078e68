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

/// A moment as RFC 3339 in UTC with milliseconds, for logs: `2026-11-30T03:17:00.000Z`.
#[must_use]
pub fn utc_text_with_ms(at_ms: u64) -> String {
    timestamp(at_ms).strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string()
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
    use rstest::rstest;

    const AT: u64 = 1_780_000_000_000;

    #[rstest]
    #[case(0, "1970-01-01T00:00:00.000Z")]
    #[case(951_782_399_999, "2000-02-28T23:59:59.999Z")]
    #[case(951_782_400_000, "2000-02-29T00:00:00.000Z")]
    #[case(1_709_251_200_000, "2024-03-01T00:00:00.000Z")]
    #[case(1_796_008_627_000, "2026-11-30T03:17:07.000Z")]
    fn moments_are_written_in_utc(#[case] ms: u64, #[case] expect: &str) {
        assert_eq!(utc_text_with_ms(ms), expect);
    }

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
