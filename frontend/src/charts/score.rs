//! The numbers of the score chart: one point a step, the start in front. Pure, no DOM.

use super::path::Point;
use super::scale::{Frame, Scale, ticks};
use super::slow::{SlowPoint, add_slow};
use skillopt_domain::event::StepSummary;
use skillopt_domain::verdict::Action;
use skillopt_domain::view::RunView;

/// One place on the x axis with everything that is known there.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ScorePoint {
    /// 0 for the start.
    pub(crate) step: u32,
    /// What became of the step; `None` for the start.
    pub(crate) action: Option<Action>,
    /// Candidate, current and best in the gate's metric.
    pub(crate) candidate: Option<f64>,
    pub(crate) current: Option<f64>,
    pub(crate) best: Option<f64>,
    /// Selection tasks behind the candidate, or behind the start.
    pub(crate) n: Option<u32>,
    /// The current skill before the step.
    pub(crate) current_before: Option<f64>,
    /// Selection tasks fixed and broken; `None` where that is not known.
    pub(crate) fixed: Option<u32>,
    pub(crate) broke: Option<u32>,
    /// How many edits could apply.
    pub(crate) budget: u32,
    /// The slow update after the step, where it ends an epoch.
    pub(crate) slow: Option<SlowPoint>,
}

impl ScorePoint {
    /// The current skill when everything at this place is over.
    pub(crate) fn current_after(&self) -> Option<f64> {
        self.slow.as_ref().map_or(self.current, |slow| slow.current)
    }

    /// The best skill when everything at this place is over.
    pub(crate) fn best_after(&self) -> Option<f64> {
        self.slow.as_ref().map_or(self.best, |slow| slow.best)
    }
}

/// The points of a run: its start, then its steps.
pub(crate) fn points(view: &RunView, steps: &[StepSummary]) -> Vec<ScorePoint> {
    let first = view.versions.first().filter(|version| version.score.is_some());
    let start = first.map(|version| ScorePoint {
        step: 0,
        action: None,
        candidate: version.score,
        current: version.score,
        best: version.score,
        n: version.n,
        current_before: None,
        fixed: None,
        broke: None,
        budget: 0,
        slow: None,
    });
    // The score before a step is known when the step before it is among them (a long run comes thinned), and
    // can be compared when it rests on as many tasks.
    let mut last =
        (0, first.and_then(|version| version.score), first.and_then(|version| version.n));
    let steps = steps.iter().map(|step| {
        let now = (step.step, step.current_score, step.current_n);
        let (number, current, n) = std::mem::replace(&mut last, now);
        of_step(step, current.filter(|_| number + 1 == step.step && n == step.n_selection))
    });
    let mut points: Vec<ScorePoint> = start.into_iter().chain(steps).collect();
    for update in &view.slow_updates {
        add_slow(&mut points, update);
    }
    points
}

fn of_step(step: &StepSummary, current_before: Option<f64>) -> ScorePoint {
    ScorePoint {
        step: step.step,
        action: Some(step.action),
        candidate: step.candidate_score,
        current: step.current_score,
        best: step.best_score,
        n: step.n_selection,
        current_before,
        fixed: step.n_fixed,
        broke: step.n_broke,
        budget: step.edit_budget,
        slow: None,
    }
}

/// Steps from a curve answer, with those that finished since then behind them.
pub(crate) fn merged(loaded: &[StepSummary], live: &[StepSummary]) -> Vec<StepSummary> {
    let last = loaded.last().map_or(0, |step| step.step);
    loaded.iter().chain(live.iter().filter(|step| step.step > last)).cloned().collect()
}

/// The domain of y and its ticks: all scores of the points, at most `wanted` steps.
pub(crate) fn score_ticks(points: &[ScorePoint], wanted: u32) -> Vec<f64> {
    let of_slow =
        |point: &ScorePoint| point.slow.as_ref().map(|slow| [slow.candidate, slow.current]);
    let scores = || {
        let own = points.iter().flat_map(|point| [point.candidate, point.current, point.best]);
        own.chain(points.iter().filter_map(of_slow).flatten()).flatten()
    };
    let low = scores().fold(f64::INFINITY, f64::min);
    let high = scores().fold(f64::NEG_INFINITY, f64::max);
    if low > high {
        return ticks(0.0, 1.0, wanted);
    }
    // A little air, yet never outside of what a score can be.
    ticks((low - 0.01).max(0.0), (high + 0.01).min(1.0), wanted)
}

/// Pixels of a line that holds its value, slow updates included.
pub(crate) fn pixels(
    points: &[ScorePoint],
    (x, y, frame): (&Scale, &Scale, &Frame),
    value: impl Fn(&ScorePoint) -> Option<f64>,
    value_after: impl Fn(&ScorePoint) -> Option<f64>,
) -> Vec<Point> {
    let mut pixels = Vec::with_capacity(points.len());
    for point in points {
        pixels.push(value(point).map(|v| (x.at(f64::from(point.step)), y.at(v))));
        if let Some(slow) = &point.slow {
            pixels.push(value_after(point).map(|v| (slow.x(x, frame), y.at(v))));
        }
    }
    pixels
}

/// The points within a zoom, both ends included.
pub(crate) fn within(points: &[ScorePoint], zoom: Option<(u32, u32)>) -> Vec<ScorePoint> {
    let Some((from, to)) = zoom else { return points.to_vec() };
    points.iter().filter(|point| (from..=to).contains(&point.step)).cloned().collect()
}

/// The steps under a brush from one pixel to another; `None` when it is too narrow to be meant.
pub(crate) fn brushed(x: &Scale, frame: &Frame, from: f64, to: f64) -> Option<(u32, u32)> {
    let (low, high) = (from.min(to).max(frame.left), from.max(to).min(frame.end()));
    if high - low < 6.0 {
        return None;
    }
    let first = super::scale::to_count(x.invert(low).floor());
    let last = super::scale::to_count(x.invert(high).ceil());
    (last > first).then_some((first, last))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(crate) fn point(step: u32, candidate: f64) -> ScorePoint {
        let score = Some(candidate);
        ScorePoint {
            step,
            action: None,
            candidate: score,
            current: score,
            best: score,
            n: Some(40),
            current_before: None,
            fixed: Some(0),
            broke: Some(0),
            budget: 0,
            slow: None,
        }
    }

    #[test]
    fn a_brush_zooms_to_whole_steps_and_a_click_does_not() {
        let frame =
            Frame { width: 100.0, height: 50.0, left: 0.0, right: 0.0, top: 0.0, bottom: 0.0 };
        let x = frame.x((0.0, 10.0));
        assert_eq!(brushed(&x, &frame, 51.0, 24.0), Some((2, 6)));
        assert_eq!(brushed(&x, &frame, 50.0, 52.0), None);
        assert_eq!(brushed(&x, &frame, -40.0, 400.0), Some((0, 10)));
    }

    #[test]
    fn scores_never_leave_their_range() {
        let all = score_ticks(&[point(0, 0.0), point(1, 1.0)], 4);
        assert_eq!((all.first(), all.last()), (Some(&0.0), Some(&1.0)));
        assert_eq!(score_ticks(&[], 4).first(), Some(&0.0));
    }

    #[test]
    fn a_zoom_keeps_both_ends() {
        let points = [point(1, 0.5), point(2, 0.6), point(3, 0.7)];
        assert_eq!(within(&points, Some((2, 3))).len(), 2);
        assert_eq!(within(&points, None).len(), 3);
    }
}
