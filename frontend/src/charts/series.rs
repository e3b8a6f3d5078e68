//! A small chart's series and their geometry: lines, steps, stacked bars, stems. Pure, no DOM.

use super::csv::{Table, number};
use super::path::{self, Point};
use super::scale::{Frame, Scale, ticks};
use std::fmt::Write as _;

/// How a series is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Line,
    /// A value holds until the next one.
    Steps,
    /// Stands on the bars of the series before it.
    Bars,
    /// A thin line with a square on top, for what is rare.
    Stems,
}

/// Values over steps; each series of a chart has the same steps.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Series {
    pub(crate) name: &'static str,
    /// `data-series`.
    pub(crate) tone: &'static str,
    /// `data-dash`.
    pub(crate) dash: Option<&'static str>,
    pub(crate) shape: Shape,
    pub(crate) values: Vec<Option<f64>>,
}

/// A limit that is drawn as a dashed line with its name.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Limit {
    pub(crate) value: f64,
    pub(crate) name: String,
}

/// What a small chart shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SmallPlot {
    pub(crate) steps: Vec<u32>,
    pub(crate) series: Vec<Series>,
    pub(crate) limit: Option<Limit>,
}

impl SmallPlot {
    /// Only the steps of a zoom.
    pub(crate) fn within(&self, zoom: Option<(u32, u32)>) -> Self {
        let Some((from, to)) = zoom else { return self.clone() };
        let keep: Vec<usize> =
            (0..self.steps.len()).filter(|at| (from..=to).contains(&self.steps[*at])).collect();
        let series = self.series.iter().map(|series| Series {
            values: keep.iter().map(|at| series.values[*at]).collect(),
            ..series.clone()
        });
        Self {
            series: series.collect(),
            steps: keep.iter().map(|at| self.steps[*at]).collect(),
            limit: self.limit.clone(),
        }
    }

    /// Ticks that cover all values; bars and stems start at zero.
    pub(crate) fn ticks(&self, wanted: u32) -> Vec<f64> {
        let stands_on_zero =
            self.series.iter().any(|s| matches!(s.shape, Shape::Bars | Shape::Stems));
        let lines = self
            .series
            .iter()
            .filter(|s| s.shape != Shape::Bars)
            .flat_map(|s| s.values.iter().flatten().copied());
        let limit = self.limit.as_ref().map(|limit| limit.value);
        let all: Vec<f64> =
            lines.chain(self.stacks()).chain(limit).filter(|v| v.is_finite()).collect();
        if all.is_empty() {
            return ticks(0.0, 1.0, wanted);
        }
        let low =
            if stands_on_zero { 0.0 } else { all.iter().copied().fold(f64::INFINITY, f64::min) };
        let high = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        ticks(low, high, wanted)
    }

