//! The forecast of a night as its config says, with tasks that are known or with those that it may find.

use super::{Load, NightLoad, PlannedCalls, planned_calls};
use crate::config::Config;
use crate::consolidate::{Group, NightOptions, group_tasks};
use crate::mine::agreed_hints;
use crate::night::night_options;
use crate::replay::count;
use crate::task::{Split, TaskRecord};
use skillopt_domain::night::forecast::NightForecast;

/// What a night can come to. `tasks` are those that were given to it, with their splits; `None` when it looks for them.
/// `archive` holds the tasks of earlier nights.
#[must_use]
pub fn night_forecast(
    config: &Config,
    tasks: Option<&[TaskRecord]>,
    archive: &[TaskRecord],
) -> NightForecast {
    let options = night_options(config);
    let mut forecast = match tasks {
        Some(tasks) => of_tasks(config, &options, (tasks, archive)),
        None => of_config(config, &options),
    };
    if !config.spends() {
        // The counts stay: they say what the simulation works on.
        let NightForecast { n_tasks, n_test, is_bound, .. } = forecast;
        let assumptions = vec!["the simulation calls no model".to_owned()];
        forecast = NightForecast {
            is_simulated: true,
            is_bound,
            n_tasks,
            n_test,
            assumptions,
            ..NightForecast::default()
        };
    }
    forecast
}

fn of_tasks(
    config: &Config,
    options: &NightOptions,
    (tasks, archive): (&[TaskRecord], &[TaskRecord]),
) -> NightForecast {
    let own = planned_calls(options, &NightLoad::of(tasks, archive, options.recall_k));
    let groups = match config.is_fanout() {
        true => group_tasks(tasks, &agreed_hints(tasks)),
        false => Vec::new(),
    };
    let named = groups.iter().filter(|group| !group.skill_name.is_empty());
    let fan_out = named.map(|group| group_calls(options, group, archive)).sum();
    let n_test = count(tasks.iter().filter(|task| task.split == Split::Test).count());
    let mut forecast = summed((count(tasks.len()), n_test), own, (0, fan_out));
    forecast.is_bound = true;
    forecast
}

fn group_calls(options: &NightOptions, group: &Group, archive: &[TaskRecord]) -> u64 {
    let options = NightOptions { evolve_memory: false, ..options.clone() };
    planned_calls(&options, &NightLoad::of(&group.tasks, archive, options.recall_k)).total()
}

fn of_config(config: &Config, options: &NightOptions) -> NightForecast {
    let n_tasks = small(config.max_tasks_per_night);
    let share = |fraction: f64| part(n_tasks, fraction);
    let n_test = share(config.test_fraction);
    let n_val = share(config.val_fraction()).min(n_tasks - n_test);
    let load = NightLoad {
        train: Load::unknown(n_tasks - n_test - n_val),
        recalled: Load::unknown(options.recall_k),
        val: Load::unknown(n_val),
        test: Load::unknown(n_test),
    };
    let sessions = if config.llm_mine { config.max_sessions() } else { 0 };
    let of_skills = NightOptions { evolve_memory: false, ..options.clone() };
    let fan_out = match config.is_fanout() {
        true => planned_calls(&of_skills, &load).total(),
        false => 0,
    };
    let own = planned_calls(options, &load);
    let mut forecast = summed((n_tasks, n_test), own, (sessions, fan_out));
    forecast.assumptions = assumptions(config, n_tasks);
    forecast
}

fn assumptions(config: &Config, n_tasks: u32) -> Vec<String> {
    let mut told = vec![format!(
        "as many tasks as a night takes ({n_tasks}), split by the fractions of the config, each performed and judged by \
         a model; a task with tools takes up to four calls more"
    )];
    if config.llm_mine {
        told.push(format!("as many sessions as a night reads ({})", config.max_sessions()));
    }
    if config.is_fanout() {
        told.push("all tasks belong to one skill of its own".to_owned());
    }
    told
}

fn summed(
    (n_tasks, n_test): (u32, u32),
    own: PlannedCalls,
    (mining, fan_out): (u64, u64),
) -> NightForecast {
    NightForecast {
        n_tasks,
        n_test,
        calls_max: own.total().saturating_add(mining).saturating_add(fan_out),
        mining,
        training: own.training,
        validation: own.validation,
        reflection: own.reflection,
        test: own.test,
        fan_out,
        ..NightForecast::default()
    }
}

/// A share of tasks, rounded up.
fn part(n_tasks: u32, fraction: f64) -> u32 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a fraction of a count is a count"
    )]
    let part = (f64::from(n_tasks) * fraction).ceil() as u32;
    part.min(n_tasks)
}

fn small(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
