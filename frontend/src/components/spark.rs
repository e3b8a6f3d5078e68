//! The best score after each step as a small line in a table cell. Its geometry is pure.

use leptos::prelude::*;

const WIDTH: f64 = 88.0;
const HEIGHT: f64 = 20.0;
const PAD: f64 = 3.0;
const RIGHT: f64 = 84.0;

/// A line in steps: a score holds until the next step.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StepLine {
    /// SVG path data.
    pub(crate) path: String,
    /// Where the first value lies.
    pub(crate) base_y: f64,
    /// Where the line ends.
    pub(crate) end: (f64, f64),
}

/// The box in which a line is drawn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LineBox {
    pub(crate) left: f64,
    pub(crate) right: f64,
    pub(crate) top: f64,
    pub(crate) bottom: f64,
}

/// The line through `values` in a box; `None` without values. A level line lies at the bottom.
pub(crate) fn step_line(values: &[f64], area: LineBox) -> Option<StepLine> {
    let first = *values.first()?;
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let span = if high > low { high - low } else { 1.0 };
    let y = |value: f64| round(area.bottom - (value - low) / span * (area.bottom - area.top));
    let gap = (area.right - area.left) / as_f64(values.len().saturating_sub(1).max(1));
    let mut path = format!("M{} {}", round(area.left), y(first));
    let mut end = (area.left, y(first));
    for (at, value) in values.iter().enumerate().skip(1) {
        end = (round(area.left + gap * as_f64(at)), y(*value));
        path.push_str(&format!("H{}V{}", end.0, end.1));
    }
    Some(StepLine { path, base_y: y(first), end })
}

fn round(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

#[expect(clippy::cast_precision_loss, reason = "counts of points")]
fn as_f64(value: usize) -> f64 {
    value as f64
}

#[component]
pub(crate) fn Spark<'a>(values: &'a [f64]) -> impl IntoView + use<> {
    let area = LineBox { left: 2.0, right: RIGHT, top: PAD, bottom: HEIGHT - PAD };
    match step_line(values, area) {
        None => view! { <span class="table__dim">{crate::fmt::MISSING}</span> }.into_any(),
        Some(line) => view! {
            <svg class="spark" viewBox=format!("0 0 {WIDTH} {HEIGHT}") aria-hidden="true">
                <path class="spark__base" d=format!("M2 {}H{RIGHT}", line.base_y)/>
                <path class="spark__line" d=line.path/>
                <circle class="spark__end" cx=line.end.0 cy=line.end.1 r="2"/>
            </svg>
        }
        .into_any(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AREA: LineBox = LineBox { left: 0.0, right: 10.0, top: 0.0, bottom: 10.0 };

    #[test]
    fn a_score_holds_until_the_next_step() {
        let line = step_line(&[0.0, 1.0, 0.5], AREA).expect("has values");
        assert_eq!(line.path, "M0 10H5V0H10V5");
        assert_eq!(line.end, (10.0, 5.0));
    }

    #[test]
    fn a_level_line_lies_at_the_bottom_and_nothing_gives_nothing() {
        assert_eq!(step_line(&[0.5, 0.5], AREA).map(|line| line.end), Some((10.0, 10.0)));
        assert_eq!(step_line(&[], AREA), None);
    }
}
