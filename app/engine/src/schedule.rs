//! The edit budget over the run: the textual learning rate.
//!
//! Values equal the Python system's, which rounds half to even. The position is the step number, so that a
//! skipped step moves the schedule too and a resumed run sees the same budgets.

use skillopt_domain::config::{LrScheduler, Optimizer};

/// The budget of step `step` (from 1) of `total_steps`, at least 1.
#[must_use]
pub fn edit_budget(config: &Optimizer, step: u32, total_steps: u32) -> u32 {
    let (high, low) = (config.learning_rate, config.min_learning_rate);
    if total_steps <= 1 {
        return high;
    }
    let position = f64::from(step.min(total_steps)) / f64::from(total_steps);
    let span = f64::from(high) - f64::from(low);
    let value = match config.lr_scheduler {
        LrScheduler::Constant => return high,
        LrScheduler::Linear => f64::from(high) - span * position,
        LrScheduler::Cosine => {
            f64::from(low) + 0.5 * span * (1.0 + (std::f64::consts::PI * position).cos())
        }
    };
    rounded(value).max(low)
}

/// Rounds half to even. `value` lies between two budgets, so that it is small and not negative.
fn rounded(value: f64) -> u32 {
    format!("{:.0}", value.round_ties_even()).parse().unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use skillopt_domain::config::{Longitudinal, LrControl, SlowUpdateMode, UpdateMode};

    fn config(high: u32, low: u32, lr_scheduler: LrScheduler) -> Optimizer {
        Optimizer {
            learning_rate: high,
            min_learning_rate: low,
            lr_scheduler,
            lr_control: LrControl::Fixed,
            update_mode: UpdateMode::Patch,
            slow_update: SlowUpdateMode::Off,
            longitudinal: Longitudinal::default(),
            meta_skill: false,
            skill_aware: None,
            rewrite_max_tokens: 64_000,
            rewrite_effort: None,
            max_context_tokens: 100_000,
            prompts_dir: String::new(),
        }
    }

    #[rstest]
    #[case(LrScheduler::Linear, 10, 4)]
    #[case(LrScheduler::Linear, 11, 3)]
    #[case(LrScheduler::Linear, 29, 3)]
    #[case(LrScheduler::Linear, 30, 2)]
    #[case(LrScheduler::Linear, 40, 2)]
    #[case(LrScheduler::Cosine, 13, 4)]
    #[case(LrScheduler::Cosine, 14, 3)]
    #[case(LrScheduler::Cosine, 26, 3)]
    #[case(LrScheduler::Cosine, 27, 2)]
    #[case(LrScheduler::Constant, 40, 4)]
    fn budgets_from_4_to_2_over_40_steps(
        #[case] kind: LrScheduler,
        #[case] step: u32,
        #[case] expect: u32,
    ) {
        assert_eq!(edit_budget(&config(4, 2, kind), step, 40), expect);
    }

    #[test]
    fn cosine_from_16_to_2_over_10_steps() {
        let config = config(16, 2, LrScheduler::Cosine);
        let budgets: Vec<u32> = (1..=10).map(|step| edit_budget(&config, step, 10)).collect();
        assert_eq!(budgets, [16, 15, 13, 11, 9, 7, 5, 3, 2, 2]);
    }

    #[test]
    fn one_step_has_the_highest_budget() {
        assert_eq!(edit_budget(&config(4, 2, LrScheduler::Linear), 1, 1), 4);
    }
}
