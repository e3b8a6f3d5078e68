//! C96: nights that were missed, clocks that change, two servers.

use crate::schedule::{At, Daily, Due, Plan, SkipReason};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use rstest::rstest;

fn daily(hour: i64, minute: i64, zone: &str) -> Daily {
    Daily { at: At::new(hour, minute).unwrap(), zone: TimeZone::get(zone).unwrap() }
}

fn ms(text: &str) -> u64 {
    text.parse::<Timestamp>().unwrap().as_millisecond().try_into().unwrap()
}

fn due(plan: &Plan) -> Option<(u64, bool)> {
    plan.run.map(|Due { due_ms, is_catch_up }| (due_ms, is_catch_up))
}

#[test]
fn c96_a_new_schedule_waits_for_its_next_time() {
    let daily = daily(3, 0, "UTC");
    let plan = daily.plan(None, ms("2026-11-30T09:00:00Z"));
    assert_eq!(
        (plan.run, plan.served.as_str(), plan.next_ms),
        (None, "2026-11-30", ms("2026-12-01T03:00:00Z"))
    );
    let early = daily.plan(None, ms("2026-11-30T01:00:00Z"));
    assert_eq!((early.served.as_str(), early.next_ms), ("2026-11-29", ms("2026-11-30T03:00:00Z")));
}

#[test]
fn c96_a_night_runs_once_on_its_day() {
    let daily = daily(3, 0, "UTC");
    let at = ms("2026-11-30T03:00:05Z");
    let plan = daily.plan(Some("2026-11-29"), at);
    assert_eq!(due(&plan), Some((ms("2026-11-30T03:00:00Z"), false)));
    assert!(plan.skipped.is_empty());
    for later in [at, at + 1000, ms("2026-11-30T23:59:59Z")] {
        let again = daily.plan(Some(&plan.served), later);
        assert_eq!((again.run, again.next_ms), (None, ms("2026-12-01T03:00:00Z")));
    }
}

#[test]
fn c96_a_machine_that_was_off_at_the_time_catches_up_once() {
    let daily = daily(3, 0, "UTC");
    let plan = daily.plan(Some("2026-11-29"), ms("2026-11-30T09:00:00Z"));
    assert_eq!(due(&plan), Some((ms("2026-11-30T03:00:00Z"), true)));
    assert!(plan.skipped.is_empty());
}

#[test]
fn c96_three_missed_nights_give_one_run_and_two_skipped_with_their_reason() {
    let daily = daily(3, 0, "UTC");
    let plan = daily.plan(Some("2026-11-27"), ms("2026-11-30T09:00:00Z"));
    assert_eq!(due(&plan), Some((ms("2026-11-30T03:00:00Z"), true)));
    let skipped: Vec<u64> = plan.skipped.iter().map(|skipped| skipped.due_ms).collect();
    assert_eq!(skipped, [ms("2026-11-28T03:00:00Z"), ms("2026-11-29T03:00:00Z")]);
    assert!(plan.skipped.iter().all(|skipped| skipped.reason == SkipReason::Missed));
    assert!(SkipReason::Missed.text().contains("off or asleep"));
}

#[test]
fn c96_of_two_servers_with_one_memory_one_runs() {
    let daily = daily(3, 0, "UTC");
    let now = ms("2026-11-30T03:00:01Z");
    let (one, two) = (daily.plan(Some("2026-11-29"), now), daily.plan(Some("2026-11-29"), now));
    assert_eq!(one, two, "both want to, and the one whose write finds 2026-11-29 wins");
    assert_eq!(daily.plan(Some(&one.served), now).run, None);
}

#[rstest]
// Spring in Berlin: 02:30 does not exist on 29 March and comes an hour later.
#[case("2026-03-28", "2026-03-29T12:00:00Z", "2026-03-29T01:30:00Z")]
// Autumn: 02:30 comes twice on 25 October and counts the first time.
#[case("2026-10-24", "2026-10-25T00:30:01Z", "2026-10-25T00:30:00Z")]
// Any other day.
#[case("2026-06-30", "2026-07-01T12:00:00Z", "2026-07-01T00:30:00Z")]
fn c96_changes_of_the_clocks_neither_drop_nor_double_a_night(
    #[case] served: &str,
    #[case] now: &str,
    #[case] expect: &str,
) {
    let daily = daily(2, 30, "Europe/Berlin");
    let plan = daily.plan(Some(served), ms(now));
    assert_eq!(due(&plan).map(|due| due.0), Some(ms(expect)));
    let hour_later = daily.plan(Some(&plan.served), ms(now) + 3_600_000);
    assert_eq!(hour_later.run, None);
    assert!(hour_later.next_ms > ms(now) + 3_600_000);
}

#[test]
fn c96_a_clock_that_is_set_back_gives_no_second_run() {
    let daily = daily(3, 0, "UTC");
    let served = daily.plan(Some("2026-11-29"), ms("2026-11-30T03:00:01Z")).served;
    for back in ["2026-11-30T02:50:00Z", "2026-11-29T23:50:00Z"] {
        let plan = daily.plan(Some(&served), ms(back));
        assert_eq!((plan.run, plan.next_ms), (None, ms("2026-12-01T03:00:00Z")), "{back}");
    }
}

#[test]
fn c96_a_clock_that_had_been_a_year_ahead_does_not_end_all_nights() {
    let daily = daily(3, 0, "UTC");
    let plan = daily.plan(Some("2027-11-30"), ms("2026-11-30T09:00:00Z"));
    assert_eq!((plan.run, plan.next_ms), (None, ms("2026-12-01T03:00:00Z")));
    assert_eq!(plan.skipped[0].reason, SkipReason::ClockSetBack);
    let next = daily.plan(Some(&plan.served), ms("2026-12-01T03:00:00Z"));
    assert_eq!(due(&next), Some((ms("2026-12-01T03:00:00Z"), false)));
}

#[test]
fn a_year_of_wake_ups_gives_one_run_a_day() {
    let daily = daily(2, 30, "America/New_York");
    let mut served = daily.plan(None, ms("2026-01-01T00:00:00Z")).served;
    let mut n_runs = 0;
    for hour in 0..365 * 24 {
        let plan = daily.plan(Some(&served), ms("2026-01-01T00:00:00Z") + hour * 3_600_000);
        n_runs += u32::from(plan.run.is_some());
        assert!(plan.skipped.is_empty());
        served = plan.served;
    }
    assert_eq!(n_runs, 365);
}

#[rstest]
#[case(24, 0)]
#[case(-1, 0)]
#[case(0, 60)]
#[case(0, -1)]
fn c97_times_that_do_not_exist_are_refused(#[case] hour: i64, #[case] minute: i64) {
    assert!(At::new(hour, minute).is_err());
}

#[rstest]
#[case("Europe/Berlin", Some("Europe/Berlin"))]
#[case(" europe/berlin ", Some("Europe/Berlin"))]
#[case("UTC", Some("UTC"))]
#[case("Europe/Berln", None)]
#[case("", None)]
#[case("../../etc/passwd", None)]
#[case("+02:00", None)]
fn a_zone_is_known_by_its_name(#[case] name: &str, #[case] expect: Option<&str>) {
    let named = Daily::named(At::USUAL, name);
    assert_eq!(named.as_ref().ok().map(Daily::zone_name), expect);
    if let Err(err) = named {
        assert!(err.to_string().contains("IANA name"), "{err}");
    }
}
