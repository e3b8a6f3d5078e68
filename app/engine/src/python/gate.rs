//! The gate of the Python system: three numbers, no tolerance.

use skillopt_domain::config::Evaluation;
use skillopt_domain::score::MeanScore;
use skillopt_domain::verdict::{Action, TaskChange, Verdict};

/// What is compared: numbers in the gate's metric.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contest {
    pub(crate) candidate: f64,
    /// What stands as the score of the current skill; its text may have changed since.
    pub(crate) current: f64,
    pub(crate) best: f64,
    /// A candidate must win to stay.
    pub(crate) gated: bool,
}

/// The action, and whether the candidate is the best skill now. A tie is rejected. Without the gate every candidate
/// stays, under one word.
pub(crate) fn decide(contest: Contest) -> (Action, bool) {
    let beats_best = contest.candidate > contest.best;
    if !contest.gated {
        return (Action::ForceAccept, beats_best);
    }
    match (contest.candidate > contest.current, beats_best) {
        (true, true) => (Action::AcceptNewBest, true),
        (true, false) => (Action::Accept, false),
        (false, _) => (Action::Reject, false),
    }
}

/// The decision with its arithmetic. `changes` is `None` where nobody can say which tasks changed.
pub(crate) fn verdict(
    contest: Contest,
    (current, candidate): (Option<MeanScore>, MeanScore),
    changes: Option<Vec<TaskChange>>,
    (evaluation, reused): (&Evaluation, bool),
) -> Verdict {
    let (action, is_best) = decide(contest);
    let ending = match action {
        Action::AcceptNewBest => "accepted as new best",
        Action::Accept => "accepted",
        Action::ForceAccept if is_best => "kept because the gate is off, and the best so far",
        Action::ForceAccept => "kept because the gate is off",
        _ if contest.candidate < contest.current => "rejected, the score fell",
        _ => "rejected, a tie is no gain",
    };
    Verdict {
        action,
        metric: evaluation.gate_metric,
        mixed_weight: evaluation.gate_mixed_weight,
        current,
        candidate: Some(candidate),
        current_score: Some(contest.current),
        candidate_score: Some(contest.candidate),
        n_not_compared: 0,
        changes_unknown: changes.is_none(),
        changes: changes.unwrap_or_default(),
        reused,
        reason: format!(
            "{:.3} → {:.3} on {} tasks, by the rules of the Python system; {ending}",
            contest.current, contest.candidate, candidate.n
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case(0.75, 0.5, 0.5, true, Action::AcceptNewBest, true)]
    #[case(0.75, 0.5, 0.75, true, Action::Accept, false)]
    #[case(0.5, 0.5, 0.25, true, Action::Reject, false)]
    #[case(0.25, 0.5, 0.5, true, Action::Reject, false)]
    #[case(0.25, 0.5, 0.5, false, Action::ForceAccept, false)]
    #[case(0.75, 0.5, 0.5, false, Action::ForceAccept, true)]
    fn a_candidate_needs_a_strictly_higher_number(
        #[case] candidate: f64,
        #[case] current: f64,
        #[case] best: f64,
        #[case] gated: bool,
        #[case] action: Action,
        #[case] is_best: bool,
    ) {
        assert_eq!(decide(Contest { candidate, current, best, gated }), (action, is_best));
    }
}
