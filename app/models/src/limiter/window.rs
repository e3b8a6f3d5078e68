//! How many calls to one endpoint may be in flight: refusals narrow it, answers widen it again. Pure.
//!
//! A single refusal may be chance: many providers refuse one call in some dozens whatever is in flight. So it takes two in
//! a row, or a large share, to narrow the window. And each refused call costs its task the wait that the provider named,
//! so a size that was refused is tried again after a time that doubles.

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
    /// Refusals since the limit last changed.
    refusals: usize,
    /// Refusals without an answer between them.
    refusals_in_a_row: u32,
    /// Up to here each answer widens the window by one; above it that takes many.
    steady_from: usize,
    /// The limit was raised above what is known to be taken, and is not proven yet.
    is_try: bool,
    /// Grows with each try in vain.
    patience: usize,
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
/// After so many answers a narrow window is tried whatever came of it before: the endpoint may have got more room.
const MOST_ANSWERS: usize = 256;

impl Window {
    pub(super) fn new(size: usize) -> Self {
        let size = size.max(1);
        Self {
            size,
            limit: size,
            in_flight: 0,
            answers: 0,
            refusals: 0,
            refusals_in_a_row: 0,
            steady_from: 1,
            is_try: false,
            patience: 1,
        }
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
        if self.refusals_in_a_row > 1 && self.in_flight > 1 {
            // Others are still being answered: this is what the endpoint takes.
            self.steady_from = self.steady_from.min(self.limit);
        }
        self.refusals_in_a_row = 0;
        self.answers += 1;
        let proof = self.limit.max(FEWEST_ANSWERS);
        if self.is_try && self.answers >= proof {
            self.is_try = false;
            self.patience = 1;
        }
        let is_steady = self.limit >= self.steady_from;
        let most = MOST_ANSWERS.max(self.limit);
        let needed = if is_steady { proof.saturating_mul(self.patience).min(most) } else { 1 };
        if self.limit < self.size && self.answers >= needed {
            self.change(self.limit + 1);
            self.is_try = is_steady;
        }
    }

    /// A call in flight was refused. The others in flight were taken, as far as anyone knows, so the limit
    /// falls no further than to their number, and by an eighth at most.
    pub(super) fn refused(&mut self) -> Verdict {
        let others = self.in_flight.saturating_sub(1);
        self.refusals_in_a_row += 1;
        self.refusals += 1;
        if self.is_crowded() {
            if self.refusals_in_a_row <= 2 {
                self.steady_from = self.limit / 2;
            }
            self.patience = if self.is_try { self.patience.saturating_mul(2) } else { 1 };
            self.is_try = false;
            let eighth_less = self.limit - self.limit / 8;
            self.change(others.max(eighth_less).min(self.limit - 1).max(1));
        }
        if others == 0 && self.refusals_in_a_row > 1 { Verdict::RefusesAll } else { Verdict::Busy }
    }

    /// The refusals are more than chance.
    fn is_crowded(&self) -> bool {
        self.refusals_in_a_row > 1 || (self.refusals > 2 && self.refusals * 3 > self.answers)
    }

    fn change(&mut self, limit: usize) {
        self.limit = limit;
        self.answers = 0;
        self.refusals = 0;
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
        // No fast return to what was refused.
        (0..3).for_each(|_| _ = end(&mut window, true));
        assert_eq!(window.limit(), 3);
        assert!(verdicts.iter().all(|verdict| *verdict == Some(Verdict::Busy)));
    }

    #[test]
    fn a_refusal_now_and_then_does_not_narrow_it_and_two_in_a_row_hardly_do() {
        let mut window = Window::new(64);
        for at in 0..400 {
            starting(&mut window, 2);
            end(&mut window, at % 20 != 0);
            end(&mut window, true);
        }
        assert_eq!(window.limit(), 64);
        starting(&mut window, 2);
        end(&mut window, false);
        assert_eq!(end(&mut window, false), Some(Verdict::RefusesAll));
        assert_eq!(window.limit(), 56);
    }

    #[test]
    fn refusals_that_are_many_narrow_it_also_when_answers_come_between_them() {
        let mut window = Window::new(8);
        for at in 0..6 {
            starting(&mut window, 3);
            (0..2).for_each(|_| _ = end(&mut window, at % 2 == 0));
            end(&mut window, true);
        }
        assert!(window.limit() < 8, "{window:?}");
    }

    /// A server that takes `room` calls at once: refused are those above, while the others are being answered.
    fn crowd(window: &mut Window, room: usize, calls: usize) -> usize {
        let mut refusals = 0;
        for _ in 0..calls {
            while window.in_flight() < window.limit() {
                window.started();
                if window.in_flight() > room {
                    refusals += 1;
                    end(window, false);
                }
            }
            end(window, true);
        }
        refusals
    }

    #[test]
    fn a_size_that_is_refused_is_tried_again_more_and_more_rarely() {
        let mut window = Window::new(64);
        let early = crowd(&mut window, 3, 1000);
        assert_eq!(window.limit(), 3);
        let late = crowd(&mut window, 3, 1000);
        assert!(late <= 10 && early < 150, "{early}, then {late}");
        // More room is found, and then at once as fast as ever.
        let found = crowd(&mut window, 24, 1000);
        assert!(window.limit() >= 24 && found < 20, "{found}, {window:?}");
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
        starting(&mut window, 2);
        end(&mut window, false);
        end(&mut window, false);
        window.resize(32);
        assert_eq!(window.limit(), 7);
        window.resize(2);
        assert_eq!(window.limit(), 2);
    }
}
