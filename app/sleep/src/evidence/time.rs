//! A moment as text. Pure.

const MS_A_DAY: u64 = 86_400_000;

/// Milliseconds since 1970 as RFC 3339 in UTC, such as `2026-11-30T03:17:00.000Z`.
#[must_use]
pub fn utc_text(ms: u64) -> String {
    let (year, month, day) = civil(ms / MS_A_DAY);
    let of_day = ms % MS_A_DAY;
    let (hours, minutes) = (of_day / 3_600_000, of_day / 60_000 % 60);
    let (seconds, ms) = (of_day / 1000 % 60, of_day % 1000);
    format!("{year:04}-{month:02}-{day:02}T{hours:02}:{minutes:02}:{seconds:02}.{ms:03}Z")
}

/// Year, month and day of a number of days since 1970, in the Gregorian calendar. Years are counted from March, so that
/// the leap day is the last one.
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case(0, "1970-01-01T00:00:00.000Z")]
    #[case(951_782_399_999, "2000-02-28T23:59:59.999Z")]
    #[case(951_782_400_000, "2000-02-29T00:00:00.000Z")]
    #[case(1_709_251_200_000, "2024-03-01T00:00:00.000Z")]
    #[case(1_796_008_627_000, "2026-11-30T03:17:07.000Z")]
    fn moments_are_written_in_utc(#[case] ms: u64, #[case] expect: &str) {
        assert_eq!(utc_text(ms), expect);
    }
}
