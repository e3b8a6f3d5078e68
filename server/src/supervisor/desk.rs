//! Who works and who waits. Pure: no task, no store.

use skillopt_domain::ids::RunId;
use skillopt_domain::run::RunStatus;
use std::collections::{HashSet, VecDeque};

/// A run that waits for a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Waiting {
    pub(super) run: RunId,
    /// Its state when it was queued; in another one it is not started.
    pub(super) from: RunStatus,
}

#[derive(Debug)]
pub(super) struct Desk {
    // Invariant: no run is in it twice. One that is at work may wait already for its next attempt.
    waiting: VecDeque<Waiting>,
    at_work: HashSet<RunId>,
    max_parallel: usize,
}

impl Desk {
    pub(super) fn new(max_parallel: usize) -> Self {
        Self {
            waiting: VecDeque::new(),
            at_work: HashSet::new(),
            max_parallel: max_parallel.max(1),
        }
    }

    /// Lines a run up, unless it waits already.
    pub(super) fn enqueue(&mut self, waiting: Waiting) {
        if !self.waiting.iter().any(|other| other.run == waiting.run) {
            self.waiting.push_back(waiting);
        }
    }

    /// Gives the next run a place, if one is free. A run whose earlier attempt still ends is passed over.
    pub(super) fn next(&mut self) -> Option<Waiting> {
        if self.at_work.len() >= self.max_parallel {
            return None;
        }
        let is_free = |waiting: &Waiting| !self.at_work.contains(&waiting.run);
        let at = self.waiting.iter().position(is_free)?;
        let next = self.waiting.remove(at)?;
        self.at_work.insert(next.run.clone());
        Some(next)
    }

    /// Frees the place of a run.
    pub(super) fn leave(&mut self, run: &RunId) {
        self.at_work.remove(run);
    }

    /// Takes a run out of the line.
    pub(super) fn forget(&mut self, run: &RunId) {
        self.waiting.retain(|waiting| waiting.run != *run);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(n: u8) -> Waiting {
        let id = RunId::parse(&format!("00000000-0000-7000-8000-0000000000{n:02}"));
        Waiting { run: id.unwrap(), from: RunStatus::Queued }
    }

    #[test]
    fn places_are_given_in_order_and_never_more_than_there_are() {
        let mut desk = Desk::new(2);
        for n in 1..=3 {
            desk.enqueue(run(n));
            desk.enqueue(run(n));
        }
        assert_eq!(desk.next(), Some(run(1)));
        assert_eq!(desk.next(), Some(run(2)));
        assert_eq!(desk.next(), None);
        desk.leave(&run(2).run);
        assert_eq!(desk.next(), Some(run(3)));
        assert_eq!(desk.next(), None);
    }

    #[test]
    fn a_run_that_is_resumed_while_it_ends_waits_for_its_own_place() {
        let mut desk = Desk::new(2);
        desk.enqueue(run(1));
        assert_eq!(desk.next(), Some(run(1)));
        desk.enqueue(run(1));
        desk.enqueue(run(2));
        assert_eq!(desk.next(), Some(run(2)));
        desk.leave(&run(1).run);
        assert_eq!(desk.next(), Some(run(1)));
    }

    #[test]
    fn a_forgotten_run_gets_no_place() {
        let mut desk = Desk::new(1);
        desk.enqueue(run(1));
        desk.enqueue(run(2));
        desk.forget(&run(1).run);
        assert_eq!(desk.next(), Some(run(2)));
    }
}
