//! What a night can come to in calls, before it begins: its config, its tasks where they are known, and what it may recall.

use skillopt_domain::night::forecast::NightForecast;
use skillopt_sleep::config::Config;
use skillopt_sleep::forecast::night_forecast;
use skillopt_sleep::state::StateFile;
use skillopt_sleep::task::TaskRecord;

/// Blocks: tasks of earlier nights are in the state.
pub(crate) fn foresee(config: &Config, tasks: Option<&[TaskRecord]>) -> NightForecast {
    let archive = match tasks {
        // A state that cannot be read ends the night itself, with words of its own.
        Some(_) if config.recall_k > 0 => {
            StateFile::new(&config.state_dir).read().map(|state| state.archive())
        }
        _ => Ok(Vec::new()),
    };
    night_forecast(config, tasks, &archive.unwrap_or_default())
}
