//! How deep a budget of tokens lets an experiment go. An estimate for planning: what holds is the meter. Pure.

/// Tokens of one attempt, for planning.
const TOKENS_A_ROLLOUT: u64 = 1500;
/// Attempts at a task in a night: before, in training, and for the candidate.
const ROLLOUTS_A_TASK: u64 = 3;
const MOST_NIGHTS: u64 = 4;
const MOST_ROLLOUTS: u64 = 5;

/// Nights and attempts a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Depth {
    /// Nights, 1 to 4.
    pub nights: u32,
    /// Attempts at each training task, 1 to 5.
    pub rollouts: u32,
}

/// The depth that `tokens` pay for with `n_tasks` tasks.
#[must_use]
pub fn plan_depth(tokens: u64, n_tasks: u32) -> Depth {
    let affordable = tokens / TOKENS_A_ROLLOUT;
    let a_night = (ROLLOUTS_A_TASK * u64::from(n_tasks)).max(1);
    let nights = (affordable / a_night).clamp(1, MOST_NIGHTS);
    let rollouts = (affordable / (nights * a_night)).clamp(1, MOST_ROLLOUTS);
    let small = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
    Depth { nights: small(nights), rollouts: small(rollouts) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case(0, 10, 1, 1)]
    #[case(45_000, 10, 1, 1)]
    #[case(90_000, 10, 2, 1)]
    #[case(360_000, 10, 4, 2)]
    #[case(10_000_000, 10, 4, 5)]
    #[case(1500, 0, 1, 1)]
    fn nights_come_first_and_then_rollouts(
        #[case] tokens: u64,
        #[case] n_tasks: u32,
        #[case] nights: u32,
        #[case] rollouts: u32,
    ) {
        assert_eq!(plan_depth(tokens, n_tasks), Depth { nights, rollouts });
    }
}
