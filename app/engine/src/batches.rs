//! Which tasks are rolled out when. Equal to the Python system for the same seed.

use crate::rng::PythonRandom;
use skillopt_domain::config::{
    LrControl, PairPolicy, RunConfig, SlowUpdateMode, Train, UpdateMode,
};

/// How long a run is and what it costs at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunShape {
    /// Steps of one epoch.
    pub steps_per_epoch: u32,
    /// Steps in all.
    pub total_steps: u32,
    /// Target calls at most, preflight and final tests included.
    pub target_calls_max: u64,
    /// Optimizer calls at most, re-asks not counted.
    pub optimizer_calls_max: u64,
}

/// The run cannot be planned.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// The config expects another train split.
    #[error(
        "train.train_size is {configured}, but the train split has {found} tasks; set it to 0 to take it from the data"
    )]
    TrainSize {
        /// In the config.
        configured: u32,
        /// In the data.
        found: u32,
    },
    /// Nothing could be verified.
    #[error(
        "the val split is empty, so that no edit could be verified; add tasks to it, 20 or more to see gains of 0.05"
    )]
    NoSelection,
    /// Too long to count.
    #[error("the run would have more than four billion steps; lower train.num_epochs")]
    TooLong,
}

/// Plans a run over splits of the given sizes.
///
/// # Errors
/// [`PlanError`] when config and data do not fit.
pub fn plan(
    config: &RunConfig,
    n_train: u32,
    n_selection: u32,
    n_test: u32,
) -> Result<RunShape, PlanError> {
    let train = &config.train;
    if train.train_size != 0 && train.train_size != n_train {
        return Err(PlanError::TrainSize { configured: train.train_size, found: n_train });
    }
    if n_selection == 0 {
        return Err(PlanError::NoSelection);
    }
    let per_step = u64::from(train.batch_size) * u64::from(train.accumulation);
    let steps_per_epoch = u64::from(n_train).div_ceil(per_step);
    let total_steps = steps_per_epoch * u64::from(train.num_epochs);
    let steps_per_epoch = u32::try_from(steps_per_epoch).map_err(|_| PlanError::TooLong)?;
    let steps = u32::try_from(total_steps).map_err(|_| PlanError::TooLong)?;
    // Sizes do not depend on the epoch, so the first one counts for all.
    let rollouts: u64 = epoch_batches(train, 1, usize::try_from(n_train).unwrap_or(usize::MAX))
        .iter()
        .map(|batch| u64::try_from(batch.tasks.len()).unwrap_or(u64::MAX))
        .sum::<u64>()
        * u64::from(train.num_epochs);
    let n_selection = limited(n_selection, config.evaluation.sel_env_num);
    let n_test = u64::from(limited(n_test, config.evaluation.test_env_num));
    let tests = if config.evaluation.eval_test { tested_skills(config) * n_test } else { 0 };
    let epochs = EpochEnds::of(config);
    // The Python system measures the last skill once more.
    let last = u64::from(config.is_python());
    let evaluations = u64::from(n_selection) * (total_steps + 1 + last + epochs.slow_updates);
    Ok(RunShape {
        steps_per_epoch,
        total_steps: steps,
        target_calls_max: 1
            + rollouts
            + evaluations
            + tests
            + epochs.comparisons * rollouts_of_comparison(config, n_train),
        optimizer_calls_max: 1
            + total_steps * optimizer_calls_of_step(config, n_train)
            + epochs.slow_updates
            + epochs.memories,
    })
}

/// The first `limit` of `n` tasks; all of them for 0.
fn limited(n: u32, limit: u32) -> u32 {
    if limit == 0 { n } else { n.min(limit) }
}

/// Initial and best skill, and the last one where skills may stay that did not win.
pub(crate) fn tested_skills(config: &RunConfig) -> u64 {
    let keeps_losers =
        !config.evaluation.use_gate || config.optimizer.slow_update == SlowUpdateMode::Forced;
    if keeps_losers { 3 } else { 2 }
}

/// How often something happens between epochs. The first epoch has nothing to compare with, and the memory of the
/// last one would have no reader.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EpochEnds {
    pub(crate) slow_updates: u64,
    pub(crate) memories: u64,
    pub(crate) comparisons: u64,
}

impl EpochEnds {
    pub(crate) fn of(config: &RunConfig) -> Self {
        let later = u64::from(config.train.num_epochs.saturating_sub(1));
        let slow = config.optimizer.slow_update != SlowUpdateMode::Off;
        let slow_updates = if slow { later } else { 0 };
        let memories = if config.optimizer.meta_skill { later.saturating_sub(1) } else { 0 };
        Self { slow_updates, memories, comparisons: slow_updates.max(memories) }
    }
}

/// Each task with both skills, and once more when it changed. Policies that top up may try the whole split.
fn rollouts_of_comparison(config: &RunConfig, n_train: u32) -> u64 {
    let longitudinal = config.optimizer.longitudinal;
    let tasks = match longitudinal.policy {
        PairPolicy::Mixed => longitudinal.samples.min(n_train),
        PairPolicy::Changed | PairPolicy::Unchanged => n_train,
    };
    4 * u64::from(tasks)
}

