//! Numbers as people read them. Missing is "—" and unknown money is "unknown", never 0. Pure; no clock.

/// What stands where a value is missing.
pub(crate) const MISSING: &str = "—";

/// A number of units that is shown without exact digits.
#[expect(clippy::cast_precision_loss, reason = "shown with three digits at most")]
fn approx(value: u64) -> f64 {
    value as f64
}

/// A score with three digits.
pub(crate) fn score(value: Option<f64>) -> String {
    value
        .filter(|value| value.is_finite())
        .map_or_else(|| MISSING.to_owned(), |v| format!("{v:.3}"))
}

/// How a score moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Delta {
    /// With its sign, `+0.050` or `−0.025`.
    pub(crate) text: String,
    /// `up`, `down` or `none`, for `data-sign`.
    pub(crate) sign: &'static str,
}

/// The difference of two scores; `None` when one of them is missing.
pub(crate) fn delta(before: Option<f64>, after: Option<f64>) -> Option<Delta> {
    let by = after? - before?;
    if !by.is_finite() {
        return None;
    }
    let (mark, sign) = match by {
        by if by >= 0.0005 => ("+", "up"),
        by if by <= -0.0005 => ("−", "down"),
        _ => ("±", "none"),
    };
    Some(Delta { text: format!("{mark}{:.3}", by.abs()), sign })
}

/// The number of tasks behind a score.
pub(crate) fn n(value: Option<u32>) -> String {
    value.map_or_else(|| MISSING.to_owned(), |value| format!("n = {}", count(u64::from(value))))
}

/// A score as passed tasks, `30 of 40`, where the score is a share of whole tasks; else only its n.
pub(crate) fn of_n(score: Option<f64>, n: Option<u32>) -> String {
    let (Some(score), Some(n)) = (score, n) else {
        return MISSING.to_owned();
    };
    let passed = score * f64::from(n);
    if (passed - passed.round()).abs() < 1e-6 {
        format!("{passed:.0} of {n}")
    } else {
        format!("n = {n}")
    }
}

/// How many tasks changed, and that it is not known where it is not.
pub(crate) fn flips(fixed: Option<u32>, broke: Option<u32>) -> String {
    match fixed.zip(broke) {
        Some((fixed, broke)) => format!("{fixed} fixed, {broke} broke"),
        None => "which tasks changed is not known".to_owned(),
    }
}

/// A whole number in groups of three: `10 214`.
pub(crate) fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3 * 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push('\u{202f}');
        }
        out.push(digit);
    }
    out
}

/// A number with its noun: `1 run`, `2 runs`.
pub(crate) fn plural(value: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(value), if value == 1 { one } else { many })
}

/// A large number in short: `412`, `12.4 k`, `8.5 M`.
pub(crate) fn short(value: u64) -> String {
    match value {
        0..10_000 => count(value),
        10_000..1_000_000 => format!("{:.1} k", approx(value) / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} M", approx(value) / 1e6),
        _ => format!("{:.1} G", approx(value) / 1e9),
    }
}

/// Money in millionths of a dollar. `None` means that some call had no price.
pub(crate) fn usd(micros: Option<u64>) -> String {
    match micros {
        None => "unknown".to_owned(),
        Some(0) => "$0.00".to_owned(),
        Some(1..10_000) => "< $0.01".to_owned(),
        Some(micros) => format!("${:.2}", approx(micros) / 1e6),
    }
}

/// A share as a percentage with one digit.
pub(crate) fn percent(part: u32, all: u32) -> String {
    if all == 0 {
        return MISSING.to_owned();
    }
    format!("{:.1} %", f64::from(part) / f64::from(all) * 100.0)
}

/// A length of time: `0.9 s`, `44 s`, `41 min`, `2 h 05`, `3 d 4 h`.
pub(crate) fn duration(ms: u64) -> String {
    let seconds = ms / 1000;
    match seconds {
        0..10 => format!("{:.1} s", approx(ms) / 1e3),
        10..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds / 60),
        3600..86_400 => format!("{} h {:02}", seconds / 3600, seconds % 3600 / 60),
        _ => format!("{} d {} h", seconds / 86_400, seconds % 86_400 / 3600),
    }
}

