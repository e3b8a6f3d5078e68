//! How a night goes. Where the values come from is no matter of this crate's core.

use super::GateRule;
use serde::{Deserialize, Serialize};

/// Whether edits have to win.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateMode {
    /// Edits stay only if they are strictly better on the validation tasks.
    #[default]
    On,
    /// Whatever applies stays. Nothing is validated. The other words are those of the reference system.
    #[serde(alias = "none", alias = "false", alias = "greedy")]
    Off,
}

/// How a night goes.
#[derive(Clone, Debug, PartialEq)]
pub struct NightOptions {
    /// Edits of the skill are looked for.
    pub evolve_skill: bool,
    /// Edits of the memory are looked for.
    pub evolve_memory: bool,
    /// Whether edits have to win.
    pub gate: GateMode,
    /// What the gate counts.
    pub rule: GateRule,
    /// Measurements of each validation task, 1 or more: means of several are less noisy and cost as much more.
    pub gate_repeats: u32,
    /// Edits of the skill that won are followed by guidance, which has to win as well.
    pub slow_update: bool,
    /// When a bundle of edits loses, each is tried alone.
    pub gate_per_edit: bool,
    /// Most edits of one reflection.
    pub edit_budget: u32,
    /// What the person prefers.
    pub preferences: String,
    /// Variants of each training task.
    pub dream_factor: u32,
    /// Tasks of earlier nights that train as well.
    pub recall_k: u32,
    /// Attempts at each training task; from 2 on their differences are read first.
    pub rollouts: u32,
    /// Attempts at the same time.
    pub workers: u32,
    /// Share of attempts that may end in errors before the night ends without a result, `0..=1`.
    pub error_share: f64,
}

impl Default for NightOptions {
    /// The reference system's defaults; the share of errors is ours.
    fn default() -> Self {
        Self {
            evolve_skill: true,
            evolve_memory: true,
            gate: GateMode::On,
            rule: GateRule::default(),
            gate_repeats: 1,
            slow_update: false,
            gate_per_edit: false,
            edit_budget: 4,
            preferences: String::new(),
            dream_factor: 0,
            recall_k: 0,
            rollouts: 1,
            workers: 1,
            error_share: 0.25,
        }
    }
}
