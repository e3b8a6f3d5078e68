//! Lines of several runs over one axis: steps, calls, tokens or money. Pure numbers, no DOM.

use super::csv::{Table, number};
use super::path::{self, Point};
use super::scale::{Frame, Scale, count_f64, ticks};
use skillopt_domain::compare::CompareCurve;

/// What the x axis counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Over {
    Steps,
    Calls,
    Tokens,
    Spend,
}

impl Over {
    pub(crate) const ALL: [Self; 4] = [Self::Steps, Self::Calls, Self::Tokens, Self::Spend];

    /// The word in the address.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Steps => "step",
            Self::Calls => "calls",
            Self::Tokens => "tokens",
            Self::Spend => "spend",
        }
    }

    pub(crate) fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|over| over.word() == word)
    }
}

/// Whole units of the x axis; money counts in hundredths of a cent.
const MICROS_PER_UNIT: u64 = 100;

/// One run's line.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OverlayLine {
    pub(crate) name: String,
    /// `data-series` and `data-dash`.
    pub(crate) tone: &'static str,
    pub(crate) dash: &'static str,
    /// Places on the x axis, rising, with the best score there.
    points: Vec<(u32, Option<f64>)>,
}

/// All lines, over one axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Overlay {
    pub(crate) lines: Vec<OverlayLine>,
    /// Runs without a known place on this axis.
    pub(crate) left_out: Vec<String>,
}

/// Tone and dash of the nth run: tones repeat after eight, with another dash.
pub(crate) fn stroke(at: usize) -> (&'static str, &'static str) {
    const TONES: [&str; 8] = ["1", "2", "3", "4", "5", "6", "7", "8"];
    const DASHES: [&str; 4] = ["1", "2", "3", "4"];
    (TONES[at % 8], DASHES[(at + at / 8) % 4])
}

impl Overlay {
    pub(crate) fn of(runs: &[(String, &CompareCurve)], over: Over) -> Self {
        let mut overlay = Self::default();
        for (at, (name, curve)) in runs.iter().enumerate() {
            let places = places(curve, over);
            if places.is_empty() {
                overlay.left_out.push(name.clone());
                continue;
            }
            let (tone, dash) = stroke(at);
            let points = places.into_iter().zip(curve.best.iter().copied()).collect();
            overlay.lines.push(OverlayLine { name: name.clone(), tone, dash, points });
        }
        overlay
    }

    /// Last place of all lines, at least 1.
    pub(crate) fn end(&self) -> u32 {
        let ends = self.lines.iter().filter_map(|line| line.points.last());
        ends.map(|(place, _)| *place).max().unwrap_or_default().max(1)
    }

    /// All places, rising, each once.
    pub(crate) fn places(&self) -> Vec<u32> {
        let mut all = std::collections::BTreeSet::new();
        all.extend(self.lines.iter().flat_map(|line| line.points.iter().map(|(place, _)| *place)));
        all.into_iter().collect()
    }

    pub(crate) fn y_ticks(&self) -> Vec<f64> {
        let values = || {
            let points = self.lines.iter().flat_map(|line| &line.points);
            points.filter_map(|(_, value)| *value).filter(|value| value.is_finite())
        };
        if values().next().is_none() {
            return ticks(0.0, 1.0, 4);
        }
        let (low, high) =
            (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
        ticks(low, high, 4)
    }

    /// The numbers as a table: places by runs.
    pub(crate) fn table(&self, over: Over) -> Table {
        let head = std::iter::once(over.word().to_owned())
            .chain(self.lines.iter().map(|line| line.name.clone()))
            .collect();
        let rows = self.places().into_iter().map(|place| {
            let values = self.lines.iter().map(|line| number(line.at(place)));
            std::iter::once(place_words(over, place)).chain(values).collect()
        });
        Table { head, rows: rows.collect() }
    }
}

impl OverlayLine {
    /// The value that holds at a place; `None` before the first and after the last one.
    pub(crate) fn at(&self, place: u32) -> Option<f64> {
        let last = self.points.last().map(|(last, _)| *last)?;
        let known = self.points.iter().take_while(|(at, _)| *at <= place);
        known.filter_map(|(_, value)| *value).last().filter(|_| place <= last)
    }