/// What is left when `done` of `total` took `elapsed_ms`; `None` before the first unit.
pub(crate) fn time_left(elapsed_ms: u64, done: u32, total: u32) -> Option<u64> {
    if done == 0 || total < done {
        return None;
    }
    Some(elapsed_ms / u64::from(done) * u64::from(total - done))
}

/// `done` of `total` as a CSS percentage.
pub(crate) fn share(done: u32, total: u32) -> String {
    if total == 0 {
        return "0%".to_owned();
    }
    format!("{:.1}%", (f64::from(done) / f64::from(total) * 100.0).min(100.0))
}

/// The first letter as a capital: a word of ours, in English.
pub(crate) fn capital(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map_or_else(String::new, |first| {
        [first.to_ascii_uppercase()].into_iter().chain(chars).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case(Some(0.75), "0.750")]
    #[case(Some(0.0), "0.000")]
    #[case(None, "—")]
    #[case(Some(f64::NAN), "—")]
    fn scores_have_three_digits(#[case] value: Option<f64>, #[case] text: &str) {
        assert_eq!(score(value), text);
    }

    #[rstest]
    #[case(Some(0.7), Some(0.75), Some(("+0.050", "up")))]
    #[case(Some(0.7), Some(0.675), Some(("−0.025", "down")))]
    #[case(Some(0.7), Some(0.7), Some(("±0.000", "none")))]
    #[case(None, Some(0.7), None)]
    fn a_difference_carries_its_sign(
        #[case] before: Option<f64>,
        #[case] after: Option<f64>,
        #[case] expect: Option<(&str, &'static str)>,
    ) {
        let got = delta(before, after);
        assert_eq!(got.as_ref().map(|d| (d.text.as_str(), d.sign)), expect);
    }

    #[rstest]
    #[case(7, "7")]
    #[case(214, "214")]
    #[case(10_214, "10\u{202f}214")]
    #[case(1_000_000, "1\u{202f}000\u{202f}000")]
    fn counts_are_grouped(#[case] value: u64, #[case] text: &str) {
        assert_eq!(count(value), text);
    }

    #[rstest]
    #[case(None, "unknown")]
    #[case(Some(0), "$0.00")]
    #[case(Some(42), "< $0.01")]
    #[case(Some(6_100_000), "$6.10")]
    fn unknown_money_is_no_zero(#[case] micros: Option<u64>, #[case] text: &str) {
        assert_eq!(usd(micros), text);
    }

    #[rstest]
    #[case(900, "0.9 s")]
    #[case(44_000, "44 s")]
    #[case(41 * 60_000, "41 min")]
    #[case(125 * 60_000, "2 h 05")]
    #[case(76 * 3_600_000, "3 d 4 h")]
    fn durations_keep_two_figures(#[case] ms: u64, #[case] text: &str) {
        assert_eq!(duration(ms), text);
    }

    #[test]
    fn a_score_of_whole_tasks_is_told_in_tasks() {
        assert_eq!(of_n(Some(0.75), Some(40)), "30 of 40");
        assert_eq!(of_n(Some(0.7512), Some(40)), "n = 40");
        assert_eq!(of_n(None, Some(40)), "—");
    }

    #[test]
    fn unknown_changes_are_not_said_to_be_none() {
        assert_eq!(flips(Some(2), Some(0)), "2 fixed, 0 broke");
        assert_eq!(flips(None, None), "which tasks changed is not known");
    }

    #[test]
    fn nothing_is_forecast_before_the_first_unit() {
        assert_eq!(time_left(1000, 0, 10), None);
        assert_eq!(time_left(1000, 2, 10), Some(4000));
    }

    #[test]
    fn small_numbers_stay_exact() {
        assert_eq!(
            (short(412), short(12_400), short(8_500_000)),
            ("412".into(), "12.4 k".into(), "8.5 M".into())
        );
        assert_eq!(n(Some(56)), "n = 56");
        assert_eq!(percent(0, 0), "—");
        assert_eq!(
            (plural(1, "run", "runs"), plural(2, "run", "runs")),
            ("1 run".into(), "2 runs".into())
        );
    }
}
