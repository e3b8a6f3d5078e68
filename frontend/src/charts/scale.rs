//! Where a value lands on the screen: scales, ticks and their labels. Pure numbers, no DOM.

/// A straight mapping from values to pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scale {
    /// Lowest and highest value.
    pub(crate) domain: (f64, f64),
    /// Where they land. The first may be the larger one, as on a y axis.
    pub(crate) range: (f64, f64),
}

impl Scale {
    /// The pixel of a value, to a tenth, so that paths stay short.
    pub(crate) fn at(&self, value: f64) -> f64 {
        let (low, high) = self.domain;
        let share = if high > low { (value - low) / (high - low) } else { 0.5 };
        ((self.range.0 + share * (self.range.1 - self.range.0)) * 10.0).round() / 10.0
    }

    /// The value under a pixel.
    pub(crate) fn invert(&self, pixel: f64) -> f64 {
        let (from, to) = self.range;
        let share =
            if (to - from).abs() > f64::EPSILON { (pixel - from) / (to - from) } else { 0.0 };
        self.domain.0 + share * (self.domain.1 - self.domain.0)
    }
}

/// The plot within its picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Frame {
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) left: f64,
    pub(crate) right: f64,
    pub(crate) top: f64,
    pub(crate) bottom: f64,
}

impl Frame {
    /// The x scale over these values.
    pub(crate) fn x(&self, domain: (f64, f64)) -> Scale {
        Scale { domain, range: (self.left, self.width - self.right) }
    }

    /// The y scale over these values; the largest is at the top.
    pub(crate) fn y(&self, domain: (f64, f64)) -> Scale {
        Scale { domain, range: (self.height - self.bottom, self.top) }
    }

    /// The line on which the x axis lies.
    pub(crate) fn floor(&self) -> f64 {
        self.height - self.bottom
    }

    /// The right end of the plot.
    pub(crate) fn end(&self) -> f64 {
        self.width - self.right
    }
}

/// Round numbers that cover `low..=high` in about `wanted` steps. The first and the last tick are the
/// domain to draw, so that no point touches the rim by accident.
pub(crate) fn ticks(low: f64, high: f64, wanted: u32) -> Vec<f64> {
    let span = if high > low { high - low } else { low.abs().max(1.0) * 0.2 };
    let step = round_step(span / f64::from(wanted.max(1)));
    let first = (low / step + 1e-9).floor();
    let last = (high / step - 1e-9).ceil().max(first + 1.0);
    (0..=to_count(last - first)).map(|at| clean((first + f64::from(at)) * step)).collect()
}

/// Whole numbers from `first` to `last`, at most about `wanted` of them; both ends are kept.
pub(crate) fn step_ticks(first: u32, last: u32, wanted: u32) -> Vec<u32> {
    let span = last.saturating_sub(first);
    let step = to_count(round_step(f64::from(span) / f64::from(wanted.max(1)))).max(1);
    let mut all: Vec<u32> = (first.div_ceil(step)..=last / step)
        .map(|at| at * step)
        .filter(|at| *at >= first)
        .collect();
    if all.first() != Some(&first) && all.first().is_none_or(|at| at - first >= step / 2) {
        all.insert(0, first);
    }
    match all.last() {
        Some(end) if *end == last => {}
        // A last label too near to its neighbour takes its place.
        Some(end) if last - end < step.div_ceil(2) && all.len() > 1 => {
            all.pop();
            all.push(last);
        }
        _ => all.push(last),
    }
    all
}

/// A tick's label with as many places as the distance of the ticks asks for.
/// Thousands are written short.
pub(crate) fn tick_label(value: f64, step: f64) -> String {
    for (unit, sign) in [(1e9, " G"), (1e6, " M"), (1e3, " k")] {
        // A step of less than a hundredth of the unit would need more places than it saves.
        if step >= unit / 100.0 && value.abs() >= 10.0 * unit {
            return tick_label(value / unit, step / unit) + sign;
        }
    }
    let powers = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5];
    let places = powers.into_iter().position(|power| {
        let scaled = step * power;
        (scaled - scaled.round()).abs() < 1e-6
    });
    let places = places.unwrap_or(powers.len());
    grouped(&format!("{value:.places$}"))
}