    /// Heights of the stacked bars.
    fn stacks(&self) -> impl Iterator<Item = f64> + '_ {
        let bars = || self.series.iter().filter(|series| series.shape == Shape::Bars);
        let has_bars = bars().next().is_some();
        (0..if has_bars { self.steps.len() } else { 0 })
            .map(move |at| bars().filter_map(|series| series.values[at]).sum())
    }

    /// The path of one series.
    pub(crate) fn path(&self, index: usize, x: &Scale, y: &Scale) -> String {
        let series = &self.series[index];
        match series.shape {
            Shape::Line => path::line(&self.pixels(series, x, y)),
            Shape::Steps => path::steps(&self.pixels(series, x, y), None),
            Shape::Bars => self.bars(index, x, y),
            Shape::Stems => self.stems(series, x, y),
        }
    }

    fn pixels(&self, series: &Series, x: &Scale, y: &Scale) -> Vec<Point> {
        let pairs = self.steps.iter().zip(&series.values);
        pairs.map(|(step, value)| value.map(|v| (x.at(f64::from(*step)), y.at(v)))).collect()
    }

    fn bars(&self, index: usize, x: &Scale, y: &Scale) -> String {
        let width = bar_width(x);
        let mut out = String::new();
        for (at, step) in self.steps.iter().enumerate() {
            let below: f64 = self.series[..index]
                .iter()
                .filter(|series| series.shape == Shape::Bars)
                .filter_map(|series| series.values[at])
                .sum();
            let Some(value) = self.series[index].values[at].filter(|value| *value > 0.0) else {
                continue;
            };
            let (top, foot) = (y.at(below + value), y.at(below));
            let left = x.at(f64::from(*step)) - width / 2.0;
            let _ = write!(out, "M{left:.1} {foot}V{top}h{width:.1}V{foot}z");
        }
        out
    }

    fn stems(&self, series: &Series, x: &Scale, y: &Scale) -> String {
        let foot = y.range.0;
        let mut out = String::new();
        for (step, value) in self.steps.iter().zip(&series.values) {
            let Some(value) = value.filter(|value| *value > 0.0) else { continue };
            let (at, top) = (x.at(f64::from(*step)), y.at(value));
            let _ = write!(
                out,
                "M{:.1} {foot}V{top}h1.5V{foot}zM{:.1} {:.1}h5v5h-5z",
                at - 0.75,
                at - 2.5,
                top - 2.5
            );
        }
        out
    }

    /// The value of a series at a step.
    pub(crate) fn value_at(&self, index: usize, step: u32) -> Option<f64> {
        let at = self.steps.binary_search(&step).ok()?;
        self.series[index].values[at]
    }

    /// Number of the last step that has any value.
    pub(crate) fn last_step(&self) -> Option<u32> {
        let has_value = |at: &usize| self.series.iter().any(|series| series.values[*at].is_some());
        (0..self.steps.len()).rev().find(has_value).map(|at| self.steps[at])
    }

    /// The numbers as a table.
    pub(crate) fn table(&self) -> Table {
        let head =
            std::iter::once("step").chain(self.series.iter().map(|s| s.name)).map(str::to_owned);
        let rows = self.steps.iter().enumerate().map(|(at, step)| {
            std::iter::once(step.to_string())
                .chain(self.series.iter().map(|series| number(series.values[at])))
                .collect()
        });
        Table { head: head.collect(), rows: rows.collect() }
    }
}

/// Bars leave air between them while there is room, and never vanish.
fn bar_width(x: &Scale) -> f64 {
    let gap = (x.at(x.domain.0 + 1.0) - x.at(x.domain.0)).abs();
    (gap * 0.6).clamp(1.0, 6.0)
}

/// The frame of a small chart.
pub(crate) fn small_frame(width: f64) -> Frame {
    Frame { width, height: 132.0, left: 34.0, right: 6.0, top: 8.0, bottom: 20.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bars(name: &'static str, values: &[f64]) -> Series {
        let values = values.iter().copied().map(Some).collect();
        Series { name, tone: "1", dash: None, shape: Shape::Bars, values }
    }

    fn plot() -> SmallPlot {
        let series = vec![bars("target", &[2.0, 3.0]), bars("optimizer", &[1.0, 4.0])];
        SmallPlot { steps: vec![1, 2], series, limit: None }
    }

    #[test]
    fn bars_stand_on_each_other_and_on_zero() {
        let ticks = plot().ticks(3);
        assert_eq!(ticks.first(), Some(&0.0));
        assert!(ticks.last().is_some_and(|top| *top >= 7.0));
        let x = Scale { domain: (0.0, 2.0), range: (0.0, 20.0) };
        let y = Scale { domain: (0.0, 10.0), range: (100.0, 0.0) };
        assert_eq!(plot().path(1, &x, &y), "M7.0 80V70h6.0V80zM17.0 70V30h6.0V70z");
    }

    #[test]
    fn a_zoom_keeps_series_and_steps_together() {
        let zoomed = plot().within(Some((2, 9)));
        assert_eq!(zoomed.steps, [2]);
        assert_eq!(zoomed.value_at(1, 2), Some(4.0));
        assert_eq!(zoomed.value_at(1, 1), None);
    }

    #[test]
    fn a_line_does_not_start_at_zero_but_covers_its_limit() {
        let mut plot = plot();
        plot.series = vec![Series { shape: Shape::Steps, ..bars("tokens", &[410.0, 640.0]) }];
        plot.limit = Some(Limit { value: 800.0, name: "limit 800".into() });
        let ticks = plot.ticks(3);
        assert!(ticks[0] > 0.0 && ticks.last().is_some_and(|top| *top >= 800.0), "{ticks:?}");
    }

    #[test]
    fn nothing_is_a_plot_too() {
        let empty = SmallPlot::default();
        assert_eq!(empty.last_step(), None);
        assert_eq!(empty.ticks(2).first(), Some(&0.0));
        assert_eq!(plot().table().rows[1], ["2", "3", "4"]);
    }
}