/// Analysts, merges over all levels, the final merge, one ranking, and what the modes add: the budget, the writer,
/// the condensing of notes. A batch that is mixed of failures and successes may need one analyst call more than
/// its size says.
fn optimizer_calls_of_step(config: &RunConfig, n_train: u32) -> u64 {
    let group = u64::from(config.gradient.merge_batch_size);
    let batch = u64::from(config.train.batch_size.min(n_train));
    let of_batch = batch.div_ceil(u64::from(config.gradient.minibatch_size)) + 1;
    let analysts = u64::from(config.train.accumulation) * of_batch;
    let mut merges = 0;
    let mut patches = analysts;
    while patches > 1 {
        patches = patches.div_ceil(group);
        merges += patches;
    }
    let optimizer = &config.optimizer;
    let ranking = u64::from(optimizer.budget_control() != LrControl::None || config.is_python());
    let budget = u64::from(optimizer.budget_control() == LrControl::Autonomous);
    let writer = u64::from(optimizer.update_mode == UpdateMode::RewriteFromSuggestions);
    let condensing =
        u64::from(optimizer.skill_aware().is_some_and(|aware| aware.consolidate_above.is_some()));
    analysts + merges + 1 + ranking + budget + writer + condensing
}

/// A batch: indices of train tasks and the seed that shuffles what is made of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// Indices in the train split.
    pub tasks: Vec<usize>,
    /// `seed + epoch * 1000 + k + 1`.
    pub seed: u64,
}

/// All batches of an epoch (from 1) in order: the train split shuffled with `seed + epoch * 1000`, cut in
/// slices. A slice that would be empty, which happens with accumulation on small data, is a shuffle with
/// the batch's own seed.
#[must_use]
pub fn epoch_batches(train: &Train, epoch: u32, n_train: usize) -> Vec<Batch> {
    let epoch_seed = train.seed.wrapping_add(u64::from(epoch) * 1000);
    let size = usize::try_from(train.batch_size).unwrap_or(usize::MAX).max(1);
    let accumulation = usize::try_from(train.accumulation).unwrap_or(1).max(1);
    let steps = n_train.div_ceil(size.saturating_mul(accumulation));
    let order = shuffled(n_train, epoch_seed);
    (0..steps * accumulation)
        .zip(1u64..)
        .map(|(k, number)| {
            let seed = epoch_seed.wrapping_add(number);
            let start = (k * size).min(n_train);
            let slice = &order[start..(start + size).min(n_train)];
            let tasks = if slice.is_empty() {
                shuffled(n_train, seed).into_iter().take(size).collect()
            } else {
                slice.to_vec()
            };
            Batch { tasks, seed }
        })
        .collect()
}

fn shuffled(n: usize, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    PythonRandom::new(seed).shuffle(&mut order);
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn train(batch_size: u32, accumulation: u32) -> Train {
        Train { num_epochs: 1, train_size: 0, batch_size, accumulation, seed: 42 }
    }

    #[test]
    fn a_train_size_that_is_not_that_of_the_data_is_refused_with_both_numbers() {
        let settings =
            [("model.backend", "mock"), ("env.split_dir", "d"), ("train.train_size", "7")];
        let settings = settings.map(|(path, value)| skillopt_domain::config::Setting {
            path: path.to_owned(),
            value: skillopt_domain::config::Value::Text(value.to_owned()),
            place: skillopt_domain::config::Place::flag(path),
        });
        let resolved = skillopt_domain::config::resolve(&settings).expect("valid");
        let mut config = RunConfig::from_resolved(&resolved).expect("complete");
        let refused = plan(&config, 8, 4, 4).expect_err("refused");
        assert_eq!(refused, PlanError::TrainSize { configured: 7, found: 8 });
        assert!(
            refused.to_string().contains("train.train_size is 7")
                && refused.to_string().contains("8 tasks")
        );
        assert!(plan(&config, 7, 4, 4).is_ok());
        config.train.train_size = 0;
        assert!(plan(&config, 8, 4, 4).is_ok());
    }

    #[test]
    fn an_epoch_is_one_pass_over_the_train_split() {
        let batches = epoch_batches(&train(4, 1), 1, 10);
        let mut seen: Vec<usize> = batches.iter().flat_map(|batch| batch.tasks.clone()).collect();
        seen.sort_unstable();
        assert_eq!(seen, (0..10).collect::<Vec<_>>());
        assert_eq!(batches.iter().map(|batch| batch.tasks.len()).collect::<Vec<_>>(), [4, 4, 2]);
        assert_eq!(batches[0].seed, 42 + 1000 + 1);
    }

    #[test]
    fn an_empty_slice_is_filled_with_a_shuffle_of_its_own() {
        let batches = epoch_batches(&train(4, 3), 1, 5);
        assert_eq!(batches.iter().map(|batch| batch.tasks.len()).collect::<Vec<_>>(), [4, 1, 4]);
    }

    #[test]
    fn refilled_slices_are_part_of_the_forecast() {
        let sizes: usize =
            epoch_batches(&train(40, 4), 1, 80).iter().map(|batch| batch.tasks.len()).sum();
        assert_eq!(sizes, 160);
    }

    proptest! {
        #[test]
        fn no_batch_is_ever_empty(size in 1u32..20, accumulation in 1u32..5, n in 1usize..60, epoch in 1u32..4) {
            for batch in epoch_batches(&train(size, accumulation), epoch, n) {
                prop_assert!(!batch.tasks.is_empty());
                prop_assert!(batch.tasks.iter().all(|at| *at < n));
            }
        }
    }
}
