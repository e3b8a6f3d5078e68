//! SVG path texts for lines, steps and marks, and the smoothing of a line. Pure, no DOM.

use std::fmt::Write as _;

/// A point in pixels; `None` is a gap.
pub(crate) type Point = Option<(f64, f64)>;

/// A line through the points. A gap breaks it, so that nothing is drawn where nothing was measured.
pub(crate) fn line(points: &[Point]) -> String {
    let mut path = String::new();
    let mut pen_down = false;
    for point in points {
        match point {
            Some((x, y)) => {
                let _ = write!(path, "{}{x} {y}", if pen_down { 'L' } else { 'M' });
                pen_down = true;
            }
            None => pen_down = false,
        }
    }
    path
}

/// A line that holds each value until the next point. Gaps are bridged: the value still holds there.
pub(crate) fn steps(points: &[Point], until_x: Option<f64>) -> String {
    let mut path = String::new();
    let mut last_y = None;
    for (x, y) in points.iter().flatten() {
        match last_y {
            None => _ = write!(path, "M{x} {y}"),
            Some(last) if last == *y => _ = write!(path, "H{x}"),
            Some(_) => _ = write!(path, "H{x}V{y}"),
        }
        last_y = Some(*y);
    }
    if let (Some(_), Some(x)) = (last_y, until_x) {
        let _ = write!(path, "H{x}");
    }
    path
}

/// An exponential moving average that starts without a bias; `weight` 0 leaves the values as they are.
/// Missing values stay missing and do not count.
pub(crate) fn smooth(values: &[Option<f64>], weight: f64) -> Vec<Option<f64>> {
    let weight = weight.clamp(0.0, 0.99);
    let (mut sum, mut mass) = (0.0, 0.0);
    values
        .iter()
        .map(|value| {
            let value = (*value)?;
            sum = sum * weight + value * (1.0 - weight);
            mass = mass * weight + (1.0 - weight);
            Some(sum / mass)
        })
        .collect()
}

/// An upward triangle: accepted.
pub(crate) fn triangle(x: f64, y: f64, r: f64) -> String {
    format!("M{x} {:.1}l{:.2} {:.2}h{:.2}z", y - r, 1.1 * r, 1.75 * r, -2.2 * r)
}

/// A cross: rejected.
pub(crate) fn cross(x: f64, y: f64, k: f64) -> String {
    let d = 2.0 * k;
    format!("M{:.1} {:.1}l{d:.1} {d:.1}m0 -{d:.1}l-{d:.1} {d:.1}", x - k, y - k)
}

/// A diamond: not decided by the gate.
pub(crate) fn diamond(x: f64, y: f64, r: f64) -> String {
    format!("M{x} {:.1}l{r} {r}-{r} {r}-{r}-{r}z", y - r)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_breaks_a_line() {
        let points = [Some((0.0, 1.0)), Some((1.0, 2.0)), None, Some((3.0, 4.0))];
        assert_eq!(line(&points), "M0 1L1 2M3 4");
    }

    #[test]
    fn a_step_line_holds_its_value_over_a_gap_and_to_the_end() {
        let points = [Some((0.0, 5.0)), None, Some((2.0, 3.0)), Some((4.0, 3.0))];
        assert_eq!(steps(&points, Some(6.0)), "M0 5H2V3H4H6");
        assert_eq!(steps(&[None], Some(6.0)), "");
    }

    #[test]
    fn smoothing_starts_at_the_first_value_and_skips_gaps() {
        let smoothed = smooth(&[Some(1.0), None, Some(0.0)], 0.5);
        assert_eq!(smoothed[0], Some(1.0));
        assert_eq!(smoothed[1], None);
        assert!(smoothed[2].is_some_and(|value| (value - 1.0 / 3.0).abs() < 1e-9));
        assert_eq!(smooth(&[Some(0.3), Some(0.9)], 0.0), [Some(0.3), Some(0.9)]);
    }
}
