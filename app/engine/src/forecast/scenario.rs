//! What only models can tell: how much fails, how much is proposed, measured and kept. The likely course, and the courses
//! between which a run will hardly not lie.

/// A course that a run may take. Shares lie in `0..=1`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scenario {
    /// Attempts on train tasks that fail.
    pub(super) failed: f64,
    /// Analyst calls that propose something.
    pub(super) proposes: f64,
    /// Steps, and guidance between epochs, whose candidate is measured.
    pub(super) measured: f64,
    /// Candidates that stay.
    pub(super) accepted: f64,
    /// Tasks of a comparison between epochs whose outcome changed, and which are tried once more.
    pub(super) changed: f64,
    /// Optimizer calls that must be asked twice.
    pub(super) reasked: f64,
    /// Calls that are made only where they are needed: the ranking of more items than the budget allows, the condensing
    /// of notes, the test of a last skill that is not the best.
    pub(super) needed: f64,
    /// Items of one reply, as a share of those that are allowed.
    pub(super) items: f64,
    /// Where in the ranges of lengths and times the run lies.
    pub(super) end: End,
}

/// One end of the ranges, or the middle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Low,
    Likely,
    High,
}

impl End {
    /// A factor of at least 1 taken towards this end.
    pub(super) fn scale(self, doubt: f64) -> f64 {
        match self {
            Self::Low => 1.0 / doubt,
            Self::Likely => 1.0,
            Self::High => doubt,
        }
    }

    pub(super) fn pick(self, [low, likely, high]: [f64; 3]) -> f64 {
        match self {
            Self::Low => low,
            Self::Likely => likely,
            Self::High => high,
        }
    }
}

/// What is taken for the middle.
pub(super) const LIKELY: Scenario = Scenario {
    failed: 0.5,
    proposes: 0.6,
    measured: 0.92,
    accepted: 0.3,
    changed: 0.15,
    reasked: 0.03,
    needed: 0.5,
    items: 0.5,
    end: End::Likely,
};

const LEAST: Scenario = Scenario {
    failed: 0.5,
    proposes: 0.3,
    measured: 0.55,
    accepted: 0.1,
    changed: 0.0,
    reasked: 0.0,
    needed: 0.0,
    items: 0.2,
    end: End::Low,
};

const MOST: Scenario = Scenario {
    failed: 0.5,
    proposes: 1.0,
    measured: 1.0,
    accepted: 0.9,
    changed: 0.6,
    reasked: 0.15,
    needed: 1.0,
    items: 1.0,
    end: End::High,
};

/// Shares of failures for which the numbers of minibatches and merges are looked at: they do not rise with it evenly.
const FAILED: [f64; 5] = [0.05, 0.25, 0.5, 0.75, 0.95];

/// The courses at the ends.
pub(super) fn extremes() -> impl Iterator<Item = Scenario> {
    [LEAST, MOST].into_iter().flat_map(|end| FAILED.map(|failed| Scenario { failed, ..end }))
}
