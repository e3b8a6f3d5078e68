//! What is read before a night begins: its settings, its tasks, and what it can come to. Makes no call and keeps nothing.

use super::{NightCommand, NightRunError};
use crate::config::Environment;
use crate::sleep::find::split_choice;
use crate::sleep::foresee::foresee;
use crate::sleep::models::handoff_of_night;
use crate::sleep::order::{NightOrder, NightSetup, harvest_options, key};
use skillopt_domain::night::forecast::NightForecast;
use skillopt_sleep::handoff::{Handoff, NightKind};
use skillopt_sleep::night::{
    NightFailure, TASKS_CHANGED, TaskSource, have_changed, tasks_begun_with,
};
use skillopt_sleep::tasks_file::{LoadedTasks, read_tasks_file};
use std::path::Path;

/// Everything that is read before a night begins.
pub(super) struct Read {
    pub(super) order: NightOrder,
    pub(super) setup: NightSetup,
    pub(super) given: Option<LoadedTasks>,
    pub(super) tasks: TaskSource,
    pub(super) forecast: NightForecast,
    pub(super) handoff: Option<Handoff>,
    /// What is to be told while the night waits; its report tells the same when it ends.
    pub(super) told: Vec<String>,
}

/// Reads config, prompts and tasks. Blocks. The skill that a file of tasks is for counts when no flag names one.
pub(super) fn read(
    command: NightCommand,
    env: &Environment,
    now_ms: u64,
) -> Result<Read, NightRunError> {
    let NightCommand { mut order, tasks_file, is_dry, .. } = command;
    let mut setup = NightSetup::read(&order, env)?;
    let handoff = handoff_of_night(&setup, NightKind::of(is_dry));
    let begun = handoff.as_ref().filter(|_| tasks_file.is_some()).map(tasks_begun_with);
    let begun = begun.transpose()?.flatten();
    let foreign = handoff.as_ref().map(Handoff::foreign_pins).transpose()?.flatten();
    let given = tasks_file.as_deref().map(|path| given_tasks(&setup, path)).transpose()?;
    let change = begun.as_deref().zip(given.as_ref());
    let change = change.filter(|(begun, given)| have_changed(begun, &given.file.tasks));
    let told = foreign.into_iter().chain(change.map(|_| TASKS_CHANGED.to_owned())).collect();
    let target = given.as_ref().map_or("", |given| given.file.target_skill_path.as_str());
    if !target.is_empty() && !order.sets("target_skill_path") {
        order.keys.push(key("the file of tasks", "target_skill_path", target));
        setup = NightSetup::read(&order, env)?;
    }
    let tasks = match &given {
        Some(given) => TaskSource::Given(given.file.tasks.clone()),
        None => TaskSource::Harvest(Box::new(harvest_options(&setup, env, now_ms)?)),
    };
    let known = begun.as_deref().or(given.as_ref().map(|given| given.file.tasks.as_slice()));
    let forecast = foresee(&setup.config, known);
    Ok(Read { order, setup, given, tasks, forecast, handoff, told })
}

/// Tasks that a person reviewed. Without that no model may see them.
fn given_tasks(setup: &NightSetup, path: &Path) -> Result<LoadedTasks, NightRunError> {
    let choice = split_choice(setup).map_err(|err| NightFailure::Config(err.to_string()))?;
    let loaded = read_tasks_file(path, choice)?;
    if !loaded.file.reviewed && setup.config.spends() {
        return Err(NightRunError::NotReviewed(path.to_owned()));
    }
    Ok(loaded)
}