    pub(crate) fn path(&self, x: &Scale, y: &Scale) -> String {
        let pixels: Vec<Point> = self
            .points
            .iter()
            .map(|(place, value)| value.map(|value| (x.at(f64::from(*place)), y.at(value))))
            .collect();
        path::steps(&pixels, None)
    }

    /// The last known value and its place.
    pub(crate) fn last(&self) -> Option<(u32, f64)> {
        self.points.iter().rev().find_map(|(place, value)| Some((*place, (*value)?)))
    }
}

/// Places of a curve; none where they are not known.
fn places(curve: &CompareCurve, over: Over) -> Vec<u32> {
    let whole = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
    match over {
        Over::Steps => curve.steps.clone(),
        Over::Calls if curve.calls.last() == Some(&0) && curve.steps.len() > 1 => Vec::new(),
        Over::Calls => curve.calls.iter().copied().map(whole).collect(),
        Over::Tokens if curve.tokens.last() == Some(&0) && curve.steps.len() > 1 => Vec::new(),
        Over::Tokens => curve.tokens.iter().copied().map(whole).collect(),
        Over::Spend => {
            let known: Option<Vec<u64>> = curve.cost_usd_micros.iter().copied().collect();
            let units = |micros: u64| whole(micros / MICROS_PER_UNIT);
            known.unwrap_or_default().into_iter().map(units).collect()
        }
    }
}

/// A place as people read it.
pub(crate) fn place_words(over: Over, place: u32) -> String {
    match over {
        Over::Steps => place.to_string(),
        Over::Calls | Over::Tokens => crate::fmt::short(u64::from(place)),
        Over::Spend => {
            let cents = count_f64(u64::from(place)) / 1e4;
            if place == 0 { "$0".to_owned() } else { format!("${cents:.2}") }
        }
    }
}

/// The frame of the chart.
pub(crate) fn overlay_frame(width: f64) -> Frame {
    Frame { width, height: 280.0, left: 44.0, right: 12.0, top: 14.0, bottom: 34.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(best: &[Option<f64>], cost: &[Option<u64>]) -> CompareCurve {
        let n = u32::try_from(best.len()).expect("few");
        CompareCurve {
            steps: (0..n).collect(),
            best: best.to_vec(),
            current: best.to_vec(),
            calls: (0..n).map(|step| u64::from(step) * 10).collect(),
            tokens: vec![0; best.len()],
            cost_usd_micros: cost.to_vec(),
        }
    }

    #[test]
    fn a_line_holds_its_value_and_ends_with_its_run() {
        let known = [Some(0), Some(20_000), None];
        let short = curve(&[Some(0.5), None, Some(0.75)], &known);
        let overlay = Overlay::of(&[("a".into(), &short)], Over::Calls);
        let line = &overlay.lines[0];
        assert_eq!(
            (line.at(0), line.at(15), line.at(20), line.at(21)),
            (Some(0.5), Some(0.5), Some(0.75), None)
        );
        assert_eq!((line.last(), overlay.end()), (Some((20, 0.75)), 20));
        assert_eq!(overlay.places(), [0, 10, 20]);
        assert_eq!(overlay.table(Over::Calls).rows[1], ["10", "0.5"]);
    }

    #[test]
    fn a_run_without_known_money_or_tokens_is_named_and_not_drawn() {
        let one = curve(&[Some(0.5), Some(0.6)], &[Some(0), None]);
        let other = curve(&[Some(0.5), Some(0.6)], &[Some(0), Some(20_000)]);
        let runs = [("a".to_owned(), &one), ("b".to_owned(), &other)];
        let overlay = Overlay::of(&runs, Over::Spend);
        assert_eq!((overlay.left_out, overlay.lines.len()), (vec!["a".to_owned()], 1));
        assert_eq!(overlay.lines[0].tone, "2", "a run keeps its colour");
        assert_eq!(place_words(Over::Spend, 200), "$0.02");
        assert_eq!(Overlay::of(&runs, Over::Tokens).left_out.len(), 2);
    }

    #[test]
    fn twenty_runs_have_twenty_strokes() {
        let strokes: std::collections::BTreeSet<_> = (0..20).map(stroke).collect();
        assert_eq!(strokes.len(), 20);
    }

    #[test]
    fn axes_are_found_by_their_words() {
        for over in Over::ALL {
            assert_eq!(Over::parse(over.word()), Some(over));
        }
    }
}
