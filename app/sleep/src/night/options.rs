//! From the keys of the config to the options of the stages. Pure.

use crate::config::{Config, GateMetric as Metric, GateMode as Mode};
use crate::consolidate::{GateMode, GateRule, NightOptions};
use skillopt_domain::score::GateMetric;

/// How the stages of a night go, by its config.
#[must_use]
pub fn night_options(config: &Config) -> NightOptions {
    let metric = match config.gate_metric {
        Metric::Hard => GateMetric::Hard,
        Metric::Soft => GateMetric::Soft,
        Metric::Mixed => GateMetric::Mixed,
    };
    let mut rule = GateRule::new(metric, config.gate_mixed_weight);
    rule.no_regression = config.gate_no_regression;
    NightOptions {
        evolve_skill: config.evolve_skill,
        evolve_memory: config.evolve_memory,
        gate: match config.gate_mode {
            Mode::On => GateMode::On,
            Mode::Off => GateMode::Off,
        },
        rule,
        gate_per_edit: config.gate_per_edit,
        edit_budget: small(config.edit_budget),
        preferences: config.preferences.clone(),
        dream_factor: small(config.dream_factor),
        recall_k: small(config.recall_k),
        rollouts: small(config.dream_rollouts),
        workers: u32::from(config.env.workers),
        ..NightOptions::default()
    }
}

/// The table of keys holds counts far below the limit.
fn small(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
