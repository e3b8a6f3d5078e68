//! How many calls to one endpoint may be in flight: refusals narrow it, answers widen it again. Pure.

/// The window of one endpoint. Invariant: 1 ≤ `limit` ≤ `size`.
#[derive(Debug)]
pub(super) struct Window {
    /// As configured.
    size: usize,
    /// Calls that may be in flight now.
    limit: usize,
    in_flight: usize,
    /// Answers since the limit last changed.
    answers: usize,
    /// Refusals without an answer between them.
    refusals_in_a_row: u32,
    /// Up to here each answer widens the window by one; above it, so many answers as the limit is wide do.
    steady_from: usize,
}

/// What a refusal says about the endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It answers others: too much was asked of it at once.
    Busy,
    /// It refused call after call, and none is left that it might answer.
    RefusesAll,
}

/// Fewest answers that widen a window by one, so that a narrow one is not tried at every other call.
const FEWEST_ANSWERS: usize = 4;

impl Window {
    pub(super) fn new(size: usize) -> Self {
        let size = size.max(1);
        Self { size, limit: size, in_flight: 0, answers: 0, refusals_in_a_row: 0, steady_from: 1 }
    }

    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// As configured.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    pub(super) fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// Another configured size. A window that was narrowed stays narrow.
    pub(super) fn resize(&mut self, size: usize) {
        let size = size.max(1);
        self.limit = if self.limit == self.size { size } else { self.limit.min(size) };
        self.size = size;
    }

    pub(super) fn started(&mut self) {
        self.in_flight += 1;
    }

    pub(super) fn ended(&mut self) {
        self.in_flight = self.in_flight.saturating_sub(1);
    }

    /// A call in flight was answered.
    pub(super) fn answered(&mut self) {
        self.refusals_in_a_row = 0;
        self.answers += 1;
        let needed = if self.limit < self.steady_from { 1 } else { self.limit.max(FEWEST_ANSWERS) };
        if self.limit < self.size && self.answers >= needed {
            self.limit += 1;
            self.answers = 0;
        }
    }

    /// A call in flight was refused. The others in flight were taken, as far as anyone knows, so the limit
    /// falls no further than to their number, and by an eighth at most.
    pub(super) fn refused(&mut self) -> Verdict {
        let others = self.in_flight.saturating_sub(1);
        if self.refusals_in_a_row == 0 {
            self.steady_from = self.limit / 2;
        }
        self.refusals_in_a_row += 1;
        self.answers = 0;
        let eighth_less = self.limit - self.limit / 8;
        self.limit = others.max(eighth_less).min(self.limit - 1).max(1);
        if others == 0 && self.refusals_in_a_row > 1 { Verdict::RefusesAll } else { Verdict::Busy }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starting(window: &mut Window, calls: usize) {
        (0..calls).for_each(|_| window.started());
    }

    /// One call ends, answered or refused.
    fn end(window: &mut Window, answered: bool) -> Option<Verdict> {
        let verdict = if answered {
            window.answered();
            None
        } else {
            Some(window.refused())
        };
        window.ended();
        verdict
    }

    #[test]
    fn a_burst_of_refusals_leaves_room_for_what_the_server_took() {
        let mut window = Window::new(16);
        starting(&mut window, 16);
        let verdicts: Vec<_> = (0..13).map(|_| end(&mut window, false)).collect();
        assert_eq!(window.limit(), 3);
        assert!(verdicts.iter().all(|verdict| *verdict == Some(Verdict::Busy)));
    }

    #[test]
    fn a_single_refusal_hardly_narrows_a_wide_window() {
        let mut window = Window::new(64);
        starting(&mut window, 2);
        assert_eq!(end(&mut window, false), Some(Verdict::Busy));
        assert_eq!(window.limit(), 56);
    }

    #[test]
    fn refusals_with_nothing_else_in_flight_are_a_server_that_refuses_all_from_the_second_on() {
        let mut window = Window::new(4);
        let one = |window: &mut Window, answered| {
            window.started();
            end(window, answered)
        };
        assert_eq!(one(&mut window, false), Some(Verdict::Busy));
        assert_eq!(one(&mut window, false), Some(Verdict::RefusesAll));
        one(&mut window, true);
        assert_eq!(one(&mut window, false), Some(Verdict::Busy));
        for _ in 0..20 {
            one(&mut window, false);
        }
        assert_eq!(window.limit(), 1);
    }

    #[test]
    fn answers_widen_it_fast_up_to_half_of_what_was_and_then_slowly() {
        let mut window = Window::new(16);
        starting(&mut window, 16);
        for _ in 0..16 {
            end(&mut window, false);
        }
        let limits: Vec<usize> = (0..20)
            .map(|_| {
                window.started();
                end(&mut window, true);
                window.limit()
            })
            .collect();
        assert_eq!(limits[..8], [2, 3, 4, 5, 6, 7, 8, 8]);
        assert_eq!(limits[14..], [9; 6]);
        (0..200).for_each(|_| {
            window.started();
            end(&mut window, true);
        });
        assert_eq!(window.limit(), 16);
    }

    #[test]
    fn another_size_widens_a_whole_window_and_keeps_a_narrow_one_narrow() {
        let mut window = Window::new(4);
        window.resize(8);
        assert_eq!(window.limit(), 8);
        window.started();
        end(&mut window, false);
        window.resize(32);
        assert_eq!(window.limit(), 7);
        window.resize(2);
        assert_eq!(window.limit(), 2);
    }
}
