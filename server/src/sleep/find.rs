//! Tasks in sessions by rules alone: nothing leaves this machine, and nothing of it is kept.

use super::order::{NightSetup, OrderError, harvest_options};
use crate::config::Environment;
use skillopt_sleep::harvest::{Harvest, HarvestState, harvest};
use skillopt_sleep::mine::{choose_tasks, merge_tasks, mine_heuristically};
use skillopt_sleep::split::{Fractions, FractionsError, assign_splits};
use skillopt_sleep::task::TaskRecord;
use skillopt_sleep::tasks_file::{SplitChoice, TasksFile};

/// Which sessions are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LookBack {
    /// All there are; what earlier nights took is told again.
    All,
    /// As the config says.
    AsConfigured,
}

/// Reads sessions. Blocks.
pub(crate) fn find_sessions(
    setup: &NightSetup,
    env: &Environment,
    look_back: LookBack,
    now_ms: u64,
) -> Result<Harvest, OrderError> {
    let mut options = harvest_options(setup, env, now_ms)?;
    if look_back == LookBack::All {
        options.lookback_hours = 0;
    }
    Ok(harvest(&options, &HarvestState::default()))
}

/// The tasks in sessions, as a file that nobody has reviewed.
pub(crate) fn tasks_of(setup: &NightSetup, harvest: &Harvest) -> Result<TasksFile, FractionsError> {
    let most = usize::try_from(setup.config.max_tasks_per_night).unwrap_or(usize::MAX);
    let mined = merge_tasks(mine_heuristically(&harvest.digests));
    let mut tasks: Vec<TaskRecord> = choose_tasks(mined, None, most).tasks;
    let SplitChoice { seed, fractions, rule } = split_choice(setup)?;
    assign_splits(&mut tasks, seed, fractions, rule);
    Ok(TasksFile {
        n_sessions: u32::try_from(harvest.digests.len()).unwrap_or(u32::MAX),
        tasks,
        ..tasks_file_of(setup)
    })
}

/// A file without tasks.
pub(crate) fn tasks_file_of(setup: &NightSetup) -> TasksFile {
    TasksFile {
        project: setup.project(),
        transcript_source: setup.config.transcript_source.clone(),
        target_skill_path: setup.config.target_skill_path.display().to_string(),
        ..TasksFile::default()
    }
}

/// How tasks without splits get them.
pub(crate) fn split_choice(setup: &NightSetup) -> Result<SplitChoice, FractionsError> {
    let config = &setup.config;
    Ok(SplitChoice {
        seed: i64::try_from(config.seed).unwrap_or(i64::MAX),
        fractions: Fractions::try_new(config.val_fraction(), config.test_fraction)?,
        rule: config.split_rule.into(),
    })
}
