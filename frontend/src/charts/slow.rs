//! Slow updates in the score chart: what was written into the skill between two epochs, and measured. Pure, no DOM.

use super::scale::{Frame, Scale};
use super::score::ScorePoint;
use skillopt_domain::epoch::{EpochAction, SlowUpdate};

/// A slow update: guidance that was written into the skill between two epochs, and measured.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SlowPoint {
    pub(crate) epoch: u32,
    /// The last step of the epoch.
    pub(crate) step: u32,
    pub(crate) action: EpochAction,
    /// The skill with the guidance, and the tasks behind its score.
    pub(crate) candidate: Option<f64>,
    pub(crate) n: Option<u32>,
    /// Current and best after it.
    pub(crate) current: Option<f64>,
    pub(crate) best: Option<f64>,
}

impl SlowPoint {
    fn of(update: &SlowUpdate, best: Option<f64>) -> Self {
        let is_best = update.action == EpochAction::AcceptNewBest;
        let verdict = update.verdict.as_ref();
        Self {
            epoch: update.epoch,
            step: update.step,
            action: update.action,
            candidate: verdict.and_then(|verdict| verdict.candidate_score),
            n: verdict.and_then(|verdict| verdict.candidate).map(|score| score.n),
            current: update.current_score,
            best: if is_best { update.current_score } else { best },
        }
    }

    /// Between its step and the next one, within the plot.
    pub(crate) fn x(&self, x: &Scale, frame: &Frame) -> f64 {
        x.at(f64::from(self.step) + 0.5).min(frame.end())
    }
}

/// Hangs a slow update at the step after which it came, or at the one before that is there in a thinned run. The
/// step after it started from its skill.
pub(crate) fn add_slow(points: &mut [ScorePoint], update: &SlowUpdate) {
    let next = points.partition_point(|point| point.step <= update.step);
    let Some(at) = next.checked_sub(1) else { return };
    points[at].slow = Some(SlowPoint::of(update, points[at].best));
    let follower = points.get_mut(next).filter(|_| update.action.is_accepted());
    if let Some(follower) = follower.filter(|follower| follower.step == update.step + 1) {
        let is_same_n = update.current_n == follower.n;
        follower.current_before = update.current_score.filter(|_| is_same_n);
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::super::score::pixels;
    use super::super::score::tests::point;
    use super::*;

    /// Of epoch 2, without guidance and without a verdict.
    pub(crate) fn slow_update(step: u32, action: EpochAction, current: f64) -> SlowUpdate {
        SlowUpdate {
            epoch: 2,
            step,
            action,
            content: String::new(),
            reasoning: String::new(),
            candidate: None,
            verdict: None,
            set: None,
            version: 1,
            current_score: Some(current),
            current_n: Some(40),
            skill_tokens: 0,
            wall_ms: 0,
            spend: skillopt_domain::spend::SpendByRole::default(),
            reason: String::new(),
        }
    }

    #[test]
    fn a_slow_update_hangs_at_its_step_and_the_next_step_starts_from_it() {
        let mut points = [point(1, 0.5), point(2, 0.6), point(3, 0.7)];
        add_slow(&mut points, &slow_update(2, EpochAction::AcceptNewBest, 0.8));
        assert_eq!((points[1].current_after(), points[1].best_after()), (Some(0.8), Some(0.8)));
        assert_eq!((points[1].current, points[2].current_before), (Some(0.6), Some(0.8)));
        add_slow(&mut points, &slow_update(3, EpochAction::ForceAccept, 0.4));
        assert_eq!((points[2].current_after(), points[2].best_after()), (Some(0.4), Some(0.7)));
        let mut thinned = [point(1, 0.5), point(9, 0.6)];
        add_slow(&mut thinned, &slow_update(4, EpochAction::Accept, 0.55));
        assert_eq!(thinned[0].slow.as_ref().map(|slow| slow.step), Some(4));
        assert_eq!(thinned[1].current_before, None);
    }

    #[test]
    fn a_line_that_holds_its_value_steps_at_a_slow_update() {
        let frame =
            Frame { width: 100.0, height: 100.0, left: 0.0, right: 0.0, top: 0.0, bottom: 0.0 };
        let (x, y) = (frame.x((0.0, 4.0)), frame.y((0.0, 1.0)));
        let mut points = [point(2, 0.5), point(4, 1.0)];
        add_slow(&mut points, &slow_update(2, EpochAction::Accept, 1.0));
        let line = pixels(&points, (&x, &y, &frame), |p| p.current, ScorePoint::current_after);
        assert_eq!(line, [Some((50.0, 50.0)), Some((62.5, 0.0)), Some((100.0, 0.0))]);
    }
}