/// Thin spaces between groups of three digits, from five digits on.
fn grouped(number: &str) -> String {
    let (sign, digits) = number.strip_prefix('-').map_or(("", number), |rest| ("\u{2212}", rest));
    let (whole, rest) = digits.find('.').map_or((digits, ""), |at| digits.split_at(at));
    if whole.len() < 5 {
        return format!("{sign}{whole}{rest}");
    }
    let mut out = String::from(sign);
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            out.push('\u{202f}');
        }
        out.push(digit);
    }
    out + rest
}

/// 1, 2 or 5 times a power of ten, not smaller than `rough`.
fn round_step(rough: f64) -> f64 {
    if rough.is_nan() || rough <= 0.0 {
        return 1.0;
    }
    let power = power_of_ten(rough);
    let wanted = [1.0, 2.0, 5.0, 10.0].into_iter().find(|step| step * power >= rough - 1e-12);
    wanted.unwrap_or(10.0) * power
}

/// The largest power of ten that is not above a positive number. Counted out: the functions for it are large.
fn power_of_ten(number: f64) -> f64 {
    let mut power = 1.0;
    while power * 10.0 <= number && power < 1e300 {
        power *= 10.0;
    }
    while power > number && power > 1e-300 {
        power /= 10.0;
    }
    power
}

fn clean(value: f64) -> f64 {
    (value * 1e9).round() / 1e9
}

/// A count as a float; counts on screens are far below 2^53.
#[expect(clippy::cast_precision_loss, reason = "a count shown to people is far below 2^53")]
pub(crate) fn count_f64(count: u64) -> f64 {
    count as f64
}

/// The nearest count; 0 for what is negative or no number.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped before")]
pub(crate) fn to_count(value: f64) -> u32 {
    if value.is_nan() { 0 } else { value.round().clamp(0.0, f64::from(u32::MAX)) as u32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_and_its_inverse_agree() {
        let scale = Scale { domain: (0.4, 0.8), range: (200.0, 0.0) };
        assert!((scale.at(0.6) - 100.0).abs() < 1e-9);
        assert!((scale.invert(scale.at(0.5)) - 0.5).abs() < 1e-6);
    }

    #[test]
    fn a_scale_over_one_value_draws_it_in_the_middle() {
        let scale = Scale { domain: (0.5, 0.5), range: (0.0, 100.0) };
        assert!((scale.at(0.5) - 50.0).abs() < 1e-9);
    }

    #[test]
    fn ticks_cover_the_values_with_round_numbers() {
        assert_eq!(ticks(0.475, 0.75, 4), [0.4, 0.5, 0.6, 0.7, 0.8]);
        assert_eq!(ticks(0.0, 3.0, 4), [0.0, 1.0, 2.0, 3.0]);
        assert_eq!(ticks(0.0, 0.0, 4).first(), Some(&0.0));
        assert!(ticks(0.7, 0.7, 4).len() >= 2);
    }

    #[test]
    fn step_ticks_keep_both_ends() {
        assert_eq!(step_ticks(0, 24, 8), [0, 5, 10, 15, 20, 24]);
        assert_eq!(step_ticks(0, 8, 8), [0, 1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(step_ticks(3, 3, 8), [3]);
        let many = step_ticks(0, 1_000_003, 8);
        assert_eq!((many.first(), many.last()), (Some(&0), Some(&1_000_003)));
        assert!(many.len() < 12);
    }

    #[test]
    fn labels_have_the_places_that_their_distance_needs() {
        assert_eq!(tick_label(0.5, 0.1), "0.5");
        assert_eq!(tick_label(0.25, 0.05), "0.25");
        assert_eq!(tick_label(12000.0, 2000.0), "12 k");
        assert_eq!(tick_label(8000.0, 2000.0), "8000");
        assert_eq!(tick_label(2_500_000.0, 500_000.0), "2500 k");
        assert_eq!(tick_label(-2.0, 1.0), "\u{2212}2");
    }
}
