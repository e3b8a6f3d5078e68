//! Moments as people read them: local on screen, local with its zone and UTC on hover. The only reader of the clock.

use js_sys::{Array, Date, Intl, Object, Reflect};

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const DAYS: [&str; 7] =
    ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// A moment in one zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Parts {
    year: u32,
    month: u32,
    day: u32,
    hour: u32,
    minute: u32,
    second: u32,
}

impl Parts {
    fn clock(self) -> String {
        format!("{:02}:{:02}", self.hour, self.minute)
    }

    fn day(self) -> String {
        format!("{} {}", self.day, month_name(self.month))
    }

    fn full(self) -> String {
        let Self { year, month, day, hour, minute, second } = self;
        format!("{year}-{:02}-{day:02} {hour:02}:{minute:02}:{second:02}", month + 1)
    }

    fn is_same_day(self, other: Self) -> bool {
        (self.year, self.month, self.day) == (other.year, other.month, other.day)
    }
}

fn month_name(month: u32) -> &'static str {
    usize::try_from(month).ok().and_then(|at| MONTHS.get(at)).copied().unwrap_or("?")
}

#[expect(clippy::cast_precision_loss, reason = "dates of this age are exact in a double")]
fn date(ms: u64) -> Date {
    Date::new(&wasm_bindgen::JsValue::from_f64(ms as f64))
}

fn local(ms: u64) -> Parts {
    let date = date(ms);
    Parts {
        year: date.get_full_year(),
        month: date.get_month(),
        day: date.get_date(),
        hour: date.get_hours(),
        minute: date.get_minutes(),
        second: date.get_seconds(),
    }
}

fn utc(ms: u64) -> Parts {
    let date = date(ms);
    Parts {
        year: date.get_utc_full_year(),
        month: date.get_utc_month(),
        day: date.get_utc_date(),
        hour: date.get_utc_hours(),
        minute: date.get_utc_minutes(),
        second: date.get_utc_seconds(),
    }
}

/// Now, in milliseconds since 1970-01-01 UTC.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the clock is a whole number of milliseconds after 1970"
)]
pub(crate) fn now_ms() -> u64 {
    Date::now() as u64
}

/// The milliseconds of a moment that is written as in RFC 3339; `None` when it cannot be read.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a moment that was read is a whole number of milliseconds; one before 1970 becomes 0"
)]
pub(crate) fn parse(text: &str) -> Option<u64> {
    Some(Date::parse(text)).filter(|ms| ms.is_finite()).map(|ms| ms as u64)
}

/// `08:02:11`, for journals.
pub(crate) fn clock_seconds(ms: u64) -> String {
    let parts = local(ms);
    format!("{}:{:02}", parts.clock(), parts.second)
}

/// `08:02`.
pub(crate) fn clock(ms: u64) -> String {
    local(ms).clock()
}

/// `08:02` today, `28 Nov 21:40` in this year, `28 Nov 2025` before.
pub(crate) fn moment(ms: u64) -> String {
    let (then, now) = (local(ms), local(now_ms()));
    if then.is_same_day(now) {
        then.clock()
    } else if then.year == now.year {
        format!("{} {}", then.day(), then.clock())
    } else {
        format!("{} {}", then.day(), then.year)
    }
}

/// `2026-11-29 12:24:08 UTC+1, 11:24:08 UTC`, for the title on hover.
pub(crate) fn full(ms: u64) -> String {
    let zone = zone(date(ms).get_timezone_offset());
    let here = local(ms);
    if zone == "UTC" {
        return format!("{} UTC", here.full());
    }
    let there = utc(ms).full();
    format!("{} {zone}, {} UTC", here.full(), there.split(' ').next_back().unwrap_or_default())
}

/// `2026-11-29T11:24:08Z`, for `<time datetime>`.
pub(crate) fn iso(ms: u64) -> String {
    format!("{}Z", utc(ms).full().replacen(' ', "T", 1))
}

/// `Sunday 29 November`-like, for the head of the overview.
pub(crate) fn today() -> String {
    let now = now_ms();
    let day = usize::try_from(date(now).get_day()).ok().and_then(|at| DAYS.get(at)).copied();
    format!("{} {}, {}", day.unwrap_or_default(), local(now).day(), clock(now))
}

/// The IANA name of the browser's zone; UTC when it tells none.
pub(crate) fn zone_name() -> String {
    let options = Intl::DateTimeFormat::new(&Array::new(), &Object::new()).resolved_options();
    let name = Reflect::get(&options, &"timeZone".into()).ok().and_then(|name| name.as_string());
    name.filter(|name| !name.is_empty()).unwrap_or_else(|| "UTC".to_owned())
}

/// The zone from the minutes that JavaScript gives: behind UTC is positive there.
fn zone(offset_minutes: f64) -> String {
    let ahead = -offset_minutes;
    let (hours, minutes) = ((ahead.abs() / 60.0).floor(), ahead.abs() % 60.0);
    match ahead {
        0.0 => "UTC".to_owned(),
        _ => {
            let sign = if ahead > 0.0 { '+' } else { '−' };
            let rest = if minutes > 0.0 { format!(":{minutes:02.0}") } else { String::new() };
            format!("UTC{sign}{hours:.0}{rest}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: Parts = Parts { year: 2026, month: 10, day: 29, hour: 12, minute: 4, second: 8 };

    #[test]
    fn a_moment_is_written_from_its_parts() {
        assert_eq!(NOON.clock(), "12:04");
        assert_eq!(NOON.day(), "29 Nov");
        assert_eq!(NOON.full(), "2026-11-29 12:04:08");
    }

    #[test]
    fn a_zone_is_named_by_its_distance() {
        assert_eq!(zone(0.0), "UTC");
        assert_eq!(zone(-60.0), "UTC+1");
        assert_eq!(zone(210.0), "UTC−3:30");
    }
}
