//! When a failed call is made again: how long a provider asks to wait, and how long to wait by ourselves.
//! Pure, except that [`Jitter`] draws from the process's random state.

use reqwest::header::HeaderMap;
use skillopt_engine::ports::Purpose;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

const FIRST_BACKOFF: Duration = Duration::from_millis(500);
const LONGEST_BACKOFF: Duration = Duration::from_secs(30);
/// A wait beyond any cap; larger numbers would not fit a `Duration`.
const FOREVER: Duration = Duration::from_secs(u32::MAX as u64);

/// How many failed attempts of a call may be followed by another one: as configured, but a preflight that fails should say
/// so soon.
pub(crate) fn retries_of(purpose: Purpose, configured: u32) -> u32 {
    const PREFLIGHT: u32 = 2;
    if purpose == Purpose::Preflight { configured.min(PREFLIGHT) } else { configured }
}

/// How long the provider asks to wait, never less than it said. `None` when it does not say, or names a
/// moment that has passed: then our own back-off applies. A date is read by the provider's clock, where it shows it.
pub(crate) fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let now = text("date").and_then(|date| httpdate::parse_http_date(date).ok()).unwrap_or(now);
    let wait = text("retry-after-ms")
        .and_then(|value| duration(value, 1e-3))
        .or_else(|| text("retry-after").and_then(|value| seconds_or_date(value, now)))?;
    (!wait.is_zero()).then(|| up_to_whole_ms(wait))
}

fn seconds_or_date(value: &str, now: SystemTime) -> Option<Duration> {
    duration(value, 1.0).or_else(|| httpdate::parse_http_date(value).ok()?.duration_since(now).ok())
}

fn duration(value: &str, unit_s: f64) -> Option<Duration> {
    let number: f64 = value.parse().ok()?;
    if number.is_nan() || number <= 0.0 {
        return None;
    }
    Some(Duration::try_from_secs_f64(number * unit_s).unwrap_or(FOREVER).min(FOREVER))
}

fn up_to_whole_ms(wait: Duration) -> Duration {
    let millis = wait.as_nanos().div_ceil(1_000_000);
    u64::try_from(millis).map_or(FOREVER, Duration::from_millis)
}

/// Exponential back-off with full jitter: a random part (`fraction` of 0..1) of a bound that doubles with
/// each failure.
pub(crate) fn backoff(failures: u32, fraction: f64) -> Duration {
    let doubled = FIRST_BACKOFF.saturating_mul(1 << failures.saturating_sub(1).min(16));
    doubled.min(LONGEST_BACKOFF).mul_f64(fraction)
}

/// Spreads the calls that wait for the same moment, so that they do not come back in one burst.
pub(crate) fn spread(wait: Duration, fraction: f64) -> Duration {
    const LONGEST: Duration = Duration::from_secs(1);
    wait + (wait / 10).min(LONGEST).mul_f64(fraction)
}

/// A source of fractions from 0 to 1.
#[derive(Debug, Default)]
pub(crate) struct Jitter {
    state: RandomState,
    drawn: AtomicU64,
}

impl Jitter {
    pub(crate) fn fraction(&self) -> f64 {
        let hash = self.state.hash_one(self.drawn.fetch_add(1, Ordering::Relaxed));
        let high = u32::try_from(hash >> 32).unwrap_or_default();
        f64::from(high) / f64::from(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reqwest::header::{HeaderName, HeaderValue};
    use rstest::rstest;

    /// 2015-10-21 07:28:00.25 UTC.
    fn now() -> SystemTime {
        httpdate::parse_http_date("Wed, 21 Oct 2015 07:28:00 GMT").unwrap()
            + Duration::from_millis(250)
    }

    #[rstest]
    #[case::seconds("retry-after", "2", Some(2_000))]
    #[case::decimal("retry-after", "0.4", Some(400))]
    #[case::rounded_up("retry-after", "0.0001", Some(1))]
    #[case::date_ahead("retry-after", "Wed, 21 Oct 2015 07:28:03 GMT", Some(2_750))]
    #[case::date_of_rfc_850("retry-after", "Wednesday, 21-Oct-15 07:28:03 GMT", Some(2_750))]
    #[case::date_of_asctime("retry-after", "Wed Oct 21 07:28:03 2015", Some(2_750))]
    #[case::date_passed("retry-after", "Wed, 21 Oct 2015 07:27:00 GMT", None)]
    #[case::negative("retry-after", "-5", None)]
    #[case::zero("retry-after", "0", None)]
    #[case::absurd("retry-after", "86400", Some(86_400_000))]
    #[case::infinite("retry-after", "1e300", Some(4_294_967_295_000))]
    #[case::nonsense("retry-after", "soon", None)]
    #[case::milliseconds("retry-after-ms", "250", Some(250))]
    #[case::absent("x-other", "1", None)]
    fn c44_each_form_of_retry_after(
        #[case] name: &'static str,
        #[case] value: &'static str,
        #[case] wait_ms: Option<u64>,
    ) {
        let mut headers = HeaderMap::new();
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        assert_eq!(retry_after(&headers, now()), wait_ms.map(Duration::from_millis));
    }

    #[test]
    fn a_preflight_is_tried_again_twice_at_most() {
        let of = |purpose| [0, 1, 5].map(|configured| retries_of(purpose, configured));
        assert_eq!(of(Purpose::Preflight), [0, 1, 2]);
        assert_eq!(of(Purpose::Qa), [0, 1, 5]);
    }

    #[test]
    fn c44_a_date_is_read_by_the_clock_of_the_provider() {
        let mut headers = HeaderMap::new();
        headers.insert("retry-after", HeaderValue::from_static("Wed, 21 Oct 2015 09:00:20 GMT"));
        headers.insert("date", HeaderValue::from_static("Wed, 21 Oct 2015 09:00:00 GMT"));
        assert_eq!(retry_after(&headers, now()), Some(Duration::from_secs(20)));
    }

    #[test]
    fn c44_milliseconds_win_over_seconds() {
        let mut headers = HeaderMap::new();
        headers.insert("retry-after", HeaderValue::from_static("1"));
        headers.insert("retry-after-ms", HeaderValue::from_static("120"));
        assert_eq!(retry_after(&headers, now()), Some(Duration::from_millis(120)));
    }

    #[test]
    fn backoff_doubles_up_to_a_bound_and_full_jitter_scales_it() {
        let bounds: Vec<u128> = (1..=9).map(|n| backoff(n, 1.0).as_millis()).collect();
        assert_eq!(bounds, [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
        assert_eq!(backoff(u32::MAX, 0.5), Duration::from_secs(15));
        assert_eq!(backoff(3, 0.0), Duration::ZERO);
    }

    #[test]
    fn a_spread_wait_is_never_shorter_than_asked_for() {
        assert_eq!(spread(Duration::from_secs(2), 0.0), Duration::from_secs(2));
        assert_eq!(spread(Duration::from_secs(2), 1.0), Duration::from_millis(2_200));
        assert_eq!(spread(Duration::from_secs(60), 1.0), Duration::from_secs(61));
    }

    #[test]
    fn jitter_stays_within_its_bounds_and_varies() {
        let jitter = Jitter::default();
        let drawn: Vec<f64> = (0..100).map(|_| jitter.fraction()).collect();
        assert!(drawn.iter().all(|fraction| (0.0..=1.0).contains(fraction)));
        assert!(drawn.iter().any(|fraction| (fraction - drawn[0]).abs() > 0.01));
    }
}
